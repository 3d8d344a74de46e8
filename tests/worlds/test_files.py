"""MDPs in .npz archives: what is read, and what is refused before it is built."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldprl.errors import InputError
from ldprl.worlds import TabularMDP, archives, files, mdp_from, random_mdp

MDP = random_mdp(3, 2, 4, 5)


def parts(**changes: Any) -> dict[str, Any]:
    fields = {"transitions": MDP.transitions, "rewards": MDP.rewards, "horizon": MDP.horizon}
    return {name: value for name, value in (fields | changes).items() if value is not None}


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_archive_is_the_mdp_that_was_written(tmp_path: Path, save: Callable[..., None]) -> None:
    start = np.array([0.2, 0.3, 0.5], dtype=np.float64)
    written = parts(initial=start, reward_kind="bernoulli")
    written["transitions"] = np.asfortranarray(written["transitions"])
    save(tmp_path / "world.npz", **written)
    (tmp_path / "world.npz").rename(tmp_path / "world")
    for found in (mdp_from(str(tmp_path / "world")), TabularMDP.from_file(tmp_path / "world")):
        expected = TabularMDP(MDP.transitions, MDP.rewards, 4, start, "bernoulli")
        assert found.to_json() == expected.to_json()


@pytest.mark.parametrize(
    ("changes", "field", "expected"),
    [
        ({"transitions": None}, "npz", "'transitions'"),
        ({"horizon": None}, "npz", "'horizon'"),
        ({"reward": MDP.rewards}, "npz field", "did you mean 'rewards'?"),
        ({"transitions": MDP.transitions[:, :, :2]}, "transitions.shape", "(S, A, S)"),
        ({"transitions": MDP.transitions * np.nan}, "transitions[0, 0, 0]", "finite"),
        ({"rewards": MDP.rewards[:2]}, "rewards.shape", "(3, 2)"),
        ({"rewards": MDP.rewards + np.inf}, "rewards[0, 0]", "finite"),
        ({"rewards": MDP.rewards + 1j}, "rewards", "numbers"),
        ({"rewards": MDP.rewards.astype("U64")}, "rewards", "numbers"),
        ({"initial": np.ones(3)}, "sum of initial", "sum to 1"),
        ({"horizon": 2.0}, "horizon", "whole number"),
        ({"horizon": [4, 4]}, "horizon", "whole number"),
        ({"horizon": 10**9}, "horizon", "at most"),
        ({"reward_kind": "bernouli"}, "reward_kind", "did you mean"),
        ({"reward_kind": "x" * 1000}, "reward_kind", "at most"),
        ({"rewards": np.array([[print]], dtype=object)}, "rewards", "numbers"),
    ],
)
def test_refuses_wrong_arrays(
    tmp_path: Path, changes: dict[str, Any], field: str, expected: str
) -> None:
    np.savez(tmp_path / "world.npz", **parts(**changes))
    with pytest.raises(InputError) as caught:
        TabularMDP.from_file(tmp_path / "world.npz")
    assert caught.value.field == field
    assert expected in caught.value.expected
    assert len(str(caught.value).splitlines()) == 1


def archive(path: Path, **members: bytes) -> Path:
    """Write the MDP's archive with some members in place of its own."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, value in parts().items():
            buffer = io.BytesIO()
            np.save(buffer, value)
            file.writestr(f"{name}.npy", members.get(name, buffer.getvalue()))
    return path


def header(shape: tuple[int, ...]) -> bytes:
    buffer = io.BytesIO()
    declared = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, declared)
    return buffer.getvalue()


class _Trap:
    """What unpickling would run."""

    def __reduce__(self) -> tuple[Any, ...]:
        return pytest.fail, ("the pickle was opened",)


@pytest.mark.parametrize(
    ("members", "field", "expected"),
    [
        ({"rewards": pickle.dumps(_Trap())}, "rewards", "numpy.savez"),
        ({"rewards": b""}, "rewards", "numpy.savez"),
        ({"transitions": header((10**6, 10**6, 10**6))}, "transitions", "at most"),
        ({"transitions": header((3, 2, 3))}, "transitions", "(3, 2, 3)"),
        ({"transitions": header((3, 2, 3)) + bytes(10**6)}, "transitions", "(3, 2, 3)"),
        ({"transitions": header((1,)) + b"12345678" * 2}, "transitions", "(1,)"),
    ],
)
def test_refuses_pickles_and_arrays_of_another_size(
    tmp_path: Path, members: dict[str, bytes], field: str, expected: str
) -> None:
    with pytest.raises(InputError) as caught:
        TabularMDP.from_file(archive(tmp_path / "world.npz", **members))
    assert (caught.value.field, expected in caught.value.expected) == (field, True)


def test_a_bomb_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MOST_NUMBERS", 1000)
    many = np.zeros((1, 1001, 1))
    path = tmp_path / "world.npz"
    np.savez_compressed(path, **parts(transitions=many))
    opened: list[int] = []
    read = zipfile.ZipExtFile.read

    def spy(self: zipfile.ZipExtFile, n: int | None = -1) -> bytes:
        opened.append(-1 if n is None else n)
        return read(self, n)

    monkeypatch.setattr(zipfile.ZipExtFile, "read", spy)
    with pytest.raises(InputError, match="at most 1,000 numbers"):
        TabularMDP.from_file(path)
    assert all(0 <= size < 1000 for size in opened)
    # Many steps are as bad as many states, and several arrays as bad as a large one.
    for module in (archives, files):
        monkeypatch.setattr(module, "MOST_NUMBERS", 40)
    np.savez(path, **parts(rewards=np.broadcast_to(MDP.rewards, (4, 3, 2))))
    with pytest.raises(InputError, match="at most 40 numbers"):
        TabularMDP.from_file(path)


def test_refuses_an_archive_damaged_anywhere(tmp_path: Path) -> None:
    whole = archive(tmp_path / "world.npz").read_bytes()
    path = tmp_path / "damaged.npz"
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError):
            TabularMDP.from_file(path)
    rng = np.random.default_rng(0)
    for place in rng.integers(len(whole), size=200).tolist():
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            found = TabularMDP.from_file(path)
        except InputError:
            continue
        # Some bytes do not matter, such as the date.
        assert found.to_json() == MDP.to_json()


def test_json_is_bounded_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "world.json"
    path.write_text(MDP.to_json(), encoding="utf-8")
    monkeypatch.setattr(files, "LARGEST_JSON", 100)
    with pytest.raises(InputError, match="at most 100 bytes"):
        TabularMDP.from_file(path)
