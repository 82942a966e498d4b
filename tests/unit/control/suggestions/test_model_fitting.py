"""Models of studies: the same whoever makes them and when, and nobody waits for those of others."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from footplate.control.suggestions import Suggester, tuner_functions, tuner_loader
from footplate.control.suggestions.model_fitting import Models
from footplate.domain.errors import Unavailable
from footplate.domain.names import StudyUid
from footplate.domain.studies.study import Study
from footplate.domain.studies.trials import TrialState
from footplate.ports.studies import StudyWithTrials
from footplate.tuning.bayesian.model import Model
from tests.support.clock import FakeClock
from tests.support.searches import make_search
from tests.support.tuning_rig import SearchRig

TRIALS = 9


@pytest.fixture
def rig() -> SearchRig:
    """Of a search of which all trials have ended, one after the other."""
    rig = SearchRig()
    rig.submit(make_search(trials=TRIALS, parallel=1))
    rig.settle()
    for number in range(1, TRIALS + 1):
        rig.finish(number, value=1.0 / number)
    return rig


def study(rig: SearchRig) -> StudyWithTrials:
    return rig.store.studies.load(StudyUid(rig.job.uid))


class SubmissionChecks:
    """``refit`` that waits for ``open`` once it has begun."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.open = threading.Event(), threading.Event()
        self.fitted: list[int] = []
        self._refit = tuner_functions.Tuner.refit
        monkeypatch.setattr(tuner_functions.Tuner, "refit", staticmethod(self._wait))

    def _wait(self, study: Study, model: Model | None) -> Model | None:
        self.begun.set()
        assert self.open.wait(60)
        self.fitted.append(len(study.trials))
        return self._refit(study, model)


def test_trials_are_suggested_again_in_any_order(rig: SearchRig) -> None:
    """Also those whose models are older than the ones that are kept in memory."""
    models = Models(rig.store.studies)
    suggester = Suggester(rig.store.studies, models, FakeClock())

    for number in (TRIALS, 1, TRIALS - 1, 3, TRIALS, 2):
        assert suggester.replay(StudyUid(rig.job.uid), number) == rig.trial(number).point


def test_who_wants_a_model_that_is_there_waits_for_no_other(
    rig: SearchRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    models, kept = Models(rig.store.studies), study(rig)
    known = models.at(kept, TRIALS - 1)
    submission_checks = SubmissionChecks(monkeypatch)
    models.prepare(kept)
    assert submission_checks.begun.wait(60)

    assert models.at(kept, TRIALS - 1) is known

    submission_checks.open.set()
    models.close()
    assert submission_checks.fitted == [TRIALS]


def test_of_a_study_that_comes_often_the_last_one_counts(
    rig: SearchRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    studies = rig.store.studies
    models, kept = Models(studies), study(rig)
    asked: list[int] = []
    whole = studies.model

    def ask(uid: StudyUid, finished: int) -> Mapping[str, object] | None:
        asked.append(finished)
        return whole(uid, finished)

    submission_checks = SubmissionChecks(monkeypatch)
    busy = replace(kept.study, uid=StudyUid("busy"), ended=1)
    models.prepare(replace(kept, study=busy))
    assert submission_checks.begun.wait(60)
    monkeypatch.setattr(studies, "model", ask)
    for ended in range(1, TRIALS + 1):
        models.prepare(replace(kept, study=replace(kept.study, ended=ended)))

    submission_checks.open.set()
    models._worker.submit(lambda: None).result(60)
    models.close()
    assert asked == [TRIALS, TRIALS - 1]


def test_the_end_waits_for_one_fit_and_not_for_a_chain_of_them(
    rig: SearchRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = study(rig)
    models = Models(SearchRig().store.studies)  # which has stored no model
    submission_checks = SubmissionChecks(monkeypatch)
    with ThreadPoolExecutor() as others:
        asked = others.submit(models.at, kept, TRIALS)
        assert submission_checks.begun.wait(60)
        models.close()
        submission_checks.open.set()
        with pytest.raises(Unavailable, match="shutting down"):
            asked.result(60)
    assert len(submission_checks.fitted) == 1


def test_of_many_trials_that_ended_at_once_one_model_is_made(
    rig: SearchRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = study(rig)
    many = tuple(
        replace(kept.trials[number % TRIALS], number=number, ended_as=number)
        for number in range(1, 301)
    )
    models = Models(SearchRig().store.studies)  # which has stored no model
    submission_checks = SubmissionChecks(monkeypatch)
    submission_checks.open.set()

    model = models.at(replace(kept, trials=many), 291)

    assert model is not None
    assert model.seen == 291
    assert submission_checks.fitted == [0, 291]
    models.close()


def test_the_thread_outlives_what_goes_wrong_and_says_so(
    rig: SearchRig, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    models, kept = Models(rig.store.studies), study(rig)
    whole = tuner_functions.Tuner.refit
    done = threading.Event()

    def fail(study: Study, model: Model | None) -> Model | None:
        raise MemoryError("not enough")

    def work(study: Study, model: Model | None) -> Model | None:
        done.set()
        return whole(study, model)

    monkeypatch.setattr(tuner_functions.Tuner, "refit", staticmethod(fail))
    models.prepare(kept)
    models._worker.submit(lambda: None).result(60)
    assert f"the trials of study {rig.job.uid} now" in caplog.text

    monkeypatch.setattr(tuner_functions.Tuner, "refit", staticmethod(work))
    models.prepare(kept)
    assert done.wait(60)
    models.close()


def test_a_suggestion_needs_no_thread(rig: SearchRig, monkeypatch: pytest.MonkeyPatch) -> None:
    models, kept = Models(rig.store.studies), study(rig)
    models.close()
    models.prepare(kept)

    stored = Models(rig.store.studies)
    suggested = Suggester(rig.store.studies, stored, FakeClock()).suggest(
        StudyUid(rig.job.uid), 1, at=TrialState.REQUESTED
    )
    assert [trial.number for trial in suggested.trials] == [TRIALS + 1]


def test_the_server_has_no_arithmetic_before_it_tunes() -> None:
    code = (
        "import sys, footplate.server.service, footplate.cli.main\n"
        "print(*{'numpy', 'scipy', 'footplate.tuning'} & set(sys.modules))"
    )
    command = (sys.executable, "-c", code)
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.split() == []


def test_loading_it_twice_at_once_leaves_the_environment_as_it_was() -> None:
    """Programs get what the server has; the number of threads is for the tuner alone."""
    code = (
        "import importlib, os, threading\n"
        "from footplate.control.suggestions import tuner_loader as engine\n"
        "both = threading.Barrier(2)\n"
        "whole = importlib.import_module\n"
        "def slow(name):\n"
        "    try:\n"
        "        both.wait(2)\n"
        "    except threading.BrokenBarrierError:\n"
        "        pass\n"
        "    return whole(name)\n"
        "importlib.import_module = slow\n"
        "threads = [threading.Thread(target=engine.load) for _ in range(2)]\n"
        "[thread.start() for thread in threads]\n"
        "[thread.join() for thread in threads]\n"
        "print(os.environ.get('OPENBLAS_NUM_THREADS'))"
    )
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
    command = (sys.executable, "-c", code)
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    assert done.stdout.strip() == "None"
    assert tuner_loader.load() is tuner_loader.load()
