"""Bodies that are nearly reports: one of every kind of damage, drawn at random."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

Report = dict[str, Any]
Damage = Callable[[random.Random, Report], bytes]

# JSON text, some of it of a kind that only lenient readers take.
ODD_VALUES = (
    "null", "true", "-1", "0", "-0", "0.0", "1e0", "1.5", "1e400", "NaN", "-Infinity", "0x10", "01",
    str(2**31), str(2**53), str(2**63 - 1), str(2**63), str(-(2**63) - 1), str(2**64), "9" * 5000,
    '""', '"1"', '"\\u0000"', '"\\ud800"', '"' + "x" * 10_000 + '"', "[]", "{}", "[[0]]", "[null]",
    '["0"]', "[0,]", "[0.5]", f"[{2**63}]", f"[{2**64}]", "[-1]", "[1e400]", '{"0":0}',
    "[" + "0," * 5000 + "0]",
)  # fmt: skip
JUNK = ("", " ", "null", "0", '"report"', "[]", "{}", "[[]]", "[{}]", "{}{}", "[" * 50_000)


def flip_bits(rng: random.Random, report: Report) -> bytes:
    body = bytearray(encoded(report))
    for _ in range(rng.randint(1, 4)):
        body[rng.randrange(len(body))] ^= 1 << rng.randrange(8)
    return bytes(body)


def cut_short(rng: random.Random, report: Report) -> bytes:
    body = encoded(report)
    return body[: rng.randrange(len(body))]


def insert_bytes(rng: random.Random, report: Report) -> bytes:
    body, place = encoded(report), rng.randrange(200)
    return body[:place] + rng.randbytes(rng.randint(1, 8)) + body[place:]


def encode_otherwise(rng: random.Random, report: Report) -> bytes:
    return encoded(report).decode().encode(rng.choice(("utf-16", "utf-8-sig", "utf-32-le")))


def replace_value(rng: random.Random, report: Report) -> bytes:
    return written({**texts(report), rng.choice(list(report)): rng.choice(ODD_VALUES)}.items())


def replace_item(rng: random.Random, report: Report) -> bytes:
    values = [json.dumps(value) for value in report["values"]]
    values[rng.randrange(len(values))] = rng.choice(ODD_VALUES)
    return written({**texts(report), "values": f"[{','.join(values)}]"}.items())


def drop_key(rng: random.Random, report: Report) -> bytes:
    gone = rng.choice(list(report))
    return written((key, text) for key, text in texts(report).items() if key != gone)


def repeat_key(rng: random.Random, report: Report) -> bytes:
    pairs = list(texts(report).items())
    odd = (rng.choice(list(report)), rng.choice(ODD_VALUES))
    return written([odd, *pairs] if rng.random() < 0.5 else [*pairs, odd])


def add_key(rng: random.Random, report: Report) -> bytes:
    return written([*texts(report).items(), (rng.choice(("ID", "", "é")), rng.choice(ODD_VALUES))])


def nest(rng: random.Random, report: Report) -> bytes:
    depth = rng.choice((1, 100, 2000, 50_000))
    opening, closing = rng.choice(((b"[", b"]"), (b'{"id":', b"}")))
    return opening * depth + encoded(report) + closing * depth


def junk(rng: random.Random, report: Report) -> bytes:
    return rng.choice(JUNK).encode()


def batch(rng: random.Random, report: Report) -> bytes:
    parts = [rng.choice(SINGLE)(rng, report) for _ in range(rng.randint(1, 4))]
    return b"[" + b",".join(parts) + b"]"


SINGLE: Sequence[Damage] = (
    flip_bits, cut_short, insert_bytes, encode_otherwise, replace_value, replace_item, drop_key,
    repeat_key, add_key, nest, junk,
)  # fmt: skip


def mutated(rng: random.Random, report: Report) -> bytes:
    """Return a body; by chance it may be a report still, of this id or of another."""
    return rng.choice((*SINGLE, batch))(rng, report)


def encoded(report: Report) -> bytes:
    return json.dumps(report).encode()


def texts(report: Report) -> dict[str, str]:
    return {key: json.dumps(value) for key, value in report.items()}


def written(pairs: Any) -> bytes:
    return ("{" + ",".join(f"{json.dumps(key)}:{text}" for key, text in pairs) + "}").encode()
