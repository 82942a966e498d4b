"""What curves of losses look like: laws that a training may follow, with noise.

``LAWS`` are what results are told by. ``OTHERS`` are further ones, so that a choice isn't made for
the laws by which it is then measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Law = Callable[["Setting"], Floats]


@dataclass(frozen=True)
class Setting:
    """What a law makes a curve of."""

    final: float
    """The loss after the last epoch, about 0.1 to 1.5."""
    rate: float
    """The learning rate's place on its axis, 0 to 1."""
    luck: float
    """Something else of the setting, 0 to 1."""
    whim: float
    """Another such thing."""
    ts: Floats
    """The part of the training that is over, for each epoch."""


def power(of: Setting) -> Floats:
    law = of.ts ** -(0.3 + of.luck)
    return of.final + (2.5 - of.final) * (law - 1.0) / (law[0] - 1.0)


def exponential(of: Setting) -> Floats:
    """Small learning rates are slow."""
    return _falling(of, 1.0 / (2.0 + 10.0 * of.rate))


def crossing(of: Setting) -> Floats:
    """What ends well begins slowly: the order changes until late."""
    slow = float(np.clip(1.2 - of.final, 0.05, 1.0))
    return _falling(of, 0.05 + 0.45 * slow * (0.5 + of.luck))


def stepped(of: Setting) -> Floats:
    """The learning rate drops at a half and at three quarters: so does the loss."""
    base = power(of) - of.final
    drops = np.where(of.ts < 0.5, 0.35, np.where(of.ts < 0.75, 0.12, 0.0))
    return of.final + base + drops * (0.5 + of.rate + 0.5 * of.luck)


def overfitting(of: Setting) -> Floats:
    """Some rise again after their best."""
    falling = exponential(of)
    late = np.clip(of.ts - 0.4, 0.0, None)
    return falling + (0.6 * late if of.luck > 0.6 else 0.0)


def diverging(of: Setting) -> Floats:
    """Large learning rates look good at first, then there are no numbers any more."""
    curve = exponential(of)
    if of.rate > 0.75:
        curve = np.where(of.ts < 1.3 - of.rate, curve, np.nan)
    return curve


def late(of: Setting) -> Floats:
    """Each drops once more, at a time and by a depth of its own that nothing tells before."""
    return power(of) + np.where(of.ts < 0.3 + 0.5 * of.luck, 0.4 * of.whim, 0.0)


def cosine(of: Setting) -> Floats:
    """Most of the fall comes when the learning rate does, in the second half."""
    annealed = 0.5 + 0.5 * np.cos(np.pi * of.ts)
    return of.final + 0.5 * (exponential(of) - of.final) + (0.3 + 0.4 * of.whim) * annealed


def starts(of: Setting) -> Floats:
    """Each begins from a height of its own, and is as fast as it likes."""
    return _falling(of, 0.05 + 0.25 * of.luck, start=1.5 + 4.0 * of.whim)


def decades(of: Setting) -> Floats:
    """Losses fall by their logarithms, from 100 to as low as 0.003."""
    return np.asarray(10.0 ** (2.0 * power(of) - 3.0))


def exploding(of: Setting) -> Floats:
    """Large learning rates look good at first, then losses grow without end, in numbers."""
    over = np.clip(of.ts - (1.3 - of.rate), 0.0, None)
    return exponential(of) + (np.expm1(30.0 * over) if of.rate > 0.75 else 0.0)


def mingled(of: Setting) -> Floats:
    """Every other setting begins slowly, whatever it comes to."""
    return _falling(of, 0.1 if of.whim < 0.5 else 0.2 + 0.3 * of.luck)


def rounded(of: Setting) -> Floats:
    """As shares of few samples are."""
    return np.asarray(np.round(exponential(of) / 0.05) * 0.05)


def _falling(of: Setting, time: float, start: float = 2.5) -> Floats:
    decay = np.exp(-of.ts / time)
    return np.asarray(of.final + (start - of.final) * (decay - decay[-1]) / (1.0 - decay[-1]))


LAWS: dict[str, tuple[Law, float]] = {
    "power": (power, 0.0),
    "exponential": (exponential, 0.0),
    "noisy": (power, 0.03),
    "crossing": (crossing, 0.01),
    "stepped": (stepped, 0.01),
    "overfitting": (overfitting, 0.01),
    "diverging": (diverging, 0.01),
}
"""Each with the standard deviation of its measurements."""
OTHERS: dict[str, tuple[Law, float]] = {
    "late": (late, 0.01),
    "cosine": (cosine, 0.01),
    "starts": (starts, 0.01),
    "decades": (decades, 0.0),
    "exploding": (exploding, 0.01),
    "mingled": (mingled, 0.01),
    "rounded": (rounded, 0.0),
    "loud": (exponential, 0.1),
}
