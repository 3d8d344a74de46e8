"""``ldprl deployment``: write a deployment's file, check it, print the digest that clients pin."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldprl.cli.group import subgroup
from ldprl.cli.options import Json, warn_of_unused
from ldprl.cli.show import show_result
from ldprl.errors import InputError

if TYPE_CHECKING:
    from ldprl.protocol.deployment import Deployment

TEMPLATE = """\
# A deployment: all that a client must know before it trusts a service. It is frozen with the first
# start of `ldprl serve`; to change anything later, give the new one another name and database.

name = "my-deployment"            # what operators call it

# The problem. A user meets `horizon` situations, is in one of `states` at each, and is advised one
# of `actions`.
states = 4
actions = 3
horizon = 4
# step_dependent = false          # true: the world may be another one at each step

# The privacy of one report, for the whole trajectory. `ldprl advise` says what an ε costs in
# learning, `ldprl statement` what it promises to a user.
epsilon = "2"
# delta = "0"                     # gaussian and bounded-noise need δ > 0
# mechanism = "return-bits"       # the recommended one; with two or three states it is
#                                 # "subset-selection", from 25 on "bits-and-moves".
#                                 # `ldprl list mechanisms` shows all

# Who plans, and when: after `each` report, `every:N` reports, or when the number of reports has
# grown by the factor 1 + G (`growth:G`), but never before `first_epoch` new ones.
# learner = "ldp-returns"         # the recommended one; with two or three states it is "ldp-ts",
#                                 # from 25 on "ldp-ways". `ldprl list learners` shows all
# failure_probability = "0.1"     # how often the confidence bounds may fail
# epochs = "growth:0.1"
# first_epoch = 100
# report_window_hours = 168       # how long a replaced policy may still be reported under
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

File = Annotated[Path, typer.Argument(metavar="FILE", help="The deployment's TOML.")]
deployment = subgroup("Write a deployment's file, check it, print the digest that clients pin.")


@deployment.command(epilog="Example: **ldprl deployment init clinic.toml**")
def init(file: File, as_json: Json = False) -> None:
    """Write a deployment to start from, with a comment on every setting."""
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(TEMPLATE)
    except FileExistsError:
        raise InputError("file", str(file), "a file that does not exist yet") from None
    except OSError as error:
        raise InputError("file", str(file), f"a file to write ({error.strerror})") from None
    text = f"wrote {file}: edit it, then run ldprl deployment check {file}"
    show_result(as_json, {"deployment": str(file)}, text)


@deployment.command(epilog="Example: **ldprl deployment check clinic.toml**")
def check(file: File, as_json: Json = False) -> None:
    """Say in one line what a deployment means, or what is wrong with it (exit code 2)."""
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


def _meaning(found: Deployment) -> str:
    """Return a deployment in one line: sizes, privacy, learner, digest."""
    shape, guarantee = found.shape, found.built.guarantee
    delta = f" and δ = {guarantee.delta:g}" if guarantee.delta else ""
    mixed = ""
    if (shuffle := found.shuffle) is not None:
        mixed = (
            f"; a relay mixes at least {shuffle.crowd} reports, which have"
            f" ε = {shuffle.central_epsilon}, δ = {shuffle.delta} in that crowd"
        )
    known = f"; publicly known: {', '.join(found.structure.parts)}" if found.structure else ""
    return (
        f"{found.name}: {shape.states} states, {shape.actions} actions, {shape.horizon} steps;"
        f" each report has ε = {guarantee.epsilon:g}{delta} for its whole trajectory"
        f" ({found.mechanism}){mixed}{known}; {found.learner} plans after"
        f" {found.next_plan_at(0)} reports and then by {found.epochs}; digest {found.digest}"
    )
