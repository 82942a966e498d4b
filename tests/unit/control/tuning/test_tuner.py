"""How tuning jobs are brought forward, with runs that do what a test says."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from footplate.control.tuning.tuner import MAX_RETRY_S, RETRY_S
from footplate.domain.errors import DataLoss
from footplate.domain.job_states import State
from footplate.domain.jobs import JobEvent
from footplate.domain.names import StudyUid, TrainingJobName, run_uid
from footplate.domain.studies.parameters import CategoricalParameter
from footplate.domain.studies.records import StudyState
from footplate.domain.studies.space import SearchSpace
from footplate.domain.studies.stopping import MedianSpec
from footplate.domain.studies.study import Algorithm
from footplate.domain.studies.trials import TrialState
from footplate.domain.tuning.progress import MOST_AT_ONCE
from footplate.domain.tuning.search import Search, TrialCounts
from footplate.ports.studies import StudyWithTrials
from tests.support.jobs import make_spec
from tests.support.searches import make_search
from tests.support.tuning_rig import SearchRig

RANDOM = make_search(trials=4, parallel=2, algorithm=Algorithm.RANDOM)
OUT = "gs://demo-bucket/out"
GRID = SearchSpace((CategoricalParameter("optimizer", ("adam", "sgd")),))


@pytest.fixture
def rig() -> SearchRig:
    return SearchRig()


def begun(rig: SearchRig, search: Search = RANDOM) -> SearchRig:
    rig.submit(search)
    rig.settle()
    return rig


def test_as_many_trials_begin_as_may_run_at_once(rig: SearchRig) -> None:
    begun(rig)

    assert [trial.number for trial in rig.trials()] == [1, 2]
    assert {number: run.state for number, run in rig.runs().items()} == {
        1: State.QUEUED,
        2: State.QUEUED,
    }
    assert rig.state_now() is State.QUEUED


def test_jobs_are_looked_at_as_soon_as_a_run_is_made_or_cancelled(rig: SearchRig) -> None:
    begun(rig)
    assert rig.woken == 2

    rig.begin(1)
    rig.cancel()
    rig.settle()
    assert rig.woken == 4


def test_a_run_is_a_job_of_its_own_with_the_trials_arguments(rig: SearchRig) -> None:
    begun(rig)

    run, trial = rig.runs()[2], rig.trial(2)

    assert run.name == TrainingJobName("demo", "search-2")
    assert run.spec.trial == "2"
    request = json.loads(run.request)
    assert request["jobId"] == "search-2"
    assert request["trainingInput"]["args"][0] == "-v"
    assert f"--units={trial.point['units']}" in request["trainingInput"]["args"]


def test_the_job_prepares_while_its_trials_do(rig: SearchRig) -> None:
    begun(rig)
    rig.prepare(1)
    rig.settle()
    assert rig.state_now() is State.PREPARING


def test_the_job_runs_while_its_trials_do_and_ends_with_the_last_one(rig: SearchRig) -> None:
    begun(rig)
    rig.begin(1)
    rig.settle()
    assert rig.state_now() is State.RUNNING
    assert rig.trial(1).state is TrialState.ACTIVE

    for number in (1, 2, 3, 4):
        rig.finish(number, 1.0 / number)

    assert rig.state_now() is State.SUCCEEDED
    assert [trial.final and trial.final.values["rmse"] for trial in rig.trials()] == [
        1.0,
        0.5,
        1.0 / 3,
        0.25,
    ]
    assert rig.study.state is StudyState.COMPLETED
    assert rig.study.ended == 4


def test_ends_are_numbered_in_their_order(rig: SearchRig) -> None:
    begun(rig)
    rig.finish(2, 0.5)
    rig.finish(1, 0.7)

    assert (rig.trial(2).ended_as, rig.trial(1).ended_as) == (1, 2)


def test_a_new_trial_takes_the_place_of_one_that_ended(rig: SearchRig) -> None:
    begun(rig)
    rig.finish(2, 0.5)

    assert sorted(rig.runs()) == [1, 3]


def test_each_trial_is_told_of_once(rig: SearchRig) -> None:
    begun(rig, make_search(trials=2, algorithm=Algorithm.RANDOM, parallel=2))
    for number in (1, 2):
        rig.finish(number, 0.5)
    rig.be_reborn()
    rig.settle()

    assert len(rig.told("TRIAL")) == 2
    assert rig.told("TRIAL_ENDED") == [f"trial {number}: rmse = 0.5 at step 1" for number in (1, 2)]


def test_a_job_whose_first_trial_fails_fails_and_ends_the_others(rig: SearchRig) -> None:
    begun(rig)
    rig.begin(1)
    rig.begin(2)
    rig.end(1, State.FAILED, "it exited with 1: ImportError: no module named x")
    rig.settle()

    assert rig.ending is not None
    assert "ImportError" in rig.ending.message
    assert rig.state_now() is State.RUNNING, "its second trial still runs"
    assert rig.runs()[2].ending is not None, "it was asked to end"

    stopped = rig.runs()[2].ending
    assert stopped is not None
    assert stopped.message == "stopped because trial 1 failed"
    rig.end(2, State.CANCELLED, stopped.message)
    rig.settle()

    assert rig.state_now() is State.FAILED
    assert rig.trial(2).verdict is State.CANCELLED
    assert rig.told("TRIAL_CANCELLED") == ["trial 2: stopped because trial 1 failed"]


def test_a_trial_without_its_metric_fails_with_what_it_did_report_and_a_hint(
    rig: SearchRig,
) -> None:
    begun(rig)
    for number in (1, 2):
        rig.begin(number)
        tags = JobEvent(rig.clock.now(), "METRIC_TAGS", '["loss", "val loss"]')
        rig.store.append(run_uid(rig.job.uid, number), (tags,))
        rig.end(number)
    rig.settle()

    reason = "the program never reported metric rmse; tags seen: loss, val loss"
    assert rig.trial(1).infeasible_reason == reason
    assert rig.state_now() is State.RUNNING
    assert len(rig.told("HINT")) == 1
    assert "hyperparameterMetricTag" in rig.told("HINT")[0]


def test_a_trial_whose_metric_is_older_than_its_model_says_so(rig: SearchRig) -> None:
    """Where its evaluator was seen behind, and did not evaluate the last checkpoint after that."""
    spec = make_spec(workers=1, evaluators=1)
    begun(rig)
    for number, step in ((1, 500), (2, 2000)):
        rig.begin(number)
        run = rig.runs()[number]
        rig.store.update(replace(run, spec=spec, version=run.version + 1), ())
        said = "the checkpoint of step 2000 has not been evaluated, none was; it is waited for"
        rig.store.append(run.uid, (JobEvent(rig.clock.now(), "EVALUATOR_BEHIND", said),))
        rig.report(number, 0.5, step)
        rig.end(number)
    rig.settle()

    [told] = [text for text in rig.told("WARNING") if "its model" in text]
    assert told.startswith(
        "trial 1 reported its metric at step 500, but its model is of step 2000: "
    )


def test_a_trial_whose_event_file_stayed_empty_says_so(rig: SearchRig) -> None:
    begun(rig)
    rig.begin(1)
    said = "the event file x in logs holds no summary: the writer was never flushed"
    notes = [JobEvent(rig.clock.now(), "METRICS", said, replica=name) for name in ("a", "b")]
    rig.store.append(run_uid(rig.job.uid, 1), notes)
    rig.end(1)
    rig.settle()

    reason = f"the program never reported metric rmse; tags seen: none; {said}"
    assert rig.trial(1).infeasible_reason == reason


def test_a_job_in_which_nobody_reported_fails(rig: SearchRig) -> None:
    begun(rig, make_search(trials=1, algorithm=Algorithm.RANDOM, parallel=2))
    rig.begin(1)
    rig.end(1)
    rig.settle()

    assert rig.state_now() is State.FAILED
    assert rig.ending is not None
    assert "none of 1 trial reported the metric rmse" in rig.ending.message


def test_five_trials_in_which_nothing_was_measured_end_the_job(rig: SearchRig) -> None:
    begun(rig, make_search(trials=40, algorithm=Algorithm.RANDOM, parallel=1))
    for number in range(1, 6):
        rig.begin(number)
        rig.end(number)
        rig.settle()

    assert rig.state_now() is State.FAILED
    assert rig.ending is not None
    assert rig.ending.message.startswith("none of 5 trials reported the metric rmse. Tags seen: ")
    assert len(rig.trials()) == 5


def test_a_measurement_of_a_trial_that_failed_keeps_the_search_going(rig: SearchRig) -> None:
    begun(rig, make_search(trials=7, algorithm=Algorithm.RANDOM, parallel=1))
    for number in range(1, 7):
        rig.begin(number)
        if number == 2:
            rig.report(number, 0.5)
        rig.end(number, State.FAILED if number == 2 else State.SUCCEEDED)
        rig.settle()
    assert rig.ending is None
    assert sorted(rig.runs()) == [7]


def test_a_search_whose_trials_all_reach_their_limit_says_so(rig: SearchRig) -> None:
    begun(rig, make_search(trials=2, algorithm=Algorithm.RANDOM, parallel=2))
    for number in (1, 2):
        rig.begin(number)
        rig.report(number, 0.5)
        rig.end(number, State.CANCELLED, "the job was cancelled at the limit of its running time")
    rig.settle()

    assert rig.state_now() is State.FAILED
    assert rig.ending is not None
    assert rig.ending.message == (
        "2 of 2 trials reported rmse, but no trial has a result; the last: trial 2: the job "
        "was cancelled at the limit of its running time"
    )


def test_a_search_that_resumes_says_how_many_trials_inform_it(rig: SearchRig) -> None:
    begun(rig)
    for number in (1, 2, 3, 4):
        rig.finish(number, 1.0 / number)
    resumes = replace(RANDOM, resumes=str(rig.job.name))
    rig.submit(resumes, "projects/demo/jobs/more")
    rig.settle()
    rig.be_reborn()
    rig.settle()

    (said,) = rig.told("EARLIER_TRIALS")
    assert said.startswith("goes on from search: 4 earlier trials inform this search")
    assert said.endswith(
        "the best is trial 4 of search, rmse = 0.25; the trials of this search are numbered from "
        "5 on"
    )


def test_the_job_started_when_its_first_trial_did(rig: SearchRig) -> None:
    begun(rig)
    rig.begin(2)
    rig.clock.advance(30)
    rig.settle()

    job = rig.store.get_by_uid(rig.job.uid)
    assert job.start_time is not None
    assert job.start_time == rig.trial(2).start_time


def test_a_cancelled_job_cancels_its_runs_and_waits_for_them(rig: SearchRig) -> None:
    begun(rig)
    rig.begin(1)
    rig.settle()
    rig.cancel()
    rig.settle()

    assert rig.state_now() is State.CANCELLING
    assert sorted(rig.runs()) == [1], "the other one hadn't begun"
    assert rig.runs()[1].ending is not None

    rig.end(1, State.CANCELLED)
    rig.settle()

    assert rig.state_now() is State.CANCELLED
    assert len(rig.trials()) == 2


def test_one_that_is_cancelled_before_anybody_looked_begins_nothing(rig: SearchRig) -> None:
    rig.submit(RANDOM)
    rig.cancel()
    rig.settle()

    assert rig.state_now() is State.CANCELLED
    assert rig.trials() == ()


def test_a_space_with_fewer_points_than_trials_is_tried_whole(rig: SearchRig) -> None:
    begun(rig, make_search(trials=9, parallel=5, algorithm=Algorithm.GRID, space=GRID))
    assert sorted(rig.runs()) == [1, 2]
    assert rig.study.state is StudyState.INACTIVE

    for number in (1, 2):
        rig.finish(number, 0.5)

    assert rig.state_now() is State.SUCCEEDED
    assert [trial.point["optimizer"] for trial in rig.trials()] == ["adam", "sgd"]


def test_a_trial_that_is_clearly_worse_is_stopped_with_its_reason(rig: SearchRig) -> None:
    begun(rig, make_search(trials=7, parallel=1, stopping=MedianSpec(), algorithm=Algorithm.RANDOM))
    for number in range(1, 7):
        rig.begin(number)
        rig.settle()
        for step in (1, 2, 3):
            rig.report(number, 0.1 * step, step)
        rig.end(number)
        rig.settle()
    rig.begin(7)
    rig.settle()
    rig.report(7, 9.0, 1)
    rig.report(7, 9.0, 2)
    rig.settle()

    trial = rig.trial(7)
    assert trial.state is TrialState.STOPPING
    assert "median" in trial.stop_reason
    assert rig.runs()[7].ending is not None, "its run was asked to end"
    assert rig.told("TRIAL_STOPPED") == [f"trial 7 stops early: {trial.stop_reason}"]

    rig.end(7, State.CANCELLED)
    rig.settle()

    assert rig.trial(7).verdict is State.SUCCEEDED
    assert rig.trial(7).stopped_early
    assert rig.trial(7).final is not None
    assert rig.state_now() is State.SUCCEEDED


def test_a_bayesian_search_says_why_and_suggests_the_same_again(rig: SearchRig) -> None:
    begun(rig, make_search(trials=14, parallel=2, algorithm=Algorithm.BAYESIAN))
    for number in range(1, 15):
        rig.finish(number, 1.0 / number)

    late = rig.trial(14)
    assert late.suggestion is not None
    assert late.suggestion.sentence
    assert late.suggestion.reason in ("explore", "exploit")
    assert late.suggestion.predictions
    rig.be_reborn()
    uid = StudyUid(rig.job.uid)
    for trial in rig.trials():
        assert rig.parts.suggester.replay(uid, trial.number) == trial.point


def test_two_services_with_the_same_ends_suggest_the_same(rig: SearchRig) -> None:
    other = SearchRig()
    for each in (rig, other):
        begun(each, make_search(trials=30, parallel=3))
    for number in range(1, 31):
        rig.finish(number, 1.0 / number)
        other.be_reborn()
        other.finish(number, 1.0 / number)

    assert [trial.point for trial in other.trials()] == [trial.point for trial in rig.trials()]


def test_a_job_goes_on_from_an_earlier_one_and_tries_nothing_again(rig: SearchRig) -> None:
    search = make_search(trials=1, parallel=1, algorithm=Algorithm.GRID, space=GRID)
    begun(rig, search)
    rig.finish(1, 0.5)
    assert rig.state_now() is State.SUCCEEDED

    search = replace(search, resumes="projects/demo/jobs/search")
    rig.submit(search, "projects/demo/jobs/again")
    rig.settle()

    assert [trial.point["optimizer"] for trial in rig.trials()] == ["sgd"]
    assert len(rig.study.earlier) == 1


def went_on(rig: SearchRig, resumes: str, job: str, trials: int = 2) -> list[int]:
    """The numbers of the trials of ``job``, all of which have ended."""
    search = replace(make_search(trials=trials, algorithm=Algorithm.RANDOM), resumes=resumes)
    rig.submit(search, f"projects/demo/jobs/{job}", OUT)
    rig.settle()
    while runs := rig.runs():
        rig.finish(min(runs), 0.5)
    return [trial.number for trial in rig.trials()]


def test_trials_are_numbered_on_over_several_resumes_in_a_row(rig: SearchRig) -> None:
    assert went_on(rig, "", "first", trials=3) == [1, 2, 3]
    assert went_on(rig, "projects/demo/jobs/first", "second") == [4, 5]
    assert went_on(rig, "projects/demo/jobs/second", "third", trials=3) == [6, 7, 8]

    run = rig.store.get_by_uid(run_uid(rig.job.uid, 7))
    assert run.name == TrainingJobName("demo", "third-7")
    assert run.spec.trial == "7"
    assert run.spec.job_dir == f"{OUT}/7"


def test_a_trial_that_never_began_keeps_its_number(rig: SearchRig) -> None:
    begun(rig)
    rig.cancel()
    rig.settle()
    for number in rig.runs():
        rig.end(number, State.CANCELLED)
    rig.settle()

    assert went_on(rig, str(rig.job.name), "more") == [3, 4]


def test_two_that_resume_the_same_job_in_its_directory_share_no_number(rig: SearchRig) -> None:
    went_on(rig, "", "first", trials=3)
    assert went_on(rig, "projects/demo/jobs/first", "left") == [4, 5]
    assert went_on(rig, "projects/demo/jobs/first", "right") == [6, 7]


def test_numbers_that_a_running_search_may_still_use_are_left_to_it(rig: SearchRig) -> None:
    went_on(rig, "", "first", trials=3)
    resumes = replace(RANDOM, resumes="projects/demo/jobs/first")
    rig.submit(resumes, "projects/demo/jobs/left", OUT)  # it may make the trials 4 to 7
    rig.submit(resumes, "projects/demo/jobs/right", f"{OUT}/")
    rig.settle()

    assert [trial.number for trial in rig.trials()] == [8, 9]


def test_a_search_that_learns_goes_on_with_the_numbers_only_in_the_same_directory(
    rig: SearchRig,
) -> None:
    went_on(rig, "", "first", trials=3)
    learns = replace(RANDOM, learns_from="projects/demo/jobs/first")
    rig.submit(learns, "projects/demo/jobs/there", OUT)
    rig.settle()
    assert [trial.number for trial in rig.trials()] == [4, 5]

    rig.submit(learns, "projects/demo/jobs/elsewhere", "gs://demo-bucket/new")
    rig.settle()
    assert [trial.number for trial in rig.trials()] == [1, 2]


def test_the_first_trial_of_a_search_that_resumes_ends_it_with_its_failure(rig: SearchRig) -> None:
    went_on(rig, "", "first", trials=3)
    rig.submit(replace(RANDOM, resumes="projects/demo/jobs/first"), "projects/demo/jobs/more")
    rig.settle()
    rig.begin(4)
    rig.end(4, State.FAILED, "no such file")
    rig.settle()

    assert rig.ending is not None
    assert rig.ending.message.startswith("trial 4 failed: no such file. A search without a limit")


def test_deleting_what_it_learned_from_takes_nothing_away(rig: SearchRig) -> None:
    begun(rig, make_search(trials=1, algorithm=Algorithm.RANDOM, parallel=2))
    rig.finish(1, 0.5)
    search = replace(RANDOM, learns_from="projects/demo/jobs/search")
    rig.submit(search, "projects/demo/jobs/again")
    rig.settle()
    rig.store.studies.delete(StudyUid("search"))

    assert rig.study.earlier[0].trials[0].final is not None


def test_a_job_that_was_deleted_is_forgotten(rig: SearchRig) -> None:
    begun(rig, make_search(trials=1, algorithm=Algorithm.RANDOM, parallel=2))
    rig.finish(1, 0.5)
    job = rig.store.get_by_uid(rig.job.uid)
    rig.store.delete(job.name, job.version)
    rig.tuner.changed(job.uid)

    assert rig.step()


def test_an_unreadable_job_holds_up_no_other(
    rig: SearchRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.submit(RANDOM, "projects/demo/jobs/first")
    rig.submit(RANDOM, "projects/demo/jobs/second")
    load = rig.store.studies.load

    def failing(uid: StudyUid) -> StudyWithTrials:
        if uid == "first":
            raise DataLoss("the record of the study can't be read")
        return load(uid)

    monkeypatch.setattr(rig.store.studies, "load", failing)

    assert rig.tuner.step() is not None, "it is tried again"
    rig.step()

    assert len(rig.trials()) == 2


def test_however_many_a_job_wants_at_once_some_begin_at_a_time_and_no_more_than_are_allowed(
    rig: SearchRig,
) -> None:
    rig.submit(make_search(trials=2**31 - 1, parallel=10_000, algorithm=Algorithm.RANDOM))

    rig.step()
    first = len(rig.trials())
    assert 0 < first < MOST_AT_ONCE, "other jobs have their turn"
    rig.settle()
    assert len(rig.trials()) == len(rig.runs()) == MOST_AT_ONCE


def test_a_job_that_fails_again_and_again_is_tried_less_often_and_logged_no_more(
    rig: SearchRig, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    rig.submit(RANDOM)
    load = rig.store.studies.load

    def failing(uid: StudyUid) -> StudyWithTrials:
        raise DataLoss(f"the record of {uid} can't be read")

    monkeypatch.setattr(rig.store.studies, "load", failing)
    rests = [rig.tuner.step() for _ in range(40)]
    assert rests == sorted(rests, key=lambda rest: rest or 0)
    assert rests[0] == RETRY_S
    assert rests[-1] == MAX_RETRY_S
    assert 0 < len(caplog.records) < 10

    monkeypatch.setattr(rig.store.studies, "load", load)
    assert rig.tuner.step() is None
    assert len(rig.trials()) == 2


def test_a_trial_that_ends_with_its_job_is_not_told_as_a_failure(rig: SearchRig) -> None:
    begun(rig)
    rig.begin(1)
    rig.cancel()
    rig.settle()
    why = "stopped because the tuning job was cancelled by request"
    rig.end(1, State.CANCELLED, why)
    rig.settle()

    assert sorted(rig.told("TRIAL_CANCELLED")) == [f"trial {n}: {why}" for n in (1, 2)]
    assert rig.told("TRIAL_FAILED") == []


def test_an_event_of_a_trial_has_an_end_however_much_there_is_to_tell(rig: SearchRig) -> None:
    wide = tuple(CategoricalParameter(f"c{number}", ("v" * 10_000,)) for number in range(300))
    search = make_search(trials=1, space=SearchSpace(wide), algorithm=Algorithm.RANDOM)
    rig.submit(replace(search, counts=TrialCounts(1, 1)))
    rig.settle()

    (told,) = rig.told("TRIAL")
    assert len(told) < 10_000
    assert "and 250 more" in told


ON_VERTEX = "projects/demo/locations/us-central1/hyperparameterTuningJobs/9"


@pytest.mark.parametrize(
    ("name", "sources", "told"),
    [
        (ON_VERTEX, ["logs", "logs"], 1),
        (ON_VERTEX, ["logs", "hypertune"], 1),
        (ON_VERTEX, ["hypertune", "hypertune"], 0),
        ("projects/demo/jobs/search", ["logs", "logs"], 0),
    ],
)
def test_it_is_told_once_where_google_would_see_no_metric(
    rig: SearchRig, name: str, sources: list[str], told: int
) -> None:
    """Event files are read there for programs on a runtime version only."""
    rig.submit(make_search(trials=2, parallel=1, algorithm=Algorithm.RANDOM), name)
    rig.settle()
    for number, source in enumerate(sources, 1):
        rig.begin(number)
        rig.report(number, 0.5, source=source)
        rig.end(number)
        rig.settle()

    warnings = [text for text in rig.told("WARNING") if "it sees no metric" in text]
    assert len(warnings) == told
