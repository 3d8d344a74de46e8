"""People with real clients and a real server make the sums and the regret that the engine says."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ldprl import Assignment, Laplace, run_protocol
from ldprl.mechanisms.mechanism import Mechanism, TellsReturn
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.sampling import RandomSource
from ldprl.mechanisms.subset import SubsetOracle, _threshold
from ldprl.policies.tables import TableDistribution
from ldprl.protocol.deployment import Deployment
from ldprl.service.learners import learner_of
from ldprl.service.settings import DEMO
from ldprl.shape import Array, FloatArray, IntArray
from ldprl.simulated_clients import SimulatedClients
from ldprl.simulation import interpreted
from ldprl.simulation.random_policies import sample_by_table
from ldprl.simulation.regret import RegretRecorder
from ldprl.simulation.seeds import seeds_of
from ldprl.simulation.world import draw_true_counts
from ldprl.worlds.tabular import TabularMDP
from tests.statistical.checks import TYPE_I, together

from .conftest import StartServer
from .server import Server

pytestmark = pytest.mark.slow

WORLD = TabularMDP.from_file(str(DEMO / "world.json"))
USERS = 1200
ENGINE_DRAWS = 1000
Serve = Callable[[Deployment], Server]


def visited_by(users: int, server: Server) -> SimulatedClients:
    """Let people take part in a server; all of them are counted."""
    crowd = SimulatedClients(server.url, server.deployment().digest, WORLD, users, concurrency=4)
    crowd.run()
    assert crowd.statuses == {"counted": users}
    return crowd


@pytest.fixture
def serve(start_server: StartServer, tmp_path: Path) -> Serve:
    def start(deployment: Deployment) -> Server:
        keys = ("name", "mechanism", "learner", "epsilon", "epochs", "first_epoch")
        sizes = deployment.document["shape"]
        fields = {key: deployment.document[key] for key in keys} | {
            key: sizes[key] for key in ("states", "actions", "horizon")
        }
        text = "\n".join(f"{key} = {json.dumps(value)}" for key, value in fields.items())
        server = start_server(text, f"sqlite:///{tmp_path / secrets.token_hex(4)}.sqlite")
        assert server.deployment().digest == deployment.digest
        return server

    return start


def deployment(mechanism: str, epochs: str, first_epoch: int = 1) -> Deployment:
    learner = "ldp-returns" if mechanism == "return-bits" else "ldp-evi"
    return Deployment(
        "end to end",
        WORLD.shape,
        "1",
        mechanism,
        learner=learner,
        epochs=epochs,
        first_epoch=first_epoch,
    )


@dataclass(frozen=True)
class ReportedSum:
    """The sums of one assignment: those of a real crowd, and many draws of the engine."""

    assignment: Assignment
    users: int
    tally: IntArray
    engine: Array


def reported_sums(server: Server) -> list[ReportedSum]:
    plan = server.get("/v1/policy").json["assignments"]
    sums = server.admin("GET", "/v1/admin/export").json["sums"]
    mechanism, rng = server.deployment().built, np.random.default_rng(5)
    groups = np.array([one["users"] for one in sums])
    assert groups.sum() == USERS
    expected = USERS * np.array([part["share"] for part in plan])
    large = np.flatnonzero(expected >= 20)
    if len(large) > 1:
        # χ² needs numbers that are not small: assignments with few users are added to the last.
        seen, wanted = (
            np.append(numbers[large[:-1]], USERS - numbers[large[:-1]].sum())
            for numbers in (groups, expected)
        )
        assert stats.chisquare(seen, wanted).pvalue > TYPE_I
    result = []
    for part, one in zip(plan, sums, strict=True):
        if not one["users"]:
            continue
        questions = tuple(Question.from_document("", it, WORLD.shape) for it in part["questions"])
        tables: TableDistribution | IntArray
        if "law" in part:
            law = part["law"] if isinstance(part["law"], dict) else plan[part["law"]]["law"]
            tables = TableDistribution.from_document(law, WORLD.shape)
        else:
            tables = np.array(part["policy"])
        assignment = Assignment(tables, 1.0, questions)
        draws = [
            engine_tally(mechanism, assignment, one["users"], rng) for _ in range(ENGINE_DRAWS)
        ]
        result.append(
            ReportedSum(assignment, one["users"], np.array(one["tally"]), np.array(draws))
        )
    return result


def engine_tally(
    mechanism: Mechanism, assignment: Assignment, users: int, rng: np.random.Generator
) -> Array:
    if assignment.law is None:
        totals = draw_true_counts(WORLD, assignment.table, users, 1, rng)
        return mechanism.sample_tally(totals, assignment, rng)
    assert isinstance(mechanism, TellsReturn)
    return sample_by_table(WORLD, mechanism, assignment, users, rng)[0]


def subset_pvalue(parts: list[ReportedSum]) -> float:
    """Test each item's number of reports, and all together in the direction of the answers.

    An item is in a report or not, independently of other people's: its number is binomial, with
    the engine's frequency (known 1,000 times better than the crowd's). Σ_v μ_v·x_v, the numbers
    weighted by the engine's mean above even chances, grows if answers are reported more truthfully;
    it is a sum over 1,200 independent people and so close to normal.
    """
    pvalues, off, variance = [], 0.0, 0.0
    for part in parts:
        frequency = part.engine.mean(axis=0) / part.users
        for seen, chance in zip(part.tally.tolist(), frequency.tolist(), strict=True):
            pvalues.append(stats.binomtest(seen, part.users, chance).pvalue)
        weights = frequency - frequency.mean()
        drawn = part.engine @ weights
        off += float(part.tally @ weights - drawn.mean())
        variance += float(drawn.var(ddof=1))
    pvalues.append(2 * stats.norm.sf(abs(off) / np.sqrt(variance)))
    return min(together(pvalues[:-1]), pvalues[-1]) * 2


def counters_pvalue(parts: list[ReportedSum]) -> float:
    """Test the counters' places, one by one, and their spread, together.

    Each is the sum of 1,200 draws of noise and so close to normal, and independent of the others
    apart from the small share that people's trajectories have in it.
    """
    (part,) = parts
    z = (part.tally - part.engine.mean(axis=0)) / part.engine.std(axis=0, ddof=1)
    spread = float(z @ z)
    sides = stats.chi2.cdf(spread, len(z)), stats.chi2.sf(spread, len(z))
    return min(together(2 * stats.norm.sf(np.abs(z))), 2 * min(sides)) * 2


PVALUES: dict[str, Callable[[list[ReportedSum]], float]] = {
    "subset-selection": subset_pvalue,
    "return-bits": subset_pvalue,
    "laplace": counters_pvalue,
}


def reduce_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make clients with four times the ε, or half the noise; the server is another process."""

    true_draw, true = SubsetOracle.draw_many, Laplace.privatize_counts

    def draw_many(self: SubsetOracle, item: int, count: int, source: RandomSource) -> IntArray:
        bolder = replace(self, threshold=_threshold(self.items, self.size, Fraction(4)))
        return true_draw(bolder, item, count, source)

    def privatize_counts(self: Laplace, counts: Array, source: RandomSource) -> Array:
        noise: Array = true(self, counts, source) - counts
        return counts + np.rint(noise / 2).astype(np.int64)

    monkeypatch.setattr(SubsetOracle, "draw_many", draw_many)
    monkeypatch.setattr(Laplace, "privatize_counts", privatize_counts)


@pytest.mark.parametrize("mechanism", PVALUES)
def test_sums_over_http_have_the_engines_law(mechanism: str, serve: Serve) -> None:
    """Type-I error 1e-6 for each mechanism."""
    server = serve(deployment(mechanism, "every:1000000"))
    visited_by(USERS, server)
    assert PVALUES[mechanism](reported_sums(server)) > TYPE_I


@pytest.mark.parametrize("mechanism", PVALUES)
def test_clients_with_less_noise_are_noticed(
    mechanism: str, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant of the test above."""
    server = serve(deployment(mechanism, "every:1000000"))
    reduce_the_noise(monkeypatch)
    visited_by(USERS, server)
    assert PVALUES[mechanism](reported_sums(server)) < TYPE_I


EPOCH = 150
EPOCHS = 5
RUNS = 4
ENDS = EPOCH * np.arange(1, EPOCHS + 1)


def regret_over_http(server: Server) -> list[float]:
    """Return the regret at the end of each epoch of a service that plans every 150 reports.

    A crowd of 150 comes, and the next one when the server has planned: as the engine has it.
    """
    curve = [0.0]
    for version in range(1, EPOCHS + 1):
        deadline = time.monotonic() + 120
        while server.get("/v1/status").json["version"] < version:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert server.get("/v1/status").json["version"] == version
        curve.append(curve[-1] + visited_by(EPOCH, server).recorder.total)
    return curve[1:]


def regret_of_the_engine(runs: int) -> FloatArray:
    it = deployment("subset-selection", f"every:{EPOCH}", EPOCH)
    learner, mechanism = learner_of(it), it.built
    curves = [
        interpreted.run(
            WORLD, learner, mechanism, ENDS, lambda _: EPOCH,
            seeds_of(3, run, learner, mechanism, common=False), lambda _: None,
        )[0]
        for run in range(runs)
    ]  # fmt: skip
    return np.array(curves)


def regret_of_liars(seed: int) -> list[float]:
    """The mutant, without the network: people who say that good is bad."""
    it = deployment("subset-selection", f"every:{EPOCH}", EPOCH)
    recorder = RegretRecorder(WORLD, ENDS)
    turned = replace(WORLD, rewards=1 - WORLD.rewards)
    episodes = run_protocol(
        turned, learner_of(it), it.built, int(ENDS[-1]), seed, replan=lambda _: EPOCH
    )
    for episode in episodes:
        recorder.add(1, recorder.loss(episode.assignment.table))
    return list(recorder.curve)


def same_curves(found: FloatArray, engine: FloatArray) -> float:
    """Return the p-value of curves having one law, by an exact rank test at the end of each epoch.

    Few policies are ever handed out, so regrets tie; ties are broken at random, which keeps the
    test exact.
    """
    rng = np.random.default_rng(0)
    pvalues = []
    for here, there in zip(found.T, engine.T, strict=True):
        both = np.concatenate([here, there])
        order = np.lexsort((rng.random(len(both)), np.round(both, 9)))
        ranks = np.argsort(order)
        few, many = ranks[: len(here)], ranks[len(here) :]
        pvalues.append(stats.mannwhitneyu(few, many, method="exact").pvalue)
    return together(pvalues)


def test_regret_over_http_is_that_of_the_engine(serve: Serve) -> None:
    """Type-I error 1e-6: four services of their own against three hundred runs of the engine."""
    curves = []
    for _ in range(RUNS):
        server = serve(deployment("subset-selection", f"every:{EPOCH}", EPOCH))
        curves.append(regret_over_http(server))
        server.stop()
    engine = regret_of_the_engine(300)
    assert same_curves(np.array(curves), engine) > TYPE_I
    liars = np.array([regret_of_liars(seed) for seed in range(10)])
    assert same_curves(liars, engine) < TYPE_I
