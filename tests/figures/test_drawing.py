"""Labels at the ends of lines."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ldprl.figures.drawing import spread


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=9).map(sorted),
    st.lists(st.floats(0.01, 0.2), min_size=9, max_size=9),
)
def test_labels_keep_their_order_and_do_not_overlap(
    wanted: list[float], heights: list[float]
) -> None:
    sizes = np.array(heights[: len(wanted)])
    places = spread(np.array(wanted), sizes)
    assert places[0] >= sizes[0] / 2 - 1e-9
    for i in range(len(wanted) - 1):
        room = (sizes[i] + sizes[i + 1]) / 2
        assert places[i + 1] - places[i] >= room - 1e-9


def test_labels_with_room_stay_where_they_are() -> None:
    wanted = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(spread(wanted, np.full(3, 0.1)), wanted)
