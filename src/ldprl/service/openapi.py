"""The OpenAPI document: what there is to call, and exactly what it takes and answers."""

from __future__ import annotations

from typing import Any

import ldprl
from ldprl.protocol.deployment import FORMAT
from ldprl.questions.matter import matter_kinds
from ldprl.service.causes import DELAYS, REFUSALS

Schema = dict[str, Any]

_HEX_32 = {"type": "string", "pattern": "^[0-9a-f]{32}$"}
_DIGEST = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_COUNT = {"type": "integer", "minimum": 0}
_VERSION = {"type": "integer", "minimum": 1}
_TEXT = {"type": "string"}


def _object(optional: tuple[str, ...] = (), /, **properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def _list(items: Schema, **bounds: int) -> Schema:
    return {"type": "array", "items": items} | bounds


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _counts(names: list[str]) -> Schema:
    return _object(**dict.fromkeys(names, _COUNT))


_POLICY = _list(_list(_COUNT))
_QUESTIONS = _list(
    {
        "type": "object",
        "properties": {
            "kind": {"enum": sorted(matter_kinds())},
            "step": _COUNT,
            # The cell of each state, where states are not asked about one by one.
            "where": _list(_COUNT),
        },
        "required": ["kind", "step"],
    }
)
# Tables from a public seed: each row of weights sums to 2³².
_LAW = _object(
    ("where",),
    seed=_HEX_32,
    tables=_VERSION,
    weights=_list(_POLICY),
    where=_list(_COUNT),
)
_PUBLIC_STATUS = _object(
    deployment=_DIGEST,
    name=_TEXT,
    version=_VERSION,
    users=_COUNT,
    reports=_counts(["counted", "duplicate"]),
    refused=_counts(list(REFUSALS)),
    paused={"type": "boolean"},
    planned_at=_COUNT,
    next_plan_at=_COUNT,
    oldest_open_version=_VERSION,
    # What reports say against the deployment's [structure].
    contradictions=_list(_TEXT),
)
_INTERVAL = _object(low={"type": "number"}, high={"type": "number"})
_CERTIFIED = _object(
    ("better", "chosen_at"),
    # How many of its users have answered, and how many users there were when it was chosen.
    users=_COUNT,
    chosen_at=_COUNT,
    worth=_INTERVAL,
    better=_INTERVAL,
)
# A policy's worth has changed: its number (null: the incumbent), since about which user.
_CHANGE = _object(
    policy={"type": ["integer", "null"]},
    since=_COUNT,
    before={"type": "number"},
    after={"type": "number"},
)
_SCHEMAS: dict[str, Schema] = {
    "Problem": _object(cause=_TEXT, detail=_TEXT),
    "Deployment": _object(
        digest=_DIGEST,
        deployment={"type": "object", "properties": {"format": {"const": FORMAT}}},
    ),
    "Assignment": _object(
        ("policy", "law", "table"),
        deployment=_DIGEST,
        version=_VERSION,
        assignment=_COUNT,
        policy=_POLICY,
        law=_LAW,
        questions=_QUESTIONS,
        table=_COUNT,
    ),
    "Plan": _object(
        ("report_bytes",),
        deployment=_DIGEST,
        version=_VERSION,
        users=_COUNT,
        # With a relay: to how many bytes every report is padded before it is sealed.
        report_bytes=_VERSION,
        assignments=_list(
            _object(
                ("policy", "law"),
                share={"type": "number", "minimum": 0, "maximum": 1},
                policy=_POLICY,
                # Its own law, or the number of an earlier assignment that has the same.
                law={"anyOf": [_LAW, _COUNT]},
                questions=_QUESTIONS,
            ),
            minItems=1,
        ),
    ),
    "Report": _object(
        ("table",),
        id=_HEX_32,
        deployment=_DIGEST,
        version={"type": "integer"},
        assignment={"type": "integer"},
        table=_COUNT,
        values=_list({"type": "integer"}),
    ),
    "Counted": _object(id=_HEX_32, status={"enum": ["counted", "duplicate"]}),
    "Refused": _object(
        id={"anyOf": [_HEX_32, {"type": "null"}]},
        status={"const": "refused"},
        cause={"enum": list(REFUSALS)},
        detail=_TEXT,
    ),
    "Results": _object(
        results=_list({"anyOf": [_ref("Counted"), _ref("Refused")]}, minItems=1, maxItems=1000)
    ),
    "HandedOver": _object(
        counted=_COUNT,
        duplicate=_COUNT,
        refused={"type": "object", "additionalProperties": _COUNT},
    ),
    "Status": _PUBLIC_STATUS,
    "Certificate": _object(
        deployment=_DIGEST,
        confidence={"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        # The largest return, in whose units the intervals are.
        largest=_VERSION,
        # The policies that were ever certified, in order, and which of them is now.
        policies=_list(_CERTIFIED),
        current={"anyOf": [_COUNT, {"type": "null"}]},
        incumbent={"anyOf": [_CERTIFIED, {"type": "null"}]},
        # How likely a false alarm may be, ever; null where changes are not looked for.
        alarm={"type": ["number", "null"]},
        change={"anyOf": [_CHANGE, {"type": "null"}]},
    ),
    "Pause": _object(paused={"type": "boolean"}),
    "Published": _object(version=_VERSION, users=_COUNT),
    "Export": {
        "type": "object",
        "required": ["digest", "deployment", "totals", "plans", "sums", "statistics"],
    },
}


def _answer(text: str, schema: Schema | None = None, kind: str = "application/json") -> Schema:
    return {"description": text} | ({"content": {kind: {"schema": schema}}} if schema else {})


def _problems(*statuses: int) -> dict[str, Schema]:
    later = {"schema": {"type": "integer", "minimum": 0}, "description": "Seconds to wait."}
    delays = {status for status, _ in DELAYS.values()}
    named = {
        status: [*(cause for cause, code in REFUSALS.items() if code == status)]
        + [cause for cause, (code, _) in DELAYS.items() if code == status]
        for status in statuses
    }
    return {
        str(status): _answer(", ".join(named[status]) or "See the cause.", _ref("Problem"))
        | ({"headers": {"Retry-After": later}} if status in delays else {})
        for status in statuses
    }


def _call(name: str, text: str, answers: dict[str, Schema], **more: Any) -> Schema:
    # Any call may be asked to be repeated later.
    return {"operationId": name, "summary": text, **more} | {
        "responses": answers | _problems(429, 503)
    }


def _get(name: str, text: str, schema: Schema, *problems: int, **more: Any) -> Schema:
    answers = {"200": _answer("As asked.", schema)} | _problems(*problems)
    return {"get": _call(name, text, answers, **more)}


def _parameter(name: str, place: str, schema: Schema, text: str) -> Schema:
    given = {"name": name, "in": place, "schema": schema, "description": text}
    return given | {"required": place == "path"}


def _body(schema: Schema) -> Schema:
    return {"required": True, "content": {"application/json": {"schema": schema}}}


_REPORTS: Schema = {
    "anyOf": [_ref("Report"), _list(_ref("Report"), minItems=1, maxItems=1000)],
}
_ADMIN: Schema = {"security": [{"admin": []}]}
_RELAY: Schema = {"security": [{"relay": []}]}
_BATCH: Schema = {
    "required": True,
    "description": 'A line {"version": …, "count": …, "size": …}, then count × size sealed bytes.',
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
}


def _paths() -> dict[str, Schema]:
    policy = _get(
        "policy",
        "The assignment of a report id; without an id, the whole plan in force.",
        {"anyOf": [_ref("Assignment"), _ref("Plan")]},
        400,
        parameters=[_parameter("id", "query", _HEX_32, "A random report id, made by the client.")],
    )
    assignment = _get(
        "assignment",
        "One assignment of one version; never changes.",
        _ref("Assignment"),
        404,
        parameters=[
            _parameter("version", "path", _VERSION, "Version of the plan."),
            _parameter("assignment", "path", _COUNT, "Which of its assignments."),
        ],
    )
    reports = _call(
        "report",
        "Have one report, or up to 1000, counted; answered after the commit.",
        {"200": _answer("What became of it.", {"anyOf": [_ref("Counted"), _ref("Results")]})}
        | _problems(400, 410, 413, 422, 507),
        requestBody=_body(_REPORTS),
    )
    crowds = _call(
        "crowd",
        "Have a relay's batch counted, all at once; answered in numbers only.",
        {"200": _answer("What became of its reports.", _ref("HandedOver"))}
        | _problems(400, 401, 404, 413, 422, 507),
        requestBody=_BATCH,
        **_RELAY,
    )
    pause = _call(
        "pause",
        "Pause the service, or resume it.",
        {"200": _answer("Done.", _ref("Pause"))} | _problems(400, 401, 403, 413, 507),
        requestBody=_body(_ref("Pause")),
        **_ADMIN,
    )
    publish = _call(
        "publish",
        "Have the next version made now.",
        {"200": _answer("Done.", _ref("Published"))} | _problems(401, 403, 507),
        **_ADMIN,
    )
    return {
        "/v1/deployment": _get(
            "deployment", "The frozen parameters and their digest.", _ref("Deployment")
        ),
        "/v1/policy": policy,
        "/v1/policy/{version}/{assignment}": assignment,
        "/v1/reports": {"post": reports},
        "/v1/crowds": {"post": crowds},
        "/v1/status": _get("status", "How far the service has come.", _ref("Status")),
        "/v1/certificate": _get(
            "certificate",
            "What policies are worth, from their users' answers alone.",
            _ref("Certificate"),
            404,
        ),
        "/v1/dashboard": _get("dashboard", "The dashboard's numbers.", {"type": "object"}),
        "/healthz": _get(
            "health", "Whether this server can work.", _object(status={"const": "ok"})
        ),
        "/v1/admin/pause": {"post": pause},
        "/v1/admin/export": _get(
            "export", "Everything in the database except ids.", _ref("Export"), 401, 403, **_ADMIN
        ),
        "/v1/admin/publish": {"post": publish},
    }


def document() -> dict[str, Any]:
    """Return the OpenAPI 3.1 document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "ldprl",
            "version": ldprl.__version__,
            "description": "Policies out, private reports in.",
        },
        "paths": _paths(),
        "components": {
            "schemas": _SCHEMAS,
            "securitySchemes": {
                name: {"type": "http", "scheme": "bearer"} for name in ("admin", "relay")
            },
        },
    }
