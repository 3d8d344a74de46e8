"""Titles and colours of learners, mechanisms and kinds of constants, for all pictures.

The colours are Okabe and Ito's, safe for the colour-blind; learners without privacy are grey.
"""

from __future__ import annotations

LEARNERS = {
    "ldp-obi": ("LDP-OBI", "#0072b2"),
    "ldp-psrl": ("LDP-PSRL", "#cc79a7"),
    "ldp-evi": ("LDP-EVI", "#d55e00"),
    "ldp-ts": ("LDP-TS", "#009e73"),
    "private-ucb-vi": ("Private-UCB-VI", "#56b4e9"),
    "dp-ucbvi": ("DP-UCBVI", "#e69f00"),
    "pucb": ("PUCB", "#8c6d31"),
    "ucb-vi": ("UCB-VI", "#1b1b1b"),
    "ucb-vi-bernstein": ("UCB-VI (Bernstein)", "#b5b5b5"),
    "psrl": ("PSRL", "#7a7a7a"),
}
MECHANISMS = {
    "laplace": ("Laplace", "#0072b2"),
    "gaussian": ("Gaussian", "#009e73"),
    "randomized-response": ("Randomized response", "#cc79a7"),
    "bounded-noise": ("Bounded noise", "#d98200"),
}
CONSTANTS = {"paper": "the paper's constants", "sound": "sound constants"}
