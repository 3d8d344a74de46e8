"""The loop in silico."""

from ldprl.compile_cache import provide_compile_cache

provide_compile_cache()
