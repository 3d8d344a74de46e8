"""What a network may do: send somewhere else, and send without end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from ldprl.conformance.scripted import Reply, Scripted, running
from ldprl.conformance.subject import Check, Script, Subject, checked
from ldprl.protocol.sizes import LONGEST_BODY

_PATHS = ("/v1/deployment", "/v1/policy", "/v1/reports")


@dataclass
class _Disturbed(Scripted):
    """Answers the first request for ``path`` with a reply that is changed."""

    path: str = ""
    change: Callable[[Reply], Reply] = lambda reply: reply

    def answer(self, method: str, path: str, body: bytes) -> Reply:
        """Return what a service would, or what was made of it."""
        if urlsplit(path).path != self.path:
            return super().answer(method, path, body)
        self.path = ""
        return self.change(super().answer(method, path, body))


def network(subject: Subject, served: Callable[[], Scripted], script: Script) -> Iterator[Check]:
    """Yield whether redirects are not followed, and long responses not read."""
    good = served()
    wrong = []
    for path in _PATHS:
        other = served()
        with running(other):
            away = _to(other.url + path)
            service = _Disturbed(good.document, good.assigned, path=path, change=away)
            with running(service):
                subject.take_part(service, script)
        wrong += [f"{path}: its redirect was followed"] if other.connections else []
    yield checked("redirects", wrong, f"of {len(_PATHS)} calls none is followed")

    service = _Disturbed(good.document, good.assigned, path="/v1/policy", change=_endless)
    with running(service):
        answer = subject.take_part(service, script)
    taken = "error" not in answer and len(service.numbers) == 1
    wrong = [f"taken, {str(answer)[:100]}"] if taken else []
    done = f"not taken, as it has over {LONGEST_BODY} bytes"
    yield checked("a response without end", wrong, done)


def _to(url: str) -> Callable[[Reply], Reply]:
    """Return what makes a redirect of a reply."""
    return lambda _: (307, {"Location": url}, b"")


def _endless(reply: Reply) -> Reply:
    """Return a response with spaces behind it, which JSON allows."""
    assert reply is not None
    status, headers, body = reply
    return status, headers, body + b" " * LONGEST_BODY
