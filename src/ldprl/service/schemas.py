"""The schemas of the OpenAPI document: exactly what calls take and return."""

from __future__ import annotations

from typing import Any

from ldprl.mechanisms.questions.observable import observable_kinds
from ldprl.policies.policy import MOST_POLICIES
from ldprl.protocol.deployment import FORMAT
from ldprl.service.causes import REFUSALS

Schema = dict[str, Any]

HEX_32 = {"type": "string", "pattern": "^[0-9a-f]{32}$"}
_DIGEST = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
COUNT = {"type": "integer", "minimum": 0}
VERSION = {"type": "integer", "minimum": 1}
NUMBER = {"type": "integer", "minimum": 0, "exclusiveMaximum": MOST_POLICIES}
_TEXT = {"type": "string"}


def record(optional: tuple[str, ...] = (), /, **properties: Schema) -> Schema:
    """Return the schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def list_of(items: Schema, **bounds: int) -> Schema:
    """Return the schema of a list, with bounds such as ``maxItems``."""
    return {"type": "array", "items": items} | bounds


def ref(name: str) -> Schema:
    """Return a reference to one of ``SCHEMAS``."""
    return {"$ref": f"#/components/schemas/{name}"}


def _counts(names: list[str]) -> Schema:
    return record(**dict.fromkeys(names, COUNT))


_TABLE = list_of(list_of(COUNT))
# A table, or the parameters of a policy on vectors, as base64 of float32.
_POLICY = {"anyOf": [_TABLE, record(parameters=_TEXT)]}
_THRESHOLD = record(
    ("own",),
    kind={"const": "threshold"},
    low=COUNT,
    high=COUNT,
    baseline=list_of(COUNT, minItems=256, maxItems=256),
    # The user's 32-bit word, and whether the threshold is a wide one.
    own={"type": "array", "minItems": 2, "maxItems": 2},
)
_ABOUT_A_STEP = {
    "type": "object",
    "properties": {
        "kind": {"enum": sorted(observable_kinds())},
        "step": COUNT,
        # The cell of each state, where states are not asked about one by one.
        "where": list_of(COUNT),
    },
    "required": ["kind", "step"],
}
_QUESTIONS = list_of({"anyOf": [_ABOUT_A_STEP, _THRESHOLD]})
# Tables from a public seed: each row of weights sums to 2³². Or parameters around a mean.
_LAW = {
    "anyOf": [
        record(("where",), seed=HEX_32, weights=list_of(_TABLE), where=list_of(COUNT)),
        record(seed=HEX_32, mean=_TEXT, spread=_TEXT),
    ]
}
_PUBLIC_STATUS = record(
    deployment=_DIGEST,
    name=_TEXT,
    version=VERSION,
    users=COUNT,
    reports=_counts(["counted", "duplicate"]),
    refused=_counts(list(REFUSALS)),
    paused={"type": "boolean"},
    planned_at=COUNT,
    next_plan_at=COUNT,
    oldest_open_version=VERSION,
    # What reports say against the deployment's [structure].
    contradictions=list_of(_TEXT),
)
_INTERVAL = record(low={"type": "number"}, high={"type": "number"})
_CERTIFIED = record(
    ("better", "chosen_at"),
    # How many of its users have answered, and how many users there were when it was chosen.
    users=COUNT,
    chosen_at=COUNT,
    worth=_INTERVAL,
    better=_INTERVAL,
)
# A policy's worth has changed: its number (null: the incumbent), since about which user.
_CHANGE = record(
    policy={"type": ["integer", "null"]},
    since=COUNT,
    before={"type": "number"},
    after={"type": "number"},
)
SCHEMAS: dict[str, Schema] = {
    "Problem": record(cause=_TEXT, detail=_TEXT),
    "Deployment": record(
        digest=_DIGEST,
        deployment={"type": "object", "properties": {"format": {"const": FORMAT}}},
    ),
    "Assignment": record(
        ("policy", "law", "number"),
        deployment=_DIGEST,
        version=VERSION,
        assignment=COUNT,
        policy=_POLICY,
        law=_LAW,
        questions=_QUESTIONS,
        number=NUMBER,
    ),
    "Plan": record(
        ("report_bytes",),
        deployment=_DIGEST,
        version=VERSION,
        users=COUNT,
        # With a relay: to how many bytes every report is padded before it is sealed.
        report_bytes=VERSION,
        assignments=list_of(
            record(
                ("policy", "law"),
                share={"type": "number", "minimum": 0, "maximum": 1},
                policy=_POLICY,
                # Its own law, or the number of an earlier assignment that has the same.
                law={"anyOf": [_LAW, COUNT]},
                questions=_QUESTIONS,
            ),
            minItems=1,
        ),
    ),
    "Report": record(
        ("number",),
        id=HEX_32,
        deployment=_DIGEST,
        version={"type": "integer"},
        assignment={"type": "integer"},
        number=NUMBER,
        values=list_of({"type": "integer"}),
    ),
    "Counted": record(id=HEX_32, status={"enum": ["counted", "duplicate"]}),
    "Refused": record(
        id={"anyOf": [HEX_32, {"type": "null"}]},
        status={"const": "refused"},
        cause={"enum": list(REFUSALS)},
        detail=_TEXT,
    ),
    "Results": record(
        results=list_of({"anyOf": [ref("Counted"), ref("Refused")]}, minItems=1, maxItems=1000)
    ),
    "HandedOver": record(
        counted=COUNT,
        duplicate=COUNT,
        refused={"type": "object", "additionalProperties": COUNT},
    ),
    "Taken": record(version=VERSION, number=COUNT),
    "Wish": record(above=COUNT),
    "Status": _PUBLIC_STATUS,
    "Certificate": record(
        deployment=_DIGEST,
        confidence={"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        # The range of returns, in whose units the intervals are.
        least={"type": "number"},
        largest={"type": "number"},
        # The policies that were ever certified, in order, and which of them is now.
        policies=list_of(_CERTIFIED),
        current={"anyOf": [COUNT, {"type": "null"}]},
        incumbent={"anyOf": [_CERTIFIED, {"type": "null"}]},
        # Probability of ever raising a false alarm; null if changes are not looked for.
        alarm={"type": ["number", "null"]},
        change={"anyOf": [_CHANGE, {"type": "null"}]},
    ),
    "Pause": record(paused={"type": "boolean"}),
    "Published": record(version=VERSION, users=COUNT),
    "Export": {
        "type": "object",
        "required": ["digest", "deployment", "totals", "plans", "sums", "statistics"],
    },
}
