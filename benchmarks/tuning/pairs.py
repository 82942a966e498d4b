"""Two tuners on the same searches: how much smaller one's regret is, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LEAST = 0.005
"""Added to each regret: searches that find the least loss there is don't decide everything."""

Regrets = dict[tuple[str, int], list[float]]
"""By problem and seed: the regret at each mark."""


def print_pairs(
    regrets: Mapping[tuple[str, str], Regrets], tuners: Sequence[str], marks: Sequence[int]
) -> None:
    """The first tuner against each of the others."""
    first, *others = tuners
    for suite in sorted({suite for suite, _ in regrets}):
        for other in others:
            cells = _cells(regrets[suite, first], regrets[suite, other])
            at = "".join(f"   @{mark} {cell}" for mark, cell in zip(marks, cells, strict=True))
            print(f"{suite}: {first} over {other}, mean log ratio, better:worse{at}")


def _cells(ones: Regrets, others: Regrets) -> list[str]:
    both = sorted(ones.keys() & others.keys())
    one, other = (np.array([of[case] for case in both]) for of in (ones, others))
    ratios = np.log((one + _LEAST) / (other + _LEAST))
    spread = ratios.std(axis=0, ddof=1) / np.sqrt(len(both)) if len(both) > 1 else 0 * ratios[0]
    better, worse = (one < other).sum(axis=0), (one > other).sum(axis=0)
    return [
        f"{mean:+.2f} ±{off:.2f} {b}:{w}"
        for mean, off, b, w in zip(ratios.mean(axis=0), spread, better, worse, strict=True)
    ]
