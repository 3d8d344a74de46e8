"""``ldprl statement``: the privacy that a deployment promises its users."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from ldprl.cli.completion import mechanism_names
from ldprl.cli.numbers import count, decimal
from ldprl.cli.options import ACTIONS, HORIZON, STATES, ConstantsName, Delta, Epsilon, Json
from ldprl.cli.show import show_json
from ldprl.errors import InputError

if TYPE_CHECKING:
    from ldprl.accounting.statement import PrivacyStatement
    from ldprl.mechanisms.mechanism import Constants

_Sizes = dict[str, str]


def statement(
    mechanism: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How users privatize; see `ldprl mechanisms`.",
            autocompletion=mechanism_names,
        ),
    ] = None,
    states: Annotated[str | None, STATES] = None,
    actions: Annotated[str | None, ACTIONS] = None,
    horizon: Annotated[str | None, HORIZON] = None,
    epsilon: Epsilon = None,
    delta: Delta = "0",
    constants: ConstantsName = "sound",
    reports: Annotated[
        str, typer.Option(metavar="N,…", help="Say what a user who reports so often has spent.")
    ] = "2,10,100",
    crowd: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="State also what a relay adds that mixes at least N reports; --delta is then the"
            " crowd's, 1e-8 unless given.",
        ),
    ] = None,
    deployment: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="State it for this deployment, in place of all other options but --reports: with"
            " its relay, and what it says to be publicly known.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """State in plain words the privacy of users, as the code gives it.

    What one report gives away at most, what several do, what is public and what is not protected.
    """
    times = [count("reports", number, at_most=10**4) for number in reports.split(",")]
    sizes = {"states": states, "actions": actions, "horizon": horizon}
    named = sizes | {"mechanism": mechanism}
    if deployment is None:
        for option, value in named.items():
            if value is None:
                raise InputError(option, None, "a value, or a --deployment that has it")
        private = epsilon, delta, constants
        found = _of_mechanism(cast(str, mechanism), cast(_Sizes, sizes), private, crowd, times)
    else:
        others = {"epsilon": epsilon, "crowd": crowd, "delta": delta, "constants": constants}
        usual = {"delta": "0", "constants": "sound"}
        for option, value in (named | others).items():
            if value != usual.get(option):
                raise InputError(option, value, "nothing: the deployment says it")
        found = _of_deployment(deployment, times)
    if as_json:
        show_json(found.to_dict())
    else:
        print(found.to_text(), end="")


def _of_mechanism(
    mechanism: str,
    sizes: _Sizes,
    private: tuple[str | None, str, str],
    crowd: str | None,
    times: list[int],
) -> PrivacyStatement:
    from ldprl.accounting.shuffling import MOST_USERS
    from ldprl.accounting.statement import USUAL_CROWD_DELTA, privacy_statement
    from ldprl.mechanisms.catalogue import build_mechanism
    from ldprl.shape import Shape

    epsilon, delta, constants = private
    states, actions, horizon = (count(key, size, at_most=10**3) for key, size in sizes.items())
    built = build_mechanism(
        mechanism,
        Shape(states, actions, horizon),
        None if epsilon is None else decimal("epsilon", epsilon),
        decimal("delta", delta),
        constants=cast("Constants", constants),
    )
    mixed = None if crowd is None else count("crowd", crowd, at_least=2, at_most=MOST_USERS)
    return privacy_statement(built, times, mixed, decimal("delta", delta) or USUAL_CROWD_DELTA)


def _of_deployment(file: Path, times: list[int]) -> PrivacyStatement:
    from ldprl.accounting.known import known_in_words
    from ldprl.accounting.statement import USUAL_CROWD_DELTA, privacy_statement
    from ldprl.service.settings import read_deployment

    found = read_deployment(file)
    crowd, delta, known = None, USUAL_CROWD_DELTA, list[str]()
    if (shuffle := found.shuffle) is not None:
        crowd, delta = shuffle.crowd, float(shuffle.delta)
    if found.structure is not None:
        labels = found.labels.document(found.shape)
        known = known_in_words(found.structure, labels["states"], labels["actions"])
    return privacy_statement(found.built, times, crowd, delta, known)
