"""What a hostile client puts where something else is expected."""

from __future__ import annotations

import base64
import gzip
import json
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from pathlib import Path

DEEP = 10_000
_RAW = "@@raw:"


def raw(text: str) -> str:
    """A value that stands in the body as it is, JSON or not."""
    return f"{_RAW}{text}"


def to_json(value: object) -> bytes:
    """With what ``raw`` made put in; half surrogates go out as ``\\ud800``, which JSON has."""
    text = json.dumps(value)
    while (place := text.find(f'"{_RAW}')) >= 0:
        token, end = json.JSONDecoder().raw_decode(text, place)
        text = text[:place] + token.removeprefix(_RAW) + text[end:]
    return text.encode()


TEXTS = (
    "",
    " ",
    ".",
    "..",
    "/",
    "//",
    "../" * 12 + "private.txt",
    "../private.txt",
    "a/../../../private.txt",
    "..%2f..%2fprivate.txt",
    "....//....//private.txt",
    "..\\..\\private.txt",
    "file-link",
    "near-link",
    "dir-link/private.txt",
    "loop-link",
    "/etc/passwd",
    "file:///etc/passwd",
    "~root",
    "$HOME",
    "${HOME}$(id)`id`",
    "a\x00b",
    "a\r\nX-Evil: 1",
    "a\nb",
    "\x1b[31m\x07",
    "\ud800",
    "\udfff\ud800",
    "\u202egnp.exe",
    "e" + "\u0301" * 200,
    "\ufdfd" * 50,
    "\u200b",
    "\ufeff",
    " ",
    "\u017ftage",
    "\u00c5NGSTR\u00d6M \u0131\u0130\u00df\u00df",
    "\u2460\uff12\uff13",
    "\u0661\u0662\u0663",
    "NaN",
    "Infinity",
    "1e400",
    "-1",
    "0x10",
    "1_000",
    "+1",
    "9" * 30,
    "9" * 5000,
    "true",
    "null",
    "' OR 1=1; DROP TABLE jobs; --",
    "%",
    "%_%",
    "%s%n%d",
    "{{7*7}}",
    "{0.__class__}",
    "*",
    "(" * 5000,
    "a" * 64,
    "a" * 300,
    "a" * 2000,
    "gs://",
    "gs:///",
    "gs://stage",
    "gs://stage/",
    "gs://stage/../../private.txt",
    "gs://stage/dir-link/private.txt",
    "gs://stage/a\nb",
    "gs://../x",
    "gs://stage//x",
    "gs://stage/%2e%2e/x",
    "projects/../../x",
    "projects/demo",
    "projects/demo/jobs/job_1",
    "-1s",
    "0s",
    "1e3s",
    "315576000001s",
    "9" * 40 + "s",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999999Z",
    "2026-02-30T25:61:61Z",
    "2026-01-01T00:00:00+99:99",
)
LONG_TEXTS = ("A" * 1_000_000, "\u00e9\n" * 300_000, "(" * 100_000, "a=" * 100_000, "/" * 100_000)
NUMBERS: tuple[Any, ...] = (
    0,
    -1,
    1.5,
    -0.0,
    5e-324,
    1.7976931348623157e308,
    2**31 - 1,
    2**31,
    2**53 + 1,
    2**63 - 1,
    2**63,
    -(2**63),
    -(2**63) - 1,
    2**64,
    10**30,
    10**400,
    *map(
        raw, ("NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e-400", "9" * 5000, "-", "0x1")
    ),
)
SHAPES: tuple[Any, ...] = (
    None,
    True,
    False,
    [],
    {},
    [[]],
    [None],
    [None] * 50,
    [{}],
    {"": 1},
    {"a": {"b": {"c": []}}},
    {"__proto__": 1, "model_config": {}},
    raw('{"a": 1, "a": 2}'),
    raw('{"a": }'),
    raw("[" * DEEP + "]" * DEEP),
    raw('{"a":' * DEEP + "1" + "}" * DEEP),
    raw("[" * 101 + "]" * 101),
    raw("[" * 90 + "]" * 90),
    raw('"\\ud800"'),
    raw('"\x00"'),
    raw('"\\u0000"'),
)
LONG_SHAPES: tuple[Any, ...] = (
    raw("[" + "1," * 200_000 + "1]"),
    raw("[" + "{}," * 50_000 + "{}]"),
    raw('["' + '","'.join("a" * 3 for _ in range(50_000)) + '"]'),
    raw("{" + ",".join(f'"k{n}": {n}' for n in range(50_000)) + "}"),
)
FILTERS = (
    "(" * DEEP + "state=RUNNING" + ")" * DEEP,
    "(" * 49 + "state=RUNNING" + ")" * 49,
    " AND ".join(["state=RUNNING"] * DEEP),
    " OR ".join(["labels.a=b"] * 99),
    "NOT " * DEEP + "state=RUNNING",
    "-" * DEEP + "state=RUNNING",
    'resource.labels.job_id="job_1" AND textPayload=~"(a+)+$"',
    'resource.labels.job_id="job_1" AND ' + " ".join(['textPayload:"a"'] * 190),
    'resource.labels.job_id="job_1" AND NOT (NOT (timestamp>="0001-01-01T00:00:00Z"))',
    'resource.labels.job_id="' + "\\" * 9999 + '"',
    '"' * 999,
    "state" * 5000 + "=x",
    'labels."a.b"."c"=d',
    "labels:*",
    "labels.=x",
    "createTime>1",
    'create_time>"2026-01-01T00:00:00+23:59"',
    'createTime<"0001-01-01T00:00:00+23:59"',
    "display_name=%00",
    "displayName:\ud800",
    "a" * 40_000,
    "\u00e9tat=\u00fc",
)
TOKENS = tuple(
    base64.urlsafe_b64encode(part).decode()
    for part in (
        b"",
        b"0",
        b"-1",
        b"9" * 30,
        b"\xff\xfe",
        b'{"a":1}',
        b"[" * DEEP,
        b"1:2:3",
        b"../../x",
        b"\x80\x04.",
    )
)
SPECIAL = {
    "filter": FILTERS,
    "pageToken": TOKENS,
    "page_token": TOKENS,
}
"""For fields and parameters of these names, beside the rest."""


def values(name: str, root: Path | None = None) -> st.SearchStrategy[Any]:
    """For a field of this name; ``root`` is a folder that nobody may see or change."""
    texts = (*TEXTS, *SPECIAL.get(name, ()), *((str(root / "private.txt"),) if root else ()))
    plain = st.sampled_from((*texts, *SPECIAL.get(name, ()) * 3, *NUMBERS, *SHAPES))
    return st.one_of(
        plain,
        plain,
        plain,
        st.text(max_size=20),
        st.integers(),
        st.floats(),
        st.sampled_from((*LONG_TEXTS, *LONG_SHAPES)),
    ).map(_storable)


def _storable(value: Any) -> Any:
    """Numbers that JSON doesn't have go out as their names."""
    if isinstance(value, float) and value != value:
        return raw("NaN")
    if value in (float("inf"), float("-inf")):
        return raw("Infinity" if value > 0 else "-Infinity")
    return value


def bomb(size_mb: int = 100) -> bytes:
    """Small as it is sent, large once unpacked."""
    return gzip.compress(bytes(size_mb << 20), 1)
