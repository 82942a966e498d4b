from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from sqlalchemy import Engine, create_engine, insert, select, update

from footplate.domain.errors import DataLoss, InvalidArgument
from footplate.domain.jobs import Job, JobSpec
from footplate.domain.text_validation import storable
from footplate.domain.timestamps import to_micros
from footplate.store import open_store, row_codec
from footplate.store.tables import job_events, jobs, metadata
from tests.support import strategies
from tests.support.jobs import CREATED, make_job
from tests.support.profiles import scaled


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=scaled(50))
@given(strategies.jobs)
def test_a_job_comes_back_from_its_row(job: Job) -> None:
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        metadata.create_all(connection)
        connection.execute(insert(jobs).values(row_codec.job_values(job)))
        assert row_codec.job_of(connection.execute(select(jobs)).one()) == job
    engine.dispose()


OF_JOBS, OF_SPECS = (
    [each.name for each in fields(kind) if each.type in ("str", "str | None")]
    for kind in (Job, JobSpec)
)


@pytest.mark.parametrize("text", ["nul \0", "half \ud800"])
@pytest.mark.parametrize("field", [*OF_JOBS, *OF_SPECS])
def test_no_column_gets_a_text_that_cannot_be_kept(field: str, text: str) -> None:
    """One that has a column of its own is refused; a document holds any text."""
    job, changed = make_job(), dict[str, Any]({field: text})
    if field in OF_JOBS:
        job = replace(job, **changed)
    else:
        job = replace(job, spec=replace(job.spec, **changed))
    try:
        values = row_codec.job_values(job)
    except InvalidArgument as refused:
        named = {violation.field.lower() for violation in refused.violations}
        assert named == {field.replace("_", "")}
    else:
        assert all(storable(value) for value in values.values() if isinstance(value, str))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("spec", "{}"),
        ("spec", '{"v":2}'),
        ("spec", '{"v":99,"region":"r"}'),
        ("state", "NEVER_HEARD_OF"),
        ("replicas", "["),
        ("labels", '{"v":2,"labels":[1]}'),
        ("name", "projects"),
        ("create_time", 2**62),
    ],
)
def test_a_damaged_row_is_named(tmp_path: Path, column: str, value: object) -> None:
    job = make_job(uid="the-uid")
    store = open_store(f"sqlite:///{tmp_path}/db")
    store.create(job, ())
    engine = create_engine(f"sqlite:///{tmp_path}/db")
    _write(engine, column, value)
    with pytest.raises(DataLoss, match="the-uid"):
        store.get_by_uid(job.uid)
    store.close()


def _write(engine: Engine, column: str, value: object) -> None:
    with engine.begin() as connection:
        connection.execute(update(jobs).values({column: value}))
    engine.dispose()


def test_a_damaged_event_is_named(tmp_path: Path) -> None:
    job = make_job(uid="the-uid")
    store = open_store(f"sqlite:///{tmp_path}/db")
    store.create(job, ())
    engine = create_engine(f"sqlite:///{tmp_path}/db")
    values = {"job_uid": job.uid, "number": 1, "time": 0, "body": "{}"}
    with engine.begin() as connection:
        connection.execute(insert(job_events).values(values))
    engine.dispose()
    with pytest.raises(DataLoss, match="event 1 of job the-uid"):
        store.events(job.uid)
    store.close()


def test_labels_are_indexed_also_without_case() -> None:
    job = make_job(labels=(("K", "Ä"),), created=CREATED)
    row = {"job_uid": job.uid, "key": "K", "value": "Ä", "value_folded": "ä"}
    listed = {"collection": job.name.collection, "create_time": to_micros(CREATED)}
    assert row_codec.label_values(job) == [{**row, **listed}]
