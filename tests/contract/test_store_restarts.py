"""Deaths: of the process that writes, and of the server that it writes to."""

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from footplate.domain.errors import Unavailable
from footplate.store import open_store
from tests.support import ROOT
from tests.support.jobs import make_job
from tests.support.postgresql import Postgresql, private_postgresql, require_binaries
from tests.support.profiles import seeded

WRITER = "tests.contract.store_writer"
JOB = make_job()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/footplate.db"
    server = request.getfixturevalue("postgresql")
    assert isinstance(server, Postgresql)
    return server.create_database()


def test_what_was_acknowledged_outlives_a_killed_writer(url: str) -> None:
    chance = seeded(7)
    store = open_store(url)
    store.create(JOB, ())
    acknowledged = 1
    for _ in range(5):
        acknowledged = _write_and_kill(url, acknowledged + chance.randrange(1, 60))
        stored = store.get_by_uid(JOB.uid)
        # One more may have been written, and the writer died before it said so.
        assert acknowledged <= stored.version <= acknowledged + 1
        assert stored.attempt == stored.version
        events = store.events(JOB.uid, limit=9999)
        assert [kept.number for kept in events] == list(range(1, len(events) + 1))
        written = [kept.event.message for kept in events]
        assert written == [f"{v}{half}" for v in range(2, stored.version + 1) for half in "ab"]
        acknowledged = stored.version
    store.close()


def _write_and_kill(url: str, until: int) -> int:
    """Let a process write until that version is acknowledged; the last one that it told of."""
    command = (sys.executable, "-m", WRITER, url, JOB.uid)
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            if int(line) >= until:
                break
        writer.send_signal(signal.SIGKILL)
        return max([until, *(int(rest) for rest in writer.stdout if rest.endswith("\n"))])


def test_a_restarted_server_is_found_again(postgresql: Postgresql) -> None:
    with private_postgresql(require_binaries()) as server:
        store = open_store(server.create_database())
        store.create(JOB, ())
        server.stop()
        with pytest.raises(Unavailable, match="check that PostgreSQL runs"):
            store.get(JOB.name)
        with pytest.raises(Unavailable):
            store.update(replace(JOB, version=2), ())
        server.start()
        store.update(replace(JOB, version=2), ())
        server.stop()
        server.start()
        assert store.get(JOB.name).version == 2
        store.close()
