"""Parsers of what comes from outside read any bytes, or refuse them by the error that they name."""

from __future__ import annotations

import contextlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from footplate.api.storage_v1.batch import _parts
from footplate.api.storage_v1.multipart import RelatedParts
from footplate.api.storage_v1.objects import parse_range
from footplate.console.job_text import read_job
from footplate.console.run_table import Run, choose
from footplate.domain.errors import ServiceError
from footplate.domain.image_reference import MalformedReference, parse_reference
from footplate.domain.stacks import shorten
from footplate.proxy.request_head import END, BadHead, parse_head
from footplate.replica.environment.archive_inspection import inspect
from footplate.replica.environment.errors import PreparationError
from footplate.replica.environment.frameworks import pinned_version
from footplate.replica.environment.uv_errors import explain
from footplate.replica.failure_cause import CauseFinder
from footplate.replica.metrics.events import read_scalars
from footplate.replica.metrics.protobuf import Malformed
from footplate.wire.json_text import parse_object
from footplate.wire.log_severity import read_line
from footplate.wire.logging_v2.queries import parse_query
from footplate.wire.paging import format_token, parse_number_token
from footplate.wire.replica_v1.records import decode_reports
from footplate.wire.scalars import Double, Duration, Int64, Timestamp
from footplate.wire.shell_v1 import decode_request

if TYPE_CHECKING:
    from collections.abc import Callable

_SCALARS = [TypeAdapter[object](kind) for kind in (Double, Duration, Int64, Timestamp)]
_RUNS = [Run("a", "a", params={"a": 1}, metrics={"b": "c"})]


@dataclass(frozen=True)
class Target:
    """``fragments`` are what its inputs are often made of."""

    parse: Callable[[bytes], object]
    refusals: tuple[type[Exception], ...]
    fragments: tuple[bytes, ...]


def text(parse: Callable[[str], object]) -> Callable[[bytes], object]:
    return lambda data: parse(data.decode("utf-8", "replace"))


def read_related(data: bytes) -> None:
    parts = RelatedParts("multipart/related; boundary=B", iter([data]))
    parts.description()
    parts.media_type()
    for _ in parts.media():
        pass


def read_scalar(given: str) -> None:
    for scalar in _SCALARS:
        try:
            scalar.validate_python(given)
        except ValidationError:
            continue


def read_archive(suffix: str) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        with tempfile.NamedTemporaryFile(suffix=suffix) as file:
            Path(file.name).write_bytes(data)
            inspect(file.name, "a", lambda _, content: (content.read(9), None)[1])

    return read


def find_cause(given: str) -> str:
    finder = CauseFinder()
    for line in given.split("\n"):
        finder.see(line)
    return finder.cause


_JSON = (b"{", b"}", b"[", b"]", b'"a":', b",", b"1e999", b"9" * 5000, b'"', b"\\ud800", b"null")
_PART = (b"\r\n", b"\n", b"--B", b"--", b"Content-Type: a/b", b": ", b"GET / HTTP/1.1", b"\n" * 99)
_QUERY = (b"a", b"=", b" AND ", b" OR ", b"NOT ", b"(", b")", b'"', b"<=", b"-", b"\\", b"9" * 5000)
_NUMBER = (b"0", b"9" * 5000, b".", b"e", b"-", b"s", b"2020-01-01T00:00:00", b"Z", b"+", b":")
_LINES = (
    b"Error: ",
    b"error: ",
    b"Traceback (most recent call last):",
    b"\n",
    b'  File "',
    b"hint:",
)
_ARCHIVE = (b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"\x1f\x8b\x08", b"\x00" * 512, b"ustar")
_YAML = (b"a: ", b"- ", b"\n", b" ", b"&a ", b"*a", b"{", b"[", b"9" * 5000, b":59" * 99, b"!!set")

TARGETS = {
    "JSON bodies": Target(parse_object, (ServiceError,), _JSON),
    "reports of replicas": Target(
        decode_reports, (ServiceError,), (b'{"records":[', b'"n":1', b'"k":"line"', *_JSON)
    ),
    "messages of shells": Target(
        text(decode_request), (ServiceError,), (b'{"open":', b'{"resize":[1,', *_JSON)
    ),
    "log lines": Target(text(lambda line: read_line("stderr", line)), (), (b"WARNING:", *_JSON)),
    "multipart bodies": Target(read_related, (ServiceError,), _PART),
    "batches": Target(
        lambda data: _parts("multipart/mixed; boundary=B", data), (ServiceError,), _PART
    ),
    "ranges": Target(
        text(lambda given: parse_range(given, 9)), (), (b"bytes", b"=", b"-", b" ", b"9" * 18)
    ),
    "log queries": Target(text(parse_query), (ServiceError,), _QUERY),
    "conditions on runs": Target(text(lambda given: choose(_RUNS, given)), (ServiceError,), _QUERY),
    "page tokens": Target(
        text(lambda key: parse_number_token(format_token(key, "q"), "q")), (ServiceError,), _NUMBER
    ),
    "numbers and times": Target(text(read_scalar), (), _NUMBER),
    "jobs as YAML": Target(text(read_job), (ServiceError,), _YAML),
    "names of images": Target(
        text(parse_reference), (MalformedReference,), (b"a", b"/", b":", b"@sha256:", b".", b"-")
    ),
    "heads of proxy requests": Target(
        lambda data: parse_head(data + END),
        (BadHead,),
        (b"CONNECT a:443 HTTP/1.1", b"\r\n", b"Proxy-Authorization: Basic ", b"\t", b"=", b"a: "),
    ),
    "event files": Target(
        read_scalars,
        (Malformed,),
        (b"\x09", b"\x10", b"\x2a", b"\x0a", b"\xff" * 9, b"\x15", b"\x7f"),
    ),
    "wheels": Target(read_archive(".whl"), (PreparationError,), _ARCHIVE),
    "source distributions": Target(read_archive(".tar.gz"), (PreparationError,), _ARCHIVE),
    "requirements": Target(
        text(pinned_version),
        (),
        (b"torch", b"==", b"[", b"]", b" ", b"(", b")", b";", b"@", b"1.0"),
    ),
    "output of builds": Target(text(explain), (), (b"Failed to build `", b"`", *_LINES)),
    "output of programs": Target(text(find_cause), (), _LINES),
    "files of frames": Target(text(shorten), (), (b"/", b"lib/python3", b"site-packages", b"\n")),
}


@pytest.mark.parametrize("name", TARGETS)
def test_any_input_is_read_or_refused(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    target, count = TARGETS[name], 0
    pieces = st.sampled_from(target.fragments) | st.binary(max_size=9)

    @given(st.lists(pieces, max_size=40).map(b"".join))
    def feed(data: bytes) -> None:
        nonlocal count
        count += 1
        with contextlib.suppress(*target.refusals):
            target.parse(data)

    feed()
    record_property("inputs", count)
