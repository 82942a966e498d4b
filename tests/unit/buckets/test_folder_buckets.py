"""What is special about buckets that are folders: names, links, and programs that write there."""

import errno
import fcntl
import os
import shutil
import sqlite3
import stat
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import google_crc32c
import pytest

from footplate.buckets.file_state import FileState
from footplate.buckets.folder_buckets import FolderBuckets
from footplate.buckets.recorded_files import RecordedFiles
from footplate.domain.errors import (
    Aborted,
    AlreadyExists,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    Unavailable,
)
from footplate.domain.names import GcsUri
from footplate.ports.object_storage import Checksums, Draft
from tests.support.clock import FakeClock

UNHOLDABLE = (
    "/a",
    "a//b",
    "//",
    "../a",
    "a/../b",
    "a/..",
    "./a",
    "a/./b",
    "a\0b",
    "x" * 256,
    "a/" + "é" * 128,
)


class SetClock:
    def __init__(self, now: datetime) -> None:
        self.time = now

    def now(self) -> datetime:
        return self.time


def names(buckets: FolderBuckets) -> list[str]:
    return [found.name for found in buckets.list("stage").objects]


def read(buckets: FolderBuckets, name: str) -> bytes:
    with buckets.read("stage", name) as file:
        return file.read()


@pytest.mark.parametrize("name", UNHOLDABLE)
def test_what_a_folder_cannot_hold(buckets: FolderBuckets, tmp_path: Path, name: str) -> None:
    (tmp_path / "a").write_bytes(b"outside")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(
        InvalidArgument, match="GCS would accept the name, but this bucket is a folder"
    ):
        buckets.write("stage", name, [b"x"])
    with pytest.raises(InvalidArgument):
        buckets.read("stage", name)
    with pytest.raises(InvalidArgument):
        buckets.delete("stage", name)
    with pytest.raises(InvalidArgument):
        buckets.local_path(GcsUri("stage", name))
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("bucket", ["..", ".footplate", "stage/../stage", "/", "stage\0"])
def test_no_bucket_leads_elsewhere(buckets: FolderBuckets, bucket: str) -> None:
    with pytest.raises(InvalidArgument):
        buckets.write(bucket, "a", [b"x"])
    with pytest.raises(InvalidArgument):
        buckets.local_path(GcsUri(bucket, "a"))


def test_the_way_to_a_missing_bucket_is_named(buckets: FolderBuckets) -> None:
    with pytest.raises(NotFound, match="`footplate storage buckets create gs://elsewhere`"):
        buckets.stat("elsewhere", "a")


def test_no_name_is_an_object_and_a_directory(buckets: FolderBuckets) -> None:
    buckets.write("stage", "a", [b"file"])
    buckets.write("stage", "d/e", [b"file"])
    for name in ("a/b", "a/", "a/b/c", "d"):
        with pytest.raises(InvalidArgument, match="a file and a directory at once"):
            buckets.write("stage", name, [b""])
    assert names(buckets) == ["a", "d/e"]
    buckets.delete("stage", "d/e")
    buckets.write("stage", "d", [b"the folder was empty"])
    buckets.write("stage", "k/", [])
    with pytest.raises(InvalidArgument, match="a file and a directory at once"):
        buckets.write("stage", "k", [b"x"])
    with pytest.raises(InvalidArgument, match="can't have content"):
        buckets.write("stage", "f/", [b"x"])
    assert names(buckets) == ["a", "d", "k/"]


def test_links_out_of_the_bucket_are_not_followed(
    buckets: FolderBuckets, folder: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    (folder / "file").symlink_to(outside / "secret")
    (folder / "dir").symlink_to(outside)
    (folder / "up").symlink_to("../../outside/secret")
    (folder / "chain").symlink_to("file")
    assert names(buckets) == []
    assert buckets.list("stage", prefix="dir/").objects == ()
    for name in ("file", "up", "chain", "dir/secret"):
        with pytest.raises(NotFound):
            buckets.read("stage", name)
        with pytest.raises(NotFound):
            buckets.delete("stage", name)
    with pytest.raises(InvalidArgument, match="link"):
        buckets.write("stage", "dir/new", [b"x"])
    with pytest.raises(InvalidArgument, match="link"):
        buckets.local_path(GcsUri("stage", "dir/new"))
    buckets.write("stage", "file", [b"mine"])
    assert (outside / "secret").read_bytes() == b"secret"
    assert read(buckets, "file") == b"mine"
    assert [path.name for path in outside.iterdir()] == ["secret"]


@pytest.mark.parametrize("part", ["a", "a/b", "a/b/c"])
@pytest.mark.parametrize("inside", [False, True])
def test_a_link_at_any_part_of_a_name_leads_nowhere(
    buckets: FolderBuckets, folder: Path, tmp_path: Path, part: str, *, inside: bool
) -> None:
    """Also not into another bucket, nor to another directory of this one."""
    buckets.create_bucket("theirs")
    place = "stage/aside" if inside else "theirs"
    theirs = tmp_path.joinpath(folder.parent, place, "a/b/c")
    theirs.mkdir(parents=True)
    (theirs / "kept").write_bytes(b"theirs")
    (folder / part).parent.mkdir(parents=True, exist_ok=True)
    (folder / part).symlink_to(folder.parent / place / part)
    for name in ("a/b/c/kept", "a/b/c/new"):
        with pytest.raises(InvalidArgument, match="link"):
            buckets.write("stage", name, [b"x"])
        with pytest.raises(NotFound):
            buckets.read("stage", name)
        with pytest.raises(NotFound):
            buckets.delete("stage", name)
        with pytest.raises(NotFound):
            buckets.update(Draft("stage", name))
    for prefix in ("a/", "a/b/", "a/b/c/"):
        assert buckets.list("stage", prefix=prefix).objects == ()
    upload_id = buckets.begin_upload(Draft("stage", "a/b/c/new"))
    buckets.append(upload_id, 0, [b"x"])
    with pytest.raises(InvalidArgument, match="link"):
        buckets.finish_upload(upload_id, Checksums())
    for name in ("a/b/c", "a/b/c/new/"):
        with pytest.raises(InvalidArgument, match="leads through a link"):
            buckets.local_path(GcsUri("stage", name))
    assert [(path.name, path.read_bytes()) for path in theirs.iterdir()] == [("kept", b"theirs")]


def test_a_bucket_that_became_a_link_is_not_there(
    buckets: FolderBuckets, folder: Path, tmp_path: Path
) -> None:
    folder.rmdir()
    folder.symlink_to(tmp_path)
    with pytest.raises(NotFound):
        buckets.write("stage", "a", [b"x"])
    with pytest.raises(AlreadyExists):
        buckets.create_bucket("stage")


def test_a_link_to_a_file_of_the_bucket_is_an_object(buckets: FolderBuckets, folder: Path) -> None:
    buckets.write("stage", "ckpt/7", [b"seven"])
    (folder / "ckpt" / "last").symlink_to("7")
    (folder / "best").symlink_to("ckpt/7")
    (folder / "loop").symlink_to("loop")
    assert names(buckets) == ["best", "ckpt/7", "ckpt/last"]
    assert read(buckets, "ckpt/last") == b"seven"
    assert buckets.local_path(GcsUri("stage", "best")) == folder / "best"
    buckets.delete("stage", "best")
    assert names(buckets) == ["ckpt/7", "ckpt/last"]


def test_only_regular_files_are_objects(buckets: FolderBuckets, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "line\nbreak").touch()
    (folder / "empty" / "tree").mkdir(parents=True)
    (folder / os.fsdecode(b"not-utf-8-\xff")).touch()
    assert buckets.list("stage", delimiter="/").prefixes == ()
    assert names(buckets) == []
    with pytest.raises(NotFound):
        buckets.read("stage", "pipe")
    with pytest.raises(FailedPrecondition, match="can't be objects"):
        buckets.delete_bucket("stage")


@pytest.fixture
def abyss(folder: Path) -> Iterator[Path]:
    """More levels of directories than Python has frames, or a process descriptors."""
    top = folder / "d"
    top.mkdir()
    current = os.open(top, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=current)
        below = os.open("d", os.O_RDONLY, dir_fd=current)
        os.close(current)
        current = below
    os.close(current)
    yield top
    subprocess.run(["rm", "-rf", top], check=True)  # shutil.rmtree can't do it


@pytest.mark.usefixtures("abyss")
def test_a_bucket_stays_usable_however_deep_its_directories_are(buckets: FolderBuckets) -> None:
    buckets.write("stage", "e", [b"x"])

    assert names(buckets) == ["e"]
    assert buckets.list("stage", delimiter="/").prefixes == ()
    with pytest.raises(InvalidArgument, match="a file and a directory at once"):
        buckets.write("stage", "d", [b"x"])
    buckets.delete("stage", "e")
    with pytest.raises(FailedPrecondition, match="files that can't be objects"):
        buckets.delete_bucket("stage")


def test_an_object_as_deep_as_its_name_allows(buckets: FolderBuckets) -> None:
    name = "/".join("d" * 512)
    buckets.write("stage", name, [b"x"])

    assert names(buckets) == [name]
    assert buckets.list("stage", delimiter="/").prefixes == ("d/",)
    buckets.delete("stage", name)
    assert names(buckets) == []
    buckets.delete_bucket("stage")


def test_what_a_program_rewrites_is_another_object(buckets: FolderBuckets, folder: Path) -> None:
    first = buckets.write("stage", "m.json", [b"one"], content_type="x/y", metadata={"k": "v"})
    (folder / "m.json").write_bytes(b"two!")
    second = buckets.stat("stage", "m.json")
    assert (second.size_bytes, second.crc32c) == (4, google_crc32c.value(b"two!"))
    assert (second.content_type, second.metadata) == ("application/json", {})
    assert second.generation > first.generation
    assert buckets.stat("stage", "m.json") == second
    assert buckets.list("stage").objects == (second,)
    with pytest.raises(FailedPrecondition):
        buckets.write("stage", "m.json", [b""], if_generation=first.generation)
    (folder / "new").write_bytes(b"two!")
    (folder / "new").replace(folder / "m.json")
    assert buckets.stat("stage", "m.json").generation > second.generation


def test_a_change_right_after_the_last_is_noticed(buckets: FolderBuckets, folder: Path) -> None:
    path = folder / "same-size"
    path.write_bytes(b"0")
    status = path.stat()
    for number in range(1, 5):
        path.write_bytes(b"%d" % number)
        os.utime(path, ns=(status.st_atime_ns, path.stat().st_mtime_ns))
        assert buckets.stat("stage", "same-size").crc32c == google_crc32c.value(b"%d" % number)


def test_a_file_that_grows_is_served_as_it_was(buckets: FolderBuckets, folder: Path) -> None:
    with (folder / "log").open("wb", buffering=0) as log:
        log.write(b"one")
        info, file = buckets.open("stage", "log")
        log.write(b"two")
        with file:
            assert file.read(info.size_bytes) == b"one"
    assert buckets.stat("stage", "log").size_bytes == 6


def test_a_folder_that_a_program_removed_is_no_object(buckets: FolderBuckets, folder: Path) -> None:
    buckets.write("stage", "d/", [])
    shutil.rmtree(folder / "d")
    assert names(buckets) == []
    with pytest.raises(NotFound):
        buckets.stat("stage", "d/")


def test_a_listing_reads_no_large_file(buckets: FolderBuckets, folder: Path) -> None:
    with (folder / "large").open("wb") as file:
        file.truncate(1 << 29)
    (folder / "small").write_bytes(b"x")
    large, small = buckets.list("stage").objects
    assert (large.name, large.crc32c) == ("large", None)
    assert small.crc32c == google_crc32c.value(b"x")
    assert buckets.stat("stage", "small") == small


def test_where_programs_find_objects(buckets: FolderBuckets, folder: Path) -> None:
    assert buckets.local_path(GcsUri("stage", "")) == folder
    assert buckets.local_path(GcsUri("stage", "a/b")) == folder / "a/b"
    assert buckets.local_path(GcsUri("stage", "a/b/")) == folder / "a/b"
    with pytest.raises(NotFound, match="elsewhere"):
        buckets.local_path(GcsUri("elsewhere", "a"))


def test_a_folder_made_by_hand_is_a_bucket(buckets: FolderBuckets, root: Path) -> None:
    (root / "by-hand").mkdir()
    (root / "Not a bucket").mkdir()
    (root / "file").touch()
    assert [bucket.name for bucket in buckets.buckets()] == ["by-hand", "stage"]


def test_a_full_disk_leaves_nothing(
    buckets: FolderBuckets, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write

    def write(descriptor: int, chunk: bytes) -> int:
        if bytes(chunk) == b"too much":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(descriptor, chunk)

    upload_id = buckets.begin_upload(Draft("stage", "a"))
    monkeypatch.setattr(os, "write", write)
    with pytest.raises(Unavailable, match="full"):
        buckets.write("stage", "a", [b"fits", b"too much"])
    with pytest.raises(Unavailable, match="full"):
        buckets.append(upload_id, 0, [b"fits", b"too much"])
    assert names(buckets) == []
    assert list((root / ".footplate" / "staging").iterdir()) == []
    assert buckets.append(upload_id, 4, [b" again"]) == 10
    buckets.finish_upload(upload_id, Checksums())
    assert read(buckets, "a") == b"fits again"


NOT_NOW = [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.ESTALE, errno.ENOLCK]


@pytest.mark.parametrize("number", NOT_NOW, ids=errno.errorcode.get)
def test_what_can_not_be_opened_now_is_not_missing(
    buckets: FolderBuckets, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """A trainer that hears so begins anew, and writes over its checkpoint."""
    buckets.write("stage", "checkpoint", [b"x"])
    real = os.open

    def refuse(path: Path, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if str(path).endswith("checkpoint"):
            raise OSError(number, os.strerror(number))
        return real(path, flags, mode, dir_fd=dir_fd)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with pytest.raises(Unavailable, match="can't use the disk that holds the buckets now"):
            read(buckets, "checkpoint")
    assert read(buckets, "checkpoint") == b"x"


@pytest.mark.parametrize("number", NOT_NOW, ids=errno.errorcode.get)
def test_an_upload_that_can_not_be_locked_now_goes_on_later(
    buckets: FolderBuckets, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    upload_id = buckets.begin_upload(Draft("stage", "a"))
    buckets.append(upload_id, 0, [b"x"])

    def refuse(*_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with pytest.raises(Unavailable, match="can't use the disk that holds the buckets now"):
            buckets.append(upload_id, 1, [b"y"])
    assert buckets.append(upload_id, 1, [b"y"]) == 2


def test_a_restart_keeps_all_that_was_said(root: Path) -> None:
    clock = SetClock(datetime(2026, 1, 31, tzinfo=UTC))
    first = FolderBuckets(root, clock)
    first.create_bucket("stage")
    info = first.write("stage", "a", [b"x"], content_type="x/y", metadata={"k": "v"})
    first.write("stage", "d/", [])
    draft = Draft("stage", "b", "x/z", {"m": "n"}, {"cacheControl": "private"}, Checksums(7))
    upload_id = first.begin_upload(draft)
    first.append(upload_id, 0, [b"one "])
    (root / ".footplate" / "staging" / "left").write_bytes(b"of a write that broke off")
    first.close()
    second = FolderBuckets(root, clock)
    assert second.stat("stage", "a") == info
    assert second.bucket("stage").create_time == clock.time
    assert names(second) == ["a", "d/"]
    assert second.upload(upload_id).received_bytes == 4
    second.append(upload_id, 4, [b"two"])
    with pytest.raises(InvalidArgument, match="crc32c"):
        second.finish_upload(upload_id, Checksums())
    assert list((root / ".footplate" / "staging").iterdir()) == []
    second.close()


def test_generations_grow_though_the_clock_goes_back(root: Path) -> None:
    clock = SetClock(datetime(2026, 1, 31, tzinfo=UTC))
    buckets = FolderBuckets(root, clock)
    buckets.create_bucket("stage")
    first = buckets.write("stage", "a", [b"x"]).generation
    buckets.delete("stage", "a")
    clock.time -= timedelta(days=1)
    assert buckets.write("stage", "a", [b"x"]).generation > first
    buckets.close()


def test_uploads_that_nobody_goes_on_with_are_forgotten(root: Path) -> None:
    first = FolderBuckets(root, SetClock(datetime.now(UTC)))
    first.create_bucket("stage")
    upload_id = first.begin_upload(Draft("stage", "a"))
    first.close()
    FolderBuckets(root, SetClock(datetime.now(UTC) + timedelta(days=6))).close()
    later = FolderBuckets(root, SetClock(datetime.now(UTC) + timedelta(days=8)))
    with pytest.raises(NotFound, match="begin a new upload"):
        later.upload(upload_id)
    assert list((root / ".footplate" / "uploads").iterdir()) == []
    later.close()


@pytest.mark.parametrize("planted", ["link", "pipe", "directory"])
def test_what_a_program_plants_in_place_of_an_upload_is_not_written_to(
    buckets: FolderBuckets, folder: Path, tmp_path: Path, planted: str
) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"s3cret")
    upload_id = buckets.begin_upload(Draft("stage", "a"))
    data = folder.parent / ".footplate" / "uploads" / f"{upload_id}.data"
    data.unlink()
    if planted == "link":
        data.symlink_to(secret)
    elif planted == "pipe":
        os.mkfifo(data)
    else:
        data.mkdir()

    with pytest.raises(NotFound, match="begin a new upload"):
        buckets.upload(upload_id)
    with pytest.raises(NotFound, match="begin a new upload"):
        buckets.append(upload_id, 0, [b"more"])
    with pytest.raises(NotFound, match="begin a new upload"):
        buckets.finish_upload(upload_id, Checksums())
    assert secret.read_bytes() == b"s3cret"
    assert names(buckets) == []


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"draft": 1}', "[" * 100_000, '{"draft": {}}'])
def test_a_spoilt_description_of_an_upload_is_none(
    buckets: FolderBuckets, folder: Path, text: str
) -> None:
    """After a power cut, or by a program."""
    upload_id = buckets.begin_upload(Draft("stage", "a"))
    (folder.parent / ".footplate" / "uploads" / f"{upload_id}.json").write_text(text)
    with pytest.raises(NotFound, match="begin a new upload"):
        buckets.upload(upload_id)


def test_a_restart_bears_what_programs_put_among_its_own(root: Path) -> None:
    clock = SetClock(datetime.now(UTC))
    FolderBuckets(root, clock).close()
    own = root / ".footplate"
    for folder in (own / "staging", own / "uploads"):
        (folder / "directory").mkdir()
        (folder / "dangling").symlink_to("nowhere")
        os.utime(folder / "directory", (0, 0))

    buckets = FolderBuckets(root, clock)
    buckets.create_bucket("stage")
    buckets.write("stage", "a", [b"x"])
    assert names(buckets) == ["a"]
    buckets.close()


@pytest.mark.parametrize("seconds", [10**12, 253_402_300_800, -(10**12), -1])
def test_a_time_that_no_calendar_has(seconds: int) -> None:
    """Which only some file systems keep: btrfs, tmpfs, xfs."""
    status = os.stat_result(
        (stat.S_IFREG, 1, 0, 1, 0, 0, 1, 0, seconds, 0), {"st_mtime_ns": seconds * 10**9}
    )
    assert FileState.of(status).changed.year in (1970, 9999)


def test_programs_that_remove_folders_meanwhile(buckets: FolderBuckets, folder: Path) -> None:
    ended = threading.Event()

    def remove() -> None:
        while not ended.is_set():
            shutil.rmtree(folder / "d", ignore_errors=True)

    thread = threading.Thread(target=remove)
    thread.start()
    try:
        for number in range(50):
            with suppress(Aborted):  # "try again"
                buckets.write("stage", f"d/e/{number}", [b"x"])
    finally:
        ended.set()
        thread.join()
    buckets.write("stage", "d/e/last", [b"x"])
    assert "d/e/last" in names(buckets)


def test_what_was_a_link_a_moment_ago_is_not_there(
    buckets: FolderBuckets, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "link").symlink_to("x")

    def refuse(path: Path) -> str:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)

    monkeypatch.setattr(os.path, "realpath", refuse)
    with pytest.raises(NotFound, match="object 'link' does not exist in bucket 'stage'"):
        buckets.stat("stage", "link")


def become_link(folder: Path) -> None:
    (folder / "d").rename(folder / "aside")
    (folder / "d").symlink_to("aside")


def become_file(folder: Path) -> None:
    (folder / "d").rename(folder / "aside")
    (folder / "d").touch()


def become_directory(folder: Path) -> None:
    (folder / "d" / "x").unlink()
    (folder / "d" / "x").mkdir()


@pytest.mark.parametrize("change", [become_link, become_file, become_directory])
def test_what_a_program_replaces_while_it_is_deleted_is_not_there(
    buckets: FolderBuckets,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path], None],
) -> None:
    buckets.write("stage", "d/x", [b"x"])
    find = RecordedFiles.open_locked

    def find_and_change(files: RecordedFiles, bucket: str, name: str) -> object:
        found = find(files, bucket, name)
        change(folder)
        return found

    monkeypatch.setattr(RecordedFiles, "open_locked", find_and_change)
    with pytest.raises(NotFound, match="object 'd/x' does not exist in bucket 'stage'"):
        buckets.delete("stage", "d/x")
    assert sorted(path.name for path in folder.rglob("x")) == ["x"]


def test_a_prefix_without_objects_is_no_directory(buckets: FolderBuckets, folder: Path) -> None:
    for name in ("out/export/1/saved_model.pb", "out/export/1/variables/index", "out/eval/events"):
        buckets.write("stage", name, [b"x"])
    (folder / "out/export/1/assets/extra").mkdir(parents=True)  # TensorFlow makes them, empty
    buckets.delete("stage", "out/export/1/saved_model.pb")
    assert (folder / "out/export/1/assets/extra").is_dir()
    buckets.delete("stage", "out/export/1/variables/index")
    assert not (folder / "out/export").exists()
    buckets.delete("stage", "out/eval/events")
    assert list(folder.iterdir()) == []
    assert buckets.bucket("stage").name == "stage"


def test_a_directory_that_holds_anything_else_stays(buckets: FolderBuckets, folder: Path) -> None:
    for name in ("link/object", "pipe/object", "kept/object"):
        buckets.write("stage", name, [b"x"])
    (folder / "link/dangling").symlink_to("nowhere")
    os.mkfifo(folder / "pipe/pipe")
    buckets.write("stage", "kept/below/it/", [])
    for name in names(buckets):
        if not name.endswith("/"):
            buckets.delete("stage", name)
    assert names(buckets) == ["kept/below/it/"]
    assert sorted(path.name for path in folder.iterdir()) == ["kept", "link", "pipe"]
    buckets.delete("stage", "kept/below/it/")
    assert not (folder / "kept").exists()


def test_a_placeholder_whose_directory_is_gone_keeps_nothing(
    buckets: FolderBuckets, folder: Path
) -> None:
    buckets.write("stage", "d/e/", [])
    buckets.write("stage", "d/f", [b"x"])
    (folder / "d/e").rmdir()
    buckets.delete("stage", "d/f")
    assert list(folder.iterdir()) == []


def test_what_a_running_program_was_given_stays(buckets: FolderBuckets, folder: Path) -> None:
    buckets.write("stage", "job/old", [b"x"])
    (folder / "job/model").mkdir()
    given = os.open(folder / "job/model", os.O_RDONLY)
    fcntl.flock(given, fcntl.LOCK_SH)
    buckets.delete("stage", "job/old")
    assert (folder / "job/model").is_dir()
    with pytest.raises(FailedPrecondition, match="a running job"):
        buckets.delete_bucket("stage")
    os.close(given)
    buckets.write("stage", "job/new", [b"x"])
    buckets.delete("stage", "job/new")
    assert list(folder.iterdir()) == []


def test_buckets_of_an_earlier_version_are_in_the_default_location(tmp_path: Path) -> None:
    root = tmp_path / "old"
    (root / ".footplate").mkdir(parents=True)
    (root / "stage").mkdir()
    with closing(sqlite3.connect(root / ".footplate" / "objects.db")) as old:
        old.execute(
            "CREATE TABLE buckets (name TEXT PRIMARY KEY, created_us INTEGER) WITHOUT ROWID"
        )
        old.execute("INSERT INTO buckets VALUES ('stage', 1000000)")
        old.commit()

    buckets = FolderBuckets(root, FakeClock())
    buckets.create_bucket("new", "EU")

    assert buckets.bucket("stage").location == "US"
    assert buckets.bucket("stage").create_time == datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
    assert buckets.bucket("new").location == "EU"
    buckets.close()
