"""Python's client and JavaScript's refuse the same deployments and plans, in node."""

from __future__ import annotations

import base64
import copy
import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ldprl.accounting.shuffling import central_delta
from ldprl.assignment import Assignment
from ldprl.errors import InputError, decimal_text
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.policies.tables import TableDistribution
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.mixing import Shuffled
from ldprl.protocol.plan import draw
from ldprl.protocol.public_plan import plan_bytes, plan_digest
from ldprl.protocol.sealing import new_private_key, opener
from ldprl.service.database.protocol import StoredPlan
from ldprl.service.plans import plan_text, published_plan
from tests.browser.conftest import CLIENT
from tests.protocol.deployments import APPROXIMATE, EVERY
from tests.protocol.test_deployment import EDGES

PRIVATE = new_private_key()
KEY = opener(PRIVATE).key
CROWD = 1000
IN_BROWSERS = sorted(name for name in EVERY if EVERY[name].mechanism not in APPROXIMATE)

_READ = """
import { readDeployment } from "./ldprl.js";
let text = "";
for await (const part of process.stdin) text += part;
const refused = (document) => readDeployment(document).then(() => null, (error) => error.field);
console.log(JSON.stringify(await Promise.all(JSON.parse(text).map(refused))));
"""
_DRAW = """
import { readDeployment } from "./ldprl.js";
import { drawAssignment } from "./src/plan.js";
import { InsecureSource } from "./testing/seeded-source.js";
let text = "";
for await (const part of process.stdin) text += part;
const said = [];
for (const { document, plans } of JSON.parse(text)) {
  const deployment = await readDeployment(document);
  for (const plan of plans) {
    const source = new InsecureSource(1);
    const drawn = drawAssignment(plan, deployment, source);
    said.push(await drawn.then(() => null, (error) => error.field ?? String(error)));
  }
}
console.log(JSON.stringify(said));
"""
_TAKE_PART = """
import { Client, ForgetfulStorage } from "./ldprl.js";
let text = "";
for await (const part of process.stdin) text += part;
const { document, digest, plan } = JSON.parse(text);
const about = JSON.stringify({ deployment: document });
const fetch = async (url) => new Response(new URL(url).pathname === "/v1/policy" ? plan : about);
const client = new Client("https://relay", { digest, storage: new ForgetfulStorage(), fetch });
const entry = await (await client.begin()).report({ send: false });
console.log(JSON.stringify({ id: entry.id, body: entry.body }));
"""


def said_by(node: str, script: str, given: object) -> Any:
    """Return what a script in node makes of ``given``."""
    run = [node, "--input-type=module", "-e", script]
    done = subprocess.run(
        run, cwd=CLIENT, input=json.dumps(given), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def behind_a_relay(name: str, epsilon: str | None = None, delta: str = "1e-6") -> Deployment:
    """Return a deployment with a crowd; at its own ε any crowd keeps the promise."""
    bare = EVERY[name]
    return replace(bare, shuffle=Shuffled(CROWD, epsilon or bare.epsilon, delta, KEY))


def with_promise(document: dict[str, Any], epsilon: str, delta: float) -> dict[str, Any]:
    promise = {"crowd": CROWD, "central_epsilon": epsilon, "delta": decimal_text("δ", delta)}
    return document | {"shuffle": promise | {"key": KEY}}


def refused_by_python(document: dict[str, Any]) -> str | None:
    try:
        Deployment.from_document(document)
    except InputError as error:
        return error.field
    return None


def test_promises_are_refused_where_they_stop_to_hold(node: str) -> None:
    """Just below and just above the δ that a crowd has, for every kind of question and all of them.

    The mutants: a promise taken at 10δ, and the ε of the last kind alone.
    """
    documents, expected = [], []
    for name in IN_BROWSERS:
        found = EVERY[name]
        epsilon = decimal_text("ε", float(found.epsilon) / 3)
        delta = central_delta(found.built.blankets(), CROWD, float(epsilon))
        if not 1e-250 < delta < 0.5:
            continue
        for factor in (0.999, 1.001, 0.1):
            documents.append(with_promise(found.document, epsilon, delta * factor))
            expected.append(None if factor > 1 else "shuffle.central_epsilon")
    assert len(documents) > 20
    assert [refused_by_python(one) for one in documents] == expected
    assert said_by(node, _READ, documents) == expected


def test_every_kind_of_question_counts(node: str) -> None:
    """The least private kind decides, wherever it stands: here that is the first one."""
    found = EVERY["certified"]
    blankets = found.built.blankets()
    each = [central_delta([one], CROWD, 0.5) for one in blankets]
    assert each[-1] < 0.5 * max(each)
    assert each[-1] < 0.5 * central_delta(blankets, CROWD, 0.5)
    documents = [with_promise(found.document, "0.5", 1.01 * delta) for delta in each]
    assert said_by(node, _READ, documents[-1:]) == ["shuffle.central_epsilon"]


@pytest.mark.parametrize("beyond", [False, True])
def test_sizes_have_one_bound(node: str, beyond: bool) -> None:
    documents = []
    for mechanism, (within, above) in EDGES.items():
        document = Deployment("large", within, "1", mechanism=mechanism).document
        sizes = {key: getattr(above if beyond else within, key) for key in document["shape"]}
        documents.append(document | {"shape": sizes})
    fields = said_by(node, _READ, documents)
    assert all(field is not None and field.startswith("shape.") for field in fields) is beyond
    assert (fields == [None] * len(fields)) is not beyond


Change = Callable[[dict[str, Any]], object]


def plan_of(found: Deployment, *, law: bool = False) -> dict[str, Any]:
    """Return a plan as a service writes it: two assignments at least."""
    shape = found.shape
    tables: Any = np.zeros((shape.horizon, shape.states), dtype=np.int64)
    if law:
        even = np.full((1, shape.states, shape.actions), 1 / shape.actions)
        tables = TableDistribution.of(shape, even, "0" * 32)
    half = Assignment(tables, 0.5)
    asked = found.built.ask((half, half))
    whole: dict[str, Any] = json.loads(
        published_plan(StoredPlan(3, 0, "", 0, plan_text(asked)), found).whole
    )
    return whole


def last(plan: dict[str, Any]) -> dict[str, Any]:
    """Return a part that the sources of this file hardly ever draw."""
    for part in plan["assignments"]:
        part["share"] = 0.0
    plan["assignments"][0]["share"] = 1.0
    part = plan["assignments"][-1]
    assert isinstance(part, dict)
    return part


def question(plan: dict[str, Any], **fields: object) -> None:
    last(plan)["questions"][0].update(fields)


def grouped(plan: dict[str, Any]) -> None:
    """Ask about groups of states, with an oracle that is as private as ε says."""
    built = EVERY["subset-selection"].built
    oracle = built.oracle_for(5).document()  # type: ignore[attr-defined]
    question(plan, kind="reward", where=[0, 1, 1], **oracle)


def text_shares(plan: dict[str, Any]) -> None:
    for part in plan["assignments"]:
        part["share"] = "0.5"


def negative_share(plan: dict[str, Any], least: float) -> None:
    """No share is above 1, and all add up to 1."""
    last(plan)["share"] = least
    plan["assignments"][1]["share"] = -least


def share_above_one(plan: dict[str, Any]) -> None:
    """The shares add up to 1."""
    last(plan)["share"] = -1e-9
    plan["assignments"][0]["share"] = 1.0 + 1e-9


def true_share(plan: dict[str, Any]) -> None:
    last(plan)
    plan["assignments"][0]["share"] = True


def named_law(plan: dict[str, Any]) -> None:
    last(plan)["law"] = len(plan["assignments"]) - 1


BROKEN: dict[str, Change] = {
    "no assignments": lambda plan: plan.update(assignments=[]),
    "no list": lambda plan: plan.update(assignments={}),
    "no object": lambda plan: plan.update(assignments=[1]),
    "another deployment": lambda plan: plan.update(deployment="0" * 64),
    "no version": lambda plan: plan.pop("version"),
    "negative version": lambda plan: plan.update(version=-1),
    "huge version": lambda plan: plan.update(version=2**70),
    "no size": lambda plan: plan.pop("report_bytes"),
    "huge size": lambda plan: plan.update(report_bytes=2**20 + 1),
    "size as text": lambda plan: plan.update(report_bytes="256"),
    "shares above 1": lambda plan: plan["assignments"][0].update(share=0.9),
    "shares below 1": lambda plan: plan["assignments"][-1].update(share=0.0),
    "negative share": lambda plan: negative_share(plan, -0.5),
    "a share above 1": share_above_one,
    "no share": lambda plan: plan["assignments"][-1].pop("share"),
    "shares as text": text_shares,
    "a truth value as a share": true_share,
    "its own partition": grouped,
    "kind of the last": lambda plan: question(plan, kind="name and address"),
    "step of the last": lambda plan: question(plan, step=99),
    "questions of the last": lambda plan: last(plan).update(questions=[]),
    "no questions": lambda plan: last(plan).pop("questions"),
    "two questions": lambda plan: last(plan).update(questions=2 * last(plan)["questions"]),
    "policy of the last": lambda plan: last(plan).update(policy=[[9]]),
    "no policy": lambda plan: last(plan).pop("policy"),
    "a law by its number": named_law,
}
"""What is wrong may be in a part that is not drawn: what others are asked, one hides behind."""
BROKEN_LAWS: dict[str, Change] = {
    "the law of the last": lambda plan: last(plan).update(law={"seed": "no"}),
    "a law of later": named_law,
    "a law that is none": lambda plan: last(plan).update(law=-1),
}


def outcome(plan: object, found: Deployment) -> bool:
    """Say whether Python's client takes a plan."""
    try:
        draw(plan, found, InsecureSource(1))
    except InputError:
        return True
    return False


def changed(plan: dict[str, Any], change: Change) -> dict[str, Any]:
    copied = copy.deepcopy(plan)
    change(copied)
    return copied


def test_plans_that_do_not_fit_are_refused_whole(node: str) -> None:
    words, returns = behind_a_relay("subset-selection"), behind_a_relay("return-bits")
    tables, law = plan_of(words), plan_of(returns, law=True)
    cases = [
        (words, [tables, *(changed(tables, change) for change in BROKEN.values())]),
        (returns, [law, *(changed(law, change) for change in BROKEN_LAWS.values())]),
    ]
    names = ["as it is", *BROKEN, "a law as it is", *BROKEN_LAWS]
    by_python = [outcome(plan, found) for found, plans in cases for plan in plans]
    given = [{"document": found.document, "plans": plans} for found, plans in cases]
    by_javascript = [field is not None for field in said_by(node, _DRAW, given)]
    expected = ["as it is" not in name for name in names]
    assert dict(zip(names, by_python, strict=True)) == dict(zip(names, expected, strict=True))
    assert dict(zip(names, by_javascript, strict=True)) == dict(zip(names, expected, strict=True))


def test_both_ask_for_the_same_room(node: str) -> None:
    """To the byte, for every kind of report: as much as the longest one takes, and no less."""
    given, least = [], []
    for name in IN_BROWSERS:
        found = behind_a_relay(name)
        law = found.mechanism in ("return-bits", "bits-and-moves")
        plan = plan_of(found, law=law)
        fits = [
            size
            for size in range(plan["report_bytes"] - 63, plan["report_bytes"] + 1)
            if not outcome(plan | {"report_bytes": size}, found)
        ]
        assert fits == list(range(fits[0], plan["report_bytes"] + 1)), name
        least.append(fits[0])
        sizes = (fits[0] - 1, fits[0])
        plans = [plan | {"report_bytes": size} for size in sizes]
        given.append({"document": found.document, "plans": plans})
    said = said_by(node, _DRAW, given)
    assert said == ["plan.report_bytes", None] * len(IN_BROWSERS)
    assert len(set(least)) > 5


def test_the_service_opens_what_javascript_seals(node: str) -> None:
    """Under the plan and its own version, and under no other one."""
    found = behind_a_relay("subset-selection")
    plan = plan_of(found)
    plan["version"] = 3
    given = {"document": found.document, "digest": found.digest, "plan": plan_bytes(plan).decode()}
    entry = said_by(node, _TAKE_PART, given)
    body = json.loads(entry["body"])
    assert (body["deployment"], body["version"]) == (found.digest, 3)
    sealed = base64.b64decode(body["sealed"])
    opens, under = opener(PRIVATE, found.digest), plan_digest(plan_bytes(plan))
    assert [opens.open(sealed, version, under) for version in (0, 1, 2, 4)] == [None] * 4
    assert opener(PRIVATE, "0" * 64).open(sealed, 3, under) is None
    assert opens.open(sealed, 3, plan_digest(plan_bytes(plan | {"users": 1}))) is None
    text = opens.open(sealed, 3, under)
    assert text is not None
    assert len(text) == plan["report_bytes"]
    report = json.loads(text)
    assert (report["id"], report["deployment"], report["version"]) == (entry["id"], found.digest, 3)
