"""What every store does with the reports of trials: subclass this and give it the fixtures of
``studies_contract``.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import pytest

from footplate.domain.errors import NotFound
from footplate.domain.studies.records import Report
from tests.support.concurrent_calls import together
from tests.support.jobs import CREATED
from tests.support.study_records import (
    HOSTILE,
    create,
    make_report,
    make_study,
    make_trial,
    make_whole_trial,
    next_version,
)

if TYPE_CHECKING:
    from footplate.ports.studies import StudyStore


class ReportContract:
    """Each key of a trial once, in the order of their arrival."""

    def test_reports_come_back_as_they_were(self, studies: StudyStore) -> None:
        study = create(studies, make_study(), make_trial(1))
        told = Report(HOSTILE, {HOSTILE: -math.inf, "": 1e300}, 2**40, math.inf, CREATED, HOSTILE)
        assert studies.report(study.uid, 1, [told, make_report("x" * 20_000)]) == 2
        assert [r.report for r in studies.reports(study.uid)] == [told, make_report("x" * 20_000)]
        assert studies.load(study.uid).study == study

    def test_a_key_is_taken_once_in_each_trial(self, studies: StudyStore) -> None:
        study = create(studies, make_study(), make_trial(1), make_trial(2))
        assert studies.report(study.uid, 1, [make_report("a", 1.0), make_report("a", 2.0)]) == 1
        assert studies.report(study.uid, 1, [make_report("b"), make_report("a", 3.0)]) == 1
        assert studies.report(study.uid, 1, []) == 0
        assert studies.report(study.uid, 2, [make_report("a", 4.0)]) == 1
        kept = [
            (r.number, r.report.key, r.report.values["loss"]) for r in studies.reports(study.uid)
        ]
        assert kept == [(1, "a", 1.0), (1, "b", 0.5), (2, "a", 4.0)]

    def test_positions_ascend_over_the_whole_study(self, studies: StudyStore) -> None:
        study = create(studies, make_study(), make_trial(1), make_trial(2))
        for index, number in enumerate((1, 2, 1, 2)):
            studies.report(study.uid, number, [make_report(f"{index}a"), make_report(f"{index}b")])
        all_of_it = studies.reports(study.uid)
        positions = [told.position for told in all_of_it]
        assert positions == sorted(set(positions))
        assert [told.number for told in all_of_it] == [1, 1, 2, 2, 1, 1, 2, 2]
        assert studies.reports(study.uid, 2) == tuple(t for t in all_of_it if t.number == 2)
        assert studies.reports(study.uid, after=positions[2]) == all_of_it[3:]
        assert studies.reports(study.uid, 1, after=positions[0], limit=2) == (
            all_of_it[1],
            all_of_it[4],
        )
        assert studies.reports(study.uid, after=positions[-1]) == ()

    @pytest.mark.parametrize("number", [-1, 0, 2, 2**40, 10**30])
    def test_a_trial_that_is_not_there_has_no_reports(
        self, studies: StudyStore, number: int
    ) -> None:
        study = create(studies, make_study(), make_trial(1))
        with pytest.raises(NotFound):
            studies.report(study.uid, number, [make_report("k")])
        assert studies.reports(study.uid, number) == ()
        assert studies.reports(study.uid, after=10**30) == ()
        assert studies.model(study.uid, number) is None

    def test_what_is_too_much_is_not_kept(self, frugal: StudyStore) -> None:
        study = create(frugal, make_study(), make_trial(1), make_trial(2))
        told = [make_report(str(number)) for number in range(9)]
        assert frugal.report(study.uid, 1, told[:3]) == 3
        assert frugal.report(study.uid, 1, told) == 2
        assert frugal.report(study.uid, 1, told[5:]) == 0
        assert frugal.report(study.uid, 2, told[:1]) == 1
        assert [r.report for r in frugal.reports(study.uid, 1)] == told[:5]

    def test_a_rewritten_trial_keeps_its_reports(self, frugal: StudyStore) -> None:
        study = create(frugal, make_study(), make_trial(1))
        frugal.report(study.uid, 1, [make_report(str(number)) for number in range(4)])
        frugal.write(next_version(study), [make_whole_trial(1)])
        assert frugal.report(study.uid, 1, [make_report("x"), make_report("y")]) == 1
        assert len(frugal.reports(study.uid)) == 5

    def test_thousands_of_reports_come_at_once(self, studies: StudyStore) -> None:
        study = create(studies, make_study(), make_trial(1))
        told = [make_report(str(number)) for number in range(2500)]
        assert studies.report(study.uid, 1, told[:1500]) == 1500
        assert studies.report(study.uid, 1, told) == 1000
        assert [r.report for r in studies.reports(study.uid)] == told

    def test_reports_that_come_at_once_are_all_kept(
        self, studies: StudyStore, elsewhere: StudyStore
    ) -> None:
        study = create(studies, make_study(), make_trial(1), make_trial(2))

        def tell(to: StudyStore, writer: int) -> None:
            for index in range(5):
                own, shared = make_report(f"{writer}/{index}"), make_report(f"shared{index}")
                to.report(study.uid, 1 + writer % 2, [own, shared])

        writers = enumerate((studies, studies, elsewhere, elsewhere))
        assert together([partial(tell, to, w) for w, to in writers]) == []
        positions = [told.position for told in studies.reports(study.uid)]
        assert positions == list(range(1, 31))
