"""Text as HTML."""

from __future__ import annotations

import pytest

from ldprl.figures.page import prose


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("k^0.39 (x)", "k<sup>0.39</sup> (x)"),
        ("e^20.", "e<sup>20</sup>."),
        ("Ber(1/(e^{ε/H} − 1))", "Ber(1/(e<sup>ε/H</sup> − 1))"),
        ("μ_{DE,R}", "μ<sub>DE,R</sub>"),
        ("a < b & c", "a &lt; b &amp; c"),
    ],
)
def test_prose(text: str, html: str) -> None:
    assert prose(text) == html
