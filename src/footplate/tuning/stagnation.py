"""When a search no longer finds anything better, and looks elsewhere now and then."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from footplate.tuning.axes import Floats

_TRIALS = 8
_EVERY = 3


def reason_to_explore(losses: Floats, number: int) -> str:
    """Why trial ``number`` is drawn from the whole space; empty: it isn't.

    ``losses``: of all metrics, in the order of the trials. Several metrics have many best trials,
    and none is ever better than all.
    """
    if losses.shape[1] > 1 or number % _EVERY:
        return ""
    since = len(losses) - 1 - int(losses[:, 0].argmin())
    return f"no better trial among the last {since}" if since >= _TRIALS else ""
