"""Worlds that can be sampled, from what people have: an id, a factory, an object, or data."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ldprl.errors import InputError, raised, whole_number
from ldprl.naming import loaded_module
from ldprl.policies.imported import start_from
from ldprl.policies.layers import Layered
from ldprl.policies.parametric import Parametric
from ldprl.problem import PROBLEMS
from ldprl.shape import LARGEST
from ldprl.worlds.contexts import Contexts, context_setting
from ldprl.worlds.named import KNOWN, compiled_setting
from ldprl.worlds.sampled import SampledWorld
from ldprl.worlds.setting import Setting

_ALWAYS = ("spread", "start")
"""What every kind of policy takes beside what an environment says."""


def sampled_from(
    env: object,
    policy: str = "linear",
    *,
    horizon: int | None = None,
    return_range: tuple[float, float] | None = None,
    scale: Sequence[float | str] | None = None,
    **options: Any,
) -> SampledWorld:
    """Return a world whose users run policies of one kind.

    Parameters
    ----------
    env
        An id of Gymnasium's such as ``"CartPole-v1"``, or ``"glucose"``; ``"module:factory"``, a
        function that makes an environment; a ``gymnasium.Env`` or ``gymnasium.vector.VectorEnv``;
        :class:`~ldprl.worlds.contexts.Contexts`, or ``"data.npz"`` with them; or a
        :class:`~ldprl.worlds.sampled.SampledWorld`, which has all else.
    policy
        ``"linear"``, ``"network"``, ``"shared-linear"``, or ``"module:Class"``.
    horizon
        The step at which episodes are cut; None: what is known of the environment.
    return_range
        The least and the largest return of an episode; None: what is known of the environment.
    scale
        By what each entry of an observation is divided; None: half of the width of its box, or 1
        where it has no bounds.
    options
        What the kind of policy takes: ``hidden``, ``activation``, ``spread``, ``start``. None is as
        if not given. The start may be the path of a file that
        :func:`~ldprl.policies.imported.start_from` reads.
    """
    kind = kind_of(policy)
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        if name not in (*_ALWAYS, *kind.options):
            raise InputError(name, value, f"none with policy {kind.name}")
    if horizon is not None:
        whole_number("horizon", horizon, 1, LARGEST)
    setting = _setting(env, kind, horizon)
    if isinstance(setting, SampledWorld):
        theirs = {"horizon": horizon, "return_range": return_range, "scale": scale, **given}
        for name, value in theirs.items():
            if value is not None:
                raise InputError(name, value, f"none: {setting.name} has its own")
        return setting
    if scale is not None:
        setting = setting.scaled(scale)
    steps = setting.horizon if horizon is None else horizon
    if steps is None:
        expected = f"the step at which episodes of {setting.name} are cut, as it says none"
        raise InputError("horizon", None, expected)
    if return_range is None and setting.returns is not None:
        return_range = setting.returns(steps)
    if return_range is None:
        expected = f"the least and the largest return of an episode of {setting.name}"
        raise InputError("return_range", None, expected)
    start = given.get("start")
    # Base64 of parameters, which is text too, has no point in it.
    file = start if isinstance(start, str | Path) and "." in str(start) else None
    if file is not None:
        del given["start"]
    problem = kind(
        features=setting.features,
        actions=setting.actions,
        horizon=steps,
        returns=return_range,
        **given,
    )
    if file is not None:
        problem = problem.with_start(start_from(file, problem))
    world = setting.build(problem)
    world.unscaled = setting.unscaled
    return world


def world_with(env: object, problem: Parametric) -> SampledWorld:
    """Return a world whose users run the policies of a problem that was stated before."""
    setting = _setting(env, type(problem), problem.horizon)
    if isinstance(setting, SampledWorld):
        if setting.problem != problem:
            raise InputError("env", setting.name, f"one with this problem: {problem}")
        return setting
    seen, done = problem.features.raw, problem.actions.outputs
    found = setting.features.raw, setting.actions.outputs
    alike = type(setting.actions) is type(problem.actions)
    if found != (seen, done) or not alike:
        kind = type(problem.actions).__name__.lower()
        expected = f"an environment with {seen} entries of an observation and {done} {kind}"
        raise InputError("env", f"{setting.name}: {found[0]} and {found[1]}", expected)
    return setting.build(problem)


def kind_of(policy: str) -> type[Parametric]:
    """Return the kind of policy that a name stands for, or refuse it."""
    kind = Parametric if policy == "table" else PROBLEMS.find(policy, field="policy")
    if not issubclass(kind, Parametric) or inspect.isabstract(kind):
        expected = (
            "one that needs no model (continuous observations: choose --policy linear; of"
            " Discrete ones that makes a table)"
        )
        raise InputError("policy", policy, expected)
    return kind


def _setting(env: object, kind: type[Parametric], horizon: int | None) -> Setting | SampledWorld:
    name, factory = "", None
    if isinstance(env, str):
        known = KNOWN.get(env)
        if known is not None and known.equations is not None and issubclass(kind, Layered):
            return compiled_setting(env, known)
        if env.endswith(".npz"):
            name, env = env, Contexts.from_file(env)
        elif ":" in env:
            name, factory = env, _factory(env)
            env = _called(env, factory)
        else:
            from ldprl.worlds.environments import factory_of_id

            name, factory = env, factory_of_id(env, horizon)
            env = factory()
    if isinstance(env, SampledWorld):
        return env
    if isinstance(env, Contexts):
        return context_setting(name or "contexts", env, kind)
    from ldprl.worlds.environments import environment_setting

    return environment_setting(name, env, factory)


def _factory(name: str) -> Any:
    module, _, attribute = name.partition(":")
    factory = getattr(loaded_module("env", name, module), attribute, None)
    if not callable(factory):
        raise InputError("env", name, f"a factory: {module} has no function {attribute!r}")
    return factory


def _called(name: str, factory: Any) -> Any:
    try:
        return factory()
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        expected = f"a factory that makes an environment ({raised(error)})"
        raise InputError("env", name, expected) from None
