"""``python -m studies.figures.any_policy.published OUT``: put what was simulated on the page.

The runs of the study in OUT become ``studies/data/any-policy.json``, and the table of
``docs/any-policy.md`` is written anew from that file. A test compares the two.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ldprl.figures.page import markdown
from studies.figures.any_policy.records import FIRST_SEED
from studies.figures.any_policy.summary import findings

ROOT = Path(__file__).parents[3]
DATA, PAGE = ROOT / "studies/data/any-policy.json", ROOT / "docs/any-policy.md"
COMMAND = "python -m studies any-policy --out OUT"
_BEGIN, _END = "<!-- table -->\n", "<!-- end of the table -->"


def document(table: pa.Table) -> dict[str, Any]:
    """Return the runs with the command and the settings that made them."""
    rows = table.to_pylist()
    columns = {name: [row[name] for row in rows] for name in table.column_names}
    return {"command": COMMAND, "first_seed": FIRST_SEED, "runs": columns}


def lines(data: Path = DATA) -> str:
    """Return the table of the page."""
    runs = json.loads(data.read_text(encoding="utf-8"))["runs"]
    (grid,) = findings(pa.table(runs)).grids
    return markdown([grid]).split("\n\n", 1)[1].strip() + "\n"


def written(page: str, table: str) -> str:
    """Return the page with this table in place of its own."""
    before, rest = page.split(_BEGIN, 1)
    return before + _BEGIN + "\n" + table + "\n" + _END + rest.split(_END, 1)[1]


def main(out: Path) -> None:
    """Write the data and the page."""
    table = pq.read_table(out / "data" / "any-policy.parquet")
    DATA.parent.mkdir(exist_ok=True)
    DATA.write_text(json.dumps(document(table)) + "\n", encoding="utf-8")
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), lines()), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
