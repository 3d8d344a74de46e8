"""Draws from the hypergeometric law, at a cost that does not grow with its size."""

from __future__ import annotations

import math

from ldprl.kernels.compiling import kernel
from ldprl.kernels.generator import uniform
from ldprl.shape import Array

_FEW = 10
_WIDTH, _MARGIN = 1.7155277699214135, 0.8989161620588988
"""2√(2/e) and 3 − 2√(3/e), the constants of the ratio of uniforms (Stadlober 1990)."""


@kernel
def hypergeometric(good: float, bad: float, sample: float, stream: Array) -> float:
    """Draw how many of ``sample`` are good: by urn if few are taken, else HRUA (Stadlober 1990)."""
    everybody = good + bad
    fewer = min(sample, everybody - sample)
    if good == 0 or fewer == 0:
        drawn = 0.0
    elif bad == 0:
        drawn = fewer
    elif fewer <= _FEW:
        drawn = 0.0
        for seen in range(int(fewer)):
            if uniform(stream) * (everybody - seen) < good - drawn:
                drawn += 1
    else:
        drawn = _ratio_of_uniforms(min(good, bad), max(good, bad), fewer, stream)
        if good > bad:
            drawn = fewer - drawn
    return good - drawn if fewer < sample else drawn


@kernel
def _ratio_of_uniforms(few: float, many: float, sample: float, stream: Array) -> float:
    everybody = few + many
    share = few / everybody
    centre = sample * share + 0.5
    variance = (everybody - sample) * sample * share * (1 - share) / (everybody - 1)
    spread = math.sqrt(variance + 0.5)
    width = _WIDTH * spread + _MARGIN
    mode = math.floor((sample + 1) * ((few + 1) / (everybody + 2)))
    top = _log_chance(mode, few, many, sample)
    # Beyond 16 standard deviations the probability is below what a double can represent.
    limit = min(min(sample, few) + 1, math.floor(centre + 16 * spread))
    while True:
        u, v = uniform(stream), uniform(stream)
        x = centre + width * (v - 0.5) / u
        if 0 <= x < limit:
            count = math.floor(x)
            if 2 * math.log(u) <= _log_chance(count, few, many, sample) - top:
                return count


@kernel
def _log_chance(count: float, few: float, many: float, sample: float) -> float:
    """Return ln P(count), up to a constant."""
    return -(
        math.lgamma(count + 1.0)
        + math.lgamma(few - count + 1.0)
        + math.lgamma(sample - count + 1.0)
        + math.lgamma(many - sample + count + 1.0)
    )
