"""Random histories of a deployment, and a small model of what a service must make of them.

Servers (one on SQLite, two on PostgreSQL) have a clock each. They receive reports, batches and
replays, publish plans, forget versions, fail in the middle of a commit, are killed and started
again. The model is a few dictionaries: it says what each message must be answered with, and what
the sums must be afterwards.
"""

from __future__ import annotations

import asyncio
import json
import math
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ldprl.protocol.deployment import Deployment
from ldprl.service.causes import REFUSALS, DelayedError
from ldprl.service.plans import published_plan
from ldprl.service.service import Service
from ldprl.service.settings import ServiceSettings

from .server import some_values

DEPLOYMENT = Deployment.from_toml(
    tomllib.loads(
        """
name = "histories"
states = 2
actions = 2
horizon = 2
epsilon = "0.5"
learner = "ldp-obi"
first_epoch = 1000000
report_window_hours = 5
"""
    )
)
WINDOW = DEPLOYMENT.report_window_hours
GRACE = 1
USERS = [f"{number:032x}" for number in range(8)]
Message = dict[str, Any]


@dataclass
class ModelServer:
    """What one server believes: its clock, and what it saw when it last looked."""

    hours: float = 1000.0
    current: int = 0
    first_open: int = 1


@dataclass
class Model:
    """The reference: which ids were counted under which version, and which versions are closed."""

    published: list[int] = field(default_factory=list)
    forgotten: int = 0
    ids: set[tuple[int, str]] = field(default_factory=set)
    sums: Counter[tuple[int, int, int]] = field(default_factory=Counter)
    users: int = 0

    def expired(self, hours: float) -> int:
        """Return the newest version that is over at an hour: its successor is a window old."""
        over = [v for v, hour in enumerate(self.published, 1) if hours >= hour + WINDOW]
        return max((v - 1 for v in over), default=0)

    def look(self, server: ModelServer) -> None:
        server.current = len(self.published)
        closed = max(self.expired(server.hours), self.forgotten)
        server.first_open = max(server.first_open, closed + 1)

    def publish(self, server: ModelServer) -> None:
        self.published.append(math.ceil(server.hours))

    def forget(self, server: ModelServer) -> None:
        over = self.expired(server.hours - GRACE)
        if over > self.forgotten:
            self.forgotten = over
            self.ids = {one for one in self.ids if one[0] > over}

    def receive(self, server: ModelServer, messages: list[tuple[Message, bool]]) -> list[str]:
        """Return what becomes of each message; the flag says whether its values are right."""
        newest = max((message["version"] for message, _ in messages), default=0)
        if newest > server.current:
            self.look(server)
        return [self._receive_one(server, *message) for message in messages]

    def _receive_one(self, server: ModelServer, message: Message, right: bool) -> str:
        version = message["version"]
        verdict = self._refusal(server, version) or ("" if right else "wrong-alphabet")
        if not verdict and version <= self.forgotten:
            verdict = "expired-version"
        if not verdict:
            verdict = "duplicate" if (version, message["id"]) in self.ids else "counted"
        if verdict == "counted":
            self.ids.add((version, message["id"]))
            self.users += 1
            for item in message["values"]:
                self.sums[version, message["assignment"], item] += 1
        return verdict

    def _refusal(self, server: ModelServer, version: int) -> str:
        if version < 1 or version > server.current:
            return "unknown-version"
        return "expired-version" if version < server.first_open else ""


class Histories(RuleBasedStateMachine):
    """Every message gets the model's verdict, and the sums are the model's after every step."""

    url: str
    count: int

    def reset(self) -> None:
        """Empty the database; a subclass knows how."""
        raise NotImplementedError

    @initialize()
    def begin(self) -> None:
        self.reset()
        self.model = Model()
        self.beliefs = [ModelServer() for _ in range(self.count)]
        self.servers: list[Service] = []
        self.sent: list[tuple[Message, bool]] = []
        for place in range(self.count):
            self.servers.append(self._started(place))

    def _started(self, place: int) -> Service:
        belief = self.beliefs[place] = ModelServer(self.beliefs[place].hours)
        service = Service(ServiceSettings(DEPLOYMENT, self.url), lambda: 3600 * belief.hours)
        if not self.model.published:
            self.model.publish(belief)
        service.planner.step()
        service.board.refresh()
        self._stepped(place, service)
        self.model.look(belief)
        service.committer.start()
        return service

    def _stepped(self, place: int, service: Service) -> None:
        """Follow what a planner's step does, if this server is the one that plans."""
        if service.database.lead():
            self.model.forget(self.beliefs[place])

    @rule(data=st.data(), place=st.integers(0, 1), size=st.integers(0, 5))
    def report(self, data: st.DataObject, place: int, size: int) -> None:
        """A fresh report, or a batch of them; now and then to a version that is not open."""
        place %= self.count
        messages = [data.draw(self._messages()) for _ in range(max(size, 1))]
        self._deliver(place, messages, batch=size > 0)

    @precondition(lambda self: self.sent)
    @rule(data=st.data(), place=st.integers(0, 1))
    def replay(self, data: st.DataObject, place: int) -> None:
        """Bytes that were sent before, to any server."""
        chosen = data.draw(st.lists(st.sampled_from(self.sent), min_size=1, max_size=4))
        self._deliver(place % self.count, chosen, batch=True)

    @rule(place=st.integers(0, 1), hours=st.sampled_from([-40, -8, -2, -0.5, 0.5, 2, 8, 40]))
    def jump(self, place: int, hours: float) -> None:
        """A clock goes forwards, or backwards."""
        self.beliefs[place % self.count].hours += hours

    @rule(place=st.integers(0, 1))
    def look(self, place: int) -> None:
        """A server looks at the database, as it does twice a second."""
        place %= self.count
        self.servers[place].board.refresh()
        self.model.look(self.beliefs[place])

    @rule(place=st.integers(0, 1), wanted=st.booleans(), hours=st.sampled_from([0, 0.5, 8]))
    def plan(self, place: int, wanted: bool, hours: float) -> None:
        """Some time passes, and a planner publishes if asked to, and forgets what is over."""
        place %= self.count
        self.beliefs[place].hours += hours
        service, belief = self.servers[place], self.beliefs[place]
        leads = service.database.lead()
        if wanted and leads:
            service.database.want_plan(len(self.model.published))
            self.model.publish(belief)
        service.planner.step()
        if leads:
            self.model.look(belief)
            self._stepped(place, service)

    @rule(data=st.data(), place=st.integers(0, 1))
    def fail(self, data: st.DataObject, place: int) -> None:
        """The database fails within a commit: nothing is counted, and the client hears of it."""
        place %= self.count
        service = self.servers[place]
        message, right = data.draw(self._messages())
        if not right or message["version"] not in service.view.open:
            return
        failing = DelayedError("database-down", "a fault of the test")
        module = type(service.database).__module__
        with mock.patch(f"{module}.verdicts", side_effect=failing):
            try:
                asyncio.run(service.intake.take(json.dumps(message).encode()))
            except DelayedError:
                self.sent.append((message, right))
                return
        raise AssertionError("the failed commit was acknowledged")

    @rule(place=st.integers(0, 1))
    def kill(self, place: int) -> None:
        """A server dies without a word, and another one starts in its place."""
        place %= self.count
        self._die(self.servers[place])
        self.servers[place] = self._started(place)

    @invariant()
    def sums_are_the_models(self) -> None:
        if not getattr(self, "servers", None):
            return
        database = self.servers[0].database
        found = {
            (one.version, one.assignment, item): count
            for one in database.sums()
            for item, count in enumerate(one.tally.tolist())
            if count
        }
        assert found == dict(self.model.sums)
        state = database.state()
        assert state.users == self.model.users
        assert state.version == len(self.model.published)
        assert state.forgotten == self.model.forgotten

    def teardown(self) -> None:
        for service in getattr(self, "servers", []):
            self._die(service)

    def _die(self, service: Service) -> None:
        service.committer.close()
        service.database.close()

    def _messages(self) -> st.SearchStrategy[tuple[Message, bool]]:
        known = len(self.model.published)
        choice = st.tuples(
            st.sampled_from(USERS), st.integers(max(0, known - 3), known + 1), st.integers(0, 9)
        )
        return choice.map(self._message)

    def _message(self, chosen: tuple[str, int, int]) -> tuple[Message, bool]:
        user, version, kind = chosen
        database = self.servers[0].database
        # A version that does not exist is refused before its assignment is looked at.
        existing = min(max(version, 1), len(self.model.published))
        plan = published_plan(database.plans(existing - 1, 1)[0], DEPLOYMENT)
        index = plan.drawn(user, database.secret)
        values = some_values(plan.codecs[index])
        right = kind > 0
        if kind > 4 and len(values) < plan.codecs[index].length:
            values = [value + 1 for value in values]
        message = {
            "id": user,
            "deployment": DEPLOYMENT.digest,
            "version": version,
            "assignment": index,
            "values": values if right else values[:-1],
        }
        return message, right

    def _deliver(self, place: int, messages: list[tuple[Message, bool]], *, batch: bool) -> None:
        service = self.servers[place]
        documents = [message for message, _ in messages]
        body = json.dumps(documents if batch else documents[0]).encode()
        status, content = asyncio.run(service.intake.take(body))
        expected = self.model.receive(self.beliefs[place], messages)
        if batch:
            results = json.loads(content)["results"]
            found = [result.get("cause", result["status"]) for result in results]
        else:
            result = json.loads(content)
            found = [result.get("cause") or result["status"]]
            assert status == REFUSALS.get(found[0], 200)
        assert found == expected
        # An id's assignment under a version that did not exist yet was a guess: not sent again.
        self.sent += [one for one in messages if one[0]["version"] <= len(self.model.published)]
        del self.sent[:-50]
