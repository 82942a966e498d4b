"""The directories of a job are made and used where the server said, through no link."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.filesystem_view import find_granted
from footplate.replica.isolation.access_lists import grant
from footplate.replica.isolation.users import User
from footplate.replica.program_spec import TaskError, make_directories
from footplate.replica.program_user import own
from tests.support.replica_context import make_context, make_task


class World:
    """A bucket of the job's project, one of another, and a root of plain directories."""

    def __init__(self, folder: Path) -> None:
        self.bucket = folder / "buckets" / "own"
        self.theirs = folder / "buckets" / "theirs"
        self.results = folder / "results"
        self.outside = folder / "outside"
        for path in (self.bucket, self.theirs, self.results, self.outside):
            path.mkdir(parents=True)
        self.task = make_task(buckets=("own",))
        self.ticket = SupervisorTicket(
            buckets=str(folder / "buckets"), job_dir_roots=(str(self.results),)
        )
        self.context = make_context(folder / "home", self.task, self.ticket)

    def make(self, path: Path) -> list[str]:
        self.task.directories = (str(path),)
        return make_directories(self.context)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.context.directory_locks.release()


def test_they_are_made(world: World) -> None:
    for top in (world.bucket, world.results):
        assert world.make(top / "run" / "model") == [str(top / "run" / "model")]
        assert (top / "run" / "model").is_dir()
    assert world.make(world.bucket) == [str(world.bucket)]


@pytest.mark.parametrize("where", ["bucket", "results"])
@pytest.mark.parametrize("part", ["run", "run/job", "run/job/model"])
@pytest.mark.parametrize("target", ["outside", "theirs", "..", "/tmp", "."])
def test_a_link_in_the_place_of_one_ends_the_job(
    world: World, where: str, part: str, target: str
) -> None:
    top = getattr(world, where)
    (top / part).parent.mkdir(parents=True, exist_ok=True)
    (top / part).symlink_to(getattr(world, target, target))
    with pytest.raises(TaskError, match=r"'.*' is a link"):
        world.make(top / "run/job/model")
    assert world.context.directories == []
    assert not list(world.outside.iterdir())
    assert not list(world.theirs.iterdir())


def test_a_bucket_that_is_a_link(world: World) -> None:
    world.bucket.rmdir()
    world.bucket.symlink_to("theirs")
    with pytest.raises(TaskError, match="is a link"):
        world.make(world.bucket / "run")


def test_the_administrators_own_links_are_followed(world: World, tmp_path: Path) -> None:
    (tmp_path / "short").symlink_to("results")
    world.ticket.job_dir_roots = (str(tmp_path / "short"),)
    assert world.make(tmp_path / "short" / "run") == [str(world.results / "run")]


def test_what_becomes_a_link_later_stays_what_it_was_called(world: World) -> None:
    """Its use by the same path, which no link is followed in, fails then."""
    (made,) = world.make(world.results / "run")
    (world.results / "run").rmdir()
    (world.results / "run").symlink_to(world.outside)
    assert made in find_granted(world.context)
    assert str(world.outside) not in find_granted(world.context)
    with pytest.raises(NotADirectoryError):
        grant(made, os.getgid())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_no_link_is_given_to_a_user(world: World) -> None:
    (world.results / "tmp").symlink_to(world.outside)
    user = User(1_900_000_000, 1_900_000_000, [])
    with pytest.raises(NotADirectoryError):
        own([str(world.results / "tmp")], user)
    assert world.outside.stat().st_uid == 0
    assert own([str(world.outside)], user) == ""
    assert world.outside.stat().st_uid == user.uid
