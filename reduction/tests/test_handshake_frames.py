"""Both sides of the handshake, byte by byte."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate_reduction.errors import ReductionError
from footplate_reduction.frames import HEADER_BYTES, NOBODY, FrameType, Header
from footplate_reduction.handshake_frames import (
    Challenge,
    Hello,
    Refused,
    challenge_frame,
    check_welcome,
    error_frame,
    error_of,
    handshake_header,
    hello_frame,
    parse_challenge,
    parse_hello,
)

TOKEN = "sixteen letters!"
MINE, YOURS = "ab" * 32, "cd" * 32
CHALLENGE = Challenge(MINE, 4)
HELLO = Hello("job", "7/0", 2, 3, 1, 10.0, 1800.0)

names = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=50)
hellos = st.integers(1, 4096).flatmap(
    lambda world: st.builds(
        Hello,
        names,
        names,
        st.integers(0, world - 1),
        st.just(world),
        st.integers(0, 3),
        st.floats(0.001, 604800),
        st.floats(0.001, 604800),
    )
)


def payload(frame: bytes) -> bytes:
    header = Header.unpack(frame[:HEADER_BYTES])
    assert header.nbytes == len(frame) - HEADER_BYTES <= 4096
    return frame[HEADER_BYTES:]


def said(hello: Hello = HELLO, token: str = TOKEN, challenge: Challenge = CHALLENGE) -> bytes:
    return payload(hello_frame(hello, token, challenge, YOURS))


@given(hellos)
def test_a_worker_with_the_token_is_who_it_says_it_is(hello: Hello) -> None:
    answer = parse_hello(said(hello), TOKEN, CHALLENGE)
    assert answer.hello == hello
    check_welcome(payload(answer.welcome), TOKEN, CHALLENGE, YOURS)


@given(st.integers(1, 64))
def test_a_challenge_is_read_as_it_was_written(lanes: int) -> None:
    challenge = Challenge(MINE, lanes)
    assert parse_challenge(payload(challenge_frame(challenge))) == challenge


def test_the_token_never_travels() -> None:
    answer = parse_hello(said(), TOKEN, CHALLENGE)
    for frame in (challenge_frame(CHALLENGE), said(), answer.welcome):
        assert TOKEN.encode() not in frame


def test_the_proofs_are_those_of_the_protocol() -> None:
    """Worked out by hand from PROTOCOL.md: another implementation comes to the same."""
    fields = json.loads(said())
    proof = fields.pop("proof")
    canonical = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    key, words = TOKEN.encode(), f"worker\n{MINE}{YOURS}\n{canonical}".encode()
    assert proof == hmac.new(key, words, hashlib.sha256).hexdigest()
    welcome = json.loads(payload(parse_hello(said(), TOKEN, CHALLENGE).welcome))
    words = f"reducer\n{YOURS}{MINE}".encode()
    assert welcome == {"proof": hmac.new(key, words, hashlib.sha256).hexdigest()}


def test_another_token_is_refused_and_says_nothing_else() -> None:
    wrong = said(HELLO._replace(job="other"), "another token...")
    with pytest.raises(Refused, match=r"^token: "):
        parse_hello(wrong, TOKEN, CHALLENGE)


def test_a_hello_that_was_said_to_another_challenge_is_refused() -> None:
    with pytest.raises(Refused, match=r"^token: "):
        parse_hello(said(), TOKEN, Challenge("ef" * 32, 4))


@pytest.mark.parametrize("key", ["job", "group", "rank", "world", "lane", "timeout", "nonce"])
def test_nothing_of_a_hello_can_be_changed_on_its_way(key: str) -> None:
    fields = json.loads(said())
    fields[key] = "ee" * 32 if key == "nonce" else 1 if fields[key] != 1 else 2
    with pytest.raises(Refused, match=r"^token: "):
        parse_hello(json.dumps(fields).encode(), TOKEN, CHALLENGE)


def test_a_reducer_without_the_token_is_found_out() -> None:
    other = parse_hello(said(token="another token..."), "another token...", CHALLENGE)
    with pytest.raises(Refused, match=r"^token: "):
        check_welcome(payload(other.welcome), TOKEN, CHALLENGE, YOURS)


@pytest.mark.parametrize("reflected", [said(), b'{"proof": 3}', b"[]", b"", b"{}"])
def test_a_reducer_that_sends_back_what_it_heard_is_found_out(reflected: bytes) -> None:
    with pytest.raises(Refused):
        check_welcome(reflected, TOKEN, CHALLENGE, YOURS)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"rank": 3}, "rank"),
        ({"rank": -1}, "rank"),
        ({"rank": True}, "rank"),
        ({"rank": 1.0}, "rank"),
        ({"world": 4097}, "world"),
        ({"world": 0}, "world"),
        ({"world": 10**400}, "world"),
        ({"lane": 4}, "lane"),
        ({"timeout_s": 0}, "timeout"),
        ({"timeout_s": float("nan")}, "timeout"),
        ({"timeout_s": float("inf")}, "timeout"),
        ({"timeout_s": 604801}, "timeout"),
        ({"patience_s": -1}, "patience"),
        ({"patience_s": "1"}, "patience"),
        ({"patience_s": None}, "patience"),
        ({"job": ""}, "job"),
        ({"job": "a\nb"}, "job"),
        ({"group": "a" * 257}, "group"),
        ({"group": ["a"]}, "group"),
        ({"group": "\ud800"}, "group"),
    ],
)
def test_a_worker_with_the_token_is_checked_all_the_same(
    changes: dict[str, object], word: str
) -> None:
    given_hello = Hello(**{**HELLO._asdict(), **changes})
    with pytest.raises(Refused, match=rf"^{word}: ") as raised:
        parse_hello(said(given_hello), TOKEN, CHALLENGE)
    assert len(str(raised.value)) < 200


@pytest.mark.parametrize("version", [0, 2, "1", None, True, [1] * 500])
def test_another_version_is_refused_by_both_sides(version: object) -> None:
    fields = json.dumps({"version": version, "nonce": MINE, "lanes": 1}).encode()
    with pytest.raises(Refused, match=r"^version: "):
        parse_challenge(fields)
    with pytest.raises(Refused, match=r"^version: "):
        parse_hello(fields, TOKEN, CHALLENGE)


def test_what_is_not_known_is_ignored() -> None:
    fields = {"version": 1, "nonce": MINE, "lanes": 2, "colour": "green"}
    assert parse_challenge(json.dumps(fields).encode()) == Challenge(MINE, 2)


deep = b"[" * 4096
odd = st.sampled_from(
    [deep, b'{"a":' * 800, b"\xff", b'{"version":1,"nonce":"' + b"A" * 64 + b'"}']
)
json_texts = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
).map(lambda value: json.dumps(value).encode())


@pytest.mark.parametrize(
    "parse", [parse_challenge, lambda said: parse_hello(said, TOKEN, CHALLENGE)], ids=["c", "h"]
)
@given(st.binary(max_size=200) | odd | json_texts)
def test_other_bytes_are_refused(parse: Callable[[bytes], object], said: bytes) -> None:
    with pytest.raises(Refused):
        parse(said)


@given(
    st.dictionaries(
        st.sampled_from(["version", "nonce", "proof", "rank", "lanes"]),
        st.sampled_from([1, MINE, "\ud800", None, 1.5, [], {"a": 1}]),
    )
)
def test_objects_of_the_right_keys_and_wrong_values_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(Refused):
        parse_hello(json.dumps(fields).encode(), TOKEN, CHALLENGE)


@given(st.binary(min_size=32, max_size=32))
def test_a_header_is_refused_before_its_payload_is_awaited(packed: bytes) -> None:
    with pytest.raises(Refused):
        handshake_header(packed, FrameType.HELLO)


def test_a_hello_that_is_too_long_is_refused_by_its_header() -> None:
    with pytest.raises(Refused):
        handshake_header(Header(FrameType.HELLO, nbytes=4097).pack(), FrameType.HELLO)
    handshake_header(Header(FrameType.HELLO, nbytes=4096).pack(), FrameType.HELLO)


@given(st.text(max_size=2000), st.none() | st.integers(0, 4095))
def test_errors_say_what_they_say_up_to_their_length(sentence: str, culprit: int | None) -> None:
    frame = error_frame(sentence, culprit)
    header = Header.unpack(frame[:HEADER_BYTES])
    assert header.type is FrameType.ERROR
    assert header.nbytes == len(frame) - HEADER_BYTES <= 1024
    assert header.rank == (NOBODY if culprit is None else culprit)
    error = error_of(header, frame[HEADER_BYTES:])
    assert isinstance(error, ReductionError)
    assert error.culprit == culprit
    if len(sentence.encode("utf-8", "replace")) <= 1024 and "\ud800" not in sentence:
        assert str(error) == sentence
