"""The console's list of jobs while many are stored, with each filter.

It is asked for as a browser does, while a second client asks for the health of the service: a
filter must not hold that up.
``--postgresql`` keeps the jobs in a PostgreSQL server of the benchmark's own, without ``fsync``.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import re
import statistics
import sys
import tempfile
import threading
import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from sqlalchemy import create_engine, insert

from footplate.domain.job_states import State
from footplate.store import open_store, row_codec
from footplate.store.tables import job_labels, jobs
from footplate.testing.service import running_service

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.stored import REQUEST, postgresql, sqlite
from tests.support.jobs import make_job, make_spec

ROUNDS = 15
WARM = 2
BATCH = 500
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
REGIONS = ("us-central1", "europe-west4", "us-east1")
RARE = "asia-east1"
"""The oldest job of each project of ml v1 was in this region."""


def stored_job(number: int, projects: int):
    """A third is of ml v1. One of a hundred has failed, one of a thousand has the rare label."""
    project, region = f"team-{number % projects:03}", REGIONS[number // projects % 3]
    if number // projects % 9 in (0, 4, 8):
        name = f"projects/{project}/jobs/census_{number:06}"
        region = RARE if number < projects else region
    else:
        name = f"projects/{project}/locations/{region}/customJobs/{number + 1}"
    created = BEGIN + timedelta(seconds=number)
    job = make_job(
        name,
        spec=make_spec(region=region),
        created=created,
        display_name=f"census {number:06}",
        state=State.FAILED if number % 100 == 7 else State.SUCCEEDED,
        labels=(("team", "vision" if number % 1000 == 3 else "ranking"),),
        request=REQUEST,
    )
    return replace(job, start_time=created, end_time=created + timedelta(minutes=5))


def fill(url: str, count: int, projects: int) -> None:
    """Past the store, many to a transaction."""
    open_store(url).close()
    engine = create_engine(url)
    for begin in range(0, count, BATCH):
        made = [stored_job(at, projects) for at in range(begin, min(begin + BATCH, count))]
        with engine.begin() as connection:
            connection.execute(insert(jobs), [row_codec.job_values(job) for job in made])
            labels = [row for job in made for row in row_codec.label_values(job)]
            connection.execute(insert(job_labels), labels)
    if engine.dialect.name == "postgresql":
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM ANALYZE")  # as autovacuum does within a minute
    engine.dispose()


def pages(count: int) -> dict[str, dict[str, str]]:
    """What is asked, by how it is called in the table."""
    oldest = f"{count // 2000:06}"
    return {
        "no filter": {},
        "text, all": {"q": "census"},
        "text, an old one": {"q": f"us {oldest}"},
        "text, none": {"q": "nothing"},
        "state succeeded": {"state": "SUCCEEDED"},
        "state failed": {"state": "FAILED"},
        "state active, none": {"state": "ACTIVE"},
        "kind custom": {"kind": "customJobs"},
        "kind jobs": {"kind": "jobs"},
        "label, all": {"label": "team=ranking"},
        "label, one in 1,000": {"label": "team=vision"},
        "label, none": {"label": "team=nobody"},
        "label's key, all": {"label": "team"},
        "label's key, none": {"label": "owner"},
        "project": {"project": "team-003"},
        "region, a third": {"region": "us-east1"},
        "region, old ones": {"region": RARE},
        "region, none": {"region": "europe-west1"},
        "region and failed": {"region": "us-east1", "state": "FAILED"},
        "region and label, few": {"region": "us-east1", "label": "team=vision"},
        "region, kind, text, none": {"region": "us-east1", "kind": "jobs", "q": "nothing"},
        "old region, text, label": {"region": RARE, "q": "census", "label": "team=ranking"},
    }


def ask(connection: http.client.HTTPConnection, path: str, **headers: str) -> bytes:
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    body = response.read()
    assert response.status in (200, 204), (path, response.status, body[:300])
    return gzip.decompress(body) if response.getheader("Content-Encoding") == "gzip" else body


def ask_page(connection: http.client.HTTPConnection, asked: dict[str, str]) -> bytes:
    headers = {"Accept": "text/html", "Accept-Encoding": "gzip"}
    return ask(connection, f"/jobs?{urlencode(asked)}", **headers)


class Health:
    """Asks for the health all the time; ``worst`` is the longest answer since it was set to 0."""

    def __init__(self, address: str) -> None:
        self.worst = 0.0
        self._address = address
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        with closing(http.client.HTTPConnection(self._address)) as connection:
            while not self._ended.wait(0.01):
                begin = time.perf_counter()
                ask(connection, "/healthz")
                self.worst = max(self.worst, time.perf_counter() - begin)

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()


def measure_pages(url: str, count: int, projects: int) -> None:
    print("| stored | projects | filter | rows | median | worst | health meanwhile, worst |")
    print("|---|---|---|---|---|---|---|")
    with (
        tempfile.TemporaryDirectory() as folder,
        running_service(Path(folder) / "data", database_url=url) as running,
    ):
        address = urlsplit(running.url).netloc
        health = Health(address)
        with closing(http.client.HTTPConnection(address)) as connection:
            for label, asked in pages(count).items():
                times, rows, health.worst = [], 0, 0.0
                for _ in range(ROUNDS + WARM):
                    begin = time.perf_counter()
                    rows = len(re.findall(rb"<tr>\s*<td", ask_page(connection, asked)))
                    times.append(time.perf_counter() - begin)
                measured = times[WARM:]
                print(
                    f"| {count:,} | {projects} | {label} | {rows} "
                    f"| {statistics.median(measured) * 1e3:.0f} ms | {max(measured) * 1e3:.0f} ms "
                    f"| {health.worst * 1e3:.0f} ms |",
                    flush=True,
                )
        health.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--postgresql", action="store_true", help="in place of SQLite")
    parser.add_argument("--jobs", type=int, nargs="+", default=[1_000, 100_000])
    parser.add_argument("--projects", type=int, default=20)
    chosen = parser.parse_args()
    database = postgresql if chosen.postgresql else sqlite
    for count in chosen.jobs:
        with database() as url:
            begin = time.perf_counter()
            fill(url, count, chosen.projects)
            print(f"filled in {time.perf_counter() - begin:.0f} s")
            measure_pages(url, count, chosen.projects)


if __name__ == "__main__":
    main()
