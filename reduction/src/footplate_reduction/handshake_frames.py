"""Frames of the handshake in PROTOCOL.md, and the proof that each side knows the token.

Pure: bytes in, bytes out. The token itself never travels.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any, NamedTuple

from footplate_reduction.errors import ReductionError
from footplate_reduction.frames import (
    LONGEST_ERROR,
    MAX_HANDSHAKE_FRAME,
    NOBODY,
    VERSION,
    FrameType,
    Header,
)

NONCE_BYTES = 32
_HEX = frozenset("0123456789abcdef")
LARGEST_WORLD = 4096
MOST_LANES = 64
LONGEST_NAME = 256
"""Characters of a job or a group."""
LONGEST_TIME_S = 7 * 86400.0
TAKEN = "taken"
"""First word of a refusal that may pass: the rank's old connection isn't known to be gone."""


class Refused(ReductionError):
    """The handshake is rejected. The message is sent to the other side."""


class Challenge(NamedTuple):
    nonce: str
    lanes: int


class Hello(NamedTuple):
    """The identity that a worker claims."""

    job: str
    group: str
    rank: int
    world: int
    lane: int
    timeout_s: float
    patience_s: float


def frame(kind: FrameType, payload: bytes, rank: int = 0) -> bytes:
    return Header(kind, nbytes=len(payload), rank=rank).pack() + payload


def error_frame(sentence: str, culprit: int | None = None) -> bytes:
    payload = sentence.encode("utf-8", "replace")[:LONGEST_ERROR]
    return frame(FrameType.ERROR, payload, NOBODY if culprit is None else culprit)


def error_of(header: Header, payload: bytes | memoryview) -> ReductionError:
    """Returns the error that an ERROR frame reports."""
    culprit = None if header.rank == NOBODY else header.rank
    return ReductionError(bytes(payload).decode("utf-8", "replace"), culprit)


def handshake_header(packed: bytes | bytearray | memoryview, *allowed: FrameType) -> Header:
    """Returns the header of a frame, checked before its payload is read. Raises Refused."""
    try:
        header = Header.unpack(packed)
    except ValueError:
        raise Refused("not a frame of this protocol") from None
    longest = LONGEST_ERROR if header.type is FrameType.ERROR else MAX_HANDSHAKE_FRAME
    if header.type not in allowed or header.nbytes > longest:
        raise Refused("not a handshake of this protocol")
    return header


def challenge_frame(challenge: Challenge) -> bytes:
    said = {"version": VERSION, "nonce": challenge.nonce, "lanes": challenge.lanes}
    return frame(FrameType.CHALLENGE, _canonical(said))


def parse_challenge(payload: bytes) -> Challenge:
    said = _object(payload)
    _check_version(said)
    return Challenge(_nonce(said), _whole(said, "lanes", 1, MOST_LANES))


def hello_frame(hello: Hello, token: str, challenge: Challenge, nonce: str) -> bytes:
    said = {
        "version": VERSION,
        "job": hello.job,
        "group": hello.group,
        "rank": hello.rank,
        "world": hello.world,
        "lane": hello.lane,
        "timeout": hello.timeout_s,
        "patience": hello.patience_s,
        "nonce": nonce,
    }
    said["proof"] = _workers_proof(said, token, challenge.nonce, nonce)
    return frame(FrameType.HELLO, _canonical(said))


class Answer(NamedTuple):
    """A HELLO with a valid proof, and the WELCOME that answers it once the group is complete."""

    hello: Hello
    welcome: bytes


def parse_hello(payload: bytes, token: str, challenge: Challenge) -> Answer:
    """Returns the parsed HELLO and its answer; checks the proof first. Raises Refused."""
    said = _object(payload)
    _check_version(said)
    nonce = _nonce(said)
    proof = said.pop("proof", None)
    if not _same(proof, _workers_proof(said, token, challenge.nonce, nonce)):
        raise Refused("token: the worker's and the reducer's are not the same")
    welcome = {"proof": _reducers_proof(token, challenge.nonce, nonce)}
    return Answer(_hello(said, challenge.lanes), frame(FrameType.WELCOME, _canonical(welcome)))


def check_welcome(payload: bytes, token: str, challenge: Challenge, nonce: str) -> None:
    """Raises Refused for a reducer that doesn't have the token."""
    if not _same(_object(payload).get("proof"), _reducers_proof(token, challenge.nonce, nonce)):
        raise Refused("token: the reducer has another token than the worker")


def _hello(said: dict[str, Any], lanes: int) -> Hello:
    world = _whole(said, "world", 1, LARGEST_WORLD)
    return Hello(
        job=_name(said, "job"),
        group=_name(said, "group"),
        rank=_whole(said, "rank", 0, world - 1),
        world=world,
        lane=_whole(said, "lane", 0, lanes - 1),
        timeout_s=_seconds(said, "timeout"),
        patience_s=_seconds(said, "patience"),
    )


def _workers_proof(said: dict[str, Any], token: str, reducers: str, workers: str) -> str:
    words = ("worker\n" + reducers + workers + "\n").encode("ascii")
    return hmac.new(token.encode(), words + _canonical(said), hashlib.sha256).hexdigest()


def _reducers_proof(token: str, reducers: str, workers: str) -> str:
    words = ("reducer\n" + workers + reducers).encode("ascii")
    return hmac.new(token.encode(), words, hashlib.sha256).hexdigest()


def _same(proof: object, right: str) -> bool:
    given = proof.encode("utf-8", "replace") if isinstance(proof, str) else b""
    return hmac.compare_digest(given, right.encode())


def _canonical(said: dict[str, Any]) -> bytes:
    try:
        return json.dumps(said, sort_keys=True, separators=(",", ":")).encode("ascii")
    except RecursionError:
        raise Refused("not a handshake of this protocol") from None


def _object(payload: bytes) -> dict[str, Any]:
    try:
        said = json.loads(payload.decode("utf-8"))
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise Refused("not a handshake of this protocol: the payload is not a JSON object")
    return said


def _check_version(said: dict[str, Any]) -> None:
    if type(said.get("version")) is not int or said["version"] != VERSION:
        message = (
            "version: {} here, {!r:.40} at the other end; install the same footplate-reduction "
            "at both"
        )
        raise Refused(message.format(VERSION, said.get("version")))


def _nonce(said: dict[str, Any]) -> str:
    nonce = said.get("nonce")
    right_size = isinstance(nonce, str) and len(nonce) == 2 * NONCE_BYTES
    if isinstance(nonce, str) and right_size and set(nonce) <= _HEX:
        return nonce
    raise Refused(f"nonce: must be {NONCE_BYTES} bytes in lower-case hexadecimal digits")


def _whole(said: dict[str, Any], key: str, least: int, most: int) -> int:
    number = said.get(key)
    if type(number) is int and least <= number <= most:
        return number
    message = "{}: {!r:.40} given; allowed: a whole number from {} to {}"
    raise Refused(message.format(key, number, least, most))


def _seconds(said: dict[str, Any], key: str) -> float:
    number: Any = said.get(key)
    if type(number) in (int, float) and 0 < number <= LONGEST_TIME_S:  # which no NaN is
        return float(number)
    message = "{}: {!r:.40} given; allowed: more than 0 and at most {:.0f} seconds"
    raise Refused(message.format(key, number, LONGEST_TIME_S))


def _name(said: dict[str, Any], key: str) -> str:
    name = said.get(key)
    if isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and name.isprintable():
        return name
    raise Refused(f"{key}: allowed: 1 to {LONGEST_NAME} printable characters")
