"""Whatever is kept of a study comes back as it was, nan and all."""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from sqlalchemy import create_engine, insert, select

from footplate.domain.errors import InvalidArgument
from footplate.domain.studies.records import Report, StudyRecord, TrialRecord
from footplate.store.input_checks import check_point
from footplate.store.studies import rows
from footplate.store.tables import metadata, studies, study_earlier, trial_reports, trials
from tests.support import study_strategies as strategies
from tests.support.plain_strategies import any_text
from tests.support.profiles import scaled

brief = settings(
    max_examples=scaled(50),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@given(strategies.study_records, strategies.trial_records, strategies.reports)
@brief
def test_rows(study: StudyRecord, trial: TrialRecord, report: Report) -> None:
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        metadata.create_all(connection)
        values = {**rows.study_values(study), "last_position": 0}
        connection.execute(insert(studies).values(values))
        kept = {"study_uid": study.uid, "body": rows.earlier_document(study)}
        connection.execute(insert(study_earlier).values(kept))
        connection.execute(insert(trials).values(rows.trial_values(study.uid, trial)))
        told = rows.report_values(study.uid, trial.number, 7, report)
        connection.execute(insert(trial_reports).values(told))

        query = select(studies, study_earlier.c.body.label("earlier")).join(study_earlier)
        assert repr(rows.study_of(connection.execute(query).one())) == repr(study)
        assert repr(rows.trial_of(connection.execute(select(trials)).one())) == repr(trial)
        stored = rows.report_of(connection.execute(select(trial_reports)).one())
        assert (stored.position, stored.number) == (7, trial.number)
        assert repr(stored.report) == repr(report)
    engine.dispose()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_point_of_no_number_is_refused(value: float) -> None:
    with pytest.raises(InvalidArgument, match="parameters: 'x'"):
        check_point({"x": value})


@given(any_text, any_text)
def test_digests_tell_texts_apart(one: str, other: str) -> None:
    assert (rows.digest(one) == rows.digest(other)) is (one == other)
