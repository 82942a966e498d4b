"""PostgreSQL is stopped and started again under a service: it says so meanwhile, and goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.domain.errors import Unavailable
from footplate.domain.job_states import State
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, Context
from tests.e2e.service.tuning_helpers import leftovers
from tests.support.postgresql import Postgresql, private_postgresql, require_binaries

TALKER = """
import pathlib, sys, time
out = pathlib.Path(sys.argv[sys.argv.index("--job-dir") + 1].replace("gs://", "/gcs/"))
number = 0
while not (out / "enough").exists():
    print("line", number, flush=True)
    number += 1
    time.sleep(0.02)
(out / "ended").write_text(str(number))
"""


@pytest.fixture(scope="module")
def postgresql() -> Iterator[Postgresql]:
    with private_postgresql(require_binaries()) as server:
        yield server


@pytest.fixture
def context(tmp_path: Path, postgresql: Postgresql) -> Iterator[Context]:
    url = postgresql.create_database()
    with running_service(tmp_path / "data", CACHE, stop_grace_s=1, database_url=url) as service:
        yield Context(service)


def health(context: Context) -> str:
    """What the service says of itself; an answer holds for a second."""
    try:
        with context.client() as client:
            return str(client.health()["status"])
    except Unavailable as error:
        return error.message


def test_a_program_ends_while_the_database_is_away(
    context: Context, postgresql: Postgresql
) -> None:
    name = context.submit(TALKER)
    context.until(lambda: len(context.messages(name)) > 20)
    postgresql.stop()
    try:
        with pytest.raises(Unavailable):
            context.job(name)
        with pytest.raises(Unavailable):
            context.submit("print('refused')")
        context.until(lambda: "can't be used now" in health(context))
        context.out(name).mkdir(parents=True, exist_ok=True)
        (context.out(name) / "enough").touch()
        context.until(lambda: (context.out(name) / "ended").exists())
        assert context.service.alive
    finally:
        postgresql.start()

    context.wait_for(name, State.SUCCEEDED)
    context.until(lambda: health(context) == "ok")
    count = int((context.out(name) / "ended").read_text())
    assert context.messages(name) == [f"line {number}" for number in range(count)]
    again = context.submit("print('taken')")
    context.wait_for(again, State.SUCCEEDED)
    context.until(lambda: leftovers(context) == [])
