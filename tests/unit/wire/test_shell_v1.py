from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.errors import InvalidArgument
from footplate.wire.shell_v1 import (
    Answer,
    EndOfInput,
    Exit,
    Failure,
    LifeSign,
    Opening,
    Request,
    Resize,
    Stream,
    WindowUpdate,
    decode_answer,
    decode_request,
    encode_message,
)

sizes = st.tuples(st.integers(1, 10_000), st.integers(1, 10_000))
texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=50)
requests = st.one_of(
    st.builds(Opening, sizes, st.sampled_from(["xterm-256color", "vt100"]), st.none() | texts),
    st.builds(Resize, sizes),
    st.just(EndOfInput()),
    st.just(LifeSign()),
)
answers = st.one_of(
    st.builds(Stream, st.sampled_from(["stdout", "stderr"])),
    st.builds(WindowUpdate, st.integers(1)),
    st.builds(Exit, st.integers(0, 255)),
    st.builds(Failure, texts),
    st.just(LifeSign()),
)


@given(requests)
def test_requests_are_read_as_they_were_meant(request: Request) -> None:
    assert decode_request(encode_message(request)) == request


@given(answers)
def test_answers_are_read_as_they_were_meant(answer: Answer) -> None:
    assert decode_answer(encode_message(answer)) == answer


def test_an_opening_needs_to_say_nothing() -> None:
    assert decode_request('{"open": {}}') == Opening((80, 24), "xterm", None)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", "body"),
        ("[]", "body"),
        ('{"a": 1}', "message"),
        ('{"resize": [1, 2], "eof": true}', "message"),
        ('{"eof": false}', "message"),
        ('{"resize": [0, 1]}', "resize"),
        ('{"resize": [1, 10001]}', "resize"),
        ('{"resize": [true, 1]}', "resize"),
        ('{"resize": "80x24"}', "resize"),
        ('{"open": []}', "message"),
        ('{"open": {"shell": "zsh"}}', "open"),
        ('{"open": {"term": "a b"}}', "open.term"),
        ('{"open": {"term": "-x"}}', "open.term"),
        ('{"open": {"command": 1}}', "open.command"),
        ('{"open": {"size": [1]}}', "open.size"),
        ('{"exit": 0}', "message"),
    ],
)
def test_what_no_user_says_is_refused(text: str, field: str) -> None:
    with pytest.raises(InvalidArgument, match=field):
        decode_request(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"exit": 256}',
        '{"exit": -1}',
        '{"exit": true}',
        '{"stream": "stdin"}',
        '{"taken": 0}',
        '{"taken": true}',
        '{"error": 5}',
        '{"open": {}}',
        '{"exit": 0, "error": ""}',
    ],
)
def test_what_no_replica_says_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match="message"):
        decode_answer(text)


def test_a_long_reason_is_cut() -> None:
    failure = decode_answer(encode_message(Failure("x" * 5000)))
    assert failure == Failure("x" * 1000)
