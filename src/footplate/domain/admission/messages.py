"""The sentences in which users read why a job waits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import assert_never

from footplate.domain.admission.claims import Claim
from footplate.domain.admission.reasons import (
    Behind,
    NoRoom,
    OverQuota,
    Shortage,
    Soon,
    TooLarge,
    Why,
)
from footplate.domain.resources import (
    JOBS,
    MEMORY_MB,
    REPLICAS,
    say_amount,
    say_gb,
    say_resource,
)

_HOLDERS = 3
"""Holders that are named; the others are counted."""
_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86_400


@dataclass(frozen=True)
class Explanation:
    """The explanation of why a job waits.

    ``place`` counts from 1 in the job's queue, by priority and arrival. ``reason`` changes only
    when the shortage changes; ``text`` is the whole sentence.
    """

    place: int
    reason: str
    text: str
    starts_by: float | None = None
    """The latest moment at which it starts unless others come before it; None: unknown.

    Only a job that is promised a moment has one, and only if all that it counts on was asked for.
    """


def explanation(
    claim: Claim,
    why: Why,
    place: int,
    length: int,
    latest: float | None,
    now: float,
    way_out: str | None,
) -> Explanation:
    """Makes the explanation of why a job waits.

    ``length`` is the number of jobs in its queue, ``latest`` the moment by which it is promised to
    start.
    """
    starts_by = latest if latest is not None and latest > now else None
    sentences = [sentence(claim, why)]
    if not isinstance(why, Soon | TooLarge):
        sentences.append(_in_line(claim, place, length))
    if starts_by is not None:
        by = _time(starts_by, now)
        sentences.append(
            f"The {claim.what} starts by {by} at the latest, unless other jobs come before it."
        )
    if way_out is not None:
        sentences.append(f"{way_out[:1].upper()}{way_out[1:]} the {claim.what} would start now.")
    return Explanation(place, reason(claim, why), " ".join(sentences), starts_by)


def reason(claim: Claim, why: Why) -> str:
    """Returns the reason for the wait, without details that change while the shortage lasts."""
    match why:
        case TooLarge(shortages):
            return f"Can never start here: the {claim.what} asks for {_asked(shortages)}"
        case OverQuota(shortages):
            names = _and([say_resource(shortage.resource) for shortage in shortages])
            return f"Waits for the quota of project {claim.project} in {claim.region}: {names}"
        case NoRoom(shortages):
            return f"Waits for {_asked(shortages)} on {_place(claim)}"
        case Behind():
            return f"Waits for its turn: the {claim.what} would delay jobs that come first"
        case Soon():
            return "Starts in a moment"
        case _:
            assert_never(why)


def sentence(claim: Claim, why: Why) -> str:
    """Returns a sentence: which resources the job lacks, who holds them, and what can be done."""
    match why:
        case TooLarge(shortages):
            there = _and([_amount(s.resource, s.total) for s in shortages])
            return f"{reason(claim, why)}, and {_place(claim)} has {there} in all."
        case OverQuota(shortages):
            return _over_quota(claim, shortages)
        case NoRoom(shortages, holders):
            return f"{reason(claim, why)}: {_free(shortages)}{_held(claim, shortages, holders)}."
        case Behind(first, shortages):
            return _behind(claim, first, shortages)
        case Soon():
            return "Starts in a moment."
        case _:
            assert_never(why)


def whole_limit(seconds: float) -> float:
    """Returns the longest limit of whole days, hours or minutes within ``seconds``; 0: none."""
    if seconds == math.inf:
        return 0.0
    unit_s = next((unit_s for unit_s in (_DAY_S, _HOUR_S) if seconds >= 2 * unit_s), _MINUTE_S)
    return float(seconds // unit_s * unit_s)


def with_limit(limit_s: float) -> str:
    return f"with a running time of at most {_duration(limit_s)} (maxRunningTime or timeout)"


def _place(claim: Claim) -> str:
    """Returns the name of the site, or the id of the job's own persistent resource."""
    _, of_resource, resource_id = claim.site.rpartition("/persistentResources/")
    return f"persistent resource {resource_id}" if of_resource else claim.site


def _in_line(claim: Claim, place: int, length: int) -> str:
    of = f" of {length}" if length > 1 else ""
    line = f"for {claim.accelerator}" if claim.accelerator else "of jobs without accelerators"
    return f"The {claim.what} is {_ordinal(place)}{of} in the line {line}."


def _over_quota(claim: Claim, shortages: Sequence[Shortage]) -> str:
    limits = "; ".join(_limit(claim, shortage) for shortage in shortages)
    more = " ".join(f"{s.resource}={s.held + s.asked}" for s in shortages)
    command = f"footplate quotas set {more} --project={claim.project} --region={claim.region}"
    return (
        f"Waits for the quota of project {claim.project} in {claim.region}: {limits}. "
        f"`{command}` raises it."
    )


def _limit(claim: Claim, short: Shortage) -> str:
    limit = f"at most {_amount(short.resource, short.total)} at once"
    if short.resource == JOBS:
        return f"{limit}, and {_count(short.held, 'has started', 'have started')}"
    held = _count(short.held, "is held", "are held")
    return f"{limit}, {held}, and the {claim.what} asks for {short.asked}"


def _behind(claim: Claim, first: Claim, shortages: Sequence[Shortage]) -> str:
    waits = f" and waits for {_asked(shortages)}" if shortages else ""
    delayed = _job(first, claim.project)
    return (
        f"There is room on {_place(claim)}, but the {claim.what} would delay {delayed}, which "
        f"comes first{waits}."
    )


def _free(shortages: Sequence[Shortage]) -> str:
    if len(shortages) > 1:
        parts = [
            f"{_bare(s.resource, s.free)} of {_amount(s.resource, s.total)}" for s in shortages
        ]
        return f"{_and(parts)} are free"
    (short,) = shortages
    if short.resource == MEMORY_MB:
        free_gb = say_gb(short.free).removesuffix(" GB")
        return f"{free_gb} of {say_gb(short.total)} are free"
    if short.resource == REPLICAS:
        free = _count(short.free, "is free", "are free")
        return f"the region runs {short.total} at most (max_replicas), and {free}"
    return _count(short.free, f"of {short.total} is free", f"of {short.total} are free")


def _held(claim: Claim, shortages: Sequence[Shortage], holders: Sequence[tuple[Claim, int]]) -> str:
    """Lists the holders of the scarcest resource: ``; train_a holds 4 and 5 others 9``."""
    parts = [(_job(holder, claim.project), amount) for holder, amount in holders[:_HOLDERS]]
    others = [amount for _, amount in holders[_HOLDERS:]]
    if others:
        parts.append((_count(len(others), "other", "others"), sum(others)))
    if not parts:
        return ""
    resource = shortages[0].resource
    say = _bare if len(shortages) == 1 else _amount
    (name, amount), *more = parts
    first = f"{name} holds {say(resource, amount)}"
    return f"; {_and([first, *(f'{name} {_bare(resource, n)}' for name, n in more)])}"


def _job(job: Claim, project: str) -> str:
    return job.name if job.project == project else f"{job.name} (project {job.project})"


def _asked(shortages: Sequence[Shortage]) -> str:
    return _and([_amount(shortage.resource, shortage.asked) for shortage in shortages])


def _amount(resource: str, amount: int) -> str:
    """Formats an amount with its unit; replicas become ``room for 2 replicas``."""
    if resource == REPLICAS:
        return f"room for {_count(amount, 'replica', 'replicas')}"
    return say_amount(resource, amount)


def _bare(resource: str, amount: int) -> str:
    return say_gb(amount) if resource == MEMORY_MB else str(amount)


def _count(number: int, one: str, many: str) -> str:
    """Formats a count with its noun: ``none is held``, ``1 is held``, ``2 are held``."""
    if number == 0:
        return f"none {one}"
    return f"{number} {one if number == 1 else many}"


def _and(parts: Sequence[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def _ordinal(number: int) -> str:
    if number == 1:
        return "first"
    suffixes = {1: "st", 2: "nd", 3: "rd"}
    teen = number // 10 % 10 == 1
    return f"{number}{'th' if teen else suffixes.get(number % 10, 'th')}"


def _time(moment: float, now: float) -> str:
    """Formats a time to the minute, rounded up, with the date if it isn't today."""
    at = datetime.fromtimestamp(math.ceil(moment / _MINUTE_S) * _MINUTE_S, UTC)
    today = datetime.fromtimestamp(now, UTC).date()
    date = "" if at.date() == today else f"{at:%Y-%m-%d} "
    return f"{date}{at:%H:%M} UTC"


def _duration(seconds: float) -> str:
    for unit_s, one, many in ((_DAY_S, "day", "days"), (_HOUR_S, "hour", "hours")):
        if seconds % unit_s == 0:
            return _count(int(seconds // unit_s), one, many)
    return _count(int(seconds // _MINUTE_S), "minute", "minutes")
