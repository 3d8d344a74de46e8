"""Titles and colours of learners, mechanisms and kinds of constants, for all pictures.

The colours are Okabe and Ito's, safe for the colour-blind; learners without privacy are grey.
"""

from __future__ import annotations

from ldprl import catalogue
from ldprl.mechanisms import catalogue as mechanisms

LEARNERS = {name: (kind.title, kind.colour) for name, kind in catalogue.LEARNERS.items()}
MECHANISMS = {name: (kind.title, kind.colour) for name, kind in mechanisms.MECHANISMS.items()}
CONSTANTS = {"paper": "the paper's constants", "sound": "sound constants"}
