"""Problems whose policies are functions of a vector of parameters, and such policies.

What a user sees is scaled in public (:mod:`~ldprl.policies.features`), a function with d parameters
makes outputs of it, and outputs become an action (:mod:`~ldprl.policies.actions`). Parameters are
float32 numbers, arithmetic is float64 in a stated order: the same action in every language.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ldprl.errors import InputError, instance_of, real, whole_number
from ldprl.policies.actions import Actions, actions_from
from ldprl.policies.features import Feature, Features
from ldprl.policies.policy import Action, Policy
from ldprl.policies.written import (
    MOST_PARAMETERS,
    Float32Array,
    decimal,
    from_base64,
    table,
    to_base64,
    vector,
)
from ldprl.problem import Problem
from ldprl.shape import LARGEST, Array, FloatArray

if TYPE_CHECKING:
    from ldprl.policies.perturbed import Perturbed

_KEYS = ("features", "actions", "horizon", "returns", "spread", "start")


class Parametric(Problem):
    """A problem whose policies are a function of what a user sees and of d parameters.

    Your own kind states d as ``size`` and the function as ``outputs``, and what else it is made of
    as ``options``: keywords of its constructor, attributes and fields of its document alike.

    Parameters
    ----------
    features
        What a user sees; names alone will do for numbers that need no scaling.
    actions
        What a user is told to do: names, or :class:`~ldprl.policies.actions.Levels`.
    horizon
        H, the most steps of an episode.
    returns
        The least and the largest return of an episode.
    spread
        σ₀, the unit of a parameter: at most this far, in the root of the mean square, are the
        parameters of users spread.
    start
        μ₀, the parameters to start from, or base64 of them; zeros by default.
    """

    options: ClassVar[tuple[str, ...]] = ()
    exposed = (
        "what you are told to do, and do: whoever sees that, and knows which policy you run, may"
        " see nearly all that you saw; only your report is protected"
    )

    def __init__(
        self,
        *,
        features: Features | Sequence[Feature | str],
        actions: Actions | Sequence[str],
        horizon: int,
        returns: tuple[float, float] | tuple[str, str],
        spread: float | str = 1.0,
        start: object = None,
    ) -> None:
        self.features = features if isinstance(features, Features) else Features.of(features)
        self.actions = actions_from(actions)
        self.horizon = whole_number("horizon", horizon, 1, LARGEST)
        self._returns = _range(returns)
        self._spread = decimal("spread", spread, positive=True)
        whole_number("policy.size", self.size, 1, MOST_PARAMETERS)
        if isinstance(start, str):
            start = from_base64("start", start, self.size)
        self.start = vector("start", np.zeros(self.size) if start is None else start, self.size)

    @property
    @abstractmethod
    def size(self) -> int:
        """d, the number of parameters; computed before anything of that length is built."""

    @abstractmethod
    def outputs(self, parameters: FloatArray, inputs: FloatArray) -> FloatArray:
        """Return the outputs, of shape (n, outputs), for parameters (n, d) and inputs (n, size).

        One row of parameters stands for n alike. Every row is computed in one stated order.
        """

    @property
    def returns(self) -> tuple[float, float]:
        """The least and the largest return of an episode."""
        return float(self._returns[0]), float(self._returns[1])

    @property
    def spread(self) -> float:
        """σ₀, the unit of a parameter."""
        return float(self._spread)

    @property
    def incumbent(self) -> ParametricPolicy | None:
        """The policy to start from; none where all parameters are zero."""
        started = self.start.astype(np.float64)
        return ParametricPolicy(self, started) if started.any() else None

    def with_start(self, start: object) -> Self:
        """Return the problem with other parameters to start from."""
        numbers = to_base64(vector("start", start, self.size))
        return type(self).from_document(self.document() | {"start": numbers})

    def weights(self, parameters: FloatArray) -> dict[str, Any] | None:
        """Return parameters as weights by the names of inputs and outputs, if they are weights.

        ``inputs`` and ``outputs`` are the names, ``values`` has a row for each input.
        """
        return None

    def act_many(self, parameters: FloatArray, observations: FloatArray) -> Array:
        """Return the actions of n policies (n, d), or of one (1, d), for observations (n, raw).

        They are whole numbers of shape (n,) for choices, and numbers (n, outputs) for levels.
        """
        seen = np.asarray(observations, dtype=np.float64)
        if seen.ndim != 2 or seen.shape[1] != self.features.raw:
            raise InputError("observations", seen.shape, f"shape (n, {self.features.raw})")
        if parameters.shape not in {(len(seen), self.size), (1, self.size)}:
            expected = f"shape ({len(seen)} or 1, {self.size})"
            raise InputError("parameters", parameters.shape, expected)
        outputs = self.outputs(parameters, self.features.inputs_many(seen))
        return self.actions.choose(outputs)

    def act(self, parameters: FloatArray, observation: object) -> Action:
        """Return the action of one policy for what a user sees, category names included."""
        seen = self.features.observed(observation)
        return self.actions.told(self.act_many(parameters[None], seen[None])[0])

    def check_observation(self, field: str, value: object) -> tuple[float, ...]:
        """Return what a user sees as numbers, NaN for what is none; another length is refused."""
        try:
            return tuple(self.features.observed(value).tolist())
        except InputError as refused:
            raise InputError(field, refused.value, refused.expected) from None

    def check_action(self, field: str, value: object) -> Action:
        """Return the number of a choice, or numbers."""
        return self.actions.check(field, value)

    def check_reward(self, field: str, value: float) -> float:
        """Return any finite reward: the return is clipped into its range."""
        return real(field, value, "a finite number")

    def check_policy(self, field: str, value: object) -> ParametricPolicy | Perturbed:
        """Return a policy, parameters as an array too, or a law of policies of this problem."""
        from ldprl.policies.perturbed import Perturbed

        if isinstance(value, ParametricPolicy | Perturbed):
            if value.problem != self:
                raise InputError(field, f"of another {value.problem.name}", f"of this {self.name}")
            return value
        return ParametricPolicy(self, vector(field, value, self.size).astype(np.float64))

    def read_policy(self, document: object, *, drawn: bool = False) -> ParametricPolicy:
        """Read the parameters of a policy, or refuse them."""
        given = table("policy", document, ("parameters",)).get("parameters")
        numbers = from_base64("policy.parameters", given, self.size)
        return ParametricPolicy(self, numbers.astype(np.float64))

    def read_distribution(self, document: object) -> Perturbed:
        """Read a law of shifted parameters, or refuse it."""
        from ldprl.policies.perturbed import Perturbed

        return Perturbed.from_document(document, self)

    def sizes(self) -> dict[str, Any]:
        """Return d and H."""
        return {"parameters": self.size, "horizon": self.horizon}

    @property
    def in_words(self) -> str:
        """What users see and do, and how much is learnt, for people."""
        low, high = self.returns
        return (
            f"{self.features.raw} features, {self.actions.in_short}, {self.size} parameters"
            f" ({self.stated()['policy']['kind']}), at most {self.horizon} steps, returns from"
            f" {low:g} to {high:g}"
        )

    def recommended(
        self, epsilon: float | None, learner: str, mechanism: str, users: int | None = None
    ) -> tuple[str, str]:
        """Return evolution strategies from one bit, where nothing else is given."""
        return learner or "ldp-es", mechanism or "threshold-bits"

    @cached_property
    def _written(self) -> dict[str, Any]:
        start = {"start": to_base64(self.start)} if self.start.any() else {}
        return {
            "features": self.features.document(),
            "actions": self.actions.document(),
            "horizon": self.horizon,
            "returns": list(self._returns),
            "spread": self._spread,
            **start,
            **{name: _plain(getattr(self, name)) for name in self.options},
        }

    def document(self) -> dict[str, Any]:
        """Return all that the problem is made of; it has μ₀ unless that is zero."""
        return dict(self._written)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read what :meth:`document` wrote, or a person in ``[policy]``."""
        given = dict(table("policy", document, (*_KEYS, *cls.options)))
        for key in ("features", "actions", "horizon", "returns"):
            if key not in given:
                raise InputError(f"policy.{key}", None, "a value")
        return cls(**given)

    def __eq__(self, other: object) -> bool:
        """Whether both are of one kind and made of the same."""
        return type(other) is type(self) and other._written == self._written

    def __hash__(self) -> int:
        """Return the same for equal problems."""
        return hash(json.dumps(self._written, sort_keys=True))

    def __repr__(self) -> str:
        """Return the sizes in one line."""
        sizes = f"{self.features.size} inputs, {self.actions.outputs} outputs"
        return f"{type(self).__name__}({sizes}, {self.size} parameters, horizon {self.horizon})"


def parametric(problem: object, mechanism: str) -> Parametric:
    """Return a problem whose policies have parameters, or refuse another for ``mechanism``."""
    known: Problem = instance_of("problem", problem, Problem)
    if isinstance(known, Parametric):
        return known
    expected = f"one for {known.name}s: {mechanism} is for policies with parameters"
    raise InputError("mechanism", mechanism, expected)


@dataclass(frozen=True, eq=False)
class ParametricPolicy(Policy):
    """A policy of a parametric problem: float32 ``parameters``, kept as float64."""

    problem: Parametric
    parameters: FloatArray

    def __post_init__(self) -> None:
        size = instance_of("policy.problem", self.problem, Parametric).size
        rounded = vector("policy.parameters", self.parameters, size)
        object.__setattr__(self, "parameters", rounded.astype(np.float64))

    def act(self, step: int, observation: Any) -> Action:
        """Return the action of a user who sees ``observation``, the same at every step."""
        return self.problem.act(self.parameters, observation)

    def document(self) -> dict[str, str]:
        """Return the parameters as base64 of little-endian float32."""
        return {"parameters": to_base64(self.rounded)}

    @property
    def key(self) -> bytes:
        """The parameters; −0 is 0."""
        return (self.rounded + np.float32(0)).tobytes()

    @property
    def rounded(self) -> Float32Array:
        """The parameters as float32."""
        return self.parameters.astype(np.float32)


def _range(returns: object) -> tuple[str, str]:
    if isinstance(returns, str) or not isinstance(returns, Sequence) or len(returns) != 2:
        raise InputError("returns", returns, "the least and the largest return")
    low, high = (decimal("returns", value) for value in returns)
    if float(low) >= float(high):
        raise InputError("returns", returns, "the least return below the largest")
    return low, high


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
