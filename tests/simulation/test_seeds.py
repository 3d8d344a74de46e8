"""What a run draws from: streams of its own for the world and for the noise."""

from __future__ import annotations

from itertools import product

from ldprl.learning.ldp_obi import LDPOBI
from ldprl.mechanisms.laplace import Laplace
from ldprl.shape import Shape
from ldprl.simulation.seeds import seeds_of


def test_no_two_streams_are_the_same() -> None:
    """Of any seed, run, ε and purpose; only the world may be shared, where that is asked for."""
    first, second = (Laplace(Shape(2, 2, 2), epsilon) for epsilon in (1.0, 2.0))
    found = [
        seeds_of(seed, run, LDPOBI(mechanism), mechanism, common=False)
        for seed, run, mechanism in product((0, 1), (0, 1), (first, second))
    ]
    streams = [tuple(one.generate_state(4)) for both in found for one in (both.world, both.own)]
    assert len(set(streams)) == 16
    shared = [seeds_of(0, 1, LDPOBI(one), one, common=True) for one in (first, second)]
    assert len({tuple(both.world.generate_state(4)) for both in shared}) == 1
    assert len({tuple(both.own.generate_state(4)) for both in shared}) == 2
