"""What the caller may choose."""

from __future__ import annotations

from typing import Any

import pytest

from ldprl.errors import InputError
from ldprl.figures.settings import Settings


@pytest.mark.parametrize("field", ["episodes", "runs", "draws", "seed", "epsilons"])
def test_bad_settings_are_refused(field: str) -> None:
    bad: dict[str, Any] = {field: (2.0, -1.0) if field == "epsilons" else -1}
    with pytest.raises(InputError, match=field):
        Settings(**bad)
