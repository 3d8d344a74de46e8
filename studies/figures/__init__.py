"""Figures beyond the paper: what ``python -m studies`` makes, each a module here."""

from __future__ import annotations

from ldprl.figures.collection import Collection

STUDIES = Collection(__name__)
