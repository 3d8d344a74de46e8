"""Shell completion of the names that options take."""

from __future__ import annotations

from collections.abc import Iterable


def learner_names(incomplete: str) -> list[tuple[str, str]]:
    """Return the learners whose names start with ``incomplete``, with their summaries."""
    from ldprl.catalogue import LEARNERS

    return _starting(incomplete, ((name, kind.summary) for name, kind in LEARNERS.items()))


def mechanism_names(incomplete: str) -> list[tuple[str, str]]:
    """Return the mechanisms whose names start with ``incomplete``, with their summaries."""
    from ldprl.mechanisms.catalogue import MECHANISMS

    return _starting(incomplete, ((name, kind.summary) for name, kind in MECHANISMS.items()))


def constants_names(incomplete: str) -> list[tuple[str, str]]:
    """Return the choices of constants."""
    choices = (
        ("sound", "those that give what they state"),
        ("paper", "what the paper prints"),
    )
    return _starting(incomplete, choices)


def _starting(incomplete: str, names: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, summary) for name, summary in names if name.startswith(incomplete)]
