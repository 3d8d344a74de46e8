"""Compiled code that learners, mechanisms and the simulation share; it needs numba.

The learner's side may not import the simulation and the user's side may not import numba when it
is loaded, so what both compile stands here, and is imported inside the functions that use it.
"""

from ldprl.kernels.cache import provide_compile_cache

provide_compile_cache()
