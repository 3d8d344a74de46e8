"""``python -m studies.keep NAME OUT 'COMMAND'``: keep what a study found, as data of the pages.

The rows in OUT, which COMMAND has made, become ``studies/data/NAME.json`` with the command, the
commit, and the digests of the code of the learners that were measured.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

from studies.suite.closure import code_of_pair
from studies.suite.results import commit_of_the_code, machine, versions

DATA = Path(__file__).with_name("data")


class Kept(NamedTuple):
    """The rows of a study, with what made them; ``changed`` are learners whose code has changed."""

    rows: list[dict[str, Any]]
    command: str
    commit: str
    machine: str
    changed: list[str]


def keep(name: str, out: Path, command: str) -> None:
    """Write the file of a study whose results are in ``out``."""
    import pyarrow.parquet as pq

    from ldprl.catalogue import LEARNERS

    rows = pq.read_table(out / "data" / f"{name}.parquet").to_pylist()
    learners = sorted({row["learner"].partition(",")[0] for row in rows})
    pairs = {one: LEARNERS.find(one).usual_mechanism for one in learners}
    document = {
        "command": command,
        "commit": commit_of_the_code(),
        "machine": machine(),
        "versions": versions(),
        "code": [[*pair, code_of_pair(*pair)] for pair in pairs.items()],
        "rows": rows,
    }
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    (DATA / f"{name}.json").write_text(text, encoding="utf-8")


def kept(name: str) -> Kept:
    """Return what was kept of a study."""
    found = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    changed = [pair[0] for *pair, code in found["code"] if code != code_of_pair(*pair)]
    return Kept(found["rows"], found["command"], found["commit"], found["machine"], changed)


if __name__ == "__main__":
    keep(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
