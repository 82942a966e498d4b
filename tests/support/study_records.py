"""Studies, trials and reports as tests make them."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from footplate.domain.job_states import State
from footplate.domain.names import StudyName, StudyUid
from footplate.domain.studies.metrics import Goal, Measurement, Metric, Selection
from footplate.domain.studies.parameters import (
    Branch,
    CategoricalParameter,
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
    Scale,
)
from footplate.domain.studies.records import (
    PredictionRecord,
    Report,
    StudyRecord,
    StudyState,
    SuggestionRecord,
    TrialRecord,
)
from footplate.domain.studies.space import SearchSpace
from footplate.domain.studies.stopping import ConvexSpec
from footplate.domain.studies.study import Algorithm, Noise, Study, StudyConfig, StudyLimits
from footplate.domain.studies.trials import Trial, TrialState
from tests.support.jobs import CREATED

if TYPE_CHECKING:
    from footplate.ports.studies import StudyStore

STUDIES = "projects/demo/locations/us-central1/studies"
HOSTILE = "NUL \0, half a pair \ud800, a quote ' and %_\\ \n\t \u202e 🚂"
SECOND = timedelta(seconds=1)
SPACE = SearchSpace(
    (
        DoubleParameter("lr", 1e-5, 1.0, Scale.LOG, 0.1),
        CategoricalParameter(
            "model",
            ("linear", HOSTILE),
            "linear",
            (Branch((HOSTILE,), IntegerParameter("depth", 1, 9, Scale.REVERSE_LOG, 3)),),
        ),
        DiscreteParameter("batch", (16, 32.5), Scale.LINEAR),
    )
)
CONFIG = StudyConfig(SPACE, (Metric("loss", Goal.MINIMIZE),))


def make_study(
    study_id: str | None = "1",
    *,
    uid: str | None = None,
    display_name: str | None = None,
    created: timedelta = timedelta(),
    location: str = "us-central1",
) -> StudyRecord:
    """A new study; without ``study_id`` one of a tuning job, for which ``uid`` is needed."""
    name = None if study_id is None else StudyName("demo", location, study_id)
    return StudyRecord(
        uid=StudyUid(uid or f"uid-{location}-{study_id}"),
        name=name,
        display_name=f"study {study_id}" if display_name is None else display_name,
        config=CONFIG,
        request="{}",
        seed=7,
        create_time=CREATED + created,
    )


def make_whole_study() -> StudyRecord:
    """A study in which no field is at its default."""
    config = StudyConfig(
        SPACE,
        (Metric("loss", Goal.MINIMIZE), Metric(HOSTILE)),
        Algorithm.GRID,
        Noise.HIGH,
        Selection.BEST,
        ConvexSpec(100, 7, 3, "lr", use_elapsed=True, update_all_stopped=True),
        StudyLimits(True, 2, 40, 9, 60.5, 1.0, CREATED, 2.0, CREATED + SECOND),
    )
    measured = Measurement({"loss": 0.5, HOSTILE: -math.inf}, 3, 1.5)
    ended = Trial(1, {"lr": 1, "model": HOSTILE}, TrialState.SUCCEEDED, (measured,), measured, 2.5)
    earlier = Study(CONFIG, (ended, Trial(2, {}, stopped_early=True)), (Study(CONFIG),))
    return replace(
        make_study(display_name="Größe % _"),
        config=config,
        request='{"displayName": "Größe"}',
        seed=2**100,
        earlier=(earlier, Study(config)),
        state=StudyState.INACTIVE,
        why_inactive=HOSTILE,
        version=17,
    )


def make_trial(number: int = 1) -> TrialRecord:
    return TrialRecord(number, {"lr": 0.1, "model": "linear", "batch": 16}, CREATED)


def make_whole_trial(number: int = 1) -> TrialRecord:
    """A trial in which no field is at its default."""
    prediction = PredictionRecord("loss", 0.5, -math.inf, math.inf)
    suggestion = SuggestionRecord(
        HOSTILE, HOSTILE, 3, (4, 5), 2, 2**100, "1.0", (prediction,), 0.25
    )
    return TrialRecord(
        number=number,
        point={"lr": 1.0, "model": HOSTILE, "depth": 2, "batch": 16},
        create_time=CREATED,
        state=TrialState.INFEASIBLE,
        start_time=CREATED + SECOND,
        end_time=CREATED + 2 * SECOND,
        ended_as=4,
        client_id=HOSTILE,
        suggestion=suggestion,
        measurements=(Measurement({HOSTILE: math.inf}, 2, 0.5),),
        final=Measurement({"loss": 0.25}, 9, 4.5),
        outcome=State.FAILED,
        infeasible_reason=HOSTILE,
        stop_reason=HOSTILE,
        machine_s=12.5,
        tags_seen=("a", HOSTILE),
    )


def make_report(key: str, value: float = 0.5) -> Report:
    return Report(key, {"loss": value}, 3, 1.5, CREATED, "logs/train")


def next_version(study: StudyRecord) -> StudyRecord:
    return replace(study, version=study.version + 1)


def create(studies: StudyStore, study: StudyRecord, *trials: TrialRecord) -> StudyRecord:
    """Keep it with these trials; as it is then."""
    studies.create(study)
    written = next_version(study)
    studies.write(written, trials)
    return written
