"""Grids of simulations from a TOML file: run on all cores or a cluster, stored, resumed, merged."""

from ldprl.experiments.cells import Cell as Cell
from ldprl.experiments.cells import cells_of as cells_of
from ldprl.experiments.run import run_experiment as run_experiment
from ldprl.experiments.schema import Experiment as Experiment
