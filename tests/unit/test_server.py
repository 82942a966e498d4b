"""The data directory's owner and announcement; the whole server is tested in tests/e2e/service."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from footplate.domain.errors import FailedPrecondition, InvalidArgument
from footplate.replica.supervisor_archive import build_archive
from footplate.server.data_dir import DataDir
from footplate.server.listener import listen
from footplate.server.machine import RandomIds, free_port, memory_bytes


@pytest.fixture
def data_dir(tmp_path: Path) -> DataDir:
    data_dir = DataDir(tmp_path / "data")
    data_dir.make()
    return data_dir


def test_one_owner_at_a_time(data_dir: DataDir) -> None:
    data_dir.announce("http://127.0.0.1:1")
    refusal = pytest.raises(FailedPrecondition, match=r"another server \(process \d+, http://")
    with data_dir.claimed(), refusal, DataDir(data_dir.root).claimed():
        pass
    with DataDir(data_dir.root).claimed():
        pass


def test_owners_that_share_it_share_it_with_nobody_else(data_dir: DataDir) -> None:
    others = DataDir(data_dir.root)
    with (
        data_dir.claimed(shared=True),
        others.claimed(shared=True),
        pytest.raises(FailedPrecondition),
        DataDir(data_dir.root).claimed(),
    ):
        pass
    refusal = pytest.raises(FailedPrecondition, match="another server")
    with data_dir.claimed(), refusal, others.claimed(shared=True):
        pass


def test_only_the_announcer_withdraws(data_dir: DataDir) -> None:
    data_dir.announce("http://127.0.0.1:1")
    others = json.loads(data_dir.server_file.read_bytes()) | {"pid": 1}
    data_dir.server_file.write_text(json.dumps(others))
    data_dir.withdraw()
    assert data_dir.server_file.exists()


def test_servers_are_listed_while_they_live(data_dir: DataDir) -> None:
    folder = data_dir.root / "servers"
    (folder / "dead.json").write_text('{"url": "http://127.0.0.1:1", "pid": 4194305}')
    (folder / "spoilt.json").write_text("{")
    data_dir.enlist("one", "http://127.0.0.1:2")
    data_dir.enlist("two", "http://127.0.0.1:3")
    assert sorted(path.name for path in folder.iterdir()) == ["one.json", "two.json"]
    data_dir.remove_server("one")
    data_dir.remove_server("one")
    assert [path.name for path in folder.iterdir()] == ["two.json"]


def test_its_identity_and_secret_are_the_same_for_all_who_come_first(data_dir: DataDir) -> None:
    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(lambda _: DataDir(data_dir.root).identity(), range(32)))
        secrets = set(pool.map(lambda _: DataDir(data_dir.root).secret(), range(32)))
    assert len(ids) == len(secrets) == 1
    assert [path.name for path in data_dir.root.iterdir() if path.name.startswith(".")] == []


def test_it_remembers_its_database(data_dir: DataDir) -> None:
    identity = data_dir.identity()
    assert identity.database is None
    data_dir.settle(identity, "one")
    assert data_dir.identity() == replace(identity, database="one")
    for spoilt in ("", "{", '{"id": "", "database": null}', '{"id": null, "database": null}'):
        (data_dir.root / "identity.json").write_text(spoilt)
        with pytest.raises(FailedPrecondition, match="is damaged"):
            data_dir.identity()


@pytest.mark.parametrize("key", [b"", b"x", bytes(range(31)), bytes(32)])
def test_a_spoilt_secret_is_named_with_the_way_out(data_dir: DataDir, key: bytes) -> None:
    (data_dir.root / "secret").write_bytes(key)
    with pytest.raises(
        FailedPrecondition, match=r"/secret is damaged: .* Put the file back from a copy"
    ):
        data_dir.secret()


def test_one_with_a_database_of_sqlite_belongs_to_that(data_dir: DataDir) -> None:
    (data_dir.root / "footplate.db").write_text("SQLite format 3")
    assert data_dir.identity().database == "sqlite"


def test_the_announcement_is_there_or_not_and_never_half(data_dir: DataDir) -> None:
    assert data_dir.announcement() is None
    data_dir.announce("http://127.0.0.1:1")
    data_dir.announce("http://127.0.0.1:2")

    found = data_dir.announcement()
    assert found is not None
    assert found.url == "http://127.0.0.1:2"
    data_dir.server_file.write_text('{"url": ')
    assert data_dir.announcement() is None
    data_dir.withdraw()
    data_dir.withdraw()
    assert not data_dir.server_file.exists()


def test_it_remembers_the_ports_of_the_last_servers(data_dir: DataDir) -> None:
    assert data_dir.last_ports() == ()
    for port in (40001, 40002, 40001):
        data_dir.keep_port(port)
    assert DataDir(data_dir.root).last_ports() == (40001, 40002)
    for port in range(40003, 40099):
        data_dir.keep_port(port)
    assert data_dir.last_ports() == tuple(range(40098, 40098 - 16, -1))
    for spoilt in ("", "x", "-1", "65536", "\xff"):
        (data_dir.root / "port").write_text(spoilt, encoding="latin-1")
        assert data_dir.last_ports() == ()


def test_each_of_several_servers_finds_a_port_of_before(data_dir: DataDir) -> None:
    """Programs that go on know the port of the one that led; any of them answers them."""

    def start() -> socket.socket:
        listener = listen("127.0.0.1", 0, data_dir.last_ports())
        data_dir.keep_port(listener.getsockname()[1])
        return listener

    first, second = start(), start()
    before = first.getsockname()
    first.close()
    with closing(start()) as again, closing(second):
        assert again.getsockname() == before


def test_a_place_that_can_hold_nothing_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(InvalidArgument, match=r"file.*: Not a directory; choose another"):
        DataDir(tmp_path / "file" / "data").make()


@pytest.mark.parametrize("unfit", ["", "logs", "buckets"])
def test_a_place_that_may_not_be_written_to_is_named(
    data_dir: DataDir, unfit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a read-only file system; who runs tests as root may write anywhere else."""
    folder = data_dir.root / unfit
    monkeypatch.setattr(os, "access", lambda path, _mode: path != folder)
    with pytest.raises(InvalidArgument) as caught:
        data_dir.make()
    assert str(caught.value) == (
        f"data_dir: '{data_dir.root}' given, where the server can't store anything: {folder}: "
        "this user may not write into this folder; choose another --data-dir"
    )


@pytest.mark.parametrize("unfit", ["footplate.db", "footplate.db-wal", "identity.json", "secret"])
def test_a_file_that_may_not_be_written_to_is_named(
    data_dir: DataDir, unfit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = data_dir.root / unfit
    monkeypatch.setattr(os, "access", lambda path, _mode: path != file)
    data_dir.make()
    file.touch()
    with pytest.raises(InvalidArgument) as caught:
        data_dir.make()
    assert str(caught.value) == (
        f"data_dir: '{data_dir.root}' given, where the server can't store anything: {file}: this "
        "user may not read and write this file; choose another --data-dir"
    )


def test_an_owner_needs_a_lock(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"footplate\.lock: No such file"):  # noqa: SIM117
        with DataDir(tmp_path / "nowhere").claimed():
            pass


def test_secrets_are_this_users_alone_and_last(data_dir: DataDir) -> None:
    secret = data_dir.secret()
    data_dir.announce("http://127.0.0.1:1")

    assert len(secret) == 32
    assert DataDir(data_dir.root).secret() == secret
    for path in (data_dir.root, data_dir.root / "secret", data_dir.server_file):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


def test_a_directory_of_everyones_holds_nothing_that_others_can_read(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        DataDir(tmp_path).make()
        build_archive(tmp_path / "cache")
    finally:
        os.umask(before)

    for name in ("buckets", "logs", "replicas", "cache"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o700


def test_ids_look_like_the_real_ones() -> None:
    ids = RandomIds()
    numbers = {ids.number() for _ in range(100)}

    assert len(numbers) == 100
    assert all(len(str(number)) == 19 for number in numbers)
    assert len({ids.uid() for _ in range(100)}) == 100


def test_the_machine_is_measured() -> None:
    assert memory_bytes() > 1 << 20
    assert 0 < free_port() < 65536


def test_a_server_loads_nothing_that_only_a_search_needs() -> None:
    code = (
        "import sys\n"
        "import footplate.server.serving, footplate.server.service\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'footplate.tuning', 'rich', 'alembic'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
