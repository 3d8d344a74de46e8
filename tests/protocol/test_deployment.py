"""A deployment: read, written, known again by its digest, and refused by the field."""

from __future__ import annotations

import copy
import hashlib
import json
import math
import time
from collections.abc import Iterator
from typing import Any

import pytest

from ldprl import InputError, Shape
from ldprl.catalogue import LEARNERS, check_pair, recommended_learner
from ldprl.errors import decimal_text
from ldprl.protocol.deployment import Deployment, digest_of, epoch_length
from ldprl.protocol.labels import Labels

from .deployments import EVERY

TOML: dict[str, Any] = {
    "name": "clinic",
    "states": 3,
    "actions": 2,
    "horizon": 4,
    "epsilon": 2,
    "labels": {"title": "Zürich · ☤", "states": ["ill", "so-so", "well"]},
}


def test_the_document_is_stable() -> None:
    """Written out by hand: whatever changes this changes every deployment in the field."""
    written = (
        '{"delta":"0","epochs":"growth:0.1","epsilon":"2","failure_probability":"0.1",'
        '"first_epoch":100,"format":2,'
        '"labels":{"actions":["action 0","action 1"],"reward":"reward",'
        '"states":["ill","so-so","well"],"title":"Zürich · ☤"},'
        '"learner":"ldp-evi","mechanism":"laplace","name":"clinic",'
        '"randomizer":{"denominator":"1","numerator":"11"},"report_window_hours":168,'
        '"shape":{"actions":2,"horizon":4,"states":3,"step_dependent":false}}'
    )
    found = Deployment.from_toml(TOML | {"mechanism": "laplace"})
    text = json.dumps(found.document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert text == written
    assert found.digest == hashlib.sha256(written.encode("utf-8")).hexdigest()


def test_the_length_of_a_step_decides_the_window_and_is_written_only_if_given() -> None:
    """Four steps of a day: 96 hours, and a week; or a day at least for the report to arrive."""
    slow = Deployment.from_toml(TOML | {"step_hours": 24})
    assert (slow.document["step_hours"], slow.report_window_hours) == ("24", 96 + 168)
    assert Deployment.from_document(slow.document).digest == slow.digest
    assert "step_hours" not in Deployment.from_toml(TOML).document
    quick = Deployment.from_toml(TOML | {"step_hours": "0.1"})
    assert (quick.document["step_hours"], quick.report_window_hours) == ("0.1", 1 + 168)
    tight = TOML | {"step_hours": 24, "report_window_hours": 120}
    assert Deployment.from_toml(tight).report_window_hours == 120
    arithmetic = "at least 120: 4 steps of 24 h are 96 h, and a report has 24 h to arrive"
    with pytest.raises(InputError, match=f"^report_window_hours = 119: expected {arithmetic}$"):
        Deployment.from_toml(tight | {"report_window_hours": 119})


def test_a_memory_is_written_only_if_there_is_one_and_plans_grow_with_it() -> None:
    recent = Deployment.from_toml(TOML | {"memory_users": 5000})
    assert recent.document["memory_users"] == 5000
    assert Deployment.from_document(recent.document).digest == recent.digest
    assert "memory_users" not in Deployment.from_toml(TOML).document
    assert [recent.next_plan_at(users) - users for users in (2000, 5000, 10**7)] == [200, 500, 500]
    for wrong in (0, 2.5, "5000", True):
        with pytest.raises(InputError, match=r"^memory_users = "):
            Deployment.from_toml(TOML | {"memory_users": wrong})


def test_the_order_of_keys_does_not_matter() -> None:
    document = EVERY["laplace"].document
    assert digest_of(dict(reversed(document.items()))) == EVERY["laplace"].digest


@pytest.mark.parametrize("kind", EVERY)
def test_there_and_back(kind: str) -> None:
    deployment = EVERY[kind]
    sent = json.loads(json.dumps(deployment.document))
    found = Deployment.from_document(sent)
    assert found.digest == deployment.digest
    assert found.document == deployment.document
    assert found.built.guarantee == deployment.built.guarantee


@pytest.mark.parametrize("kind", EVERY)
def test_no_floats_and_no_large_numbers(kind: str) -> None:
    """Every language reads 53-bit integers and strings in the same way, and nothing else."""
    for _, value in leaves(EVERY[kind].document):
        assert isinstance(value, str | bool) or (isinstance(value, int) and abs(value) < 2**53)


@pytest.mark.parametrize("kind", EVERY)
def test_every_field_changes_the_digest(kind: str) -> None:
    document = EVERY[kind].document
    seen = {digest_of(document)}
    places = list(leaves(document))
    for place, value in places:
        seen.add(digest_of(changed(document, place, value)))
    assert len(seen) == len(places) + 1


@pytest.mark.parametrize("kind", EVERY)
def test_a_randomizer_that_is_not_what_epsilon_asks_for_is_refused(kind: str) -> None:
    document = EVERY[kind].document
    for place, value in leaves(document["randomizer"], ("randomizer",)):
        if place != ("randomizer", "layout"):
            # With one answer more there may be no mechanism at all.
            with pytest.raises(InputError, match=r"deployment\.randomizer|answers"):
                Deployment.from_document(changed(document, place, value))


def test_a_layout_is_part_of_the_deployment() -> None:
    assert EVERY["joint"].digest != EVERY["separate"].digest
    assert EVERY["subset-selection"].digest in (EVERY["joint"].digest, EVERY["separate"].digest)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"states": 0}, "states"),
        ({"states": True}, "states"),
        ({"horizon": 2.5}, "horizon"),
        ({"step_dependent": 1}, "step_dependent"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": "two"}, "epsilon"),
        ({"epsilon": "nan"}, "epsilon"),
        ({"epsilon": "inf"}, "epsilon"),
        ({"epsilon": True}, "epsilon"),
        ({"epsilon": [1]}, "epsilon"),
        ({"delta": 1}, "delta"),
        ({"mechanism": "none"}, "mechanism"),
        ({"mechanism": "shuffle"}, "mechanism"),
        ({"mechanism": "gaussian"}, "delta"),
        ({"mechanism": "laplace", "layout": "joint"}, "layout"),
        ({"layout": "both"}, "layout"),
        ({"learner": ""}, "learner"),
        ({"learner": "x" * 101}, "learner"),
        ({"failure_probability": 0}, "failure_probability"),
        ({"epochs": "sometimes"}, "epochs"),
        ({"epochs": "every:0"}, "epochs"),
        ({"epochs": "growth:-1"}, "epochs"),
        ({"epochs": "growth:inf"}, "epochs"),
        ({"first_epoch": 0}, "first_epoch"),
        ({"report_window_hours": 0.5}, "report_window_hours"),
        ({"step_hours": 0}, "step_hours"),
        ({"step_hours": "-1"}, "step_hours"),
        ({"step_hours": "nan"}, "step_hours"),
        ({"step_hours": 9000}, "step_hours"),
        ({"step_hours": True}, "step_hours"),
        ({"step_hours": 24, "report_window_hours": 119}, "report_window_hours"),
        ({"labels": "none"}, "labels"),
        ({"labels": {"state": ["a"]}}, "labels key"),
        ({"labels": {"states": ["a"]}}, "labels.states"),
        ({"labels": {"states": ["a", "b", "b"]}}, "labels.states"),
        ({"labels": {"actions": "no"}}, "labels.actions"),
        ({"labels": {"title": "x" * 201}}, "labels.title"),
        ({"labels": {"states": {}}}, "labels.states"),
        ({"labels": {"states": {"mood": ["a", "b"]}}}, "labels.states"),
        ({"labels": {"states": {"mood": {"a": ["b"]}}}}, "labels.states"),
        ({"labels": {"states": {str(i): ["a", "b"] for i in range(20)}}}, "labels.states"),
        ({"constants": "paper"}, "deployment key"),
    ],
)
def test_what_is_refused_is_named(change: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as refused:
        Deployment.from_toml(TOML | change)
    assert refused.value.field == field


@pytest.mark.parametrize("missing", ["name", "epsilon", "states", "actions", "horizon"])
def test_what_is_missing_is_named(missing: str) -> None:
    with pytest.raises(InputError) as refused:
        Deployment.from_toml({key: value for key, value in TOML.items() if key != missing})
    assert refused.value.field == missing


@pytest.mark.parametrize(
    "document",
    [None, [], "text", {"format": 2}, {"format": 2, "shape": []}],
)
def test_what_is_no_document_is_refused(document: object) -> None:
    with pytest.raises(InputError, match="deployment = "):
        Deployment.from_document(document)


@pytest.mark.parametrize("other", [1, 3, None, "2", [2]])
def test_another_format_is_refused_in_one_line(other: object) -> None:
    document = Deployment.from_toml(TOML).document
    with pytest.raises(InputError) as refused:
        Deployment.from_document(document | {"format": other})
    assert str(refused.value) == (
        f"deployment.format = {other!r}: expected 2, the only one that this version of ldprl speaks"
    )


@pytest.mark.parametrize(
    ("given", "text"),
    [(2, "2"), ("2.0", "2"), (2.0, "2"), ("0.10", "0.1"), (1e-9, "0.000000001"), ("1e2", "100")],
)
def test_a_number_has_one_spelling(given: object, text: str) -> None:
    assert decimal_text("epsilon", given) == text


def test_one_spelling_one_digest() -> None:
    spellings = ("2", "2.0", "2.00", "0.2e1", 2, 2.0)
    assert len({Deployment.from_toml(TOML | {"epsilon": one}).digest for one in spellings}) == 1


def test_epochs() -> None:
    assert [epoch_length("each", users) for users in (0, 10)] == [1, 1]
    assert [epoch_length("every:50", users) for users in (0, 10)] == [50, 50]
    assert [epoch_length("growth:0.1", users) for users in (0, 1, 30, 31)] == [0, 1, 3, 4]
    # 0.07 is not a binary fraction: in floating point 0.07·100 is a little more than 7.
    assert (epoch_length("growth:0.07", 100), math.ceil(0.07 * 100)) == (7, 8)


def test_plans_are_never_closer_than_the_first_epoch() -> None:
    deployment = Deployment("a", Shape(2, 2, 2), "1", first_epoch=100)
    assert [deployment.next_plan_at(users) for users in (0, 500, 5000)] == [100, 600, 5500]


def test_names_by_dimension_are_all_combinations() -> None:
    labels = Labels.from_table({"states": {"mood": ["low", "high"], "day": ["1", "2", "3"]}})
    names = [f"mood {mood}, day {day}" for mood in ("low", "high") for day in "123"]
    assert list(labels.states) == names


def test_labels_stand_in_for_missing_words() -> None:
    shape = Shape(2, 1, 1)
    shown = Labels(states=("a", "b")).document(shape)
    assert (shown["states"], shown["actions"]) == (["a", "b"], ["action 0"])


def leaves(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield where every string and number of a document is, and what it is."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*place, key))
    else:
        yield place, value


def changed(document: dict[str, Any], place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """Return a copy with a slightly different value at ``place``."""
    result = copy.deepcopy(document)
    inner: Any = result
    for key in place[:-1]:
        inner = inner[key]
    if isinstance(value, bool):
        inner[place[-1]] = not value
    else:
        inner[place[-1]] = value + ("1" if isinstance(value, str) else 1)
    return result


HUGE: list[tuple[dict[str, Any], str]] = [
    ({"states": 10**9}, "states"),
    ({"horizon": 10**9}, "horizon"),
    ({"horizon": 100_000}, "horizon"),
    ({"actions": 10**30}, "actions"),
    ({"states": 10_000, "horizon": 10_000}, "horizon × states"),
    ({"states": 2_000, "actions": 1_000}, "states² × actions"),
    ({"states": 1_000, "actions": 10, "horizon": 1_000, "step_dependent": True}, "states²"),
    ({"first_epoch": 10**30}, "first_epoch"),
    ({"report_window_hours": 10**30}, "report_window_hours"),
    ({"epochs": "every:" + "9" * 5000}, "epochs"),
    ({"epochs": f"every:{2**60}"}, "epochs"),
    ({"epochs": "growth:1e999999999"}, "epochs"),
    ({"epochs": "growth:Infinity"}, "epochs"),
    ({"answers": 10**9}, "answers"),
]


@pytest.mark.parametrize(("changes", "field"), HUGE)
def test_what_is_too_large_is_refused_before_it_is_built(
    changes: dict[str, Any], field: str
) -> None:
    table = {key: value for key, value in TOML.items() if key != "labels"} | changes
    started = time.process_time()
    with pytest.raises(InputError) as caught:
        Deployment.from_toml(table)
    assert caught.value.field.startswith(field)
    assert time.process_time() - started < 1


@pytest.mark.parametrize(("changes", "field"), HUGE[:7])
def test_a_client_builds_nothing_large_from_a_document(changes: dict[str, Any], field: str) -> None:
    sizes = {"states": 3, "actions": 2, "horizon": 4, "step_dependent": False}
    document = EVERY["laplace"].document | {"shape": sizes | changes}
    started = time.process_time()
    with pytest.raises(InputError) as caught:
        Deployment.from_document(document)
    assert caught.value.field.startswith(field)
    assert time.process_time() - started < 1


EDGES = {
    "subset-selection": (Shape(1000, 2, 1000), Shape(1001, 2, 1000)),
    "return-bits": (Shape(100, 2, 10_000), Shape(101, 2, 10_000)),
    "laplace": (Shape(100, 98, 2), Shape(100, 99, 2)),
    "randomized-response": (Shape(100, 49, 2, True), Shape(100, 50, 2, True)),
}
"""The largest problems that a mechanism is deployed for, and slightly larger ones."""


@pytest.mark.parametrize("mechanism", EDGES)
def test_what_a_service_starts_with_a_client_takes(mechanism: str) -> None:
    within, beyond = EDGES[mechanism]
    document = Deployment("large", within, "1", mechanism=mechanism).document
    assert Deployment.from_document(document).shape == within
    with pytest.raises(InputError, match="at most 1000000 c"):
        Deployment("large", beyond, "1", mechanism=mechanism)
    sizes = {key: getattr(beyond, key) for key in document["shape"]}
    with pytest.raises(InputError, match="at most 1000000 c"):
        Deployment.from_document(document | {"shape": sizes})


def test_large_problems_are_admitted() -> None:
    table = {"name": "large", "states": 1000, "actions": 100, "horizon": 1000, "epsilon": 1}
    started = time.process_time()
    large = Deployment.from_toml(table)
    assert Deployment.from_document(large.document).digest == large.digest
    assert time.process_time() - started < 20


@pytest.mark.parametrize("document", ["\ud800", {"name": "\udfff"}, [[]] * 3 + [{1: 2, "a": 3}]])
def test_what_cannot_be_written_has_no_digest(document: object) -> None:
    with pytest.raises(InputError, match="deployment"):
        digest_of(document)


KNOWN: dict[str, Any] = {
    "admissible": [[0], [0, 1], [1]],
    "successors": [[0, 1], [1, 2], [2]],
    "rewards": [["0.5", ""], ["", ""], ["", "1"]],
    "groups": [0, 0, 1],
}


@pytest.mark.parametrize(
    ("states", "given", "pair"),
    [
        (3, {}, ("ldp-ts", "subset-selection")),
        (6, {}, ("ldp-ts", "subset-selection")),
        (7, {}, ("ldp-returns", "return-bits")),
        (1, {}, ("ldp-returns", "return-bits")),
        (7, {"learner": "ldp-ts"}, ("ldp-ts", "subset-selection")),
        (2, {"learner": "ldp-returns"}, ("ldp-returns", "return-bits")),
        (2, {"mechanism": "return-bits"}, ("ldp-returns", "return-bits")),
        (7, {"mechanism": "laplace"}, ("ldp-evi", "laplace")),
        (25, {}, ("ldp-ways", "bits-and-moves")),
        (25, {"learner": "ldp-returns"}, ("ldp-returns", "return-bits")),
        (7, {"mechanism": "subset-selection"}, ("ldp-ts", "subset-selection")),
    ],
)
def test_what_is_not_named_is_what_is_recommended(
    states: int, given: dict[str, str], pair: tuple[str, str]
) -> None:
    table = {"name": "t", "states": states, "actions": 2, "horizon": 2, "epsilon": 1}
    read = Deployment.from_toml(table | given)
    assert (read.learner, read.mechanism) == pair
    check_pair(*pair)
    made = Deployment("t", Shape(states, 2, 2), "1", **given)  # type: ignore[arg-type]
    assert made.digest == read.digest
    if not given:
        assert (recommended_learner(read.shape, 1.0), LEARNERS[pair[0]].usual_mechanism) == pair


def test_what_is_publicly_known_is_in_the_digest() -> None:
    plain, known = Deployment.from_toml(TOML), Deployment.from_toml(TOML | {"structure": KNOWN})
    assert known.document["structure"] == KNOWN
    assert known.digest != plain.digest
    read = Deployment.from_document(json.loads(json.dumps(known.document)))
    assert (read.digest, read.structure) == (known.digest, known.structure)
    coarser = {"successors": KNOWN["successors"], "groups": [0, 0, 0]}
    other = Deployment.from_toml(TOML | {"structure": coarser})
    assert other.structure != known.structure


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"structure": []}, "structure"),
        ({"structure": KNOWN | {"admissible": [[0], [], [1]]}}, "structure.admissible[1]"),
        ({"structure": KNOWN | {"groups": [0, 1]}}, "structure.groups"),
        ({"structure": KNOWN | {"incumbent": [1, 0, 1]}}, "structure.incumbent[0, 0]"),
    ],
)
def test_knowledge_that_contradicts_itself_is_refused(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        Deployment.from_toml(TOML | changes)
    assert caught.value.field == field
