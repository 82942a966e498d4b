from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.errors import InvalidArgument
from footplate.protocol.control_requests import ControlResponse
from footplate.wire.control_requests import decode_control_response


def test_an_answer_is_a_text_or_an_error() -> None:
    assert decode_control_response(b'{"text": "here"}') == ControlResponse("here")
    assert decode_control_response(b'{"error": "why", "text": ""}') == ControlResponse(error="why")
    assert len(decode_control_response(json.dumps({"error": "x" * 5000}).encode()).error) == 1000


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b'{"text": 1}',
        b'{"text": "a", "error": "b"}',
        b'{"text": null, "error": "b"}',
        b'{"error": ["b"]}',
        b'{"text": "\\ud800"}',
        b'{"text": "\\u0000"}',
        b"\xff",
        b"[" * 100_000,
    ],
)
def test_anything_else_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidArgument):
        decode_control_response(body)


@given(st.binary(max_size=100) | st.from_regex(rb'\{"(text|error)": .{0,40}\}'))
def test_nothing_breaks_it(body: bytes) -> None:
    try:
        answer = decode_control_response(body)
    except InvalidArgument:
        return
    assert bool(answer.text) != bool(answer.error)
