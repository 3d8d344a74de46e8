"""The sizes of a problem with finitely many states, whose policies are tables."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ldprl.errors import InputError, instance_of, probability, whole_number
from ldprl.problem import Problem
from ldprl.starting_pair import recommended_pair

if TYPE_CHECKING:
    from ldprl.policies.tables import Table, TableDistribution

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Array = NDArray[Any]
LARGEST = 10**9
"""The largest number of states, actions or steps: arrays of their products are built."""
Policy = NDArray[np.int64]
"""Actions of shape (H, S): what to do in state s at step h."""
_MOST_EACH = 10_000
"""States, actions and steps, each, of a deployment."""
_MOST_CELLS = 1_000_000
"""H·S, the cells of a policy: a device reads one from a document that anybody may have written."""
_MOST_REPORTED = 1_000_000
"""2SA + S²A, for each model that is learnt: the counters that a report has, if it has any."""
_MOST_SUMMED = 200_000_000
"""The same counters where a service adds them up: statistics of 1 GB."""


@dataclass(frozen=True)
class Shape(Problem):
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

    name = "table"
    labelled = ("states", "actions")

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

    @property
    def returns(self) -> tuple[float, float]:
        """Rewards are in [0, 1]."""
        return 0.0, float(self.horizon)

    def check_observation(self, field: str, value: object) -> int:
        """Return the number of a state."""
        return whole_number(field, value, 0, self.states - 1)

    def check_action(self, field: str, value: object) -> int:
        """Return the number of an action."""
        return whole_number(field, value, 0, self.actions - 1)

    def check_reward(self, field: str, value: float) -> float:
        """Return a reward in [0, 1]."""
        return probability(field, value, zero=True, one=True)

    def check_policy(self, field: str, value: object) -> Table | TableDistribution:
        """Return a table of these sizes, or a law of such tables."""
        from ldprl.policies.tables import Table, TableDistribution

        if isinstance(value, TableDistribution):
            if value.shape != self:
                raise InputError(field, value.shape, f"a law for {self}")
            return value
        return Table(check_policy(field, getattr(value, "actions", value), self))

    def read_policy(self, document: object, *, drawn: bool = False) -> Table:
        """Read a table; one that a law made may have one row for all steps."""
        from ldprl.policies.tables import Table

        return Table.from_document(document, self, alike=drawn)

    def read_distribution(self, document: object) -> TableDistribution:
        """Read a law of tables."""
        from ldprl.policies.tables import TableDistribution

        return TableDistribution.from_document(document, self)

    @property
    def in_words(self) -> str:
        """The sizes, for people."""
        return f"{self.states} states, {self.actions} actions, {self.horizon} steps"

    def document(self) -> dict[str, Any]:
        """Return the sizes."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def sizes(self) -> dict[str, Any]:
        """Return the same."""
        return self.document()

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Shape:
        """Read the sizes."""
        each_step = instance_of("step_dependent", document.get("step_dependent", False), bool)
        states, actions, horizon = (
            whole_number(size, document.get(size), 1, LARGEST)
            for size in ("states", "actions", "horizon")
        )
        return cls(states, actions, horizon, each_step)

    def stated(self) -> dict[str, Any]:
        """Return the sizes as the part ``shape`` of a deployment's document."""
        return {"shape": self.document()}

    def check_sizes(self, *, reports_counters: bool) -> None:
        """Refuse sizes that a service or a device could not build, before it builds anything."""
        for field in ("states", "actions", "horizon"):
            if getattr(self, field) > _MOST_EACH:
                raise InputError(field, getattr(self, field), f"at most {_MOST_EACH}")
        table = self.horizon * self.states
        if table > _MOST_CELLS:
            raise InputError("horizon × states", table, f"at most {_MOST_CELLS} cells of a policy")
        counters = self.cells * (self.states + 2)
        most, what = (_MOST_REPORTED, "report") if reports_counters else (_MOST_SUMMED, "sum")
        if counters > most:
            expected = f"at most {most} counters in a {what}"
            raise InputError("states² × actions", counters, expected)

    def recommended(
        self, epsilon: float | None, learner: str, mechanism: str, users: int | None = None
    ) -> tuple[str, str]:
        """Return learner and mechanism; others are recommended for sizes, ε and users."""
        return recommended_pair(self, epsilon, learner, mechanism, users)


def tabular(problem: Problem) -> Shape:
    """Return the sizes of a problem whose policies are tables, or refuse another one."""
    if not isinstance(problem, Shape):
        expected = "finitely many states, with policies that are tables"
        raise InputError("policy", problem.name, expected)
    return problem


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
