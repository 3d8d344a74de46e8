"""``ldprl deployment``: write a deployment's file, check it, print the digest that clients pin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldprl.cli.group import subgroup
from ldprl.cli.options import Json, text, warn_of_unused
from ldprl.cli.show import show_result
from ldprl.errors import InputError

if TYPE_CHECKING:
    from ldprl.protocol.deployment import Deployment

TEMPLATE = """\
# A deployment: all that a client must know before it trusts a service. It is frozen with the first
# start of `ldprl serve`; to change anything later, give the new one another name and database.

name = "my-deployment"            # what operators call it

# The problem. A user meets `horizon` situations, is in one of `states` at each, and is advised one
# of `actions`. For users who see numbers, see `ldprl deployment init --vectors`.
states = 4
actions = 3
horizon = 4
# step_dependent = false          # true: the world may be another one at each step

# The privacy of one report, for the whole trajectory. `ldprl advise` says what an ε costs in
# learning, `ldprl statement` what it promises to a user.
epsilon = "2"
# delta = "0"                     # gaussian and bounded-noise need δ > 0
# mechanism = "subset-selection"  # the recommended one; with more states or a smaller ε it is
#                                 # "return-bits", from 25 states on "bits-and-moves".
#                                 # `ldprl list mechanisms` shows all

# Who plans, and when: after `each` report, `every:N` reports, or when the number of reports has
# grown by the factor 1 + G (`growth:G`), but never before `first_epoch` new ones.
# learner = "ldp-ts"              # the recommended one; with more states or a smaller ε it is
#                                 # "ldp-returns", from 25 states on "ldp-ways".
#                                 # `ldprl list learners` shows all
# failure_probability = "0.1"     # how often the confidence bounds may fail
# epochs = "growth:0.1"
# first_epoch = 100
# report_window_hours = 168       # how long a replaced policy may still be reported under
# Where a step takes more than minutes, say how long: step_hours = "24". The window is then a week
# and an episode (two episodes behind a relay), and a shorter one than reports need is refused.
# In a world that changes, plan from the latest N users only: memory_users = N.

# What the numbers mean, for the dashboard and for people who compare digests.
[labels]
title = "My deployment"
states = ["state 0", "state 1", "state 2", "state 3"]
actions = ["action 0", "action 1", "action 2"]
reward = "reward"

# What is publicly known of the problem may be in a table [structure], or in a JSON file that
# `structure` names: admissible actions, successors, rewards, groups of states, the incumbent (the
# policy that users had before, or a JSON file with it). It costs no privacy and helps to learn.

# With a table [certificate] (share = "0.1", confidence = "0.95") that share of the users says what
# the policy was worth. It is compared with the incumbent of [structure]. With alarm = "0.01" there,
# it is said if what users answer changes.

# Behind a relay (ldprl relay) there is a table [shuffle] too: crowd, central_epsilon, delta and
# key. What it promises must hold; ldprl statement crowd computes it, ldprl keys pair makes the key.
"""

_OF_VECTORS = """\
# A deployment: all that a client must know before it trusts a service. It is frozen with the first
# start of `ldprl serve`; to change anything later, give the new one another name and database.

name = {name}                     # what operators call it

# The privacy of one report, for the whole episode. `ldprl advise` says what an ε costs in learning,
# `ldprl statement` what it promises to a user.
epsilon = "1"
# mechanism = "threshold-bits"    # one bit of the return; `ldprl list mechanisms` shows all

# Who plans, and when: after `each` report, `every:N` reports, or when the number of reports has
# grown by the factor 1 + G (`growth:G`), but never before `first_epoch` new ones.
# learner = "ldp-es"
epochs = "growth:0.05"
first_epoch = 60                  # at ε = 0.5, 200; at 2, 22: 50·v, v the variance of a bit
# report_window_hours = 168       # how long a replaced policy may still be reported under
# Where a step takes more than minutes, say how long: step_hours = "24". The window is then a week
# and an episode (two episodes behind a relay), and a shorter one than reports need is refused.
# In a world that changes, plan mostly from the latest N users: memory_users = N.

# The problem. A user sees numbers or categories, is told one of `actions`, at most `horizon` times,
# and what that earns in all lies between the two `returns`; what is beyond is cut.
[policy]
kind = "linear"                   # or "network" (hidden = [16], activation = "tanh"), or
#                                 # "shared-linear" where features are of actions
horizon = {horizon}
returns = [{returns}]
spread = "1"                      # σ₀: how far users' parameters are spread
# Start from the policy that users had before: a file of torch's, Stable-Baselines3's, ONNX or
# JSON. It is then the incumbent that certificates compare with.
# start = "policy.zip"
# Levels in place of choices: {{levels = [{{name = "dose", unit = "U", low = 0, high = 5}}]}}
actions = {actions}
# A number x enters as (x − centre)/scale: what is usual, and how much it usually differs. Both are
# public: take them from what is known, not from your users' data.
features = [
{features}
]

[labels]
title = {title}
reward = "reward"

# With a table [certificate] (share = "0.1", confidence = "0.95") that share of the users gets the
# policy that would be handed over, and says what it was worth. With alarm = "0.01" there, it is
# said if what users answer changes; with most_lost = "0.1", users lose at most that share of what
# the start earns above the least return.

# Behind a relay (ldprl relay) there is a table [shuffle] too: crowd, central_epsilon, delta and
# key. What it promises must hold; ldprl statement crowd computes it, ldprl keys pair makes the key.
"""
_EXAMPLE = {
    "horizon": 30,
    "returns": "0, 30",
    "actions": '["rest", "walk", "run"]',
    "features": (
        '    {name = "heart rate", unit = "1/min", centre = "70", scale = "15"},\n'
        '    {name = "sleep", unit = "h", centre = "7", scale = "1.5"},\n'
        '    {name = "weather", categories = ["dry", "rain", "snow"]},'
    ),
}

File = Annotated[Path, typer.Argument(metavar="FILE", help="The deployment's TOML.")]
deployment = subgroup("Write a deployment's file, check it, print the digest that clients pin.")


@deployment.command(epilog="Example: **ldprl deployment init clinic.toml**")
def init(
    file: File,
    vectors: Annotated[
        bool, typer.Option("--vectors", help="Users see numbers, not one of a few states.")
    ] = False,
    env: Annotated[
        str | None,
        text(
            "ENV",
            "The same, with what an environment says of itself: CartPole-v1, glucose,"
            " module:factory, data.npz.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a deployment to start from, with a comment on every setting."""
    content = _of_vectors(env) if vectors or env is not None else TEMPLATE
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(content)
    except FileExistsError:
        raise InputError("file", str(file), "a file that does not exist yet") from None
    except OSError as error:
        raise InputError("file", str(file), f"a file to write ({error.strerror})") from None
    done = f"wrote {file}: edit it, then run ldprl deployment check {file}"
    show_result(as_json, {"deployment": str(file)}, done)


@deployment.command(epilog="Example: **ldprl deployment check clinic.toml**")
def check(file: File, as_json: Json = False) -> None:
    """Say what a deployment means, or what is wrong with it (exit code 2)."""
    from ldprl.service.learners import check_used
    from ldprl.service.settings import read_deployment

    found = read_deployment(file)
    check_used(found)
    warn_of_unused(found.learner, found.structure, certified=found.certificate is not None)
    document = {"digest": found.digest, "deployment": found.document}
    show_result(as_json, document, _meaning(found))


@deployment.command(epilog="Example: **ldprl deployment digest clinic.toml**")
def digest(file: File, as_json: Json = False) -> None:
    """Print the SHA-256 of a deployment: clients that are built with it refuse any other."""
    from ldprl.service.settings import read_deployment

    found = read_deployment(file).digest
    show_result(as_json, {"digest": found}, found)


def _of_vectors(env: str | None) -> str:
    """Return a deployment whose users see vectors: an example's, or an environment's."""
    if env is None:
        return _OF_VECTORS.format(name='"my-deployment"', title='"My deployment"', **_EXAMPLE)
    from ldprl.worlds.sampled_from import sampled_from

    world = sampled_from(env)
    stated = world.problem.document()
    return _OF_VECTORS.format(
        name=_toml(world.name.lower()),
        title=_toml(world.name),
        horizon=stated["horizon"],
        returns=", ".join(stated["returns"]),
        actions=_toml(stated["actions"]),
        features="\n".join(f"    {_toml(one)}," for one in stated["features"]),
    )


def _toml(value: Any) -> str:
    """Write text, lists and tables as TOML, each in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(value[key])}" for key in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _meaning(found: Deployment) -> str:
    """Return what a deployment means, a fact a line: sizes, time, privacy, learner, digest."""
    guarantee = found.built.guarantee
    delta = f" and δ = {guarantee.delta:g}" if guarantee.delta else ""
    lines = [
        f"{found.name}: {found.problem.in_words}",
        *_time(found),
        f"each report has ε = {guarantee.epsilon:g}{delta} for its whole trajectory"
        f" ({found.mechanism})",
    ]
    if (shuffle := found.shuffle) is not None:
        lines.append(
            f"a relay mixes at least {shuffle.crowd:,} reports, which have"
            f" ε = {shuffle.central_epsilon}, δ = {shuffle.delta} in that crowd"
        )
    if found.structure:
        lines.append(f"publicly known: {', '.join(found.structure.parts)}")
    if (certified := found.certificate) is not None:
        share = 100 * float(certified.share)
        lines.append(f"{share:g}% of the users say what their policy was worth, for a certificate")
    plans = f"plans after {found.next_plan_at(0):,} reports and then by {found.epochs}"
    return "\n".join([*lines, f"{found.learner} {plans}", f"digest {found.digest}"])


def _time(found: Deployment) -> list[str]:
    """Return what follows from the length of a step, if that is stated."""
    duration = found.duration
    if duration is None:
        return []
    window, reports = found.report_window_hours, duration.episodes_a_year
    lines = [f"{duration}: reports count until {window} h after their policy was replaced"]
    if found.shuffle is not None:
        lines.append(f"a crowd waits for {duration.linger(window) / 3600:g} h at the relay")
    if reports:
        epsilon = reports * found.built.guarantee.epsilon
        lines.append(f"a user who always takes part sends {reports} a year, ε = {epsilon:g}")
    return lines
