"""Layouts small enough to try every two users."""

from __future__ import annotations

from ldprl import Shape
from ldprl.layout import Layout

LAYOUTS = [
    Layout(Shape(2, 2, 2)),
    Layout(Shape(2, 2, 2), squares=True),
    Layout(Shape(2, 1, 3), resolution=2),
    Layout(Shape(1, 1, 3)),
    Layout(Shape(2, 1, 3, step_dependent=True)),
    Layout(Shape(1, 2, 2, step_dependent=True), squares=True),
]
