"""How large a problem is: the sizes that user, service and learner agree on."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldprl.errors import InputError, instance_of, whole_number

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Array = NDArray[Any]
LARGEST = 10**9
"""The largest number of states, actions or steps: arrays of their products are built."""
Policy = NDArray[np.int64]
"""Actions of shape (H, S): what to do in state s at step h."""


@dataclass(frozen=True)
class Shape:
    """Sizes of a finite-horizon problem.

    Parameters
    ----------
    states, actions, horizon
        The paper's S, A and H.
    step_dependent
        Whether transitions and rewards may differ from step to step (the paper's footnote in
        section 2), so that each step has counters of its own.
    """

    states: int
    actions: int
    horizon: int
    step_dependent: bool = False

    def __post_init__(self) -> None:
        for field in ("states", "actions", "horizon"):
            size = whole_number(field, getattr(self, field), 1, LARGEST)
            object.__setattr__(self, field, size)
        instance_of("step_dependent", self.step_dependent, bool)

    @property
    def models(self) -> int:
        """How many reward models are learnt: one, or one for each step."""
        return self.horizon if self.step_dependent else 1

    @property
    def transition_models(self) -> int:
        """How many transition models are learnt; the last step leads nowhere."""
        return self.horizon - 1 if self.step_dependent else 1

    @property
    def cells(self) -> int:
        """Number of (s, a) cells, over all models."""
        return self.models * self.states * self.actions

    @property
    def most_visits(self) -> int:
        """How often one episode can visit a cell: H times, or once if each step has its model."""
        return 1 if self.step_dependent else self.horizon

    @property
    def most_moves(self) -> int:
        """How often one episode can leave a cell; the last step leads nowhere."""
        return 1 if self.step_dependent else self.horizon - 1

    def model_of(self, step: int) -> int:
        """Return the model in force at ``step``."""
        return step if self.step_dependent else 0

    def played(self, policy: Policy) -> NDArray[np.bool_]:
        """Return which (model, s, a) a user of ``policy`` can visit at all."""
        mask = np.zeros((self.models, self.states, self.actions), dtype=bool)
        states = np.arange(self.states)
        for step in range(self.horizon):
            mask[self.model_of(step), states, policy[step]] = True
        return mask


def check_policy(field: str, policy: object, shape: Shape) -> Policy:
    """Return ``policy`` as an (H, S) array of actions, or refuse it."""
    expected = f"whole numbers of shape {(shape.horizon, shape.states)}"
    try:
        table = np.asarray(policy)
    except ValueError:
        raise InputError(field, reprlib.repr(policy), expected) from None
    if table.shape != (shape.horizon, shape.states) or table.dtype.kind not in "iu":
        raise InputError(field, f"{table.dtype}{table.shape}", expected)
    unknown = (table < 0) | (table >= shape.actions)
    if unknown.any():
        step, state = (int(index) for index in np.argwhere(unknown)[0])
        value = int(table[step, state])
        raise InputError(f"{field}[{step}, {state}]", value, f"actions 0 to {shape.actions - 1}")
    return table.astype(np.int64, copy=False)
