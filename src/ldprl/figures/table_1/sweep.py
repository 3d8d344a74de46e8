"""What table 1 is evaluated at: the sizes of the simulations, each ε, and both constants."""

from __future__ import annotations

from ldprl.shape import Shape

SHAPE = Shape(2, 2, 2)
MECHANISMS = {
    "Laplace": "laplace",
    "Gaussian": "gaussian",
    "Randomized response": "randomized-response",
    "Bounded noise": "bounded-noise",
}
"""Rows of the table that the library has a mechanism for; naive composition is not one."""
