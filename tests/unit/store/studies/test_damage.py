"""Damaged rows are named, never guessed at."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Table, create_engine, update

from footplate.domain.errors import DataLoss
from footplate.ports.studies import StudyStore
from footplate.store import open_store
from footplate.store.tables import studies, study_earlier, study_models, trial_reports, trials
from tests.support.study_records import (
    create,
    make_report,
    make_trial,
    make_whole_study,
    next_version,
)

STUDY = make_whole_study()
CASES: list[tuple[Table, str, object]] = [
    (studies, "config", "{}"),
    (studies, "config", '{"v":2,"space":{"parameters":[{"kind":"new"}]}}'),
    (studies, "body", '{"v":2}'),
    (studies, "state", "never heard of"),
    (studies, "name", "projects"),
    (studies, "create_time", 2**62),
    (study_earlier, "body", '{"v":99,"studies":[]}'),
    (study_earlier, "body", '{"v":2,"studies":[{}]}'),
    (trials, "body", "["),
    (trials, "body", '{"v":2,"point":{},"state":"lost","number":1,"create_time":0}'),
    (
        trials,
        "body",
        '{"v":2,"point":{},"state":"active","number":1,"create_time":0,"final":{"values":[],"step":1}}',
    ),
]


@pytest.mark.parametrize(("table", "column", "value"), CASES)
def test_a_damaged_row_is_named(tmp_path: Path, table: Table, column: str, value: object) -> None:
    with pytest.raises(DataLoss, match=STUDY.uid):
        _damaged(tmp_path, table, {column: value}, lambda kept: kept.load(STUDY.uid))


def test_a_damaged_report_is_named(tmp_path: Path) -> None:
    body = '{"v":2,"key":"k","values":{"loss":"nan"},"step":1,"elapsed_s":0.0,"time":0,"source":""}'
    with pytest.raises(DataLoss, match=f"report 1 of study {STUDY.uid}"):
        _damaged(tmp_path, trial_reports, {"body": body}, lambda kept: kept.reports(STUDY.uid))


def test_a_damaged_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataLoss, match=f"model of study {STUDY.uid} for 3 trials"):
        _damaged(tmp_path, study_models, {"body": "{}"}, lambda kept: kept.model(STUDY.uid, 3))


def _damaged(
    folder: Path, table: Table, values: dict[str, object], read: Callable[[StudyStore], object]
) -> None:
    url = f"sqlite:///{folder}/footplate.db"
    with closing(open_store(url)) as store:
        study = create(store.studies, STUDY, make_trial(1))
        store.studies.write(next_version(study), models={3: {}})
        store.studies.report(study.uid, 1, [make_report("k")])
        engine = create_engine(url)
        with engine.begin() as connection:
            connection.execute(update(table).values(values))
        engine.dispose()
        read(store.studies)
