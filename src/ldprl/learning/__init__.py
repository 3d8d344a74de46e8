"""The learner's side: sums become a policy."""

from ldprl.compile_cache import provide_compile_cache

provide_compile_cache()
