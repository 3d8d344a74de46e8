"""An episode on vectors: total on what users see and earn, resumable, private whatever comes."""

from __future__ import annotations

import asyncio
import copy
import functools
import json
import math
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from scipy import stats

from ldprl import InputError, Ledger
from ldprl.client import AsyncClient, Client, Episode
from ldprl.conformance.scripted import ok, running
from ldprl.mechanisms.questions.threshold import CELLS
from ldprl.mechanisms.sampling import SystemSource
from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.mechanisms.total import Total
from ldprl.policies.features import Feature
from ldprl.policies.linear import Linear
from ldprl.policies.perturbed import Perturbed
from ldprl.policies.policy import MOST_POLICIES
from ldprl.policies.written import to_base64
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued
from ldprl.service.learners import learner_of

from .fake import FakeService
from .test_episode import dies

PROBLEM = Linear(
    features=[Feature("pulse", "1/min", "70", "15"), Feature("mood", categories=("low", "high"))],
    actions=["rest", "walk", "run"],
    horizon=4,
    returns=(-1, 3),
)
DEPLOYMENT = Deployment("vectors", PROBLEM, "1")
SEEN: list[Any] = [(80.0, "low"), (math.nan, "nobody knows"), [None, 1], np.array([1e300, 0.0])]
REWARDS = [0.5, -0.25, 1.0, 0.125]
EPSILON = 1.0


class VectorService(FakeService):
    """The fake one, with a law of policies."""

    def __post_init__(self) -> None:
        learner = learner_of(self.deployment)
        sums = self.deployment.built.no_statistics()
        self.plan = learner.plan(sums, np.random.default_rng(1))
        self.numbers: dict[str, int] = {}

    def answer(self, method: str, path: str, body: bytes) -> Any:
        query = parse_qs(urlsplit(path).query)
        if "number" in query:
            self.numbers[query["id"][0]] = int(query["number"][0])
        return super().answer(method, path, body)

    def issued(self, report_id: str) -> Issued:
        number = self.numbers[report_id]
        return Issued(self.deployment.digest, self.version, 0, self.plan[0], number)


@pytest.fixture
def service() -> Iterator[VectorService]:
    with running(VectorService(DEPLOYMENT)) as fake:
        assert isinstance(fake, VectorService)
        yield fake


MakeClient = Callable[[], Client]


@pytest.fixture
def make(service: VectorService, tmp_path: Path) -> Iterator[MakeClient]:
    made: list[Client] = []

    def one() -> Client:
        path = tmp_path / "reports.ledger"
        made.append(Client(service.url, digest=DEPLOYMENT.digest, ledger=path, wait=lambda _: None))
        return made[-1]

    yield one
    for client in made:
        client.close()


@pytest.fixture
def earned(monkeypatch: pytest.MonkeyPatch) -> list[float | None]:
    """What reports were made from."""
    found: list[float | None] = []
    privatize = ThresholdBits.privatize

    def spy(self: ThresholdBits, data: Total, *rest: Any) -> Any:
        found.append(data.value)
        return privatize(self, data, *rest)

    monkeypatch.setattr(ThresholdBits, "privatize", spy)
    return found


def calls(client: Client) -> Iterator[Callable[[], Any]]:
    yield client.begin
    episode = client.begin()
    for seen, reward in zip(SEEN, REWARDS, strict=True):
        yield functools.partial(episode.action, seen)
        yield functools.partial(episode.record, reward)
    yield episode.report


COUNT = 2 + 2 * PROBLEM.horizon


def goes_on(episode: Episode) -> None:
    while not episode.done:
        episode.action(SEEN[episode.step])
        episode.record(REWARDS[episode.step])


@pytest.mark.parametrize("done", range(COUNT))
def test_kill_nine_between_every_two_calls(
    service: VectorService,
    make: MakeClient,
    tmp_path: Path,
    earned: list[float | None],
    done: int,
) -> None:
    path = tmp_path / "reports.ledger"

    def some() -> None:
        client = Client(service.url, digest=DEPLOYMENT.digest, ledger=path)
        for _, call in zip(range(done), calls(client), strict=False):
            call()

    dies(some)
    episode = make().begin()
    if 0 < done < COUNT and done % 2 == 0 and not episode.done:
        # The action was on its way to the app: it is the same, and needs no observation.
        again = episode.action(None)
        assert again == episode.action([0.0, "high"])
    goes_on(episode)
    assert episode.report().status == "counted"
    assert earned == [sum(REWARDS)]
    assert len(service.counted) == len(set(service.bodies)) == len(Ledger(path).entries()) == 1


def test_the_journal_has_actions_and_the_return_and_nothing_that_was_seen(
    service: VectorService, make: MakeClient, tmp_path: Path
) -> None:
    episode = make().begin()
    told = [episode.action((123456.5, "high"))]
    episode.record(0.5)
    told.append(episode.action((654321.5, "high")))
    (file,) = tmp_path.glob("*.episode")
    _, *lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    assert lines == [
        {"action": told[0]},
        {"return": 0.5, "terminated": False},
        {"action": told[1]},
    ]
    number = service.numbers[episode.entry.report_id]
    law = service.plan[0].distribution
    assert isinstance(law, Perturbed)
    assert told[0] == law.policy(number).act(0, (123456.5, "high"))


def test_an_end_counts_and_a_user_who_leaves_tosses_a_coin(
    make: MakeClient, earned: list[float | None]
) -> None:
    client = make()
    episode = client.begin()
    episode.action((70, "low"))
    episode.record(2.0, terminated=True)
    client.close()
    episode = make().begin()
    episode.record(2.0, terminated=True)
    with pytest.raises(InputError, match="on record"):
        episode.record(2.0)
    with pytest.raises(InputError, match="which is done"):
        episode.action((70, "low"))
    assert episode.done
    episode.report()
    assert earned == [2.0]


def test_who_leaves_has_no_return(make: MakeClient, earned: list[float | None]) -> None:
    episode = make().begin()
    episode.action((70, "low"))
    episode.record(2.0)
    assert episode.report().status == "counted"
    assert earned == [None]


def test_any_finite_reward_is_taken(make: MakeClient, earned: list[float | None]) -> None:
    episode = make().begin()
    for reward in (1.7e308, 1.7e308, -1e300, 5):
        episode.action((70, "low"))
        for wrong in (math.nan, math.inf, "much", None):
            with pytest.raises(InputError, match="reward"):
                episode.record(wrong)  # type: ignore[arg-type]
        episode.record(reward)
    assert episode.report().status == "counted"
    assert earned[0] is not None
    assert math.isfinite(earned[0])


def test_another_length_is_a_programs_mistake_and_said_in_one_line(make: MakeClient) -> None:
    episode = make().begin()
    with pytest.raises(InputError, match="an action, asked for before"):
        episode.record(1.0)
    mistakes: list[Any] = [(70.0,), (70.0, "low", 3), 7, "low", None, {}]
    for wrong in mistakes:
        with pytest.raises(InputError, match="observation") as refused:
            episode.action(wrong)
        assert "\n" not in str(refused.value)
    assert episode.action((70, "low")) in range(3)


def test_when_a_report_is_sent_is_fixed_at_the_beginning(
    service: VectorService, make: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    due = datetime.now(UTC) + timedelta(hours=2)
    client = make()
    episode = client.begin(due=due)
    goes_on(episode)
    assert episode.report().status == "unsent"
    assert client.resend() == []
    client.close()
    monkeypatch.setattr(time, "time", lambda: due.timestamp() + 1)
    (outcome,) = make().resend()
    assert outcome.status == "counted"
    assert list(service.counted) == [outcome.report_id]
    with pytest.raises(InputError, match="time zone"):
        client.begin(due=datetime(2030, 1, 1))


def test_an_episode_whose_time_has_come_is_reported_as_it_is(
    service: VectorService,
    make: MakeClient,
    earned: list[float | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    due = datetime.now(UTC) + timedelta(hours=2)
    client = make()
    episode = client.begin(due=due)
    episode.action((70, "low"))
    episode.record(1.0)
    assert client.resend() == []
    assert (client.begin().step, earned) == (1, [])
    client.close()
    monkeypatch.setattr(time, "time", lambda: due.timestamp() + 1)
    (outcome,) = make().resend()
    assert outcome.status == "counted"
    assert earned == [None]


def test_every_user_draws_a_number_from_all(service: VectorService, tmp_path: Path) -> None:
    """Of eight numbers two are equal, or all below 2⁴⁸, with a chance below 10⁻¹¹."""
    for user in range(8):
        client = Client(service.url, digest=DEPLOYMENT.digest, ledger=tmp_path / str(user))
        client.begin()
        client.close()
    numbers = list(service.numbers.values())
    assert len(set(numbers)) == 8
    assert 2**48 < max(numbers) < MOST_POLICIES


def test_take_part_calls_the_app_back(make: MakeClient, earned: list[float | None]) -> None:
    rewards = iter(REWARDS)

    def step(seen: Any, action: int) -> tuple[float, Any, bool]:
        assert seen == (70, "low")
        return next(rewards), seen, False

    assert make().take_part((70, "low"), step).status == "counted"
    assert earned == [sum(REWARDS)]


def test_calls_can_be_awaited(make: MakeClient, earned: list[float | None]) -> None:
    async def part() -> str:
        client = AsyncClient(make())
        episode = await client.begin()
        await episode.action((70, "low"))
        await episode.record(3.0, terminated=True)
        assert episode.done
        status = (await episode.report()).status
        await client.close()
        return status

    assert asyncio.run(part()) == "counted"
    assert earned == [3.0]


Change = Callable[[dict[str, Any]], None]


def spread(value: float) -> Change:
    def change(document: dict[str, Any]) -> None:
        numbers = np.full(PROBLEM.size, value, dtype=np.float32)
        document["law"]["spread"] = to_base64(numbers)

    return change


def put(part: str, key: str, value: Any) -> Change:
    def change(document: dict[str, Any]) -> None:
        where = document["questions"][0] if part == "question" else document["law"]
        where[key] = value

    return change


MALFORMED: dict[str, Change] = {
    "NaN": spread(math.nan),
    "too wide": spread(1.1),
    "a negative spread": spread(-0.5),
    "another shape": put("law", "mean", to_base64(np.zeros(4, dtype=np.float32))),
    "no base64": put("law", "mean", "!" * 48),
    "too large a mean": put("law", "mean", to_base64(np.full(12, 2.0**101, dtype=np.float32))),
    "another seed": put("law", "seed", "A" * 32),
    "a field too many": put("law", "numbers", [7]),
    "a number of the service's": lambda document: document.update(number=7),
    "no range": put("question", "low", 65536),
    "a threshold of the service's": put("question", "own", [0, False]),
    "a rising baseline": put("question", "baseline", [0] * 255 + [1]),
    "a short baseline": put("question", "baseline", [0] * 255),
    "a second bit": lambda document: document["questions"].append(document["questions"][0]),
    "no bit": lambda document: document["questions"].clear(),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_plan_is_refused_before_anything_is_drawn(
    service: VectorService, make: MakeClient, earned: list[float | None], name: str
) -> None:
    one = Issued(DEPLOYMENT.digest, 1, 0, service.plan[0])
    document = json.loads(json.dumps(one.document(DEPLOYMENT.built))) | {"number": 0}
    client = make()
    assert client.deployment
    received = service.answer

    def malformed(method: str, path: str, body: bytes) -> Any:
        if not path.startswith("/v1/policy"):
            return received(method, path, body)
        sent = copy.deepcopy(document)
        sent["number"] = int(parse_qs(urlsplit(path).query)["number"][0])
        MALFORMED[name](sent)
        return ok(sent)

    service.answer = malformed  # type: ignore[method-assign]
    with pytest.raises(InputError) as refused:
        client.begin()
    assert "\n" not in str(refused.value)
    assert (earned, service.bodies) == ([], [])
    assert [entry.unfinished for entry in client.ledger.entries()] == [True]


def test_a_law_of_a_billion_parameters_is_refused_before_it_is_built() -> None:
    document = copy.deepcopy(DEPLOYMENT.document)
    document["policy"] |= {"kind": "network", "hidden": [31623, 31623], "activation": "tanh"}
    with pytest.raises(InputError, match=r"policy\.size"):
        Deployment.from_document(document)
    law = {"seed": "0" * 32, "mean": "A" * 10**7, "spread": ""}
    with pytest.raises(InputError, match=r"law\.mean"):
        PROBLEM.read_distribution(law)


def hostile() -> dict[str, Change]:
    """Plans that fit, and try to learn more."""
    low = [0, 1, 32768, 65534]

    def narrow(at: int) -> Change:
        def change(document: dict[str, Any]) -> None:
            document["questions"][0] |= {"low": at, "high": at + 1}

        return change

    flat = {f"flat at {at}": put("question", "baseline", [at] * CELLS) for at in (0, 65536)}
    return {
        "as it should be": lambda _: None,
        "one policy": spread(0.0),
        "huge means": put("law", "mean", to_base64(np.full(12, 2.0**99, dtype=np.float32))),
        **{f"one threshold, {at}": narrow(at) for at in low},
        **flat,
    }


REPORTS = 4000
FAILURE = 1e-7 / 200


@pytest.mark.parametrize("mutant", [False, True])
def test_no_plan_makes_a_report_say_more(mutant: bool) -> None:
    """A likelihood-ratio attack on what is sent; all bounds hold but with probability 1e-7.

    Two users who differ as much as can be, and one who left; whatever is observed of the report,
    its length included, is at most e^ε times as likely for one as for another. The mutant does not
    lie, and is caught.
    """
    found = False
    for change in hostile().values():
        issued = attacked(change)
        letters = DEPLOYMENT.built.codec(issued.assignment)
        seen: list[Counter[tuple[int, ...]]] = []
        for value in (-1.0, 3.0, None):
            mechanism = DEPLOYMENT.built
            reports = mechanism.privatize_many(
                Total(value), issued.assignment, REPORTS, SystemSource()
            )
            if mutant and value is not None:
                reports = np.tile([int(value < 0), int(value > 0)], (REPORTS, 1))
            seen.append(Counter(tuple(letters.write(report)) for report in reports))
        lengths = {len(json.dumps(list(item))) for one in seen for item in one}
        assert len(lengths) == 1, "a report is as long, whatever happened"
        for first in seen:
            for second in seen:
                for item in first:
                    least = stats.beta.ppf(FAILURE, first[item], REPORTS - first[item] + 1)
                    other = second[item]
                    most = stats.beta.ppf(1 - FAILURE, other + 1, REPORTS - other)
                    found |= bool(least > math.exp(EPSILON) * most)
    assert found == mutant


def attacked(change: Change) -> Issued:
    """Return what a client makes of a changed plan, with a number of its own."""
    learner = learner_of(DEPLOYMENT)
    plan = learner.plan(DEPLOYMENT.built.no_statistics(), np.random.default_rng(1))
    number = SystemSource().below(MOST_POLICIES)
    document = Issued(DEPLOYMENT.digest, 1, 0, plan[0]).document(DEPLOYMENT.built)
    sent = json.loads(json.dumps(document | {"number": number}))
    change(sent)
    return Issued.from_document(sent, DEPLOYMENT, number)


def test_forked_processes_do_not_share_an_episode(make: MakeClient) -> None:
    episode = make().begin()
    child = os.fork()
    if child == 0:
        try:
            episode.action((70, "low"))
        except BaseException:
            os._exit(3)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
