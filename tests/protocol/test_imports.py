"""The user's side of the protocol needs numpy and the standard library alone."""

from __future__ import annotations

import sys

import ldprl.client
import ldprl.protocol
from tests.mechanisms.test_imports import loaded_by, modules_of


def test_client_and_protocol_need_numpy_alone() -> None:
    names = modules_of(ldprl.protocol) + modules_of(ldprl.client)
    assert {"ldprl.protocol.messages", "ldprl.client.client"} <= set(names)
    before = loaded_by("pass")
    # Every mechanism and every kind of question, too: they are found when one is first named.
    found = "\nfrom ldprl.mechanisms.by_name import MECHANISMS\nassert len(MECHANISMS) > 5"
    found += "\nfrom ldprl.mechanisms.questions.observable import observable_kinds"
    found += "\nassert observable_kinds()"
    loaded = loaded_by("\n".join(f"import {name}" for name in names) + found) - before
    tops = {name.partition(".")[0] for name in loaded}
    assert tops - sys.stdlib_module_names == {"numpy", "ldprl"}
    packages = {name.split(".")[1] for name in loaded if name.startswith("ldprl.")}
    assert packages == {
        "accounting", "arrivals", "assignment", "bisection", "client", "disk", "errors", "layout",
        "mechanisms", "naming", "partition", "policies", "problem", "protocol", "query",
        "rounding", "shape", "starting_pair", "statistics", "structure",
    }  # fmt: skip
