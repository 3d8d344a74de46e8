"""Questions about cells of states: refused, or answered with the constants that they bring."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ldprl.assignment import Assignment
from ldprl.conformance.exact import different
from ldprl.conformance.hostile import LOUDER
from ldprl.conformance.replayed import ReplayedSourceForTests, stream
from ldprl.conformance.subject import Check, Subject, checked
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.subset_selection import LAYOUTS
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.partition import Partition
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued
from ldprl.shape import Shape

_WHERE = Partition(np.array([1, 0, 1, 2]))
_SHAPE = Shape(4, 2, 3)
_USER = Trajectory((2, 3, 1), (0, 0, 0), (0.1, 1.0, 1 / 3))


def cells(subject: Subject) -> Iterator[Check]:
    """Yield whether such questions do not reveal more than ε, and are answered exactly."""
    if "subset-selection" not in subject.supports:
        return
    wrong: list[str] = []
    answered = asked = 0
    for layout in LAYOUTS:
        options = {"layout": layout, "answers": 1}
        deployment = Deployment("cells", _SHAPE, "1", "subset-selection", options=options)
        for what, step in deployment.built.questions():
            asked += 1
            answered += _asked(subject, deployment, Question(what, step, np.ones(4), _WHERE), wrong)
    if answered not in (0, asked):
        wrong.append(f"{answered} of {asked} are answered, and the others refused")
    done = f"{answered} of {asked} are answered, none with constants that reveal more than ε"
    yield checked("cells of states", wrong, done)


def _asked(subject: Subject, deployment: Deployment, question: Question, wrong: list[str]) -> bool:
    """Ask a question, and one like it that hides too little; return whether it was answered."""
    built = deployment.built
    one = Assignment(np.zeros((3, 4), dtype=np.int64), questions=(question,))
    document = Issued(deployment.digest, 1, 0, one).document(built)
    name = f"{question.kind} at step {question.step}"
    content = stream(name, count=2000).content
    data = {key: list(value) for key, value in vars(_USER).items()}
    given = {"document": deployment.document, "trajectory": data, "bytes": content.hex()}

    (own,) = document["questions"]
    for what, change in (
        ("a threshold", {"threshold": str(int(own["threshold"]) + LOUDER)}),
        ("items", {"items": own["items"] + 1}),
        ("cells", {"where": [0, 0, 2, 2]}),
    ):
        changed = document | {"questions": [own | change]}
        answer = subject.program.call("draw", assignment=changed, count=1, **given)
        if "error" not in answer:
            wrong.append(f"{name}, with {what} that cannot be: taken, {str(answer)[:100]}")

    source = ReplayedSourceForTests(content)
    values = built.codec(one).write(built.privatize(_USER, one, source))
    answer = subject.program.call("draw", assignment=document, count=1, **given)
    if "error" in answer:
        return False
    wanted = {"reports": [values], "used": source.used}
    if any(answer.get(key) != wanted[key] for key in wanted):
        wrong.append(f"{name}: {different(answer, wanted)}")
    return True
