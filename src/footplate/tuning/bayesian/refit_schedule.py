"""When models are fitted, and which one a suggestion uses.

Both are keyed to how many trials have ended, in the order of their ends, never to time: the same
trials lead to the same models and points on a machine that is busy. Models form a chain: the one of
a count is ``refit(the study with its first so many ended trials, the model of the count before)``.
Past some trials each model begins anew: whoever needs one of a study with a thousand trials that
ended at once makes that one, and not a hundred that lead to it.

``inherited``: how many ended trials of earlier studies count like own ones (``finished_count`` of
the study without trials of its own). Where there are many, own ones change less.
"""

from __future__ import annotations

_AT_ONCE = 20
"""Up to so many ended trials each one changes the picture, and the next point waits for the fit."""
_SHARE = 25
"""One new trial of so many is enough for another fit."""
_CHAINED = 128
"""Models of more ended trials begin anew."""


def following(count: int, inherited: int = 0) -> int:
    """The next count of the chain. The first one is 0: of earlier studies alone."""
    step = 1
    while step < (inherited + count + step) // _SHARE:
        step += 1
    return count + step


def newest(finished: int, inherited: int = 0) -> int:
    """The last count of the chain that is ``finished`` or less."""
    return counts(finished, inherited)[-1]


def counts(finished: int, inherited: int = 0) -> list[int]:
    """The whole chain, up to ``finished``: oldest first, with 0."""
    found = [0]
    while (count := following(found[-1], inherited)) <= finished:
        found.append(count)
    return found


def lineage(count: int, inherited: int = 0) -> list[int]:
    """What the model of a count of the chain follows from: oldest first, with 0 and itself.

    Where it begins anew, that is 0 alone, which has what earlier studies say.
    """
    return [0, count] if begins_anew(inherited + count) and count else counts(count, inherited)


def begins_anew(finished: int) -> bool:
    """Whether the model of so many ended trials, with inherited ones, follows from these alone."""
    return finished > _CHAINED


def wanted(finished: int, inherited: int = 0) -> int:
    """The count of the model that a suggestion uses, which is made after so many ends.

    Past the first trials it is never that of the last end: there is time to fit that one until the
    next trial ends.
    """
    late = inherited + finished > _AT_ONCE and finished > 0
    return newest(finished - 1 if late else finished, inherited)
