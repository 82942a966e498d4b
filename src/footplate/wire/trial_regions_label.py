"""The label that spreads the trials of a tuning job over several regions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import Violation
from footplate.domain.formatting import quoted
from footplate.domain.machines import unknown_region

LABEL = "footplate-trial-regions"
"""Its value is the names of regions with ``_`` between them: labels hold no commas."""
_AT = f"labels.{LABEL}"


def trial_regions(labels: Mapping[str, str] | None) -> tuple[str, ...]:
    """Returns the regions among which trials are distributed; empty: the job's own."""
    given = (labels or {}).get(LABEL)
    return tuple(given.split("_")) if given else ()


def check_trial_regions(
    labels: Mapping[str, str] | None, catalogue: Catalogue
) -> Iterator[Violation]:
    if LABEL not in (labels or {}):
        return
    regions = trial_regions(labels)
    if not regions:
        allowed = "allowed: regions with _ between them, such as us-central1_europe-west4"
        yield Violation(_AT, f"nothing given; {allowed}")
    for region in regions:
        if region not in catalogue.regions:
            yield Violation(_AT, unknown_region(region, catalogue))
            return
        if regions.count(region) > 1:
            yield Violation(_AT, f"{quoted(region)} given twice; allowed: each region once")
            return
