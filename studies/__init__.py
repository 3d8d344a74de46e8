"""Research beyond the paper that is not part of the package: figures, and what they need.

``python -m studies NAME`` makes a figure, from a checkout with everything installed.
"""
