"""How a view comes about where some of what it is made of can't be had."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from footplate.replica.isolation import syscalls
from footplate.replica.isolation.containment import enter_view
from footplate.replica.isolation.hidden_paths import HiddenPaths, find_hidden, find_records
from footplate.replica.isolation.mount_namespace import MountNamespace
from footplate.replica.isolation.spawn import SpawnFailed, spawn

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs mount namespaces")


def look(view: MountNamespace, check: Callable[[], None]) -> None:
    """``check`` from inside; what it raises comes as SpawnFailed."""

    def body(ready: int) -> None:
        enter_view(view)
        check()
        os.close(ready)
        os._exit(0)

    os.waitpid(spawn(body), 0)


@pytest.fixture
def view(tmp_path: Path) -> MountNamespace:
    """Of ``data`` only ``data/shown/own`` is seen."""
    for name in ("root", "data/shown/own", "data/other"):
        (tmp_path / name).mkdir(parents=True)
    found = MountNamespace(str(tmp_path / "root"), "", "", ())
    data = str(tmp_path / "data")
    found.hidden_paths = HiddenPaths(
        str(tmp_path / "hidden_paths"), [data], [f"{data}/shown/own"], []
    )
    try:
        look(found, lambda: None)
    except SpawnFailed as error:
        pytest.skip(str(error))
    (tmp_path / "hidden_paths").mkdir(exist_ok=True)
    (tmp_path / "hidden_paths").rmdir()
    return found


@pytest.fixture(params=[True, False])
def memory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether file systems in memory can be mounted."""
    mount = syscalls.mount

    def refuse(
        source: str, target: str, flags: int, kind: str | None = None, data: str = ""
    ) -> None:
        if kind == "tmpfs":
            raise PermissionError(1, "Operation not permitted")
        mount(source, target, flags, kind, data)

    if not request.param:
        monkeypatch.setattr(syscalls, "mount", refuse)
    return bool(request.param)


def test_a_path_mask_hides_also_where_it_cannot_lie_in_memory(
    view: MountNamespace, tmp_path: Path, *, memory: bool
) -> None:
    data = tmp_path / "data"

    def check() -> None:
        assert sorted(os.listdir(data)) == ["shown"]  # noqa: PTH208
        (data / "shown" / "own" / "new").write_text("x")
        for path in (data / "new", data / "shown" / "new"):
            with pytest.raises(OSError, match="Read-only file system"):
                path.write_text("x")

    look(view, check)
    assert (data / "shown" / "own" / "new").read_text() == "x"
    assert (tmp_path / "hidden_paths").exists() == (not memory)


def test_a_view_has_one_root_and_nothing_of_its_making(view: MountNamespace) -> None:
    """Neither the host's root above it, nor a place where that was."""
    with os.scandir("/") as entries:
        host = {e.name for e in entries if e.is_symlink() or e.is_dir() or e.is_file()}

    def check() -> None:
        assert set(os.listdir("/")) == host  # noqa: PTH208
        assert os.getcwd() == "/"  # noqa: PTH109
        assert os.stat("/..").st_ino == os.stat("/").st_ino  # noqa: PTH116
        with open("/proc/self/mountinfo", encoding="ascii") as file:
            assert sum(line.split()[4] == "/" for line in file) == 1

    look(view, check)


@pytest.mark.parametrize("part", ["jobs", "jobs/own", "jobs/own/model"])
@pytest.mark.parametrize("use", ["shown", "bound", "single", "directories"])
def test_what_has_become_a_link_is_not_mounted(
    view: MountNamespace, tmp_path: Path, part: str, use: str
) -> None:
    """It was a directory when the supervisor looked, and a program has changed it since."""
    secrets = tmp_path / "secrets" / "own" / "model"
    secrets.mkdir(parents=True)
    path = tmp_path / "jobs" / "own" / "model"
    path.mkdir(parents=True)
    _use(view, str(path), use)
    look(view, lambda: None)

    (tmp_path / part).rename(tmp_path / "aside")
    ends = {"jobs": secrets.parents[1], "jobs/own": secrets.parent, "jobs/own/model": secrets}
    (tmp_path / part).symlink_to(ends[part])
    with pytest.raises(SpawnFailed, match=f"'{(tmp_path / part).name}' is a link"):
        look(view, lambda: None)


def test_a_bucket_that_was_deleted_meanwhile_is_left_out(
    view: MountNamespace, tmp_path: Path
) -> None:
    buckets, hidden_paths = tmp_path / "data" / "shown" / "own", view.hidden_paths
    kept, deleted = buckets / "kept", buckets / "deleted"
    for path in (kept, deleted):
        path.mkdir()
    assert hidden_paths is not None
    view.buckets, view.single = str(buckets), [str(kept), str(deleted)]
    hidden_paths.shown = [*view.single]
    deleted.rmdir()

    def check() -> None:
        assert os.listdir("/gcs") == ["kept"]  # noqa: PTH208
        assert os.listdir(buckets) == ["kept"]  # noqa: PTH208

    look(view, check)


def _use(view: MountNamespace, path: str, use: str) -> None:
    if use == "shown":
        assert view.hidden_paths is not None
        view.hidden_paths.shown = [path]
    elif use == "directories":
        view.directories, view.kept = [path], [path]
    else:
        view.buckets, view.single = os.path.dirname(path), []  # noqa: PTH120
        if use == "single":
            view.single = [path]
        else:
            view.bound = [(path, "bound", True)]


@pytest.mark.parametrize(
    "find",
    [
        lambda path: find_hidden([path]),
        lambda path: HiddenPaths("", [], [], [path]).sealed,
        lambda path: find_records(path) and [path],
    ],
)
def test_what_cannot_be_looked_at_is_not_left_open(
    find: Callable[[str], list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".footplate").mkdir()
    assert find(str(tmp_path)) == [str(tmp_path)]

    stat = os.stat

    def fail(path: str, **more: Any) -> os.stat_result:
        if str(path).startswith(str(tmp_path)):
            raise OSError(errno.EIO, "Input/output error", path)
        return stat(path, **more)

    monkeypatch.setattr(os, "stat", fail)
    with pytest.raises(OSError, match="Input/output error"):
        find(str(tmp_path))
