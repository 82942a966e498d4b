"""Which servers may share a database, and who is taken for dead."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from footplate.domain.errors import FailedPrecondition
from footplate.ports.servers import Member, Servers
from footplate.store import open_store
from tests.support.postgresql import Postgresql

LONG_S = 3600.0
ONE = Member("one", "http://127.0.0.1:1", 1, "0", "boot/1", "here", "/data", "dir")
TWO = replace(ONE, id="two", url="http://127.0.0.1:2", pid=2)


@pytest.fixture
def servers(postgresql: Postgresql) -> Iterator[Servers]:
    with closing(open_store(postgresql.create_database())) as store:
        yield store.servers()


def test_servers_of_one_machine_and_directory_share_a_database(servers: Servers) -> None:
    database = servers.join(TWO, LONG_S)
    assert servers.join(ONE, LONG_S, database) == database
    assert servers.living(LONG_S) == (ONE, TWO)
    servers.leave("two")
    servers.leave("nobody")
    assert servers.living(LONG_S) == (ONE,)


def test_another_machine_is_refused_by_name(servers: Servers) -> None:
    servers.join(ONE, LONG_S)
    far = replace(TWO, machine="boot/2", host="there")
    with pytest.raises(
        FailedPrecondition, match=r"server http://127.0.0.1:1 \(process 1 on here\) .*one machine"
    ):
        servers.join(far, LONG_S)
    assert servers.living(LONG_S) == (ONE,)


def test_private_folders_are_refused_by_name(servers: Servers) -> None:
    servers.join(ONE, LONG_S)
    private = replace(TWO, data_dir="/private", data_dir_id="another")
    with pytest.raises(FailedPrecondition, match="start this server with --data-dir /data"):
        servers.join(private, LONG_S)


def test_a_database_remembers_its_directory_when_no_server_runs(servers: Servers) -> None:
    servers.join(ONE, LONG_S)
    servers.leave("one")
    private = replace(TWO, data_dir="/private", data_dir_id="another")
    with pytest.raises(FailedPrecondition, match="belongs to the data directory here:/data"):
        servers.join(private, LONG_S)
    moved = replace(ONE, data_dir="/moved")
    servers.join(moved, LONG_S)
    servers.leave("one")
    made_anew = replace(moved, data_dir_id="new")
    servers.join(made_anew, LONG_S)
    assert servers.living(LONG_S) == (made_anew,)


def test_a_directory_belongs_to_one_database(servers: Servers) -> None:
    with pytest.raises(FailedPrecondition, match="/data belongs to another database"):
        servers.join(ONE, LONG_S, "another")
    assert servers.living(LONG_S) == ()


def test_the_silent_are_forgotten_and_learn_of_it(servers: Servers) -> None:
    servers.join(ONE, LONG_S)
    assert servers.heartbeat(ONE, LONG_S)
    assert servers.living(0.0) == ()
    far = replace(TWO, machine="boot/2", data_dir="/data", host="here")
    servers.join(far, 0.0)
    assert servers.living(LONG_S) == (far,)
    assert not servers.heartbeat(ONE, LONG_S)


def test_a_directory_of_postgresql_is_refused_with_sqlite(tmp_path: Path) -> None:
    with closing(open_store(f"sqlite:///{tmp_path}/db")) as store:
        with pytest.raises(FailedPrecondition, match="belongs to a PostgreSQL database"):
            store.servers().join(ONE, LONG_S, "one of PostgreSQL")
        store.servers().join(ONE, LONG_S, "sqlite")


def test_a_server_with_sqlite_is_alone(tmp_path: Path) -> None:
    with closing(open_store(f"sqlite:///{tmp_path}/db")) as store:
        servers = store.servers()
        servers.join(ONE, LONG_S)
        assert servers.living(LONG_S) == (ONE,)
        assert servers.heartbeat(ONE, LONG_S)
        assert not store.several
        assert store.listen(lambda _: None, lambda: None) is None
