"""``ldprl statement``: the privacy that a deployment promises its users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from ldprl.cli.completion import mechanism_names
from ldprl.cli.numbers import count, decimal
from ldprl.cli.options import ACTIONS, HORIZON, STATES, ConstantsName, Delta, Epsilon, Json
from ldprl.cli.show import show_json

if TYPE_CHECKING:
    from ldprl.mechanisms.mechanism import Constants


def statement(
    mechanism: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="How users privatize; see `ldprl mechanisms`.",
            autocompletion=mechanism_names,
        ),
    ],
    states: Annotated[str, STATES],
    actions: Annotated[str, ACTIONS],
    horizon: Annotated[str, HORIZON],
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
    as_json: Json = False,
) -> None:
    """State in plain words the privacy of users, as the code gives it.

    What one report gives away at most, what several do, what is public and what is not protected.
    """
    from ldprl.accounting.shuffling import MOST_USERS
    from ldprl.accounting.statement import USUAL_CROWD_DELTA, privacy_statement
    from ldprl.mechanisms.catalogue import build_mechanism
    from ldprl.shape import Shape

    shape = Shape(
        count("states", states, at_most=10**3),
        count("actions", actions, at_most=10**3),
        count("horizon", horizon, at_most=10**3),
    )
    built = build_mechanism(
        mechanism,
        shape,
        None if epsilon is None else decimal("epsilon", epsilon),
        decimal("delta", delta),
        constants=cast("Constants", constants),
    )
    times = [count("reports", number, at_most=10**4) for number in reports.split(",")]
    mixed = None if crowd is None else count("crowd", crowd, at_least=2, at_most=MOST_USERS)
    found = privacy_statement(built, times, mixed, decimal("delta", delta) or USUAL_CROWD_DELTA)
    if as_json:
        show_json(found.to_dict())
    else:
        print(found.to_text(), end="")
