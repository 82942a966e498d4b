"""How every store of studies lists them: subclass this and give it the fixture ``studies``, an
empty store.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from footplate.domain.errors import (
    InvalidArgument,
)
from tests.support.study_records import SECOND, STUDIES, make_study

if TYPE_CHECKING:
    from footplate.ports.studies import StudyStore


class StudyPagingContract:
    """Lists, newest first, in pages that nothing shifts."""

    @pytest.mark.parametrize("limit", [1, 2, 3, 5, 6])
    def test_pages_hold_each_study_once_newest_first(self, studies: StudyStore, limit: int) -> None:
        ids = _create_five(studies)
        studies.create(make_study("x", location="us-east1"))
        found: list[list[str]] = []
        key: str | None = None
        while not found or key is not None:
            page = studies.list(STUDIES, limit=limit, after=key)
            found.append([study.name.study_id for study in page.items if study.name])
            key = page.next_key
        assert [study_id for page in found for study_id in page] == ids
        assert all(len(page) == limit for page in found[:-1])

    def test_studies_made_or_removed_meanwhile_dont_shift_pages(self, studies: StudyStore) -> None:
        ids = _create_five(studies)
        first = studies.list(STUDIES, limit=2, after=None)
        studies.create(make_study("new", created=SECOND))
        studies.delete(first.items[-1].uid)
        second = studies.list(STUDIES, limit=9, after=first.next_key)
        assert [study.name.study_id for study in second.items if study.name] == ids[2:]

    @pytest.mark.parametrize("key", ["", "x", "MTIz", "\0", "\ud800", "=", "AAAA"])
    def test_a_made_up_key_is_refused(self, studies: StudyStore, key: str) -> None:
        with pytest.raises(InvalidArgument, match="pageToken"):
            studies.list(STUDIES, limit=3, after=key)


def _create_five(studies: StudyStore) -> list[str]:
    """Some of the same microsecond; their ids, newest first."""
    for study_id, microseconds in ("a", 2), ("b", 0), ("c", 1), ("B", 1), ("d", 0):
        created = timedelta(microseconds=microseconds)
        studies.create(make_study(study_id, uid=study_id, created=created))
    return ["a", "c", "B", "d", "b"]
