"""The OpenAPI document: what there is to call."""

from __future__ import annotations

from typing import Any

import ldprl
from ldprl.service.causes import DELAYS, REFUSALS
from ldprl.service.schemas import (
    COUNT,
    HEX_32,
    NUMBER,
    SCHEMAS,
    VERSION,
    Schema,
    list_of,
    record,
    ref,
)


def _response(text: str, schema: Schema) -> Schema:
    return {"description": text, "content": {"application/json": {"schema": schema}}}


def _problems(*statuses: int) -> dict[str, Schema]:
    later = {"schema": {"type": "integer", "minimum": 0}, "description": "Seconds to wait."}
    delays = {status for status, _ in DELAYS.values()}
    named = {
        status: [*(cause for cause, code in REFUSALS.items() if code == status)]
        + [cause for cause, (code, _) in DELAYS.items() if code == status]
        for status in statuses
    }
    return {
        str(status): _response(", ".join(named[status]) or "See the cause.", ref("Problem"))
        | ({"headers": {"Retry-After": later}} if status in delays else {})
        for status in statuses
    }


def _call(name: str, text: str, responses: dict[str, Schema], **more: Any) -> Schema:
    # Any call may be asked to be repeated later.
    return {"operationId": name, "summary": text, **more} | {
        "responses": responses | _problems(429, 503)
    }


def _get(name: str, text: str, schema: Schema, *problems: int, **more: Any) -> Schema:
    responses = {"200": _response("The requested document.", schema)} | _problems(*problems)
    return {"get": _call(name, text, responses, **more)}


def _parameter(name: str, place: str, schema: Schema, text: str) -> Schema:
    given = {"name": name, "in": place, "schema": schema, "description": text}
    return given | {"required": place == "path"}


def _body(schema: Schema) -> Schema:
    return {"required": True, "content": {"application/json": {"schema": schema}}}


_REPORTS: Schema = {
    "anyOf": [ref("Report"), list_of(ref("Report"), minItems=1, maxItems=1000)],
}
_ADMIN: Schema = {"security": [{"admin": []}]}
_RELAY: Schema = {"security": [{"relay": []}]}
_BYTES: Schema = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
_BATCH: Schema = {
    "required": True,
    "description": 'A line {"version": …, "count": …, "size": …, "plan": …, "number": …}, then'
    " count × size sealed bytes.",
    "content": _BYTES,
}


def _paths() -> dict[str, Schema]:
    policy = _get(
        "policy",
        "The assignment of a report id; without an id, the whole plan in force.",
        {"anyOf": [ref("Assignment"), ref("Plan")]},
        400,
        parameters=[
            _parameter("id", "query", HEX_32, "A random report id, made by the client."),
            _parameter("number", "query", NUMBER, "The number of its policy, drawn by the client."),
        ],
    )
    assignment = _get(
        "assignment",
        "One assignment of one version; never changes.",
        ref("Assignment"),
        404,
        parameters=[
            _parameter("version", "path", VERSION, "Version of the plan."),
            _parameter("assignment", "path", COUNT, "Which of its assignments."),
        ],
    )
    reports = _call(
        "report",
        "Have one report, or up to 1000, counted; the response comes after the commit.",
        {"200": _response("What became of it.", {"anyOf": [ref("Counted"), ref("Results")]})}
        | _problems(400, 410, 413, 422, 507),
        requestBody=_body(_REPORTS),
    )
    crowds = _call(
        "crowd",
        "Have a relay's batch counted, all at once; the response has numbers only.",
        {"200": _response("What became of its reports.", ref("HandedOver"))}
        | _problems(400, 401, 404, 410, 413, 422, 507),
        requestBody=_BATCH,
        **_RELAY,
    )
    taken = _call(
        "taken",
        "The last hand-over that the service knows of, for its relay.",
        {"200": _response("Its number.", ref("Taken"))} | _problems(401, 404, 507),
        **_RELAY,
    )
    skip = _call(
        "skip",
        "Have plans made until the version is one that the relay has never seen.",
        {"200": _response("They are being made.", ref("Taken"))}
        | _problems(400, 401, 404, 413, 422, 507),
        requestBody=_body(ref("Wish")),
        **_RELAY,
    )
    pause = _call(
        "pause",
        "Pause the service, or resume it.",
        {"200": _response("Done.", ref("Pause"))} | _problems(400, 401, 403, 413, 507),
        requestBody=_body(ref("Pause")),
        **_ADMIN,
    )
    publish = _call(
        "publish",
        "Have the next version made now.",
        {"200": _response("Done.", ref("Published"))} | _problems(401, 403, 507),
        **_ADMIN,
    )
    return {
        "/v1/deployment": _get(
            "deployment", "The frozen parameters and their digest.", ref("Deployment")
        ),
        "/v1/policy": policy,
        "/v1/policy/{version}/{assignment}": assignment,
        "/v1/reports": {"post": reports},
        "/v1/crowds": {"get": taken, "post": crowds},
        "/v1/crowds/next": {"post": skip},
        "/v1/status": _get("status", "The service's progress.", ref("Status")),
        "/v1/certificate": _get(
            "certificate",
            "What policies are worth, from their users' answers alone.",
            ref("Certificate"),
            404,
        ),
        "/v1/learnt.json": _get(
            "learntAsJson",
            "The policy on vectors that would be handed over now: a file to act by.",
            {"type": "object"},
            404,
        ),
        "/v1/learnt.onnx": {
            "get": _call(
                "learntAsOnnx",
                "The same as an ONNX graph, from observations to actions.",
                {"200": {"description": "The graph.", "content": _BYTES}} | _problems(404),
            )
        },
        "/v1/dashboard": _get("dashboard", "The dashboard's numbers.", {"type": "object"}),
        "/healthz": _get(
            "health",
            "Whether this server can work.",
            record(status={"enum": ["ok", "plan-overdue"]}),
        ),
        "/v1/admin/pause": {"post": pause},
        "/v1/admin/export": _get(
            "export", "Everything in the database except ids.", ref("Export"), 401, 403, **_ADMIN
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
            "schemas": SCHEMAS,
            "securitySchemes": {
                name: {"type": "http", "scheme": "bearer"} for name in ("admin", "relay")
            },
        },
    }
