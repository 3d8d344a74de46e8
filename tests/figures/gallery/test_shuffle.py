"""Its sentences follow the data: each is tried with data that go one way and the other."""

from __future__ import annotations

from ldprl.figures.gallery.shuffle import turning_point


def test_shuffle_turning_point() -> None:
    rows = [
        {
            "bit_epsilon": 2.0,
            "users": users,
            "shuffled_bit_epsilon": 100 / users,
            "shuffled_user_epsilon": 5000 / users,
            "shuffled_user_delta": 1e-6,
            "local_user_epsilon": 20.0,
        }
        for users in (10.0, 100.0, 1000.0)
    ]
    said = turning_point(2.0, rows)
    assert "a bit gains from about 100 users on and a user gains from about 1,000 users" in said
    assert "a user gains nothing" in turning_point(2.0, rows[:2])
    assert "too few users" in turning_point(0.2, rows)
