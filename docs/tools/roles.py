"""Docstrings name other objects as Sphinx does; on the site those names become links."""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:class|func|meth|data|mod|attr):`~?([\w.]+)`")


class Roles(griffe.Extension):
    """Turns ``:class:`~ldprl.shape.Shape``` into a link where the name has a place on a page."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of any object."""
        if obj.docstring is None:
            return

        def link(role: re.Match[str]) -> str:
            name = role[1].rpartition(".")[2]
            return f'<autoref identifier="{role[1]}" optional><code>{name}</code></autoref>'

        obj.docstring.value = ROLE.sub(link, obj.docstring.value)
