"""Honest requests made hostile, in one place or a few."""

from __future__ import annotations

import copy
import gzip
import json
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_from_bytes

from hypothesis import strategies as st

from tests.hostile import values
from tests.hostile.values import TEXTS, raw, to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tests.hostile.caller import Call

    Draw = Any

PARAMETERS = (
    "pageSize", "page_size", "pageToken", "filter", "orderBy", "view", "updateMask", "readMask",
    "alt", "$alt", "fields", "key", "prettyPrint", "prefix", "delimiter", "startOffset",
    "endOffset", "maxResults", "versions", "projection", "generation", "ifGenerationMatch",
    "ifGenerationNotMatch", "ifMetagenerationMatch", "ifSourceGenerationMatch", "uploadType",
    "upload_id", "name", "project", "rewriteToken", "softDeleted", "includeTrailingDelimiter",
    "after", "cursor", "follow", "replica", "trial", "points", "staging", "makesBucket",
    "allowMissing", "etag", "callback", "quotaUser", "",
)  # fmt: skip
HEADERS: dict[str, tuple[str, ...]] = {
    "content-type": (
        "",
        "text/plain",
        "application/json",
        "application/json; charset=utf-16",
        "application/x-www-form-urlencoded",
        "multipart/related",
        "multipart/related; boundary=",
        'multipart/related; boundary="\xff"',
        "multipart/mixed; boundary=foo",
        "multipart/mixed; boundary=" + "x" * 3000,
        "a" * 10_000,
        "\xe9/\xff",
    ),
    "content-encoding": ("gzip", "br", "identity", "gzip, gzip", "\xff"),
    "content-length": ("0", "-1", "5", "9" * 30, "x"),
    "content-range": (
        "bytes 0-3/10",
        "bytes 5-3/10",
        "bytes 0-999999999999999999/*",
        "bytes */*",
        "bytes */0",
        "bytes 0-0/0",
        "bytes " + "9" * 99 + "-" + "9" * 99 + "/*",
        "items 0-1/2",
        "\xb2",
    ),
    "range": (
        "bytes=0-",
        "bytes=-0",
        "bytes=-" + "9" * 17,
        "bytes=" + "9" * 17 + "-",
        "bytes=5-1",
        "bytes=0-1,2-3",
        "bytes=a-b",
        "bytes=" + "0-1," * 5000,
        "\xb2=",
    ),
    "x-http-method-override": ("GET", "DELETE", "PATCH", "PUT", "get", "TRACE", "\xff", "G" * 999),
    "host": ("127.0.0.1", "evil.example", "", "localhost:99999999", "[::1", "a" * 9999, "\xff"),
    "origin": ("http://evil.example", "null", "http://127.0.0.1:8470", "\xff"),
    "authorization": (
        "Bearer",
        "Bearer x",
        "Bearer a.b.c.d",
        "Bearer \xff",
        "Basic eA==",
        "B" * 99,
    ),
    "if-match": ("*", '"x"', "\xff"),
    "x-goog-hash": ("crc32c=AAAAAA==", "crc32c=", "md5=x", "crc32c=\xff", "=" * 999, ",,,="),
    "x-upload-content-type": ("text/plain", "\xff", "a\tb", "x" * 5000),
    "x-upload-content-length": ("-1", "9" * 40, "x"),
    "user-agent": (
        "gcloud/500 command/gcloud.ai-platform.jobs.stream-logs invocation-id/abc environment/x",
        "\xff",
    ),
    "cookie": ("a=b;" * 2000,),
    "accept": ("text/html", "\xff"),
    "accept-encoding": ("gzip", "*;q=0"),
    "x-evil": ("a" * 60_000,),
}


@st.composite
def attacks(draw: Draw, call: Call, root: Path) -> Call:
    """``call`` with one or two things wrong with it, mostly in what is read last."""
    for _ in range(draw(st.sampled_from((1, 1, 1, 2)))):
        kinds = [_in_path, _in_query, _in_headers]
        kinds += [_in_document] * 12 + [_of_body] * 2 if call.body else [_in_query] * 3
        call = draw(st.sampled_from(kinds))(draw, call, root)
    return call


def _in_path(draw: Draw, call: Call, root: Path) -> Call:
    """Another segment of the path, percent-encoded in one of the ways there are."""
    parts = call.target.split("/")
    index = draw(st.integers(1, len(parts) - 1))
    verb = parts[index].partition(":")[1:]
    text = draw(st.sampled_from((*TEXTS, str(root / "private.txt"))) | st.text(max_size=10))
    parts[index] = draw(st.sampled_from(_ENCODINGS))(text) + draw(
        st.sampled_from(("", "".join(verb)))
    )
    return replace(call, target="/".join(parts))


def _twice(text: str) -> str:
    return quote(quote(text.encode(errors="replace"), safe=""), safe="")


_ENCODINGS = (
    lambda text: quote_from_bytes(text.encode(errors="surrogatepass"), safe=""),
    lambda text: quote_from_bytes(text.encode(errors="surrogatepass"), safe="/:"),
    lambda text: quote_from_bytes(text.encode("utf-16", errors="surrogatepass")[:99], safe=""),
    lambda text: "".join(f"%{byte:02X}" for byte in text.encode(errors="replace")[:2000]),
    _twice,
)


def _in_query(draw: Draw, call: Call, root: Path) -> Call:
    name = draw(st.sampled_from(PARAMETERS))
    special = values.SPECIAL.get(name, ())
    some = st.sampled_from((*TEXTS, *special * 5, str(root), *map(str, values.NUMBERS)))
    text = draw(some | st.text(max_size=10) | st.integers().map(str))
    encoded = draw(st.sampled_from(_ENCODINGS))(text)
    given = f"{name}={encoded}"
    times = draw(st.sampled_from((1, 1, 1, 2, 300)))
    joined = "&".join([given] * (times if len(given) < 500 else 1))
    other = draw(st.sampled_from((call.query, "", "&&=&;&")))
    return replace(call, query=f"{other}&{joined}" if other else joined)


def _in_headers(draw: Draw, call: Call, root: Path) -> Call:
    name = draw(st.sampled_from(sorted(HEADERS)))
    value = draw(st.sampled_from(HEADERS[name]) | _header_texts)
    if draw(st.booleans()):
        return call.with_header(name, value)
    pair = (name.encode(), value.encode("latin-1"))
    return replace(call, headers=(*call.headers, pair))  # perhaps a second time


_header_texts = st.text(
    st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=12
)


def _of_body(draw: Draw, call: Call, root: Path) -> Call:
    """The body as a whole."""
    kind = draw(st.sampled_from(("cut", "bytes", "gzip", "bomb", "junk", "more", "gone", "twice")))
    content = call.body
    match kind:
        case "cut":
            content = content[: draw(st.integers(0, len(content)))]
        case "bytes":
            content = draw(st.sampled_from(_BODIES) | st.binary(max_size=50))
        case "gzip":
            packed = replace(call, body=gzip.compress(content))
            return packed.with_header("content-encoding", "gzip")
        case "bomb":
            return replace(call, body=_bomb()).with_header("content-encoding", "gzip")
        case "junk":
            at = draw(st.integers(0, len(content)))
            content = content[:at] + draw(st.binary(min_size=1, max_size=4)) + content[at + 1 :]
        case "more":
            content += draw(st.sampled_from((b"x", b"{}", b"\x00", b" " * 1_000_000)))
        case "gone":
            return replace(call, breaks_off=True)
        case _:
            content *= 2
    return replace(call, body=content)


_bomb = cache(values.bomb)
_BODIES = (
    b"",
    b" ",
    b"\xff\xfe{\x00}\x00",
    b"\xef\xbb\xbf{}",
    b"[]",
    b"null",
    b"1",
    b'"x"',
    b"{",
    b"\x00",
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b"--foo\r\n" * 2000,
    b"--foo--",
    b"a" * 11_000_000,
)


def _in_document(draw: Draw, call: Call, root: Path) -> Call:
    """A field of the JSON in the body; in other bodies nothing."""
    try:
        document = json.loads(call.body)
    except (ValueError, RecursionError):
        return _of_body(draw, call, root)
    places = list(_places(document, ()))
    if not places:
        return call
    place = draw(st.sampled_from(places))
    parent, key = _at(document, place[:-1]), place[-1]
    _CHANGES[draw(st.sampled_from(sorted(_CHANGES)))](draw, parent, key, root)
    return replace(call, body=to_json(document))


def _places(value: object, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Of everything in it, but not itself."""
    inner: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    for key, item in inner:
        yield (*path, key)
        yield from _places(item, (*path, key))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _replaced(draw: Draw, parent: Any, key: Any, root: Path) -> None:
    parent[key] = draw(values.values(str(key), root))


def _left_out(draw: Draw, parent: Any, key: Any, root: Path) -> None:
    del parent[key]


def _wrapped(draw: Draw, parent: Any, key: Any, root: Path) -> None:
    value = parent[key]
    parent[key] = draw(st.sampled_from(([value], {"value": value}, str(value), [value] * 300)))


def _spelt_twice(draw: Draw, parent: Any, key: Any, root: Path) -> None:
    if isinstance(parent, dict):
        snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in key)
        parent[snake] = copy.deepcopy(parent[key])


def _renamed(draw: Draw, parent: Any, key: Any, root: Path) -> None:
    if isinstance(parent, dict):
        parent[draw(st.sampled_from(TEXTS) | st.text(max_size=5))] = parent.pop(key)


def _repeated(draw: Draw, parent: Any, key: Any, root: Path) -> None:
    """The same key twice, as only a hand can write it."""
    if isinstance(parent, dict) and key.isascii():
        text = to_json(parent[key]).decode()
        parent[key] = raw(f'{text}, "{key}": {text}')


def _swapped(draw: Draw, parent: Any, key: Any, root: Path) -> None:
    keys = list(parent) if isinstance(parent, dict) else list(range(len(parent)))
    other = draw(st.sampled_from(keys))
    parent[key], parent[other] = parent[other], parent[key]


def _nudged(draw: Draw, parent: Any, key: Any, root: Path) -> None:
    """A text a little longer, a number a little off."""
    value = parent[key]
    if isinstance(value, str):
        parent[key] = value + draw(st.sampled_from(TEXTS))
    elif isinstance(value, int | float):
        parent[key] = value * draw(st.sampled_from((-1, 0, 1e-9, 1e9, 1e300)))


_CHANGES = {
    change.__name__: change
    for change in (
        _replaced,
        _left_out,
        _wrapped,
        _spelt_twice,
        _renamed,
        _repeated,
        _swapped,
        _nudged,
    )
}
