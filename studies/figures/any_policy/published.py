"""``python -m studies.figures.any_policy.published OUT``: keep what was simulated.

The runs of the study in OUT become ``studies/data/any-policy.json``, from which
``python -m studies.pages`` makes the table of the page.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from studies.figures.any_policy.records import FIRST_SEED

ROOT = Path(__file__).parents[3]
DATA = ROOT / "studies/data/any-policy.json"
COMMAND = "python -m studies any-policy --out OUT"


def document(table: pa.Table) -> dict[str, Any]:
    """Return the runs with the command and the settings that made them."""
    rows = table.to_pylist()
    columns = {name: [row[name] for row in rows] for name in table.column_names}
    return {"command": COMMAND, "first_seed": FIRST_SEED, "runs": columns}


def main(out: Path) -> None:
    """Write the data."""
    table = pq.read_table(out / "data" / "any-policy.parquet")
    DATA.parent.mkdir(exist_ok=True)
    DATA.write_text(json.dumps(document(table)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
