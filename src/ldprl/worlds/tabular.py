"""A finite-horizon tabular MDP, checked once and then frozen."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ldprl.errors import InputError, instance_of, one_of, whole_number
from ldprl.shape import LARGEST, FloatArray, Shape
from ldprl.structure import Structure
from ldprl.worlds import files
from ldprl.worlds.checks import check_distributions, check_range, numbers

if TYPE_CHECKING:
    import gymnasium

    from ldprl.worlds.gymnasium_bridge import GymnasiumMDP
    from ldprl.worlds.gymnasium_env import TabularEnv

RewardKind = Literal["deterministic", "bernoulli"]


@dataclass(frozen=True, eq=False)
class TabularMDP:
    """A finite-horizon MDP M = (S, A, p, r, H) with start distribution (section 2 of the paper).

    Parameters
    ----------
    transitions
        p(s' | s, a), of shape (S, A, S), or (H, S, A, S) where it depends on the step.
    rewards
        Mean rewards in [0, 1], of shape (S, A) or (H, S, A).
    horizon
        Steps an episode has.
    initial
        Start distribution over states; uniform if left out. A population of several user types
        (the paper's ρ_{0,u}) starts from their mixture: see :func:`ldprl.worlds.mixture`.
    reward_kind
        ``"deterministic"``: the reward is its mean; ``"bernoulli"``: it is 1 with that probability.
    structure
        What of it is publicly known. Actions that are not admissible act as one of the others,
        drawn at random, so that neither the best policy nor acting at random has more to choose.
    """

    transitions: FloatArray
    rewards: FloatArray
    horizon: int
    initial: FloatArray = None  # type: ignore[assignment]
    reward_kind: RewardKind = "deterministic"
    structure: Structure | None = None

    def __post_init__(self) -> None:
        horizon = whole_number("horizon", self.horizon, 1, LARGEST)
        transitions = numbers("transitions", self.transitions)
        rewards = numbers("rewards", self.rewards)
        if transitions.ndim not in (3, 4) or transitions.shape[-3] != transitions.shape[-1]:
            expected = "an array of shape (S, A, S) or (H, S, A, S)"
            raise InputError("transitions.shape", transitions.shape, expected)
        states, actions = transitions.shape[-3:-1]
        if rewards.shape not in ((states, actions), (horizon, states, actions)):
            expected = f"({states}, {actions}) or ({horizon}, {states}, {actions})"
            raise InputError("rewards.shape", rewards.shape, expected)
        if transitions.ndim == 4 and len(transitions) != horizon:
            raise InputError("transitions.shape", transitions.shape, f"{horizon} steps in front")
        if transitions.ndim == 4 or rewards.ndim == 3:
            transitions = np.array(np.broadcast_to(transitions, (horizon, *transitions.shape[-3:])))
            rewards = np.array(np.broadcast_to(rewards, (horizon, states, actions)))
        check_distributions("transitions", transitions)
        check_range("rewards", rewards)
        start = np.full(states, 1 / states) if self.initial is None else self.initial
        initial = numbers("initial", start)
        if initial.shape != (states,):
            raise InputError("initial.shape", initial.shape, f"({states},)")
        check_distributions("initial", initial)
        one_of("reward_kind", self.reward_kind, ("deterministic", "bernoulli"))
        if self.structure is not None:
            instance_of("structure", self.structure, Structure, "Structure(mdp.shape)")
            if self.structure.shape != _shape(transitions, horizon):
                expected = f"that of the MDP, {_shape(transitions, horizon)}"
                raise InputError("structure.shape", self.structure.shape, expected)
            _check_known(self.structure, transitions, rewards)
            if self.structure.admissible is not None:
                transitions, rewards = _restricted(self.structure, transitions, rewards)
        for array in (transitions, rewards, initial):
            array.setflags(write=False)
        object.__setattr__(self, "transitions", transitions)
        object.__setattr__(self, "rewards", rewards)
        object.__setattr__(self, "initial", initial)
        object.__setattr__(self, "horizon", horizon)

    @property
    def shape(self) -> Shape:
        """Sizes of this MDP, and whether it depends on the step."""
        return _shape(self.transitions, self.horizon)

    @property
    def step_transitions(self) -> FloatArray:
        """Transitions of every step, of shape (H, S, A, S); a view where they do not change."""
        return np.broadcast_to(self.transitions, (self.horizon, *self.transitions.shape[-3:]))

    @property
    def step_rewards(self) -> FloatArray:
        """Mean rewards of every step, of shape (H, S, A); a view where they do not change."""
        return np.broadcast_to(self.rewards, (self.horizon, *self.rewards.shape[-2:]))

    def to_json(self) -> str:
        """Return the MDP as a JSON document that :meth:`from_json` reads back unchanged."""
        fields = {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name in files.FIELDS
            for value in [getattr(self, name)]
        }
        if self.structure is not None:
            fields["structure"] = self.structure.document()
        return json.dumps(fields)

    @classmethod
    def from_json(cls, text: str) -> TabularMDP:
        """Read an MDP from JSON; ``initial`` and ``reward_kind`` may be left out."""
        return cls._with_structure(files.from_json(text))

    @classmethod
    def from_file(cls, path: str | Path) -> TabularMDP:
        """Read an MDP from a JSON file, or from an .npz archive of the same fields.

        Archives are written by ``numpy.savez(path, transitions=…, rewards=…, horizon=…)``. Pickled
        objects are refused, and sizes are checked before anything is read.
        """
        return cls._with_structure(files.read(path))

    @classmethod
    def _with_structure(cls, fields: dict[str, Any]) -> TabularMDP:
        known = fields.pop("structure", None)
        mdp = cls(**fields)
        if known is None:
            return mdp
        return replace(mdp, structure=Structure.from_document(known, mdp.shape))

    @classmethod
    def from_gymnasium(cls, env: gymnasium.Env[Any, Any] | str, horizon: int) -> GymnasiumMDP:
        """Read the model of a toy-text environment: FrozenLake, Taxi or CliffWalking.

        Rewards are rescaled to [0, 1]; the result's ``reward_map`` takes values back, exactly for
        every policy. After an early end the MDP stays in one absorbing state, which pays the
        environment's reward of 0; rescaled, that need not be 0. States that no policy meets
        are left out; ``observations`` says what the environment calls the others.

        Rewards that depend on the next state become their mean given (s, a), paid as 0 or 1 at
        random (``bernoulli``, the law itself where only the least and the most are ever paid, as
        in FrozenLake). Values stay exact; the dependence between reward and next state is lost.

        Parameters
        ----------
        env
            An environment, or its name, such as ``"FrozenLake-v1"``.
        horizon
            Steps in an episode, in place of the environment's own time limit.
        """
        from ldprl.worlds.gymnasium_bridge import mdp_of

        return mdp_of(env, horizon)

    def to_gymnasium(self) -> TabularEnv:
        """Return an environment of Gymnasium's that is this MDP: states, actions, H steps."""
        from ldprl.worlds.gymnasium_bridge import gymnasium_is_missing

        try:
            from ldprl.worlds.gymnasium_env import TabularEnv
        except ModuleNotFoundError:
            raise gymnasium_is_missing() from None
        return TabularEnv(self)


def _shape(transitions: FloatArray, horizon: int) -> Shape:
    states, actions = transitions.shape[-3:-1]
    return Shape(states, actions, horizon, step_dependent=transitions.ndim == 4)


def _check_known(structure: Structure, transitions: FloatArray, rewards: FloatArray) -> None:
    """Refuse public knowledge that the MDP contradicts."""
    allowed = structure.choices
    if structure.successors is not None:
        moving = (transitions > 0) & allowed[:, :, None] & ~structure.successors[:, None]
        if moving.any():
            state, action, target = np.argwhere(moving)[0][-3:].tolist()
            expected = f"{target} in it, where action {action} leads in this MDP"
            listed = np.flatnonzero(structure.successors[state]).tolist()
            raise InputError(f"structure.successors[{state}]", listed[:20], expected)
    if structure.rewards is not None:
        known = structure.rewards
        wrong = allowed & ~np.isnan(known) & (np.abs(rewards - known) > 1e-12)
        if wrong.any():
            place = tuple(np.argwhere(wrong)[0].tolist())
            state, action = place[-2:]
            field = f"structure.rewards[{state}][{action}]"
            expected = f"{rewards[place]:g}, the reward in this MDP"
            raise InputError(field, float(known[state, action]), expected)


def _restricted(
    structure: Structure, transitions: FloatArray, rewards: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Let actions that are not admissible do what the others do on average."""
    allowed, shares = structure.choices, structure.at_random
    moves = np.einsum("...sat,sa->...st", transitions, shares)[..., None, :]
    paid = (rewards * shares).sum(axis=-1, keepdims=True)
    return np.where(allowed[:, :, None], transitions, moves), np.where(allowed, rewards, paid)
