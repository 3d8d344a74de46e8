"""Limits that those who serve a deployment and those who take part in it share.

How large a problem may be is said by the problem: :meth:`~ldprl.problem.Problem.check_sizes`.
"""

LARGEST_COUNT = 2**53
"""The largest whole number that every language reads exactly."""
LONGEST_BODY = 2**23
"""The most bytes of a response that a client reads: more than a policy of the most cells has."""
