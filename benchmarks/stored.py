"""Asking for jobs over HTTP while many are stored, against the bare health check.

All jobs are of one project, the worst case for a filter. Each request is answered by a service in
a process of its own, one after the other; the first answers aren't counted. ``--postgresql``
keeps the jobs in a PostgreSQL server of the benchmark's own, without ``fsync``.
"""

from __future__ import annotations

import argparse
import http.client
import json
import math
import statistics
import sys
import tempfile
import time
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

from sqlalchemy import create_engine, insert

from footplate.domain.job_states import State
from footplate.store import open_store, row_codec
from footplate.store.tables import job_labels, jobs
from footplate.testing.service import running_service

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.support.jobs import make_job
from tests.support.postgresql import find_binaries, private_postgresql

if TYPE_CHECKING:
    from collections.abc import Iterator

STORED = (1_000, 10_000, 100_000)
ROUNDS = 300
WARM = 20
BATCH = 500
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
REQUEST = json.dumps(
    {
        "scaleTier": "BASIC",
        "region": "us-central1",
        "packageUris": ["gs://bucket/packages/trainer-0.1.tar.gz"],
        "pythonModule": "trainer.task",
        "args": ["--epochs", "3", "--learning-rate", "0.01"],
    }
)
"""The size of a usual one."""


def stored_job(number: int):
    """One of a hundred has failed; one of a thousand bears the label; names are all alike."""
    state = State.FAILED if number % 100 == 7 else State.SUCCEEDED
    created = BEGIN + timedelta(seconds=number)
    labels = (("team", "vision" if number % 1000 == 3 else "ranking"),)
    name = f"projects/demo/jobs/census_{number:06}"
    job = make_job(name, created=created, state=state, labels=labels, request=REQUEST)
    return replace(job, start_time=created, end_time=created + timedelta(minutes=5))


@contextmanager
def sqlite() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield f"sqlite:///{folder}/footplate.db"


@contextmanager
def postgresql() -> Iterator[str]:
    binaries = find_binaries()
    if binaries is None:
        raise SystemExit("PostgreSQL isn't installed: neither on PATH nor in /usr/lib/postgresql")
    with private_postgresql(binaries) as server:
        yield server.create_database()


def fill(url: str, count: int) -> None:
    """Past the store, many to a transaction."""
    open_store(url).close()
    engine = create_engine(url)
    for begin in range(0, count, BATCH):
        made = [stored_job(number) for number in range(begin, min(begin + BATCH, count))]
        with engine.begin() as connection:
            connection.execute(insert(jobs), [row_codec.job_values(job) for job in made])
            labels = [row for job in made for row in row_codec.label_values(job)]
            connection.execute(insert(job_labels), labels)
    engine.dispose()


def requests(url: str, count: int) -> dict[str, str]:
    """What is asked, by how it is called in the table."""
    path = "/v1/projects/demo/jobs"

    def listed(**parameters: object) -> str:
        return f"{path}?{urlencode(parameters)}"

    return {
        "health": "/healthz",
        "get": f"{path}/census_{count // 2:06}",
        "page of 20": listed(pageSize=20),
        "page of 100": listed(pageSize=100),
        "state=FAILED, 20": listed(pageSize=20, filter="state=FAILED"),
        "state=RUNNING, none": listed(pageSize=20, filter="state=RUNNING"),
        "labels.team=vision, 20": listed(pageSize=20, filter="labels.team=vision"),
        "labels.team=ranking, 20": listed(pageSize=20, filter="labels.team=ranking"),
        "labels.team=nobody": listed(pageSize=20, filter="labels.team=nobody"),
        "jobId=census_000042": listed(pageSize=20, filter="jobId=census_000042"),
        "jobId:00042, 20": listed(pageSize=20, filter="jobId:00042"),
        "jobId:00042, next 5": next_page(url, listed(pageSize=5, filter="jobId:00042")),
        "jobId:nothing": listed(pageSize=20, filter="jobId:nothing"),
        "jobId:census, 20": listed(pageSize=20, filter="jobId:census"),
        "jobId:7, 20": listed(pageSize=20, filter="jobId:7"),
        "jobId:zz": listed(pageSize=20, filter="jobId:zz"),
        "state=SUCCEEDED jobId:zz": listed(pageSize=20, filter="state=SUCCEEDED AND jobId:zz"),
        "state=FAILED jobId:99": listed(pageSize=20, filter="state=FAILED AND jobId:99"),
        "labels.team=ranking jobId:zz": listed(
            pageSize=20, filter="labels.team=ranking AND jobId:zz"
        ),
        "labels.team=vision jobId:7": listed(pageSize=20, filter="labels.team=vision AND jobId:7"),
        "endTime<, jobId:census": listed(
            pageSize=20, filter='endTime<"2026-01-01T00:00:00Z" AND jobId:census'
        ),
        "createTime<, 20": listed(pageSize=20, filter='createTime<"2026-01-01T00:10:00Z"'),
    }


def next_page(url: str, path: str) -> str:
    """The page after this one; the same if it is the last one."""
    with closing(http.client.HTTPConnection(urlsplit(url).netloc)) as connection:
        token = json.loads(ask(connection, path)).get("nextPageToken", "")
    return f"{path}&{urlencode({'pageToken': token})}"


def measure(url: str, path: str) -> list[float]:
    times = []
    with closing(http.client.HTTPConnection(urlsplit(url).netloc)) as connection:
        for _ in range(ROUNDS + WARM):
            begin = time.perf_counter()
            ask(connection, path)
            times.append(time.perf_counter() - begin)
    return sorted(times[WARM:])


def ask(connection: http.client.HTTPConnection, path: str) -> bytes:
    connection.request("GET", path)
    response = connection.getresponse()
    body = response.read()
    assert response.status == 200, body
    return body


def measure_all(count: int, database_url: str) -> None:
    """Lines of the table, with so many jobs in this database."""
    fill(database_url, count)
    with (
        tempfile.TemporaryDirectory() as folder,
        running_service(Path(folder) / "data", database_url=database_url) as running,
    ):
        floor = 0.0
        for label, path in requests(running.url, count).items():
            times = measure(running.url, path)
            middle, late = statistics.median(times), times[math.ceil(0.99 * ROUNDS) - 1]
            floor = floor or middle
            print(
                f"| {count:,} | {label} | {middle * 1e3:.1f} ms | {late * 1e3:.1f} ms | "
                f"{middle / floor:.1f} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--postgresql", action="store_true", help="in place of SQLite")
    database = postgresql if parser.parse_args().postgresql else sqlite
    print("| stored | request | median | 99% | to health |")
    print("|---|---|---|---|---|")
    for count in STORED:
        with database() as url:
            measure_all(count, url)


if __name__ == "__main__":
    main()
