"""``ldprl statement``: the privacy that a deployment promises its users."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from ldprl.cli import options
from ldprl.cli.numbers import count, shape_from
from ldprl.cli.show import show_json
from ldprl.errors import InputError

if TYPE_CHECKING:
    from ldprl.accounting.statement import PrivacyStatement
    from ldprl.mechanisms.mechanism import Constants
    from ldprl.shape import Shape


def statement(
    mechanism: Annotated[
        str | None, options.mechanism("How users privatize; see `ldprl mechanisms`.")
    ] = None,
    states: Annotated[int | None, options.STATES] = None,
    actions: Annotated[int | None, options.ACTIONS] = None,
    horizon: Annotated[int | None, options.HORIZON] = None,
    epsilon: options.Epsilon = None,
    delta: options.Delta = 0,
    constants: options.ConstantsName = "sound",
    reports: Annotated[
        str, options.text("N,…", "Say what a user who sends N reports has spent.")
    ] = "2,10,100",
    crowd: Annotated[
        int | None,
        options.whole(
            "N",
            "State also what a relay adds that mixes at least N reports; --delta is then the"
            " crowd's, 1e-8 unless given.",
            at_least=2,
        ),
    ] = None,
    deployment: Annotated[
        Path | None,
        options.text(
            "FILE",
            "State it for this deployment, in place of all other options but --reports: with"
            " its relay, and what it says to be publicly known.",
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """State in plain words the privacy of users, as the code gives it.

    What one report gives away at most, what several do, what is public and what is not protected.
    """
    times = [count("reports", number, 1, 10**4) for number in reports.split(",")]
    sizes = {"states": states, "actions": actions, "horizon": horizon}
    if deployment is None:
        missing = "a value, or a --deployment that has it"
        shape = shape_from(sizes, missing)
        if mechanism is None:
            raise InputError("mechanism", None, missing)
        kind = cast("Constants", constants)
        found = _of_mechanism(mechanism, shape, epsilon, delta, kind, crowd, times)
    else:
        others = sizes | {
            "mechanism": mechanism,
            "epsilon": epsilon,
            "crowd": crowd,
            "delta": delta or None,
            "constants": None if constants == "sound" else constants,
        }
        for name, value in others.items():
            if value is not None:
                raise InputError(name, value, "nothing: the deployment says it")
        found = _of_deployment(deployment, times)
    if as_json:
        show_json(found.to_dict())
    else:
        print(found.to_text(), end="")


def _of_mechanism(
    mechanism: str,
    shape: Shape,
    epsilon: float | None,
    delta: float,
    constants: Constants,
    crowd: int | None,
    times: list[int],
) -> PrivacyStatement:
    from ldprl.accounting.statement import USUAL_CROWD_DELTA, privacy_statement
    from ldprl.mechanisms.catalogue import build_mechanism, check_level

    check_level(mechanism, epsilon, 0.0 if crowd is not None else delta)
    built = build_mechanism(mechanism, shape, epsilon, delta, constants=constants)
    return privacy_statement(built, times, crowd, delta or USUAL_CROWD_DELTA)


def _of_deployment(file: Path, times: list[int]) -> PrivacyStatement:
    from ldprl.accounting.statement import USUAL_CROWD_DELTA, privacy_statement
    from ldprl.accounting.structure_words import known_in_words
    from ldprl.service.settings import read_deployment

    found = read_deployment(file)
    crowd, delta, known = None, USUAL_CROWD_DELTA, list[str]()
    if (shuffle := found.shuffle) is not None:
        crowd, delta = shuffle.crowd, float(shuffle.delta)
    if found.structure is not None:
        labels = found.labels.document(found.shape)
        known = known_in_words(found.structure, labels["states"], labels["actions"])
    return privacy_statement(found.built, times, crowd, delta, known)
