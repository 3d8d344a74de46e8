"""What is publicly known of the environments that have a name: horizon, range of returns, words."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, replace

from ldprl.policies.actions import Actions, Choices, Level, Levels
from ldprl.policies.features import Feature, Features
from ldprl.policies.layers import Layered
from ldprl.policies.parametric import Parametric
from ldprl.worlds.sampled import SampledWorld
from ldprl.worlds.setting import Setting


@dataclass(frozen=True)
class Known:
    """What is known of a named environment.

    Attributes
    ----------
    horizon
        Steps at which its episodes are usually cut.
    each, end
        The least and the most that a step pays, and that the end of an episode pays beside it.
    features, actions
        What users see and do.
    unscaled
        Features that have no bounds to scale by.
    reaches_most
        Whether some policy nearly always gets the largest return.
    equations
        The class of compiled equations, as ``module:Class``, where there are any.
    """

    horizon: int
    each: tuple[float, float]
    features: tuple[Feature, ...]
    actions: Actions
    end: tuple[float, float] = (0.0, 0.0)
    unscaled: tuple[str, ...] = ()
    reaches_most: bool = False
    equations: str | None = None

    def returns(self, horizon: int) -> tuple[float, float]:
        """Return the least and the largest return of an episode."""
        return horizon * self.each[0] + self.end[0], horizon * self.each[1] + self.end[1]

    def best_return(self, horizon: int) -> float | None:
        """Return the largest mean return, if it is known."""
        return self.returns(horizon)[1] if self.reaches_most else None


def compiled_setting(name: str, known: Known) -> Setting:
    """Return the setting of an environment whose equations are compiled."""

    def build(problem: Parametric) -> SampledWorld:
        from ldprl.worlds.compiled_world import CompiledWorld

        assert known.equations is not None
        assert isinstance(problem, Layered)
        module, equations = known.equations.split(":")
        made = getattr(importlib.import_module(module), equations)()
        return CompiledWorld(name, made, problem, known.best_return(problem.horizon))

    features = Features(known.features)
    return Setting(
        name, features, known.actions, build, known.horizon, known.returns, known.unscaled
    )


_POLE = Known(
    horizon=200,
    each=(0.0, 1.0),
    features=(
        Feature("cart position", "m", scale="4.8"),
        Feature("cart velocity", "m/s"),
        Feature("pole angle", "rad", scale="0.41887903"),
        Feature("pole angular velocity", "rad/s"),
    ),
    actions=Choices(("left", "right")),
    unscaled=("cart velocity", "pole angular velocity"),
    reaches_most=True,
    equations="ldprl.worlds.classic_control:CartPole",
)
_HILL = (Feature("position", centre="-0.3", scale="0.9"), Feature("velocity", scale="0.07"))

KNOWN: dict[str, Known] = {
    "CartPole-v0": _POLE,
    "CartPole-v1": replace(_POLE, horizon=500),
    "Acrobot-v1": Known(
        horizon=500,
        each=(-1.0, 0.0),
        features=(
            *(Feature(f"{what} of angle {i}") for i in (1, 2) for what in ("cosine", "sine")),
            Feature("angular velocity 1", "rad/s", scale="12.566371"),
            Feature("angular velocity 2", "rad/s", scale="28.274334"),
        ),
        actions=Choices(("torque -1", "torque 0", "torque 1")),
        equations="ldprl.worlds.classic_control:Acrobot",
    ),
    "MountainCar-v0": Known(
        horizon=200,
        each=(-1.0, 0.0),
        features=_HILL,
        actions=Choices(("push left", "no push", "push right")),
        equations="ldprl.worlds.classic_control:MountainCar",
    ),
    "MountainCarContinuous-v0": Known(
        horizon=999,
        each=(-0.1, 0.0),
        end=(0.0, 100.0),
        features=_HILL,
        actions=Levels((Level("force", "-1", "1"),)),
    ),
    "Pendulum-v1": Known(
        horizon=200,
        each=(-16.2736045, 0.0),  # π² + 0.1·8² + 0.001·2²
        features=(
            Feature("cosine of angle"),
            Feature("sine of angle"),
            Feature("angular velocity", "rad/s", scale="8"),
        ),
        actions=Levels((Level("torque", "-2", "2", "N m"),)),
    ),
    "glucose": Known(
        horizon=96,
        each=(0.0, 0.25),
        features=(
            Feature("glucose", "mg/dL", "120", "60"),
            Feature("change of glucose", "mg/dL", scale="30"),
            Feature("insulin on board", "U", scale="3"),
            Feature("carbohydrates", "g", scale="30"),
        ),
        actions=Levels((Level("insulin beside the basal rate", "-5", "5", "U"),)),
        equations="ldprl.worlds.glucose:Glucose",
    ),
}
"""By Gymnasium's ids, and ours."""
