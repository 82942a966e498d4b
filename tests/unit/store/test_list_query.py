"""What a list costs must not grow with the jobs that aren't in it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, Row, insert

from footplate.domain.filters import And, Comparator, Comparison, Field, Filter, Not, Or
from footplate.domain.job_states import State
from footplate.domain.jobs import Job
from footplate.domain.timestamps import to_micros
from footplate.store import row_codec
from footplate.store.database_setup import bring_up_to_date
from footplate.store.list_query import MOST_LABELS, Section, find_jobs
from footplate.store.paging import Position
from footplate.store.running_times import running_times_query
from footplate.store.sql_engines import make_engine, parse_url
from footplate.store.tables import job_labels, jobs
from tests.support.jobs import CREATED, make_job

JOBS = "projects/demo/jobs"
MANY = 3_000
MINUTE = timedelta(minutes=1)
EACH = 10
"""Steps of SQLite's machine between two calls of its progress handler."""
ROW = 60
"""Steps that reading a whole row takes, at least: it has 24 columns."""
LOOK = 25
"""Steps that a look at a job in an index takes, at most."""


def equal(field: Field, value: str | State, label: str | None = None) -> Comparison:
    return Comparison(field, Comparator.EQUAL, value, label)


def ended(comparator: Comparator, number: int) -> Comparison:
    """Before, when or after this job did."""
    return Comparison(Field.END_TIME, comparator, CREATED + timedelta(seconds=number) + MINUTE)


def part(text: str, field: Field = Field.JOB_ID) -> Comparison:
    return Comparison(field, Comparator.MATCHES, text)


RARE = equal(Field.LABEL, "rare", "team")
USUAL = equal(Field.LABEL, "usual", "team")
ENDED = equal(Field.STATE, State.SUCCEEDED)
RUNNING = equal(Field.STATE, State.RUNNING)
QUEUED = equal(Field.STATE, State.QUEUED)
"""One is."""

WHERE: list[tuple[Filter | None, int]] = [
    (None, 21),
    (RARE, 3),
    (USUAL, 21),
    (equal(Field.LABEL, "nobody", "team"), 0),
    (And((ENDED, RARE)), 3),
    (And((USUAL, ENDED)), 21),
    (And((USUAL, RUNNING)), 0),
    (And((RARE, USUAL)), 0),
    (ENDED, 21),
    (RUNNING, 0),
    (And((USUAL, QUEUED)), 1),
    (equal(Field.JOB_ID, "job_7"), 1),
    (equal(Field.JOB_ID, "job_x"), 0),
    (And((USUAL, equal(Field.JOB_ID, "job_x"))), 0),
    (equal(Field.DISPLAY_NAME, "Train"), 21),
    (equal(Field.DISPLAY_NAME, "train"), 0),
    (And((USUAL, equal(Field.DISPLAY_NAME, "train"))), 0),
    (part("OB_"), 21),
    (part("7"), 21),
    (part("_1007"), 1),
    (part("_0", Field.JOB_ID), 1),
    (part("rain", Field.DISPLAY_NAME), 21),
    (And((ENDED, part("9"))), 21),
    (And((RARE, part("job"))), 3),
    (And((RARE, part("_2"))), 1),
    (And((USUAL, part("_1007"))), 0),
    (And((part("job"), QUEUED)), 1),
    (And((part("job"), equal(Field.JOB_ID, "job_x"))), 0),
    (And((part("1"), Or((part("_2001"), part("_2002"))))), 1),
    (ended(Comparator.GREATER, 0), 21),
    (ended(Comparator.GREATER, MANY - 4), 3),
    (And((ENDED, ended(Comparator.LESS_OR_EQUAL, 3))), 3),
    (And((ended(Comparator.GREATER, 0), ENDED)), 21),
    (And((USUAL, ended(Comparator.EQUAL, 2))), 1),
    (And((part("job"), ended(Comparator.GREATER, 10))), 21),
    (And((ended(Comparator.EQUAL, 1), QUEUED)), 0),
    (And((ended(Comparator.NOT_EQUAL, 9), part("job"))), 21),
    (equal(Field.AUTHOR, "bob"), 3),
    (equal(Field.AUTHOR, "nobody"), 0),
    (And((equal(Field.AUTHOR, "bob"), ENDED)), 3),
]

NOBODY: list[Filter] = [
    part("nothing"),
    part("zz"),
    part("zz", Field.DISPLAY_NAME),
    part("zz*zz"),
    Or((part("zz"), part("nothing"))),
    And((part("job"), part("zz"))),
    And((USUAL, part("zz"))),
    And((ENDED, part("zz"))),
    And((part("zz"), Not(ENDED))),
    ended(Comparator.LESS, 1),
    ended(Comparator.EQUAL, MANY),
    ended(Comparator.GREATER_OR_EQUAL, MANY),
    And((ended(Comparator.LESS, 1), part("job"))),
    And((ended(Comparator.LESS, 1), USUAL)),
    And((ENDED, ended(Comparator.GREATER, MANY))),
    And((ended(Comparator.GREATER, 100), ended(Comparator.LESS, 100))),
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("database")
    engine = make_engine(parse_url(f"sqlite:///{folder}/db"), 5.0)
    bring_up_to_date(engine)
    made = [_job(number) for number in range(MANY)]
    with engine.begin() as connection:
        connection.execute(insert(jobs), [row_codec.job_values(job) for job in made])
        labels = [row for job in made for row in row_codec.label_values(job)]
        connection.execute(insert(job_labels), labels)
    yield engine
    engine.dispose()


def _job(number: int) -> Job:
    """Made a second after the one before it, and ended a minute later."""
    created = CREATED + timedelta(seconds=number)
    job = make_job(
        f"{JOBS}/job_{number}",
        created=created,
        state=State.SUCCEEDED if number else State.QUEUED,
        display_name="Train",
        labels=(("team", "rare" if number % 1000 == 7 else "usual"),),
    )
    job = replace(job, author="bob" if number % 1000 == 7 else "")
    return replace(job, start_time=created, end_time=created + MINUTE) if number else job


@pytest.mark.parametrize(("where", "count"), [*WHERE, *((where, 0) for where in NOBODY)], ids=str)
def test_rows_are_read_of_the_jobs_that_are_found_alone(
    engine: Engine, where: Filter | None, count: int
) -> None:
    """Others are looked at in an index, each once."""
    found, steps = inspect(engine, where)
    assert len(found) == count
    assert steps < MANY * LOOK + count * ROW * 3


@pytest.mark.parametrize("count", [MOST_LABELS, MOST_LABELS + 1])
def test_however_many_bear_a_label_the_newest_of_them_are_found(engine: Engine, count: int) -> None:
    with engine.begin() as connection:
        connection.execute(
            insert(job_labels),
            [row for job in map(_job, range(count)) for row in _label_rows(job, f"many{count}")],
        )
    found, _ = inspect(engine, equal(Field.LABEL, "yes", f"many{count}"))
    assert [row.job_id for row in found] == [f"job_{count - 1 - each}" for each in range(21)]


def _label_rows(job: Job, key: str) -> list[dict[str, Any]]:
    return [*row_codec.label_values(replace(job, labels=((key, "yes"),)))]


def test_the_next_page_reads_no_other_jobs(engine: Engine) -> None:
    last = Position.of(make_job(f"{JOBS}/job_9", created=CREATED + timedelta(seconds=9)))
    found, steps = inspect(engine, part("job"), last)
    assert [row.job_id for row in found] == [f"job_{number}" for number in reversed(range(9))]
    assert steps < MANY


def test_hours_are_summed_from_an_index_of_what_has_run(engine: Engine) -> None:
    """SQLite reads a page of jobs for each that has run, else; the index has some forty a page."""
    with engine.connect() as connection:
        plans: list[str] = []
        query = running_times_query(to_micros(CREATED), to_micros(CREATED + 100 * MINUTE))
        compiled = query.compile(engine, compile_kwargs={"literal_binds": True})
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}")
        plans = [row.detail for row in plan if row.detail.startswith(("SCAN jobs", "SEARCH jobs"))]
    assert plans == [
        "SEARCH jobs USING COVERING INDEX jobs_run (end_time>?)",
        "SEARCH jobs USING INDEX jobs_by_state (state=?)",
    ]


def inspect(
    engine: Engine, where: Filter | None, after: Position | None = None
) -> tuple[Sequence[Row[*tuple[Any, ...]]], int]:
    """What is found, and how many steps that took. Any, as in SQLAlchemy."""
    steps = 0

    def count_steps() -> int:
        nonlocal steps
        steps += EACH
        return 0

    with engine.connect() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        driver.set_progress_handler(count_steps, EACH)
        found = find_jobs(connection, JOBS, where, Section(after), 21)
        driver.set_progress_handler(None, EACH)
    return found, steps
