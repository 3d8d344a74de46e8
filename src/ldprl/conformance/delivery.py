"""One report, one id, the same bytes: whatever the network, the power and the service do."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from ldprl.conformance.scripted import Reply, Scripted, refusal, running
from ldprl.conformance.subject import Check, Script, Subject, checked, path_of
from ldprl.protocol.deployment import Deployment

_TROUBLE: list[Reply] = [
    None,
    refusal(503, "overloaded", "0"),
    refusal(429, "rate-limited", "0"),
    (502, {}, b"<html>a proxy</html>"),
]
_KILL_SECONDS = 60.0


def delivery(subject: Subject, served: Callable[[], Scripted], script: Script) -> Iterator[Check]:
    """Yield the checks of sending and of being killed; ``served`` makes a good service."""
    settled = ("counted", "duplicate", "accepted")

    service = served()
    service.instead, service.then_lost = deque(_TROUBLE), 1
    ledger = subject.ledger()
    with running(service):
        answer = subject.take_part(service, script, ledger=ledger)
        wrong = _same_bytes(service, len(_TROUBLE) + 2)
        if answer.get("status") not in settled:
            wrong.append(f"ended as {str(answer)[:100]}")
        yield checked("retries", wrong, f"{len(service.bodies)} attempts with the same bytes")
        subject.take_part(service, script, ledger=ledger)
        known = _same_bytes(service, len(service.bodies))
        yield checked("one report for a deployment", known, "none the second time")

    service = served()
    service.instead = deque([refusal(410, "expired-version")])
    ledger = subject.ledger()
    with running(service):
        answer = subject.take_part(service, script, ledger=ledger)
        wrong = [] if answer.get("status") == "refused" else [f"ended as {str(answer)[:100]}"]
        subject.take_part(service, script, ledger=ledger)
        wrong += [] if len(service.bodies) == 1 else ["sent again"]
    yield checked("a report refused for good", wrong, "never sent again, and no other one drawn")

    for path, when in (("/v1/policy", "before the policy"), ("/v1/reports", "before the response")):
        yield _killed(subject, served(), script, path, when)


def budgets(subject: Subject, served: Callable[[], Scripted], script: Script) -> Iterator[Check]:
    """Yield whether a budget for two reports and a half is kept to."""
    service = served()
    budget = f"{2.5 * float(service.document['epsilon']):.12g}"
    with running(service):
        ledger = subject.ledger()
        said = [subject.take_part(service, script, ledger=ledger, budget=budget) for _ in range(3)]
    wrong = []
    if len({*service.bodies}) != 2 or [answer.get("status") for answer in said[:2]] == [None, None]:
        wrong.append(f"{len({*service.bodies})} reports within a budget for 2.5")
    if "error" not in said[2]:
        wrong.append(f"the third one ended as {str(said[2])[:100]}")
    yield checked("budget", wrong, f"two reports at ε = {service.document['epsilon']} of {budget}")


def _same_bytes(service: Scripted, count: int) -> list[str]:
    wrong = []
    if len(service.bodies) != count:
        wrong.append(f"{len(service.bodies)} attempts, not {count}")
    if len({*service.bodies}) > 1:
        wrong.append(f"{len({*service.bodies})} different reports")
    return wrong


def _killed(subject: Subject, service: Scripted, script: Script, path: str, when: str) -> Check:
    """Kill the program while it waits for ``path``, and let a new one go on."""
    waits, killed = threading.Event(), threading.Event()

    def hold(asked: str) -> None:
        if asked == path and not killed.is_set():
            waits.set()
            killed.wait(_KILL_SECONDS)

    service.before = hold
    given: dict[str, Any] = {"ledger": subject.ledger()} | vars(script)
    with running(service):
        subject.program.send("take_part", url=service.url, digest=service.digest, **given)
        came = waits.wait(_KILL_SECONDS)
        subject.program.kill()
        killed.set()
        answer = subject.take_part(service, script, ledger=given["ledger"])
    different = len({*service.bodies})
    wrong = [] if came else [f"{path} was never asked for"]
    wrong += [f"{different} different reports"] if different > 1 else []
    # Whoever pays first may lose a report that was not drawn yet, and says so.
    if (different == 0 and "error" not in answer) or (path == "/v1/reports" and "error" in answer):
        wrong.append(f"went on as {str(answer)[:100]}")
    return checked(f"killed {when}", wrong, f"{different} report in all")


def served_by(case: dict[str, Any]) -> tuple[Callable[[], Scripted], Script]:
    """Return how to serve a deployment of the vectors, and who takes part."""
    document, assignment = case["document"], case["reports"][0]["assignment"]
    script = path_of(Deployment.from_document(document))
    numbered = "law" in assignment

    def assigned(number: int | None) -> dict[str, Any]:
        return {**assignment, **({"number": number} if numbered else {})}

    return lambda: Scripted(document, assigned), script
