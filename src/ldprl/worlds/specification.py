"""MDPs named in one line of text, as the command line takes them."""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ldprl.disk import read_json
from ldprl.errors import InputError, number_in, one_of
from ldprl.structure import Structure
from ldprl.worlds.families import (
    bandit,
    contextual_bandit,
    grid_world,
    random_mdp,
    riverswim,
)
from ldprl.worlds.hard_tree import hard_tree
from ldprl.worlds.tabular import TabularMDP

_FAMILIES: dict[str, tuple[str, Callable[..., TabularMDP]]] = {
    "random": ("S,A,H,SEED", random_mdp),
    "riverswim": ("S,H", riverswim),
    "grid": ("ROWS,COLUMNS,H", grid_world),
    "hard-tree": ("S,A,H,K,EPSILON", lambda *parameters: hard_tree(*parameters).mdp),
    "gym": ("ENV,H", TabularMDP.from_gymnasium),
}
_MEANS: dict[str, tuple[str, Callable[..., TabularMDP]]] = {
    "bandit": ("MEAN,MEAN,…", lambda text: bandit(*_means(text))),
    "contexts": (
        "MEAN,MEAN,…/MEAN,MEAN,…",
        lambda text: contextual_bandit(*map(_means, text.split("/"))),
    ),
}
"""Those that are made of any number of mean rewards."""
_ENVIRONMENT = re.compile(r"[\w/:.-]+-v\d+")
"""How Gymnasium's ids look."""


def mdp_from(text: str) -> TabularMDP:
    """Build the MDP that ``text`` names: that of a file, or a family with its parameters.

    Examples
    --------
    >>> mdp_from("random:2,2,2,7").shape
    Shape(states=2, actions=2, horizon=2, step_dependent=False)
    """
    if text.endswith((".json", ".npz")) or os.path.isfile(text):
        return TabularMDP.from_file(text)
    if os.path.isdir(text):
        raise InputError("mdp", text, "a file such as FILE.json or FILE.npz, not a folder")
    family, _, given = text.partition(":")
    if family in _MEANS:
        form, of_means = _MEANS[family]
        if not given:
            raise InputError("mdp", text, f"{family}:{form}")
        return of_means(given)
    if family not in _FAMILIES and os.path.sep in text:
        raise InputError("mdp", text, "a file that exists, such as FILE.json or FILE.npz")
    if _ENVIRONMENT.fullmatch(text) and family not in _FAMILIES:
        raise InputError("mdp", text, f"a world with a model (no model: use --env {text})")
    form, build = _FAMILIES[one_of("mdp", family, [*_FAMILIES, *_MEANS])]
    names, values = form.split(","), given.split(",")
    if len(names) != len(values):
        raise InputError("mdp", text, f"{family}:{form}")
    return build(*map(_parameter, names, values))


def _means(text: str) -> list[float]:
    return [number_in("mean", mean, "a number from 0 to 1") for mean in text.split(",")]


def with_structure(mdp: TabularMDP, path: str) -> TabularMDP:
    """Return the MDP with what a JSON file says is publicly known of it."""
    known = Structure.from_document(read_json("structure", Path(path)), mdp.shape)
    return replace(mdp, structure=known)


def count(field: str, text: str) -> int:
    """Read a whole number, in digits or as 1e8."""
    expected = "a whole number, such as 100 or 1e8"
    try:
        return int(text)
    except ValueError:
        number = number_in(field, text, expected)
    if not number.is_integer():
        raise InputError(field, text, expected)
    return int(number)


def _parameter(name: str, text: str) -> float | str:
    if name == "ENV":
        return text
    if name == "EPSILON":
        return number_in(name, text, "a finite number > 0")
    return count(name, text)
