"""The users of programs: reserved, told to others, opened a way to what they write."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from footplate.protocol.ticket import SupervisorTicket
from footplate.replica import program_user
from footplate.replica.context import Context
from footplate.replica.environment.build_isolation import isolate_build
from footplate.replica.environment.errors import PreparationError
from footplate.replica.isolation import levels, users
from footplate.replica.isolation.access_lists import grant
from footplate.replica.isolation.hidden_paths import find_closed
from footplate.replica.isolation.users import NoUser, User
from footplate.replica.program_spec import TaskError
from footplate.replica.workdir import Home
from tests.support.promised import make_promised
from tests.support.replica_context import make_task

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs abstract sockets")
FIRST = 2_000_000_000 + os.getpid() * 8
"""Of a range that no other test has."""


def test_no_two_programs_have_the_same_user() -> None:
    held = [users.reserve(FIRST, FIRST + 3) for _ in range(3)]
    assert sorted(user.uid for user in held) == [FIRST + 1, FIRST + 2, FIRST + 3]
    assert {user.gid for user in held} == {FIRST}
    with pytest.raises(NoUser, match=f"all user ids from {FIRST + 1} to {FIRST + 3}"):
        users.reserve(FIRST, FIRST + 3)
    freed = held.pop()
    assert freed.reservation is not None
    freed.reservation.close()
    again = users.reserve(FIRST, FIRST + 3)
    assert again.uid == freed.uid
    for user in (*held, again):
        assert user.reservation is not None
        user.reservation.close()


def test_a_user_survives_json() -> None:
    told = json.loads(json.dumps(User(7, 8, [44], "trainer").encode()))
    user = User.decode(told)
    assert (user.uid, user.gid, user.groups, user.name) == (7, 8, [44], "trainer")


def test_the_outermost_closed_directory_is_found(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    inner = closed / "inner" / "own"
    inner.mkdir(parents=True)
    (tmp_path / "open").mkdir()
    outside = find_closed([str(tmp_path / "x")])  # pytest closes its own
    closed.chmod(0o700)
    (closed / "inner").chmod(0o700)
    found = find_closed([str(inner), str(tmp_path / "open" / "own")])
    assert found == (outside or [str(closed)])
    replaced = [*map(str, tmp_path.parents), str(tmp_path), str(closed)]
    assert find_closed([str(inner)], replaced) == [str(closed / "inner")]


def test_access_lists_reach_what_is_there_and_what_comes(tmp_path: Path) -> None:
    top = tmp_path / "buckets"
    (top / "b").mkdir(parents=True)
    (top / "b" / "object").write_text("x")
    (top / "b" / "link").symlink_to("/etc/passwd")
    try:
        grant(str(top), FIRST)
    except OSError:  # this file system has none: then programs are told to be root
        assert not any(name.startswith("system.posix_acl") for name in os.listxattr(top))
        return
    (top / "b" / "new").mkdir()
    (top / "b" / "new" / "object").write_text("x")
    for name in ("", "b", "b/object", "b/new", "b/new/object"):
        list_ = os.getxattr(top / name, "system.posix_acl_access")
        assert FIRST.to_bytes(4, "little") in list_, name
    assert (top / "b" / "object").stat().st_mode & 0o007 == 0o004


class FakeDesk(SimpleNamespace):
    """As much of a desk as these need; ``events`` are what it says."""

    def __init__(self, home: Path) -> None:
        self.events: list[str] = []
        journal = SimpleNamespace(event=lambda kind, words: self.events.append(f"{kind} {words}"))
        super().__init__(home=Home(str(home)), user=User(FIRST + 1, FIRST), journal=journal)
        self.user_processes = 0

    @property
    def context(self) -> Context:
        return cast("Context", self)


def test_without_any_way_to_write_buckets_no_program_starts(tmp_path: Path) -> None:
    fake = FakeDesk(tmp_path)
    words = r"in /proc/self \(no such mounts\), and the supervisor can't set access lists: "
    with pytest.raises(TaskError, match=words):
        program_user.open_directories(fake.context, ["/proc/self"], "no such mounts")
    assert fake.user is not None


def test_a_link_in_the_place_of_a_directory_makes_no_program_root(tmp_path: Path) -> None:
    fake = FakeDesk(tmp_path)
    (tmp_path / "job").symlink_to(tmp_path)
    user = fake.user
    with pytest.raises(TaskError, match="the supervisor can't set access lists: "):
        program_user.open_directories(fake.context, [str(tmp_path / "job")], "no such mounts")
    assert fake.user is user
    assert user is not None
    assert fake.events == []


def test_a_program_that_its_user_could_not_reach_does_not_start(tmp_path: Path) -> None:
    fake = FakeDesk(tmp_path)
    tmp_path.chmod(0o700)
    with pytest.raises(
        TaskError, match="can't run as a user of its own, because this user can't enter"
    ):
        program_user.require_reach(fake.context, [f"{tmp_path}/"])


def refuse(path: str, uid: int, gid: int) -> None:
    """As vfat does."""
    raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), path)


def ignore(path: str, uid: int, gid: int) -> None:
    """As vfat does with the option ``quiet``, and some network file systems."""


@pytest.mark.parametrize(
    ("chown", "reason"),
    [
        (refuse, "work: Operation not permitted"),
        (ignore, "work keeps its owner"),
    ],
)
def test_on_a_file_system_without_owners_no_program_starts_that_was_promised_a_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chown: Callable[..., None], reason: str
) -> None:
    monkeypatch.setattr(os, "chown", chown)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    fake = FakeDesk(tmp_path)
    fake.user = None
    fake.home.make_directories()
    fake.ticket = SupervisorTicket(program_users=(FIRST, FIRST + 7))
    fake.task = make_task(job="projects/p/jobs/j")
    with pytest.raises(TaskError, match=reason):
        program_user.choose(fake.context, make_promised())
    assert fake.user is None
    assert program_user.read(fake.home) is None


def test_where_no_user_was_promised_the_program_is_root_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    fake = FakeDesk(tmp_path)
    fake.user = None
    fake.ticket = SupervisorTicket(program_users=(FIRST, FIRST + 7))
    fake.task = make_task(job="projects/p/jobs/j")
    said = program_user.choose(fake.context, make_promised(user="no setuid here"))
    assert said.startswith(
        "the program runs as root, because this machine can't change users: no setuid here"
    )
    assert levels.ROOT.missing in said
    assert fake.user is None


def test_on_a_file_system_without_owners_no_build_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "chown", refuse)
    ticket = SupervisorTicket(promised=make_promised())
    with pytest.raises(PreparationError, match=": Operation not permitted"):
        isolate_build(str(tmp_path), ticket, User(FIRST + 1, FIRST))


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files to groups")
def test_the_groups_of_device_files_that_not_everybody_may_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, group, mode in (
        ("nvidia0", 44, 0o660),
        ("nvidia-uvm", 45, 0o666),  # everybody may
        ("nvidiactl", 0, 0o660),  # a power of root
        ("kfd", 46, 0o660),
        ("sda", 6, 0o660),
    ):
        (tmp_path / name).touch()
        os.chown(tmp_path / name, 0, group)
        (tmp_path / name).chmod(mode)
    (tmp_path / "dri").mkdir()
    (tmp_path / "dri" / "renderD128").touch()
    os.chown(tmp_path / "dri" / "renderD128", 0, 47)
    monkeypatch.setattr(users, "_DEVICE_DIRECTORY", str(tmp_path))
    monkeypatch.setattr(users, "_RENDER_DIRECTORY", str(tmp_path / "dri"))
    assert users.find_device_groups() == [44, 46, 47]
