"""Random search: uniform along the axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.tuning.designer import Batch, Explanation, Reason, Suggestion
from footplate.tuning.sampling import draw_new, generator
from footplate.tuning.seen_points import all_tried, repeats, tried

if TYPE_CHECKING:
    from footplate.domain.studies.study import Study


class RandomSearch:
    """Each parameter by its scale, independently; a value of several has an equal chance.

    No point comes again before all have been tried. Then there are none left, unless the study
    says that its measurements are noisy: then they start over.
    """

    def suggest(self, study: Study, count: int, seed: int) -> Batch:
        space, known = study.config.space, tried(study)
        found: list[Suggestion] = []
        for place in range(count):
            rng = generator(seed, len(study.trials) + place)
            point = draw_new(space, rng, known, again=repeats(study))
            if point is None:
                return Batch(tuple(found), all_tried(study))
            known.add(point)
            found.append(Suggestion(point, Explanation(Reason.RANDOM, "drawn at random")))
        return Batch(tuple(found))
