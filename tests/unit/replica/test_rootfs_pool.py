"""Roots of views are kept for others as long as nobody has touched them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from footplate.replica.isolation import rootfs_pool

if TYPE_CHECKING:
    from collections.abc import Callable

ADDED = ("gcs", "proc", "tmp")


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    return tmp_path / ".roots"


def take(path: Path, pool: Path) -> rootfs_pool.RootDirectory:
    root = rootfs_pool.take(str(path), str(pool), ADDED)
    assert root is not None
    return root


def listed(path: Path | str) -> set[str]:
    return {entry.name for entry in Path(path).iterdir()}


def seen_by_programs() -> set[str]:
    with os.scandir("/") as entries:
        names = {e.name for e in entries if e.is_symlink() or e.is_dir() or e.is_file()}
    return names | set(ADDED)


def test_a_new_one_has_a_place_for_all_that_the_host_has(tmp_path: Path, pool: Path) -> None:
    take(tmp_path / "root", pool)
    assert listed(tmp_path / "root") == seen_by_programs()
    for name in listed("/"):
        own, host = tmp_path / "root" / name, f"/{name}"
        if os.path.islink(host):  # noqa: PTH114
            assert os.readlink(own) == os.readlink(host)  # noqa: PTH115
        elif own.exists():
            assert own.is_dir() == os.path.isdir(host)  # noqa: PTH112


def test_one_that_was_given_back_is_given_to_the_next(tmp_path: Path, pool: Path) -> None:
    first = take(tmp_path / "first", pool)
    number = (tmp_path / "first").stat().st_ino
    assert first.give_back("a")
    assert listed(pool) == {"a"}
    second = take(tmp_path / "second", pool)
    assert (tmp_path / "second").stat().st_ino == number
    assert listed(tmp_path / "second") == seen_by_programs()
    assert not listed(pool)
    assert second.give_back("b")
    assert listed(pool) == {"b"}


def make_and_remove(path: Path) -> None:
    path.touch()
    path.unlink()


TRACES: list[Callable[[Path], object]] = [
    lambda root: (root / "left").mkdir(),
    lambda root: (root / "left").write_text("x"),
    lambda root: (root / "tmp").rmdir(),
    lambda root: root.chmod(0o700),
    lambda root: make_and_remove(root / "left"),
]


@pytest.mark.parametrize("leave", TRACES)
def test_one_that_somebody_has_changed_stays_where_it_is(
    tmp_path: Path, pool: Path, leave: Callable[[Path], object]
) -> None:
    path = tmp_path / "root"
    root = take(path, pool)
    before = path.stat().st_ctime_ns
    while path.stat().st_ctime_ns == before:  # the kernel's clock of files is a coarse one
        leave(path)
        if path.stat().st_ctime_ns == before:
            undo(path)
    assert not root.give_back("a")
    assert path.is_dir()
    assert not pool.exists()


def undo(path: Path) -> None:
    """What was done in the same tick as what came before can be done again."""
    path.chmod(0o755)
    left = path / "left"
    if left.is_dir():
        left.rmdir()
    left.unlink(missing_ok=True)
    (path / "tmp").mkdir(exist_ok=True)


def link_instead(place: Path) -> None:
    place.rmdir()
    place.symlink_to("/")


def spoil_link(kept: Path) -> None:
    elsewhere = kept.parent.with_name("elsewhere")
    kept.rename(elsewhere)
    kept.symlink_to(elsewhere)


SPOILERS: list[Callable[[Path], object]] = [
    lambda kept: (kept / "tmp").rmdir(),
    lambda kept: (kept / "unmounted").mkdir(),
    lambda kept: link_instead(kept / "tmp"),
    spoil_link,
]


@pytest.mark.parametrize("spoil", SPOILERS)
def test_one_that_is_not_like_the_host_is_not_given(
    tmp_path: Path, pool: Path, spoil: Callable[[Path], object]
) -> None:
    """The host's root may have got another directory, or lost one, since."""
    take(tmp_path / "first", pool).give_back("a")
    spoil(pool / "a")
    take(tmp_path / "second", pool)
    assert not (tmp_path / "second").is_symlink()
    assert listed(tmp_path / "second") == seen_by_programs()
    assert "a" not in listed(pool)


def test_no_more_are_kept_than_so_many(
    tmp_path: Path, pool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rootfs_pool, "MOST", 1)
    one, two = take(tmp_path / "one", pool), take(tmp_path / "two", pool)
    assert one.give_back("a")
    assert not two.give_back("b")
    assert listed(pool) == {"a"}


def test_without_a_pool_there_are_only_new_ones(tmp_path: Path) -> None:
    root = rootfs_pool.take(str(tmp_path / "root"), "", ADDED)
    assert root is not None
    assert not root.give_back("a")
    assert (tmp_path / "root").is_dir()


def test_where_none_can_be_made_there_is_none(tmp_path: Path, pool: Path) -> None:
    assert rootfs_pool.take(str(tmp_path / "nowhere" / "root"), str(pool), ADDED) is None
