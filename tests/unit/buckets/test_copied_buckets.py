"""A copied data directory keeps what is known of each object, and nothing of another content."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import google_crc32c
import pytest

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.domain.errors import FailedPrecondition
from footplate.ports.buckets import ObjectInfo
from footplate.ports.object_storage import Conditions, Draft
from tests.support.clock import FakeClock
from tests.support.requirements import require_packages

MODEL = Draft("stage", "m/model", "application/x-model", {"owner": "ann"})
COPIES = {
    "cp": ("cp", "-a", "{old}/.", "{new}"),
    "rsync": ("rsync", "-a", "{old}/", "{new}"),
    "tar": ("sh", "-c", "tar -C {old} -c . | tar -C {new} -x"),
}


def describe(buckets: FolderBuckets) -> tuple[ObjectInfo, ...]:
    return buckets.list("stage").objects


@pytest.fixture
def before(tmp_path: Path) -> tuple[ObjectInfo, ...]:
    """Objects in the folder ``old``: of a client, of a program, and a folder."""
    with closing(FolderBuckets(tmp_path / "old", FakeClock())) as buckets:
        buckets.create_bucket("stage", project="ads")
        buckets.put(replace(MODEL, headers={"cacheControl": "no-store"}), [b"hello"])
        buckets.put(Draft("stage", "folder/", "text/x-folder", {"k": "v"}), [])
        program = tmp_path / "old/stage/by-a-program"
        program.write_bytes(b"written")
        os.utime(program, ns=(1_000_000_000, 1_000_000_001))
        found = describe(buckets)
    assert [info.crc32c is None for info in found] == [False] * 3
    return found


def copied(tmp_path: Path, how: str = "cp") -> Path:
    new = tmp_path / "new"
    new.mkdir()
    command = [word.format(old=tmp_path / "old", new=new) for word in COPIES[how]]
    if how == "rsync":
        require_packages("rsync", "rsync")
    subprocess.run(command, check=True)
    (tmp_path / "old").rename(tmp_path / "gone")  # no new file has the inode of an old one
    return new


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_keeps_what_is_known_of_each_object(
    tmp_path: Path, before: tuple[ObjectInfo, ...], how: str
) -> None:
    new = copied(tmp_path, how)
    with closing(FolderBuckets(new, FakeClock())) as buckets:
        for info in before:  # from the one that a client asks for by name to the listing
            found = buckets.stat("stage", info.name)
            assert found == replace(info, update_time=found.update_time)
        assert [info.generation for info in describe(buckets)] == [i.generation for i in before]
        assert buckets.bucket("stage").project == "ads"
        held = Conditions(generation=before[-1].generation)
        assert buckets.put(replace(MODEL, conditions=held), [b"new"]).size_bytes == 3


def test_a_listing_of_a_copy_shows_it_at_once(
    tmp_path: Path, before: tuple[ObjectInfo, ...]
) -> None:
    with closing(FolderBuckets(copied(tmp_path), FakeClock())) as buckets:
        assert describe(buckets) == before
        assert describe(buckets) == before


@pytest.mark.parametrize("act", ["stat", "list", "put", "remove", "update"])
def test_other_content_of_the_same_size_and_time_gets_nothing_of_the_old_one(
    tmp_path: Path, before: tuple[ObjectInfo, ...], act: str
) -> None:
    """A program replaced the file, in the copy or under the running service."""
    model = next(info for info in before if info.name == "m/model")
    new = copied(tmp_path)
    path = new / "stage/m/model"
    times = path.stat()
    (new / "stage/m/other").write_bytes(b"HELLO")
    (new / "stage/m/other").replace(path)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    held = Conditions(generation=model.generation)
    draft = replace(MODEL, conditions=held)
    acts: dict[str, Callable[[FolderBuckets], object]] = {
        "put": lambda buckets: buckets.put(draft, [b"x"]),
        "remove": lambda buckets: buckets.remove("stage", "m/model", held),
        "update": lambda buckets: buckets.update(draft),
    }
    with closing(FolderBuckets(new, FakeClock())) as buckets:
        if act in acts:
            with pytest.raises(FailedPrecondition):
                acts[act](buckets)
        elif act == "list":
            describe(buckets)
        found = buckets.stat("stage", "m/model")
    assert found.generation > model.generation
    assert (found.content_type, found.metadata, found.headers) == (
        "application/octet-stream",
        {},
        {},
    )
    assert (found.crc32c, found.md5) == (google_crc32c.value(b"HELLO"), None)


def test_a_listing_proves_no_large_copy_and_claims_no_checksum_of_it(tmp_path: Path) -> None:
    with closing(FolderBuckets(tmp_path / "old", FakeClock())) as buckets:
        buckets.create_bucket("stage")
        info = buckets.put(MODEL, [bytes(1 << 20)] * 257)
    with closing(FolderBuckets(copied(tmp_path), FakeClock())) as buckets:
        listed = describe(buckets)
        assert listed == (replace(info, crc32c=None, md5=None),)
        assert describe(buckets) == listed
        assert buckets.stat("stage", MODEL.name) == info
        assert describe(buckets) == (info,)


def test_folders_of_an_earlier_version_stay_objects(
    tmp_path: Path, before: tuple[ObjectInfo, ...]
) -> None:
    with closing(sqlite3.connect(tmp_path / "old/.footplate/objects.db")) as records, records:
        records.execute("UPDATE objects SET identity = 'd4711' WHERE identity = 'd'")
    with closing(FolderBuckets(tmp_path / "old", FakeClock())) as buckets:
        assert describe(buckets) == before
