"""Spans of lists: what it costs to enter a job."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, insert

from footplate.store import name_index, open_store, row_codec
from footplate.store.tables import job_spans
from tests.support.jobs import CREATED, make_job

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

STEP = timedelta(seconds=1)


def job_values(number: int) -> dict[str, Any]:
    job = make_job(f"projects/demo/jobs/job_{number}", created=CREATED + number * STEP)
    return row_codec.listed_values(job)


def make_spans(connection: Connection, count: int) -> None:
    """Each of one second and one job; the first and the last go on for ever."""
    jobs = [job_values(number) for number in range(count)]
    begins = [name_index.FIRST, *(job["create_time"] for job in jobs[1:])]
    names = {"job_id_folded": "\nx", "display_name_folded": "\nx"}
    rows = [
        {"collection": jobs[0]["collection"], "begin": begin, "until": until, **names}
        for begin, until in zip(begins, [*begins[1:], name_index.LAST], strict=True)
    ]
    connection.execute(insert(job_spans), rows)


def steps_to_enter(folder: Path, count: int) -> int:
    """Of SQLite's machine, into the last of so many spans."""
    url = f"sqlite:///{folder}/{count}.db"
    open_store(url).close()
    engine = create_engine(url)
    steps = 0

    def tick() -> int:
        nonlocal steps
        steps += 1
        return 0

    with engine.begin() as connection:
        make_spans(connection, count)
        driver: Any = connection.connection.driver_connection
        driver.set_progress_handler(tick, 1)
        name_index.enter(connection, job_values(count))
        driver.set_progress_handler(None, 0)
    engine.dispose()
    return steps


def test_entering_a_job_costs_no_more_among_many_spans(tmp_path: Path) -> None:
    few, many = steps_to_enter(tmp_path, 20), steps_to_enter(tmp_path, 2000)
    assert few > 10
    assert many < 2 * few
