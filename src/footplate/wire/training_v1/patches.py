"""Patches of a job's labels, guarded by its etag."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.domain.errors import Violation
from footplate.wire.json_model import refuse
from footplate.wire.json_text import JsonObject, describe
from footplate.wire.shared_rules import check_labels
from footplate.wire.training_v1.models import JobPatch
from footplate.wire.training_v1.responses import parse_etag

MASKS = ("labels", "etag")


@dataclass(frozen=True)
class LabelsPatch:
    """The new labels; if ``version`` is set, only for a job that still has this version."""

    labels: tuple[tuple[str, str], ...]
    version: int | None


def read_patch(body: JsonObject, update_mask: str) -> LabelsPatch:
    """Reads a request of ``projects.jobs.patch``; an etag counts only if the mask names it.

    Raises:
        InvalidArgument: the mask is empty or names other fields, or a label is invalid.
    """
    patch = JobPatch.decode(body)
    names = [name.strip() for name in update_mask.split(",") if name.strip()]
    allowed = "labels, or labels,etag"
    if not set(names) <= set(MASKS) or "labels" not in names:
        refuse((Violation("updateMask", f"{describe(update_mask)} given; allowed: {allowed}"),))
    labels = patch.labels or {}
    refuse(tuple(check_labels(labels)))
    version = parse_etag(patch.etag or "") if "etag" in names else None
    return LabelsPatch(tuple(labels.items()), version)
