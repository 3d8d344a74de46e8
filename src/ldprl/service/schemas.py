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


_DECIMAL = {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?$"}
_WORD = {"type": "string", "pattern": "^[0-9]+$"}


def said(text: str, schema: Schema) -> Schema:
    """Return a schema with a description."""
    return schema | {"description": text}


_TABLE = list_of(list_of(COUNT))
_POLICY = {
    "anyOf": [
        said(
            "The action of each state, a row for each step; one row alone, with a number, is for"
            " all steps.",
            _TABLE,
        ),
        said("Of a policy on vectors: base64 of float32.", record(parameters=_TEXT)),
    ]
}
_THRESHOLD = record(
    ("own",),
    kind={"const": "threshold"},
    low=said("The least threshold, in 1/2¹⁶ of the range of returns.", COUNT),
    high=said("The largest one.", COUNT),
    baseline=said(
        "What the service expects of returns above each 256th of the range; of no use to a client.",
        list_of(COUNT, minItems=256, maxItems=256),
    ),
    own=said(
        "The user's 32-bit word, and whether the threshold is a wide one; none under a law.",
        list_of({"type": ["integer", "boolean"]}, minItems=2, maxItems=2),
    ),
)
_ORACLE = record(items=VERSION, size=VERSION, threshold=_WORD)
_OWN_CELLS = {
    "where": said(
        "The cell of each state, where states are not asked about one by one.", list_of(COUNT)
    ),
    **_ORACLE["properties"],
}
_ABOUT_A_STEP = record(
    tuple(_OWN_CELLS),
    kind={"enum": ["joint", "reward", "transition", "worth"]},
    step=COUNT,
    **_OWN_CELLS,
)
_RETURN = record(
    ("way", "middle", "scale"),
    kind={"const": "return"},
    step={"const": 0},
    low=said("The least threshold of the bit, in 1/2¹⁶ of a reward.", COUNT),
    high=said("The largest one.", COUNT),
    **{
        name: said("What the service makes of the answer; of no use to a client.", COUNT)
        for name in ("expected", "scored", "way", "middle", "scale")
    },
)
_KNOWN = {"joint", "reward", "transition", "worth", "return"}
# Kinds of one's own, where there are any.
_OTHERS: list[Schema] = [
    {"type": "object", "properties": {"kind": {"const": kind}, "step": COUNT}, "required": ["kind"]}
    for kind in sorted({*observable_kinds()} - _KNOWN)
]
_QUESTIONS = list_of({"anyOf": [_ABOUT_A_STEP, _RETURN, _THRESHOLD, *_OTHERS]})
_LAW = {
    "anyOf": [
        said(
            "Tables from a public seed: each row of weights sums to 2³².",
            record(("where",), seed=HEX_32, weights=list_of(_TABLE), where=list_of(COUNT)),
        ),
        said("Parameters around a mean.", record(seed=HEX_32, mean=_TEXT, spread=_TEXT)),
    ]
}
_DOCUMENT = record(
    ("shape", "policy", "step_hours", "memory_users", "shuffle", "certificate", "structure"),
    format={"const": FORMAT},
    name=_TEXT,
    labels=record(
        ("states", "actions"),
        title=_TEXT,
        states=list_of(_TEXT),
        actions=list_of(_TEXT),
        reward=_TEXT,
    ),
    epsilon=said("Of one report, for the whole episode.", _DECIMAL),
    delta=_DECIMAL,
    mechanism=_TEXT,
    randomizer=said(
        "What a client draws with: options of the mechanism, and its constants.",
        {"type": "object", "additionalProperties": {"anyOf": [_ORACLE, _TEXT, COUNT]}},
    ),
    shape=record(
        states=VERSION, actions=VERSION, horizon=VERSION, step_dependent={"type": "boolean"}
    ),
    policy=said("In place of a shape, where users see vectors.", {"type": "object"}),
    learner=_TEXT,
    failure_probability=_DECIMAL,
    epochs=_TEXT,
    first_epoch=VERSION,
    memory_users=VERSION,
    report_window_hours=VERSION,
    step_hours=_DECIMAL,
    shuffle=record(
        crowd=VERSION,
        central_epsilon=_DECIMAL,
        delta=_DECIMAL,
        key=said("X25519, which reports are sealed to.", _DIGEST),
    ),
    certificate=record(
        ("most_lost", "alarm"),
        share=_DECIMAL,
        confidence=_DECIMAL,
        most_lost=_DECIMAL,
        alarm=_DECIMAL,
    ),
    structure=record(
        ("admissible", "successors", "rewards", "groups", "incumbent"),
        admissible=_TABLE,
        successors=_TABLE,
        rewards=list_of(list_of(_TEXT)),
        groups=list_of(COUNT),
        incumbent={"anyOf": [list_of(COUNT), _TABLE]},
    ),
)
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
        digest=said("For people: a client computes it from the document.", _DIGEST),
        deployment=ref("DeploymentDocument"),
    ),
    "DeploymentDocument": _DOCUMENT,
    "Assignment": record(
        ("policy", "law", "number"),
        deployment=_DIGEST,
        version=VERSION,
        assignment=COUNT,
        policy=_POLICY,
        law=_LAW,
        questions=_QUESTIONS,
        number=said("The user's own, where there is a law.", NUMBER),
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
        values=said(
            "The items of the answers, or a number for each counter. Of a user who stopped early"
            " or did something else too: they look like any other.",
            list_of({"type": "integer"}),
        ),
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
