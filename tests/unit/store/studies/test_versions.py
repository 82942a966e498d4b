"""Documents as databases hold them: read for ever, whatever a newer version writes."""

from footplate.domain.job_states import State
from footplate.domain.studies.metrics import Measurement
from footplate.domain.studies.records import (
    PredictionRecord,
    SuggestionRecord,
    TrialRecord,
)
from footplate.domain.studies.trials import TrialState
from footplate.store.studies.trials import read_trial, write_trial
from tests.support.jobs import CREATED
from tests.support.study_records import SECOND

TRIAL = TrialRecord(
    number=3,
    point={"lr": 0.5, "k": 2, "opt": "sgd"},
    create_time=CREATED,
    state=TrialState.SUCCEEDED,
    start_time=CREATED,
    end_time=CREATED + SECOND,
    ended_as=2,
    client_id="me",
    suggestion=SuggestionRecord(
        "exploit", "why", 2, (4,), 2, 7, "1.0", (PredictionRecord("loss", 1.0, 0.5, 1.5),), 0.25
    ),
    measurements=(Measurement({"loss": float("inf")}, 1, 0.5),),
    final=Measurement({"loss": 0.5}, 9, 1.5),
    outcome=State.SUCCEEDED,
    infeasible_reason="bad",
    stop_reason="worse",
    machine_s=2.5,
    tags_seen=("acc",),
)
TRIAL_V1 = (
    '{"v":1,"point":{"lr":0.5,"k":2,"opt":"sgd"},"state":"succeeded","created":1767323045678901,'
    '"client_id":"me","start":1767323045678901,"end":1767323046678901,"ended_as":2,'
    '"suggestion":{"reason":"exploit","sentence":"why","finished":2,"pending":[4],"model":2,'
    '"seed":7,"version":"1.0","predictions":[["loss",1.0,0.5,1.5]],"distance":0.25},'
    '"measurements":[[{"loss":"Infinity"},1,0.5]],"final":[{"loss":0.5},9,1.5],'
    '"outcome":"SUCCEEDED","infeasible":"bad","stop":"worse","machine_s":2.5,"tags":["acc"]}'
)
NEW_V1 = '{"v":1,"point":{},"state":"requested","created":1767323045678901}'


def test_trials_of_version_1_are_read_and_written() -> None:
    assert read_trial(3, TRIAL_V1) == TRIAL
    assert write_trial(TRIAL) == TRIAL_V1
    assert read_trial(1, NEW_V1) == TrialRecord(1, {}, CREATED)
    assert write_trial(TrialRecord(1, {}, CREATED)) == NEW_V1
