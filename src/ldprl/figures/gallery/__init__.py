"""The paper's figures and tables, and one of ours: what ``ldprl reproduce`` makes.

A module here is a figure, and nothing else has to know of it: it defines ``FIGURE``, what has to be
simulated, the table made from it, the pictures of the table and the sentences about it.
"""

from __future__ import annotations

from ldprl.figures.collection import Collection

GALLERY = Collection(__name__)
