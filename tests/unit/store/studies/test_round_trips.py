"""Whatever is kept of a study comes back as it was, nan and all."""

import json
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, insert, select

from footplate.domain.errors import InvalidArgument
from footplate.domain.studies.metrics import Measurement
from footplate.domain.studies.records import Report, StudyRecord, TrialRecord
from footplate.domain.studies.space import SearchSpace
from footplate.domain.studies.study import Study, StudyConfig
from footplate.domain.tuning.search import Search
from footplate.store.json_column import write
from footplate.store.studies import measurements, prior_studies, rows
from footplate.store.studies.configs import config_document, config_of
from footplate.store.studies.numbers import read_number, write_number
from footplate.store.studies.searches import search_document, search_of
from footplate.store.studies.spaces import space_document, space_of
from footplate.store.tables import metadata, studies, study_earlier, trial_reports, trials
from tests.support import study_strategies as strategies
from tests.support.plain_strategies import any_text
from tests.support.profiles import scaled

brief = settings(
    max_examples=scaled(50),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def through_json(document: object) -> object:
    text = write({"document": document})
    assert text.isascii()
    return json.loads(text, parse_constant=pytest.fail)["document"]


@given(strategies.spaces())
@brief
def test_a_space(space: SearchSpace) -> None:
    document = through_json(space_document(space))
    assert isinstance(document, list)
    assert repr(space_of(document)) == repr(space)


@given(strategies.configs)
@brief
def test_a_configuration(config: StudyConfig) -> None:
    document = through_json(config_document(config))
    assert isinstance(document, dict)
    assert config_of(document) == config


@given(strategies.searches)
@brief
def test_a_search(search: Search) -> None:
    document = through_json(search_document(search))
    assert isinstance(document, dict)
    assert search_of(document) == search


@given(strategies.measurements)
@brief
def test_a_measurement(measurement: Measurement) -> None:
    document = through_json(measurements.measurement_document(measurement))
    assert isinstance(document, list)
    assert repr(measurements.measurement_of(document)) == repr(measurement)


@given(st.lists(strategies.studies, max_size=2).map(tuple))
@brief
def test_earlier_studies(studies: tuple[Study, ...]) -> None:
    text = prior_studies.write_earlier(studies)
    assert text.isascii()
    assert repr(prior_studies.read_earlier(text)) == repr(studies)


@given(strategies.study_records, strategies.trial_records, strategies.reports)
@brief
def test_rows(study: StudyRecord, trial: TrialRecord, report: Report) -> None:
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        metadata.create_all(connection)
        values = {**rows.study_values(study), "last_position": 0}
        connection.execute(insert(studies).values(values))
        kept = {"study_uid": study.uid, "body": prior_studies.write_earlier(study.earlier)}
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
        measurements.point_document({"x": value})


@given(strategies.numbers)
def test_a_number(value: float) -> None:
    assert repr(read_number(write_number(value))) == repr(value)


@pytest.mark.parametrize("document", ["nan", "", "1", None, True, [], {}])
def test_what_is_no_number_is_not_guessed(document: object) -> None:
    with pytest.raises(ValueError, match="not a number"):
        read_number(document)


@given(any_text, any_text)
def test_digests_tell_texts_apart(one: str, other: str) -> None:
    assert (rows.digest(one) == rows.digest(other)) is (one == other)
