"""Copies of buckets for programs, which may write anything there."""

from __future__ import annotations

from pathlib import Path

import pytest

from footplate.buckets import copies as module
from footplate.buckets.copies import FolderCopies
from footplate.buckets.folder_buckets import FolderBuckets
from footplate.domain.errors import FailedPrecondition, NotFound
from footplate.domain.names import JobUid

JOB = JobUid("uid")
ALL = ("",)


@pytest.fixture
def copies(tmp_path: Path, buckets: FolderBuckets) -> FolderCopies:
    for name in ("train/x", "train/y", "other"):
        buckets.write("stage", name, [name.encode()])
    return FolderCopies(tmp_path / "copies", buckets)


@pytest.fixture
def copy(copies: FolderCopies) -> Path:
    return copies.folder(JOB, "stage")


def names(buckets: FolderBuckets) -> list[str]:
    return [found.name for found in buckets.list("stage").objects]


def read(buckets: FolderBuckets, name: str) -> bytes:
    with buckets.read("stage", name) as file:
        return file.read()


def test_only_what_is_asked_for_is_fetched(copies: FolderCopies, copy: Path) -> None:
    fetched = copies.fetch(JOB, "stage", ("train/",))
    assert (fetched.complete, fetched.objects, fetched.size_bytes) == (True, 2, 14)
    assert (copy / "train" / "x").read_text() == "train/x"
    assert not (copy / "other").exists()
    assert copies.unsaved(JOB, "stage") == ()


def test_what_a_program_changes_is_saved(
    copies: FolderCopies, copy: Path, buckets: FolderBuckets
) -> None:
    copies.fetch(JOB, "stage", ALL)
    before = buckets.stat("stage", "train/y")
    (copy / "train" / "x").write_text("changed")
    (copy / "out").mkdir()
    (copy / "out" / "model.json").write_text("{}")
    (copy / "other").unlink()
    assert copies.unsaved(JOB, "stage") == ("out/model.json", "train/x")
    saved = copies.save(JOB, "stage")
    assert (saved.complete, saved.objects) == (True, 2)
    assert names(buckets) == ["out/model.json", "train/x", "train/y"]
    assert read(buckets, "train/x") == b"changed"
    assert buckets.stat("stage", "out/model.json").content_type == "application/json"
    assert buckets.stat("stage", "train/y") == before
    assert copies.save(JOB, "stage").objects == 0


def test_a_later_start_gets_what_is_new_and_keeps_what_the_program_wrote(
    copies: FolderCopies, copy: Path, buckets: FolderBuckets
) -> None:
    copies.fetch(JOB, "stage", ALL)
    (copy / "train" / "x").write_text("the program's")
    (copy / "own").write_text("the program's")
    (copy / "train" / "y").unlink()
    for name in ("train/x", "own", "other", "new"):
        buckets.write("stage", name, [b"theirs"])
    copies.fetch(JOB, "stage", ALL)
    assert (copy / "train" / "x").read_text() == (copy / "own").read_text() == "the program's"
    assert (copy / "other").read_text() == (copy / "new").read_text() == "theirs"
    assert not (copy / "train" / "y").exists()


def test_what_others_wrote_meanwhile_is_not_deleted(
    copies: FolderCopies, copy: Path, buckets: FolderBuckets
) -> None:
    copies.fetch(JOB, "stage", ALL)
    (copy / "other").unlink()
    buckets.write("stage", "other", [b"theirs"])
    copies.save(JOB, "stage")
    assert read(buckets, "other") == b"theirs"


def test_links_save_nothing_from_outside(
    copies: FolderCopies, copy: Path, buckets: FolderBuckets, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("secret")
    copies.fetch(JOB, "stage", ALL)
    (copy / "link").symlink_to(tmp_path / "secret")
    (copy / "folder").symlink_to(tmp_path)
    (copy / "train" / "x").unlink()
    (copy / "train" / "x").symlink_to(tmp_path / "secret")
    copies.save(JOB, "stage")
    assert names(buckets) == ["other", "train/y"]


def test_fetching_into_a_link_writes_nothing_outside(
    copies: FolderCopies, copy: Path, tmp_path: Path, buckets: FolderBuckets
) -> None:
    (tmp_path / "outside").mkdir()
    copy.mkdir(parents=True)
    (copy / "train").symlink_to(tmp_path / "outside")
    fetched = copies.fetch(JOB, "stage", ALL)
    assert fetched.skipped == ("train/x", "train/y")
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_call_ends_after_its_time_and_the_next_one_goes_on(
    tmp_path: Path, copies: FolderCopies, buckets: FolderBuckets
) -> None:
    times = iter((0, 1, 5, 10, 11, 11, 11))  # a call begins, and comes to each object
    slow = FolderCopies(tmp_path / "copies", buckets, lambda: next(times), step_s=2)
    first = slow.fetch(JOB, "stage", ALL)
    assert (first.complete, first.objects) == (False, 1)
    second = slow.fetch(JOB, "stage", ALL)
    assert (second.complete, second.objects) == (True, 3)


def test_no_copy_fills_the_disk(
    copies: FolderCopies, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SPARED_BYTES", 1 << 60)
    with pytest.raises(FailedPrecondition, match="Name fewer objects"):
        copies.fetch(JOB, "stage", ALL)
    assert list(copy.iterdir()) == []


def test_what_cannot_be_saved_is_named_and_kept(
    copies: FolderCopies, copy: Path, buckets: FolderBuckets
) -> None:
    copies.fetch(JOB, "stage", ("train/",))
    (copy / "train" / "x").write_text("changed")
    for name in names(buckets):
        buckets.delete("stage", name)
    buckets.delete_bucket("stage")
    with pytest.raises(NotFound):
        copies.save(JOB, "stage")
    assert copies.unsaved(JOB, "stage") == ("train/x",)
    copies.remove(lambda _: True)
    assert (copy / "train" / "x").read_text() == "changed"


def test_a_copy_goes_when_it_is_saved_and_needed_no_more(copies: FolderCopies, copy: Path) -> None:
    copies.fetch(JOB, "stage", ALL)
    copies.remove(lambda uid: uid != JOB)
    assert (copy / "other").exists()
    copies.remove(lambda uid: uid == JOB)
    assert not copy.exists()
