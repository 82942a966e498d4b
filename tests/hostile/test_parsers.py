"""Parsers of what comes from outside read any bytes, or refuse them by the error that they name."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.types import Message

from footplate.api.storage_v1.batch import _parts
from footplate.api.storage_v1.multipart import RelatedParts
from footplate.api.storage_v1.objects import parse_range
from footplate.catalogue.loading import load_catalogue
from footplate.console.experiments_view import Run, choose
from footplate.console.forms import read_form
from footplate.console.submit_view import read_draft, read_job
from footplate.domain.errors import ServiceError
from footplate.domain.image_reference import MalformedReference, parse_reference
from footplate.domain.stacks import shorten
from footplate.grpc_api.schema import Method, load_schema
from footplate.grpc_api.transcoding import Transcoder
from footplate.proxy.request_head import END, BadHead, parse_head
from footplate.replica.environment.archive_inspection import inspect
from footplate.replica.environment.errors import PreparationError
from footplate.replica.environment.layer_resolution import pinned_version
from footplate.replica.environment.uv_errors import explain
from footplate.replica.failure_cause import CauseFinder
from footplate.replica.metrics.events import read_scalars
from footplate.replica.metrics.hypertune import HypertuneFile
from footplate.replica.metrics.protobuf import Malformed
from footplate.replica.shell.websocket_frames import BadFrame, Frames
from footplate.wire.json_text import parse_object
from footplate.wire.log_severity import read_line
from footplate.wire.logging_v2.linear_patterns import LinearPattern
from footplate.wire.logging_v2.pattern_syntax import BadPattern
from footplate.wire.logging_v2.queries import parse_query
from footplate.wire.paging import format_token, parse_number_token
from footplate.wire.replica_v1.records import decode_reports
from footplate.wire.scalars import Double, Duration, Int64, Timestamp
from footplate.wire.shell_v1 import decode_request

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


def search(given: str) -> bool:
    return LinearPattern(given).search("ab" * 50)


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


@cache
def load_methods() -> tuple[Transcoder, list[Method]]:
    schema = load_schema()
    return Transcoder(schema), [schema.methods[name] for name in sorted(schema.methods)]


def read_call(data: bytes) -> None:
    """The first byte chooses the method."""
    transcoder, methods = load_methods()
    transcoder.request(methods[(data or b"a")[0] % len(methods)], data[1:])


def read_frames(data: bytes) -> None:
    frames = Frames()
    frames.feed(data[: len(data) // 2])
    frames.feed(data[len(data) // 2 :])


def read_hypertune(data: bytes) -> None:
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(data)
        HypertuneFile(file.name).look(lambda *_: None)


def read_catalogue(data: bytes) -> None:
    with tempfile.NamedTemporaryFile(suffix=".toml") as file:
        Path(file.name).write_bytes(data)
        load_catalogue(Path(file.name))


def read_submission(data: bytes) -> None:
    """As the page of a new job reads it; what it asks of the service waits for nothing."""

    async def receive() -> Message:
        return {"type": "http.request", "body": data, "more_body": False}

    reading = read_form(Request({"type": "http", "headers": []}, receive), 1 << 20)
    try:
        reading.send(None)
    except StopIteration as end:
        read_draft(end.value)


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
_PATTERN = (
    b"a",
    b"(",
    b")*",
    b"{9,99}",
    b"[^",
    b"]",
    b"|",
    b"\\b",
    b"(?i:",
    b"+?",
    b"^$",
    b"\\x{1F600}",
)
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
_MESSAGE = (
    b"\x0a",
    b"\x12",
    b"\x1a",
    b"\x03abc",
    b"\x08",
    b"\x80" * 9,
    b"\x05\x0a\x03\x0a\x01a",
    b"\xff",
)
_TOML = (
    *(
        b"[machine_types.a]\n",
        b"[regions.b]\n",
        b"[[runtimes]]\n",
        b"[remove]\n",
        b"replace = true\n",
    ),
    *(
        b"vcpus = ",
        b"like = ",
        b"memory_gb = ",
        b"accelerators = ",
        b"\n",
        b'"a"',
        b"[",
        b"]",
        b"{",
        b"}",
    ),
    *(b"9" * 5000, b"1e999", b"nan", b"=", b"a.b.c", b"2020-01-01", b'"""', b"\\U00110000"),
)
_FORM = (
    *(
        b"&",
        b"=",
        b"%00",
        b"%",
        b"+",
        b"mode=text",
        b"text=",
        b"replicas=",
        b"9" * 5000,
        b"labels=",
    ),
    *(b"%0A", b"program=image", b"env=a", b"count=", b"limit=", b"project=p", b"region=r"),
)
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
    "log queries": Target(text(parse_query), (ServiceError,), (*_QUERY, b"=~", b"(a*)*{2}|[^b]")),
    "patterns": Target(text(search), (BadPattern,), _PATTERN),
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
    "calls by gRPC": Target(read_call, (ServiceError,), _MESSAGE),
    "frames of WebSockets": Target(
        read_frames,
        (BadFrame,),
        (b"\x81", b"\x01", b"\x80", b"\x03abc", b"\x7e", b"\x7f", b"\x89\0", b"\0" * 8),
    ),
    "files of hypertune": Target(
        read_hypertune, (), (b'{"timestamp":', b'"global_step":', b'"1e999"', b"\n", b"NaN", *_JSON)
    ),
    "catalogues": Target(read_catalogue, (ServiceError,), _TOML),
    "forms of the console": Target(read_submission, (ServiceError,), _FORM),
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
