"""JSON documents of searches, stored in a tuning job's spec."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.tuning.search import Search, TrialCounts
from footplate.store.studies.configs import config_document, config_of

if TYPE_CHECKING:
    from footplate.store.json_column import Json


def search_document(search: Search | None) -> Json | None:
    if search is None:
        return None
    counts = search.counts
    document: Json = {
        "study": config_document(search.study),
        "counts": [counts.trials, counts.parallel, counts.failed],
        "resumes": search.resumes,
    }
    if search.learns_from:
        document["learns_from"] = search.learns_from
    return document


def search_of(document: Json | None) -> Search | None:
    """Raises ValueError, KeyError or TypeError for what is no document of a search."""
    if document is None:
        return None
    counts = TrialCounts(*document["counts"])
    config = config_of(document["study"])
    return Search(config, counts, document["resumes"], document.get("learns_from", ""))
