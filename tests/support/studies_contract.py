"""What every store of studies does: subclass this and give it the fixtures.

``studies`` is an empty store, ``elsewhere`` another one on the same data, as another server has
it; ``frugal`` is an empty store that keeps at most five reports of a trial.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from footplate.domain.errors import (
    Aborted,
    AlreadyExists,
    InvalidArgument,
    NotFound,
)
from footplate.domain.names import StudyName, StudyUid
from footplate.domain.studies.metrics import Measurement
from footplate.domain.studies.records import (
    StudyRecord,
    StudyState,
)
from footplate.domain.studies.trials import TrialState
from tests.support.concurrent_calls import together
from tests.support.study_records import (
    HOSTILE,
    STUDIES,
    create,
    make_report,
    make_study,
    make_trial,
    make_whole_study,
    make_whole_trial,
    next_version,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.ports.studies import StudyStore


class StudyContract:
    """One transaction each, guarded by versions; nothing kept is ever changed or lost."""

    @pytest.mark.parametrize("study", [make_study(), make_whole_study()])
    def test_a_study_comes_back_as_it_was(self, studies: StudyStore, study: StudyRecord) -> None:
        assert study.name is not None
        studies.create(study)
        assert studies.load(study.uid) == studies.find(study.name)
        assert studies.load(study.uid).study == study
        assert studies.lookup(STUDIES, study.display_name) == study
        assert studies.list(STUDIES, limit=9, after=None).items == (study,)

    def test_a_study_of_a_tuning_job_is_in_no_list(self, studies: StudyStore) -> None:
        study = make_study(None, uid="job", display_name="same")
        studies.create(study)
        studies.create(make_study(None, uid="another job", display_name="same"))
        assert studies.load(study.uid).study == study
        for collection in (STUDIES, "", "None"):
            assert studies.list(collection, limit=9, after=None).items == ()
            with pytest.raises(NotFound):
                studies.lookup(collection, "same")

    @pytest.mark.parametrize(
        "other",
        [
            make_study("1", uid="other", display_name="other"),
            make_study("2", uid=make_study("1").uid),
            make_study(None, uid=make_study("1").uid),
            make_study("2", display_name="study 1"),
        ],
        ids=["name", "uid", "uid of a job", "display name"],
    )
    def test_what_is_taken_is_refused(self, studies: StudyStore, other: StudyRecord) -> None:
        first = make_study("1")
        studies.create(first)
        with pytest.raises(AlreadyExists):
            studies.create(other)
        assert studies.list(STUDIES, limit=9, after=None).items == (first,)
        assert studies.load(first.uid).study == first

    def test_a_display_name_is_free_in_other_places_and_after_deletion(
        self, studies: StudyStore
    ) -> None:
        long = "x" * 20_000
        first = make_study("1", display_name=long)
        for study in (
            first,
            make_study("1", location="us-east1", display_name=long),
            make_study("2", display_name=long.upper()),
            make_study(None, uid="job", display_name=long),
        ):
            studies.create(study)
        studies.delete(first.uid)
        again = make_study("3", display_name=long)
        studies.create(again)
        assert studies.lookup(STUDIES, long) == again

    @pytest.mark.parametrize("text", ["nobody", "nul\0", "half\ud800", "'; --"])
    def test_an_unknown_study_is_not_found(self, studies: StudyStore, text: str) -> None:
        uid = StudyUid(text)
        attempts: list[Callable[[], object]] = [
            lambda: studies.load(uid),
            lambda: studies.find(StudyName("demo", "us-central1", text)),
            lambda: studies.lookup(STUDIES, text),
            lambda: studies.lookup(text, text),
            lambda: studies.write(replace(make_study(), uid=uid)),
            lambda: studies.report(uid, 1, [make_report("k")]),
        ]
        for attempt in attempts:
            with pytest.raises(NotFound):
                attempt()
        assert studies.model(uid, 1) is None
        assert studies.reports(uid) == ()
        assert studies.list(text, limit=9, after=None).items == ()
        studies.delete(uid)

    @pytest.mark.parametrize("text", ["nul \0", "half \ud800"])
    def test_a_text_that_cannot_be_kept_is_refused(self, studies: StudyStore, text: str) -> None:
        good = make_study()
        studies.create(good)
        for field, study in {
            "displayName": make_study("2", display_name=text),
            "studySpec": replace(make_study("2"), request=text),
        }.items():
            with pytest.raises(InvalidArgument, match=field):
                studies.create(study)
            with pytest.raises(InvalidArgument, match=field):
                studies.write(replace(study, uid=good.uid, name=good.name, version=2))
        assert studies.list(STUDIES, limit=9, after=None).items == (good,)

    def test_a_write_keeps_study_trials_and_models(self, studies: StudyStore) -> None:
        study = replace(make_whole_study(), version=1)
        studies.create(study)
        one, three = make_trial(1), make_whole_trial(3)
        model = {"scales": [1.5, None], HOSTILE: {"x": True}}
        studies.write(second := next_version(study), [three, one], {0: {}, 12: model})
        assert studies.load(study.uid).trials == (one, three)
        assert studies.load(study.uid).study == second

        ended = replace(one, state=TrialState.SUCCEEDED, ended_as=1)
        third = replace(
            next_version(second), state=StudyState.COMPLETED, why_inactive="", earlier=()
        )
        studies.write(third, [ended, make_trial(2)], {12: {"again": 1}})
        kept = studies.load(study.uid)
        assert kept.trials == (ended, make_trial(2), three)
        assert kept.study == replace(third, earlier=study.earlier)
        assert studies.model(study.uid, 0) == {}
        assert studies.model(study.uid, 12) == {"again": 1}
        assert studies.model(study.uid, 1) is None

    def test_what_was_measured_may_be_no_number(self, studies: StudyStore) -> None:
        measured = Measurement({"loss": math.nan})
        study = create(studies, make_study(), replace(make_trial(), final=measured))
        studies.report(study.uid, 1, [make_report("k", math.nan)])
        (trial,) = studies.load(study.uid).trials
        (told,) = studies.reports(study.uid)
        assert trial.final is not None
        assert math.isnan(trial.final.values["loss"])
        assert math.isnan(told.report.values["loss"])

    def test_a_point_of_no_number_is_refused_whole(self, studies: StudyStore) -> None:
        study = create(studies, make_study())
        bad = replace(make_trial(2), point={"lr": math.nan})
        with pytest.raises(InvalidArgument, match="lr"):
            studies.write(next_version(study), [make_trial(1), bad])
        assert studies.load(study.uid).study == study
        assert studies.load(study.uid).trials == ()

    @pytest.mark.parametrize("version", [0, 1, 2, 4, 5])
    def test_a_write_from_another_version_changes_nothing(
        self, studies: StudyStore, version: int
    ) -> None:
        study = create(studies, make_study(), make_trial(1))
        studies.report(study.uid, 1, [make_report("k")])
        stale = replace(study, version=version, why_inactive="lost")
        with pytest.raises(Aborted):
            studies.write(stale, [make_trial(2)], {1: {"lost": 1}}, dropped=[1])
        kept = studies.load(study.uid)
        assert (kept.study, kept.trials) == (study, (make_trial(1),))
        assert studies.model(study.uid, 1) is None
        assert len(studies.reports(study.uid)) == 1

    def test_a_dropped_trial_is_gone_with_its_reports(self, studies: StudyStore) -> None:
        study = create(studies, make_study(), make_trial(1), make_trial(2))
        for number in (1, 2):
            studies.report(study.uid, number, [make_report("k")])
        studies.write(next_version(study), [make_trial(4)], dropped=[2, 4, 99])
        assert studies.load(study.uid).trials == (make_trial(1),)
        assert [(r.position, r.number) for r in studies.reports(study.uid)] == [(1, 1)]
        with pytest.raises(NotFound):
            studies.report(study.uid, 2, [make_report("k")])
        studies.report(study.uid, 1, [make_report("l")])
        assert [(r.position, r.number) for r in studies.reports(study.uid)] == [(1, 1), (3, 1)]

    def test_a_deleted_study_is_gone_with_all_of_it(self, studies: StudyStore) -> None:
        study = create(studies, make_whole_study(), make_trial(1))
        studies.write(next_version(study), models={1: {}})
        studies.report(study.uid, 1, [make_report("k")])
        studies.delete(study.uid)
        with pytest.raises(NotFound):
            studies.load(study.uid)
        assert studies.reports(study.uid) == ()
        studies.create(make_study("2", uid=study.uid))
        again = studies.load(study.uid)
        assert (again.study.earlier, again.trials) == ((), ())
        assert studies.model(study.uid, 1) is None

    def test_no_write_is_lost(self, studies: StudyStore, elsewhere: StudyStore) -> None:
        study = make_study()
        studies.create(study)

        def add(to: StudyStore) -> None:
            written = 0
            while written < 5:
                kept = to.load(study.uid)
                assert len(kept.trials) == kept.study.version - 1
                trial = make_trial(kept.study.version)
                try:
                    to.write(next_version(kept.study), [trial])
                except Aborted:
                    continue
                written += 1

        assert together([partial(add, to) for to in (studies, elsewhere) * 2]) == []
        kept = studies.load(study.uid)
        assert [trial.number for trial in kept.trials] == list(range(1, 21))
        assert kept.study.version == 21

    def test_each_sees_what_the_other_changed(
        self, studies: StudyStore, elsewhere: StudyStore
    ) -> None:
        study = create(studies, make_study(), make_trial(1), make_trial(2))
        for number, to in enumerate((studies, elsewhere, elsewhere, studies, elsewhere), 3):
            study, changed = next_version(study), make_whole_trial(number - 1)
            to.write(study, [changed, make_trial(number)], dropped=[number - 2])
            for store in (studies, elsewhere):
                kept = store.load(study.uid)
                assert (kept.study, kept.trials) == (study, (changed, make_trial(number)))

    @pytest.mark.parametrize("same", ["name", "display name"])
    def test_of_many_creators_one_succeeds(
        self, studies: StudyStore, elsewhere: StudyStore, same: str
    ) -> None:
        def study(number: int) -> StudyRecord:
            uid = f"uid{number}"
            if same == "name":
                return make_study("1", uid=uid, display_name=uid)
            return make_study(f"{number}", uid=uid, display_name="same")

        stores = enumerate((studies, elsewhere) * 3)
        errors = together([partial(to.create, study(n)) for n, to in stores])
        assert [type(error) for error in errors] == [AlreadyExists] * 5
        assert len(studies.list(STUDIES, limit=9, after=None).items) == 1
