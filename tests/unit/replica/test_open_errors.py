"""A process that can't open a file now takes it neither for missing nor for gone."""

from __future__ import annotations

import builtins
import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from footplate.backends.local import untrusted_files
from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.bucket_directories import find_buckets
from footplate.replica.file_io import is_directory, is_there
from footplate.replica.isolation import procfs
from footplate.replica.kept_environments import kept
from footplate.replica.node_copies.copy_folder import CopyFolder
from footplate.replica.workdir import Home, Locked
from footplate.server import api_callers as calling_process
from footplate.server import api_callers as replica_records
from footplate.server import socket_owner


@pytest.fixture
def no_descriptors(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """When called, as if this process had all the files open that it may."""

    def refuse(*_: object, **__: object) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    def exhaust() -> None:
        for module, name in ((os, "open"), (builtins, "open"), (os, "scandir"), (os, "listdir")):
            monkeypatch.setattr(module, name, refuse)

    return exhaust


def test_a_process_that_can_not_be_read_has_not_ended(no_descriptors: Callable[[], None]) -> None:
    assert procfs.find(os.getpid()) is not None
    no_descriptors()
    with pytest.raises(OSError, match="Too many open files"):
        procfs.find(os.getpid())
    with pytest.raises(OSError, match="Too many open files"):
        next(procfs.find_all())


def test_who_can_not_be_identified_is_no_user(
    tmp_path: Path, no_descriptors: Callable[[], None]
) -> None:
    (tmp_path / "attempt" / "replica").mkdir(parents=True)
    no_descriptors()
    with pytest.raises(OSError, match="Too many open files"):
        calling_process.read_facts(os.getpid())
    with pytest.raises(OSError, match="Too many open files"):
        calling_process.find_holder(1, os.getuid())
    with pytest.raises(OSError, match="Too many open files"):
        list(replica_records.read_records(tmp_path))


def test_calls_are_not_unchecked_because_they_could_not_be_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **__: object) -> object:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr("socket.create_server", refuse)
    with pytest.raises(OSError, match="Too many open files"):
        socket_owner.is_available()


def test_a_mark_that_can_not_be_read_is_not_missing(
    tmp_path: Path, no_descriptors: Callable[[], None]
) -> None:
    (tmp_path / "gone").write_text("{}")
    assert untrusted_files.read(tmp_path / "other") is None
    no_descriptors()
    with pytest.raises(OSError, match="Too many open files"):
        untrusted_files.read(tmp_path / "gone")


def test_a_copied_file_that_can_not_be_opened_is_not_deleted_from_its_bucket(
    tmp_path: Path, no_descriptors: Callable[[], None]
) -> None:
    (tmp_path / "checkpoint").touch()
    (tmp_path / "link").symlink_to("/etc/passwd")
    folder = CopyFolder(str(tmp_path))
    assert folder.look_at(["missing"]) is None
    assert folder.look_at(["checkpoint", "below"]) is None
    assert folder.look_at(["link"]) is None
    no_descriptors()
    with pytest.raises(OSError, match="Too many open files"):
        folder.look_at(["checkpoint"])


def test_kept_environments_stay_where_the_marks_can_not_be_read(
    tmp_path: Path, no_descriptors: Callable[[], None]
) -> None:
    assert kept(str(tmp_path)) == set()
    no_descriptors()
    with pytest.raises(OSError, match="Too many open files"):
        kept(str(tmp_path))


def test_a_home_that_can_not_be_locked_has_no_other_supervisor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(OSError, match="Input/output error") as caught:
        Home(str(tmp_path)).take()
    assert not isinstance(caught.value, Locked)


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.EACCES])
def test_a_path_that_can_not_be_looked_at_is_not_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    assert is_directory(str(tmp_path))
    assert is_there(str(tmp_path))
    assert not is_directory(str(tmp_path / "missing"))
    assert not is_there(str(tmp_path / "missing" / "below"))

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", refuse)
        with pytest.raises(OSError, match=os.strerror(number)):
            is_directory(str(tmp_path))


def test_a_bucket_that_this_user_can_not_reach_is_none_of_its_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a Pod with a user of its own the service's directory may be another's."""
    (tmp_path / "stage").mkdir()
    ticket = SupervisorTicket(buckets=str(tmp_path))
    assert find_buckets(ticket, ["stage"]) == [str(tmp_path / "stage")]

    def refuse(*_: object, **__: object) -> os.stat_result:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "stat", refuse)
    assert find_buckets(ticket, ["stage"]) == []
