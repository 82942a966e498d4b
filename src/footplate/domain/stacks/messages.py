"""Formats a comparison of stack traces as text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from footplate.domain.formatting import joined, listed
from footplate.domain.stacks.comparison import shared

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from footplate.domain.stacks.values import Comparison, Frame, Member, Place

SHOWN = 12
"""Frames of a spot, the innermost ones."""
_PACKAGES = re.compile(r".*/(?:(?:site|dist)-packages|lib(?:64)?/python[0-9.]+)/")
_STARTING = ("_run_code", "_run_module_as_main", "_run_module_code", "run_path", "run_module")
"""What ``python -m`` itself does, in runpy."""


def describe(comparison: Comparison) -> str:
    """Place by place, the ranks that differ from the majority named as such."""
    places, majority = comparison.places, comparison.majority
    total = sum(len(place.members) for place in places)
    blocks = []
    if len(places) > 1 and not majority:
        blocks.append(["No place has more than half of them."])
    blocks += [_describe_place(place, total) for place in places[: 1 if majority else None]]
    blocks += [_describe_other(place, places[0]) for place in places[1:] if majority]
    blocks += [_describe_children(place) for place in comparison.children]
    if comparison.missing:
        unknown = [f"  {each.replica}: {each.reason}" for each in comparison.missing]
        blocks.append(["Not known:", *unknown])
    return "\n\n".join("\n".join(block) for block in blocks)


def place_name(frame: Frame) -> str:
    """``all_reduce (torch/distributed/distributed_c10d.py:2501)``."""
    line = f":{frame.line}" if frame.line else ""
    return f"{frame.function} ({shorten(frame.file)}{line})"


def shorten(file: str) -> str:
    """The part of a path that tells: below the installed packages, or its last two names."""
    rest = _PACKAGES.sub("", file)
    return rest if rest != file else "/".join(file.rsplit("/", 2)[-2:])


def _describe_place(place: Place, total: int) -> list[str]:
    count, frames = len(place.members), place.spots[0].frames
    share = f" ({count} of {total})" if total > 1 else ""
    verb = "is" if count == 1 else "are"
    head = f"{_names(place.members)}{share} {verb} in {place_name(frames[0])}"
    return [head, *_list_frames(frames), *_describe_steps(place)]


def _describe_other(place: Place, first: Place) -> list[str]:
    """A place apart from that of the majority."""
    frames = place.spots[0].frames
    verb = "differs: it is" if len(place.members) == 1 else "differ: they are"
    head = f"{_names(place.members)} {verb} in {place_name(frames[0])}"
    parting = _describe_parting(frames, first.spots[0].frames)
    return [head, *_list_frames(frames), *_describe_steps(place), *parting]


def _describe_steps(place: Place) -> list[str]:
    """Those that stand near, not at the very same frames."""
    lines = []
    for spot in place.spots[1:]:
        verb = "is" if len(spot.members) == 1 else "are"
        where = place_name(spot.frames[0])
        lines.append(f"  {_names(spot.members)} {verb} there too, just now in {where}")
    return lines


def _describe_parting(frames: Sequence[Frame], others: Sequence[Frame]) -> list[str]:
    """Where the way of these leaves that of the majority."""
    same = shared(frames, others)
    if not 0 < same < min(len(frames), len(others)):
        return []
    own, theirs = frames[-1 - same], others[-1 - same]
    if (own.function, own.file) != (theirs.function, theirs.file):
        return [f"  (the others are in {place_name(theirs)} instead of {place_name(own)})"]
    lines = f"it is at line {own.line}, the others are at line {theirs.line}"
    return [f"  (in {own.function} of {shorten(own.file)} {lines})"]


def _describe_children(place: Place) -> list[str]:
    spot, count = place.spots[0], len(place.members)
    pids = listed([str(member.pid) for member in place.members])
    what = f"A child process ({pids})" if count == 1 else f"{count} child processes ({pids})"
    verb = "is" if count == 1 else "are"
    owners = joined(list(dict.fromkeys(member.replica for member in place.members)))
    head = f"{what} of {owners} {verb} in {place_name(spot.frames[0])}"
    return [head, *_list_frames(spot.frames)]


def _names(members: Sequence[Member]) -> str:
    stopped = [member.replica for member in members if member.stopped]
    names = listed([member.replica for member in members])
    if not stopped:
        return names
    who = "" if len(stopped) == len(members) else f"{listed(stopped)} "
    return f"{names} ({who}stopped by a signal)"


def _list_frames(frames: Sequence[Frame]) -> Iterator[str]:
    shown = [frame for frame in frames if not _is_starting(frame)] or [*frames]
    for frame in shown[:SHOWN]:
        yield f"  {place_name(frame)}"
    if len(shown) > SHOWN:
        yield f"  ... and {len(shown) - SHOWN} more"


def _is_starting(frame: Frame) -> bool:
    return frame.function in _STARTING and "runpy" in frame.file
