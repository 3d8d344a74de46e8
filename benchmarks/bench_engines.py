"""Both engines against a public UCB-VI, a C++ loop, our own reference, and against their own size.

Times are processor time of the thread that works, in pieces that take turns, so that what else
the machine does falls on both alike; of each side the fastest piece counts.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.row import Row
from ldprl.catalogue import LEARNERS
from ldprl.learning.compiled import CompiledLearner
from ldprl.learning.ldp_obi import LDPOBI
from ldprl.learning.ldp_returns import LDPReturns
from ldprl.learning.ucb_vi import UCBVI
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.none import NoPrivacy
from ldprl.mechanisms.return_bits import ReturnBits
from ldprl.simulation.compiled_loop import Engine
from ldprl.simulation.engine import simulate
from ldprl.simulation.random_policies import sample_by_table
from ldprl.simulation.reference import run_protocol
from ldprl.simulation.regret import checkpoints
from ldprl.simulation.replan import Growth, Replan, each
from ldprl.simulation.seeds import seeds_of
from ldprl.worlds import TabularMDP, random_mdp

TURNS = 15
MANY = 10**8
GROWTH = 0.01
BEFORE = "8781a67"
"""The last commit whose compiler was patched, and at which LDP-RETURNS was simulated in Python."""
SOURCES = str(Path(__file__).parents[1] / "src")
SMALLEST = (2, 2, 2)
PAIRS = [
    ("ldp-returns", "return-bits", SMALLEST, 1 / 20),
    *(
        (learner, mechanism, shape, 1.3)
        for learner, mechanism in (
            ("ldp-evi", "subset-selection"),
            ("ldp-ts", "subset-selection"),
            ("ldp-obi", "laplace"),
        )
        for shape in (SMALLEST, (10, 3, 5))
    ),
]
"""Learner, mechanism, shape, and the largest ratio to the time before."""


def run() -> list[Row]:
    """Measure all of it."""
    return [
        *against_rlberry(),
        against_cpp(),
        against_each(),
        against_reference(),
        *growth_rows(),
        slowest_compile(),
        against_episodes(),
        *against_before(),
    ]


def engine(
    mdp: TabularMDP,
    learner: CompiledLearner,
    mechanism: Mechanism,
    episodes: int,
    schedule: Replan = each,
) -> Callable[[], float]:
    """Return a function that simulates one run and returns the nanoseconds an episode took."""
    seeds = seeds_of(0, 0, learner, mechanism, common=False)
    compiled = Engine(mdp, learner, mechanism, checkpoints(episodes), schedule, seeds)

    def once() -> float:
        started = time.thread_time()
        compiled.run(seeds, lambda users: None)
        return (time.thread_time() - started) / episodes * 1e9

    return once


def obi(mdp: TabularMDP, episodes: int, schedule: Replan = each) -> Callable[[], float]:
    """Return the same for LDP-OBI with the paper's Laplace noise at ε = 2."""
    mechanism = Laplace(mdp.shape, 2.0, constants="paper")
    return engine(mdp, LDPOBI(mechanism), mechanism, episodes, schedule)


def in_turns(*sides: Callable[[], float], turns: int = TURNS) -> list[float]:
    """Return the least of each side's measurements."""
    measured = [[side() for side in sides] for _ in range(turns)]
    return [min(side) for side in zip(*measured, strict=True)]


def against_rlberry() -> list[Row]:
    """Compare UCB-VI, re-planning for each user, with rlberry-scool's."""
    try:
        finite: Any = importlib.import_module("rlberry.envs.finite_mdp")
        agents: Any = importlib.import_module("rlberry_scool.agents")
    except ImportError as error:
        print(f"SKIPPED: rlberry-scool is not installed ({error})", file=sys.stderr)
        return []
    rows = []
    for states, actions, horizon, theirs in ((2, 2, 2, 300), (10, 4, 10, 20)):
        mdp = random_mdp(states, actions, horizon, seed=0)
        world = finite.FiniteMDP(
            mdp.rewards, mdp.transitions, initial_state_distribution=mdp.initial
        )
        agent = agents.UCBVIAgent(world, gamma=1.0, horizon=horizon)

        def their_turn(agent: Any = agent, episodes: int = theirs) -> float:
            started = time.thread_time()
            agent.fit(episodes)
            return (time.thread_time() - started) / episodes * 1e9

        ours = engine(mdp, UCBVI(), NoPrivacy(mdp.shape), 1000 * theirs)
        mine, other = in_turns(ours, their_turn, turns=5)
        what = f"`each`, UCB-VI, S={states} A={actions} H={horizon}, an episode"
        rows.append(Row(what, mine, "rlberry-scool UCBVI", other, "ns", 1 / 500))
    return rows


def against_cpp() -> Row:
    """Compare LDP-OBI with Laplace noise with the same loop in C++, its sizes known to g++."""
    source = Path(__file__).parent / "ldp_obi_laplace.cpp"
    mdp, episodes = random_mdp(2, 2, 2, seed=0), 300_000
    numbers = np.concatenate([mdp.transitions.ravel(), mdp.rewards.ravel(), mdp.initial])
    text = " ".join(repr(float(number)) for number in numbers)
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "loop")
        options = ["-O3", "-march=native", "-ffast-math"]
        subprocess.run(["g++", *options, "-o", program, str(source)], check=True)

        def their_turn() -> float:
            call = [program, str(episodes), str(6 * mdp.horizon / 2.0), "1"]
            printed = subprocess.run(call, input=text, capture_output=True, text=True, check=True)
            return float(printed.stdout.split()[0])

        mine, other = in_turns(obi(mdp, episodes), their_turn)
    what = "`each`, LDP-OBI with Laplace noise, S=A=H=2, an episode"
    return Row(what, mine, "C++ loop, g++ -O3 -march=native -ffast-math", other, "ns", 1.5)


def against_each() -> Row:
    """Compare a run of 10⁸ users in batches with the same run one by one, timed on fewer."""
    mdp = random_mdp(2, 2, 2, seed=0)
    batches, one_by_one = obi(mdp, MANY, Growth(GROWTH)), obi(mdp, 300_000)
    mine, other = (nanoseconds * MANY / 1e9 for nanoseconds in in_turns(batches, one_by_one))
    what = f"`growth:{GROWTH}`, LDP-OBI with Laplace noise, 10⁸ users"
    return Row(what, mine, "`each`, scaled up from 3·10⁵ users", other, "s", 1 / 1000)


def against_reference() -> Row:
    """Compare with the readable protocol, one user at a time."""
    mdp = random_mdp(2, 2, 2, seed=0)
    mechanism = Laplace(mdp.shape, 2.0)
    learner, episodes = LDPOBI(mechanism), 200

    def their_turn() -> float:
        started = time.thread_time()
        for _ in run_protocol(mdp, learner, mechanism, episodes):
            pass
        return (time.thread_time() - started) / episodes * 1e9

    mine, other = in_turns(engine(mdp, learner, mechanism, 100_000), their_turn, turns=5)
    what = "`each`, LDP-OBI with discrete Laplace noise, S=A=H=2, an episode"
    return Row(what, mine, "our readable protocol", other, "ns")


def growth_rows() -> list[Row]:
    """Show how an episode's time grows with the problem: fitted exponents beside S²AH's."""
    sizes = {
        "S": ([(states, 4, 5) for states in (4, 8, 16, 32)], 2.0),
        "A": ([(8, actions, 5) for actions in (2, 4, 8, 16)], 1.0),
        "H": ([(8, 4, horizon) for horizon in (4, 8, 16, 32)], 1.0),
    }
    rows = []
    for place, (name, (shapes, most)) in enumerate(sizes.items()):
        turns = [obi(random_mdp(*shape, seed=0), 2000) for shape in shapes]
        times = in_turns(*turns, turns=5)
        exponent = np.polyfit(np.log([shape[place] for shape in shapes]), np.log(times), 1)[0]
        what = f"`each`, LDP-OBI: exponent of {name} in an episode's time"
        rows.append(Row(what, float(exponent), "S²AH", most, "", 1.0))
    mdp = random_mdp(2, 2, 2, seed=0)
    small, large = in_turns(obi(mdp, 10_000), obi(mdp, 1_000_000), turns=5)
    rows.append(Row("`each`, an episode of 10⁶", large, "an episode of 10⁴", small, "ns"))
    rows.append(Row("`growth:0.01`, memory of a run of 10⁸", memory(mdp), "1 MB", 1.0, "MB"))
    return rows


def memory(mdp: TabularMDP) -> float:
    """Return the megabytes that a run takes beyond the compiled code."""
    once = obi(mdp, MANY, Growth(GROWTH))
    tracemalloc.start()
    once()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most / 1e6


def slowest_compile() -> Row:
    """Return how long the first simulation of a pair takes in a process without any cache.

    Every learner with its usual mechanism, of which the slowest counts. Processor time, less that
    of the same simulation once everything is in the cache.
    """
    times = {}
    for learner, kind in LEARNERS.items():
        if not kind.compiles():
            continue
        pair = f"{learner} with {kind.usual_mechanism}"
        with tempfile.TemporaryDirectory() as folder:
            given = (SOURCES, folder, SMALLEST, learner, kind.usual_mechanism, 10**4)
            first, again = (_simulated_by(*given, turns=0)[0] for _ in range(2))
        times[pair] = first - again
    slowest = max(times, key=lambda pair: times[pair])
    what = f"first simulation of a pair, compiling: {slowest}, the slowest of {len(times)}"
    return Row(what, times[slowest], "20 s", 20.0, "s", 1.0)


def against_before() -> list[Row]:
    """Compare simulations of 10⁸ users with those on an older commit, in turns.

    Each side runs in processes of its own, on a checkout made for it, and of each the fastest run
    counts. Left out where the history does not have the commit.
    """
    root = Path(__file__).parents[1]
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", BEFORE, "src"], cwd=root, capture_output=True, check=False
        )
        if archive.returncode:
            print(f"SKIPPED: the history does not have commit {BEFORE}", file=sys.stderr)
            return []
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        rows = []
        for learner, mechanism, shape, limit in PAIRS:
            given = (shape, learner, mechanism, MANY)

            def ours(given: Any = given) -> float:
                return _simulated_by(SOURCES, f"{folder}/ours", *given, turns=3)[1]

            def theirs(given: Any = given) -> float:
                return _simulated_by(f"{folder}/src", f"{folder}/theirs", *given, turns=3)[1]

            mine, other = in_turns(ours, theirs, turns=2)
            sizes = "×".join(map(str, shape))
            what = f"`growth:{GROWTH}`, {learner} with {mechanism}, {sizes}, 10⁸ users"
            rows.append(Row(what, mine, f"commit {BEFORE}", other, "s", limit))
    return rows


def against_episodes() -> Row:
    """Compare a run of LDP-RETURNS with its users' episodes alone, under its last plan."""
    mdp, users = random_mdp(25, 4, 10, seed=0), 10**7
    mechanism = ReturnBits(mdp.shape, 2.0)
    learner = LDPReturns(mechanism)
    sums = simulate(mdp, learner, mechanism, users).statistics[0]
    assignment = learner.plan(sums, np.random.default_rng(0))[0]
    run = engine(mdp, learner, mechanism, users, Growth(GROWTH))

    def episodes() -> float:
        started = time.thread_time()
        sample_by_table(mdp, mechanism, assignment, users, np.random.default_rng(1))
        return (time.thread_time() - started) / users * 1e9

    mine, other = in_turns(run, episodes, turns=5)
    what = f"`growth:{GROWTH}`, LDP-RETURNS, 25×4×10, a user of 10⁷"
    return Row(what, mine, "the episode alone", other, "ns", 1.1)


def _simulated_by(
    sources: str,
    cache: str,
    shape: tuple[int, int, int],
    learner: str,
    mechanism: str,
    users: int,
    *,
    turns: int,
) -> tuple[float, float]:
    """Return processor seconds of a first simulation, of ten users, and of the fastest of others.

    The first one compiles. There are ``turns`` others, of all ``users``.
    """
    private = {} if mechanism == "none" else {"epsilon": 2.0}
    program = f"""
import time
from ldprl import random_mdp, simulate
from ldprl.catalogue import build
mdp = random_mdp(*{shape}, seed=0)
learner, mechanism = build({learner!r}, {mechanism!r}, mdp.shape, episodes={users}, **{private})
times = []
for number in [10] + {turns} * [{users}]:
    started = time.process_time()
    simulate(mdp, learner, mechanism, number, replan="growth:{GROWTH}")
    times.append(time.process_time() - started)
print(times[0], min(times[1:], default=0.0))
"""
    known = os.environ | {"PYTHONPATH": sources, "NUMBA_CACHE_DIR": cache}
    printed = subprocess.run(
        [sys.executable, "-c", program], env=known, capture_output=True, text=True, check=True
    )
    first, fastest = printed.stdout.split()
    return float(first), float(fastest)
