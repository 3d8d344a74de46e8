"""The figures and tables: those of the paper, and those that go beyond it.

Each module of :mod:`ldprl.figures.gallery` is one figure; the others are what they share.
"""
