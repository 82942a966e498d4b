"""Reads the settings from environment variables. No other module does."""

from __future__ import annotations

import math
from typing import Mapping, NamedTuple, Tuple

from footplate_reduction.frames import WireType
from footplate_reduction.handshake_frames import LONGEST_TIME_S, MOST_LANES
from footplate_reduction.limits import Limits

DEFAULT_PORT = 7700
SHORTEST_TOKEN = 16
_PREFIX = "FOOTPLATE_REDUCTION_"
_WIRES = {"float16": WireType.FLOAT16, "bfloat16": WireType.BFLOAT16}

Address = Tuple[str, int]


class SettingsError(ValueError):
    """A setting is wrong. The message names the variable, its value and the allowed values."""


class WorkerSettings(NamedTuple):
    reducers: tuple[Address, ...]
    job: str
    token: str
    group: str
    limits: Limits
    wire: WireType | None


class ReducerSettings(NamedTuple):
    host: str
    port: int
    lanes: int
    job: str
    token: str
    stats_path: str | None


def worker_settings(environment: Mapping[str, str]) -> WorkerSettings:
    _refuse_engine(environment)
    return WorkerSettings(
        reducers=addresses(reducers_of(environment)),
        job=environment.get(_PREFIX + "JOB", ""),
        token=environment.get(_PREFIX + "TOKEN", ""),
        group=group_name(environment),
        limits=_limits(environment),
        wire=_wire(environment),
    )


def reducer_settings(environment: Mapping[str, str]) -> ReducerSettings:
    _refuse_engine(environment)
    return ReducerSettings(
        host=environment.get(_PREFIX + "HOST", ""),
        port=_whole(environment, "PORT", DEFAULT_PORT, 0, 65535),
        lanes=_whole(environment, "LANES", 1, 1, MOST_LANES),
        job=environment.get(_PREFIX + "JOB", ""),
        token=environment.get(_PREFIX + "TOKEN", ""),
        stats_path=environment.get(_PREFIX + "STATS") or None,
    )


def check_token(token: str) -> None:
    if len(token) < SHORTEST_TOKEN:
        message = (
            "FOOTPLATE_REDUCTION_TOKEN has {} characters; it must have at least {}, and be "
            "the same {}"
        )
        where = "for all workers and reducers of a job"
        raise SettingsError(message.format(len(token), SHORTEST_TOKEN, where))


def check_job(job: str) -> None:
    if not job:
        raise SettingsError(
            "FOOTPLATE_REDUCTION_JOB is not set; give the job any name that all its workers and "
            "reducers share"
        )


def group_name(environment: Mapping[str, str]) -> str:
    """Returns a name that all workers of this start of the job share, and no worker of another."""
    attempt = environment.get("FOOTPLATE_ATTEMPT")
    if attempt:
        return attempt + "/0"
    run = environment.get("TORCHELASTIC_RUN_ID")
    if run:
        return "{}/{}".format(run, environment.get("TORCHELASTIC_RESTART_COUNT", "0"))
    return "0"


def reducers_of(environment: Mapping[str, str]) -> str:
    """Returns the value of FOOTPLATE_REDUCERS; '' if it isn't set."""
    return environment.get("FOOTPLATE_REDUCERS", "").strip()


def addresses(text: str) -> tuple[Address, ...]:
    """Reads ``host:port,host:port``. Hosts of IPv6 stand in brackets; the port may be left out."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise SettingsError(
            "FOOTPLATE_REDUCERS names no reducer; set it to host:port,host:port,... of all reducers"
        )
    listed = tuple(_address(part) for part in parts)
    if len(set(listed)) < len(listed):
        raise SettingsError(f"FOOTPLATE_REDUCERS is {text!r}; it must name each reducer once")
    return listed


def _address(part: str) -> Address:
    host, colon, port = part.rpartition(":")
    if not colon or part.endswith("]"):
        host, port = part, str(DEFAULT_PORT)
    bracketed = host.startswith("[") and host.endswith("]")
    host = host[1:-1] if bracketed else host
    right_host = host and (bracketed or ":" not in host)
    if not right_host or not port.isdigit() or not 0 < int(port) < 65536:
        raise SettingsError(f"FOOTPLATE_REDUCERS has {part!r}; each reducer must be host:port")
    return host, int(port)


def _limits(environment: Mapping[str, str]) -> Limits:
    usual = Limits()
    return Limits(
        timeout_s=_seconds(environment, "TIMEOUT", usual.timeout_s),
        patience_s=_seconds(environment, "PATIENCE", usual.patience_s),
        budget_bytes=_whole(environment, "BUDGET", usual.budget_bytes, 1, 1 << 40),
        chunk_bytes=_whole(environment, "CHUNK", usual.chunk_bytes, 0, 1 << 40),
    )


def _refuse_engine(environment: Mapping[str, str]) -> None:
    given = environment.get(_PREFIX + "ENGINE", "native") or "native"
    if given != "native":
        raise SettingsError(
            f"{_PREFIX}ENGINE is {given!r}; leave it unset, because there is only one engine"
        )


def _wire(environment: Mapping[str, str]) -> WireType | None:
    given = environment.get(_PREFIX + "WIRE", "")
    if not given or given in _WIRES:
        return _WIRES[given] if given else None
    message = "{}WIRE is {!r}; it may be {}, or not set"
    raise SettingsError(message.format(_PREFIX, given, " or ".join(_WIRES)))


def _whole(environment: Mapping[str, str], name: str, usual: int, least: int, most: int) -> int:
    given = environment.get(_PREFIX + name, "")
    if not given:
        return usual
    if given.isascii() and given.isdigit() and len(given) < 20 and least <= int(given) <= most:
        return int(given)
    message = "{}{} is {!r}; it must be a whole number from {} to {}"
    raise SettingsError(message.format(_PREFIX, name, given, least, most))


def _seconds(environment: Mapping[str, str], name: str, usual: float) -> float:
    given = environment.get(_PREFIX + name, "")
    if not given:
        return usual
    try:
        number = float(given)
    except ValueError:
        number = math.nan
    if 0 < number <= LONGEST_TIME_S:
        return number
    message = "{}{} is {!r}; it must be seconds, more than 0 and at most {:.0f}"
    raise SettingsError(message.format(_PREFIX, name, given, LONGEST_TIME_S))
