"""What of the host a container sees, and who may write to it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from footplate.protocol.task import BoundBucket
from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.container.mounts import find_mounts, open_buckets
from footplate.replica.container.runner import find_inside
from footplate.replica.context import Context
from footplate.replica.program_spec import make_directories
from tests.support.replica_context import make_context, make_task


@pytest.fixture
def context(tmp_path: Path) -> Context:
    (tmp_path / "home" / "metrics").mkdir(parents=True)
    (tmp_path / "data" / "buckets" / "stage" / "out").mkdir(parents=True)
    own = tmp_path / "own"
    own.mkdir()
    buckets = tmp_path / "data" / "buckets"
    task = make_task(directories=(str(buckets / "stage" / "out"), str(own)))
    context = make_context(tmp_path / "home", task, SupervisorTicket(buckets=str(buckets)))
    make_directories(context)
    return context


def test_buckets_metrics_and_the_jobs_own_directories(context: Context, tmp_path: Path) -> None:
    metrics, buckets = str(tmp_path / "home" / "metrics"), str(tmp_path / "data" / "buckets")

    mounts = find_mounts(context, "/var/hypertune")

    assert [(mount["Source"], mount["Target"], mount["ReadOnly"]) for mount in mounts] == [
        (metrics, "/var/hypertune", False),
        (metrics, "/tmp/hypertune", False),
        (buckets, "/gcs", False),
        (str(tmp_path / "own"), str(tmp_path / "own"), False),
    ]
    assert os.stat(metrics).st_mode & 0o777 == 0o777  # noqa: PTH116


def test_buckets_are_opened_only_where_nobody_else_reaches_them(
    context: Context, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    out, other = data / "buckets" / "stage" / "out", data / "buckets" / "stage" / "other"
    other.mkdir(mode=0o700)
    data.chmod(0o755)
    fault = open_buckets(context)
    assert fault == f"other users of this machine can open {data}; close it with chmod 700 {data}"
    assert out.stat().st_mode & 0o777 != 0o777

    data.chmod(0o700)
    assert open_buckets(context) == ""
    for path in (data / "buckets", out.parent, out):
        assert path.stat().st_mode & 0o777 == 0o777
    assert other.stat().st_mode & 0o777 == 0o700


def test_only_the_buckets_of_the_task_are_there(context: Context, tmp_path: Path) -> None:
    buckets = tmp_path / "data" / "buckets"
    (buckets / "theirs").mkdir()
    (buckets / ".footplate").mkdir()
    context.task.buckets = ("stage",)
    mounts = {mount["Target"]: mount["Source"] for mount in find_mounts(context, "/var/hypertune")}
    assert mounts["/gcs/stage"] == str(buckets / "stage")
    assert not {"/gcs", "/gcs/theirs", "/gcs/.footplate"} & set(mounts)

    (tmp_path / "data").chmod(0o700)
    (buckets / "theirs").chmod(0o700)
    assert open_buckets(context) == ""
    assert (buckets / "stage").stat().st_mode & 0o777 == 0o777
    assert (buckets / "theirs").stat().st_mode & 0o777 == 0o700


def test_bound_buckets_are_mounted_and_stay_as_they_are(context: Context, tmp_path: Path) -> None:
    for name in ("srv", "results"):
        (tmp_path / name).mkdir(mode=0o700)
    context.task.buckets = ()
    context.task.bound_buckets = (
        BoundBucket("data", str(tmp_path / "srv"), read_only=True),
        BoundBucket("own", str(tmp_path / "results")),
    )
    context.task.directories = (str(tmp_path / "results"),)
    make_directories(context)
    mounts = {mount["Target"]: mount for mount in find_mounts(context, "/var/hypertune")}
    found = [
        (mounts[place]["Source"], mounts[place]["ReadOnly"]) for place in ("/gcs/data", "/gcs/own")
    ]
    assert found == [(str(tmp_path / "srv"), True), (str(tmp_path / "results"), False)]
    assert str(tmp_path / "results") not in mounts

    (tmp_path / "data").chmod(0o700)
    assert open_buckets(context) == ""
    assert (tmp_path / "results").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("part", ["out", "out/job"])
def test_a_link_opens_no_directory_to_the_images_user(
    context: Context, tmp_path: Path, part: str
) -> None:
    stage, secrets = tmp_path / "data" / "buckets" / "stage", tmp_path / "secrets"
    (secrets / "job").mkdir(parents=True)
    context.task.directories = (str(stage / "out" / "job"),)
    make_directories(context)
    (tmp_path / "data").chmod(0o700)
    (secrets / "job").chmod(0o700)
    (stage / part).rename(stage / "aside")
    (stage / part).symlink_to(secrets / "job" if part == "out/job" else secrets)

    assert open_buckets(context) == ""
    assert stage.stat().st_mode & 0o777 == 0o777
    assert (secrets / "job").stat().st_mode & 0o777 == 0o700
    assert secrets.stat().st_mode & 0o777 != 0o777


def test_a_directory_that_has_become_a_link_is_not_given_to_the_engine(
    context: Context, tmp_path: Path
) -> None:
    (tmp_path / "own").rmdir()
    (tmp_path / "own").symlink_to("/etc")
    with pytest.raises(NotADirectoryError, match="'own' is a link"):
        find_mounts(context, "/var/hypertune")


def test_an_images_working_directory_lies_in_its_own_files(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("upper")
    for path, found in (("/app/x", "app/x"), ("/../../etc", "etc"), ("", ""), ("a/../..", "")):
        assert find_inside(str(tmp_path / "link"), path) == str(tmp_path / "upper" / found)
