"""Buckets and objects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from click.testing import Result

from tests.support.fake_service import TIME, FakeService


def test_buckets_are_made_and_listed(invoke: Callable[..., Result], fake: FakeService) -> None:
    assert invoke("storage", "buckets", "list").stderr == "Listed 0 items.\n"
    result = invoke("storage", "buckets", "create", "gs://one", "two")
    assert result.stderr == "Created gs://one/\nCreated gs://two/\n"
    assert invoke("storage", "buckets", "list").stdout == (
        f"NAME  PROJECT  CREATED\none   demo     {TIME}\ntwo   demo     {TIME}\n"
    )
    fake.targets["two"] = "/srv/two"
    assert invoke("storage", "buckets", "list").stdout == (
        f"NAME  PROJECT  CREATED{' ' * 20}  BOUND_TO  READ_ONLY\n"
        f"one   demo     {TIME}\n"
        f"two   demo     {TIME}  /srv/two  True\n"
    )
    again = invoke("storage", "buckets", "create", "gs://one")
    assert (again.exit_code, again.stderr) == (1, "Error: the bucket one exists already\n")


def test_objects_are_listed_a_folder_at_a_time(
    invoke: Callable[..., Result], fake: FakeService
) -> None:
    fake.buckets += ["one", "two"]
    fake.objects = {("one", "a/model.txt"): b"12345", ("one", "a/x/y.txt"): b"", ("one", "b"): b""}

    def listed(*words: str) -> str:
        return invoke("storage", "ls", *words).stdout

    assert listed() == "gs://one/\ngs://two/\n"
    assert listed("gs://one") == "gs://one/a/\ngs://one/b\n"
    assert listed("gs://one/a") == listed("gs://one/a/") == "gs://one/a/x/\ngs://one/a/model.txt\n"
    assert listed("gs://one/b", "gs://one/a/x") == "gs://one/b\ngs://one/a/x/y.txt\n"
    assert listed("-r", "gs://one/a") == "gs://one/a/model.txt\ngs://one/a/x/y.txt\n"
    assert listed("gs://one/*/*.txt") == "gs://one/a/model.txt\n"
    assert listed("gs://one/**.txt") == "gs://one/a/model.txt\ngs://one/a/x/y.txt\n"
    assert listed("gs://one/[ab]") == "gs://one/b\n"
    assert listed("-l", "gs://one/a/") == (
        f"SIZE  UPDATED{' ' * 20}  OBJECT\n"
        f"{' ' * 35}gs://one/a/x/\n"
        f"5     {TIME}  gs://one/a/model.txt\n"
    )
    assert listed("-r", "gs://one", "--sort-by=~size", "--limit=1", "--format=csv(url,size)") == (
        "url,size\ngs://one/a/model.txt,5\n"
    )


def test_what_is_not_there_is_told(invoke: Callable[..., Result], fake: FakeService) -> None:
    fake.buckets.append("one")
    wrong = invoke("storage", "ls", "one")
    assert wrong.stderr == "Error: place: 'one' given; allowed: gs://BUCKET/PATH\n"
    empty = invoke("storage", "ls", "gs://one")
    assert (empty.exit_code, empty.stderr) == (0, "Listed 0 items.\n")
    nothing = invoke("storage", "ls", "gs://one/x")
    assert (nothing.exit_code, nothing.stderr) == (
        1,
        "Error: gs://one/x does not exist; `footplate storage ls gs://one` lists the bucket\n",
    )
    assert invoke("storage", "ls", "gs://none").stderr == "Error: the bucket none isn't there\n"


def test_files_are_copied_there_and_back(
    invoke: Callable[..., Result], fake: FakeService, tmp_path: Path
) -> None:
    fake.buckets.append("one")
    (tmp_path / "data" / "sub").mkdir(parents=True)
    (tmp_path / "data" / "a.csv").write_text("1,2")
    (tmp_path / "data" / "sub" / "b.csv").write_text("3")
    folder = str(tmp_path / "data")

    result = invoke("storage", "cp", f"{folder}/a.csv", "gs://one/x/")
    assert result.stderr == f"Copying {folder}/a.csv to gs://one/x/a.csv\n"
    invoke("storage", "cp", f"{folder}/a.csv", "gs://one/renamed")
    invoke("storage", "cp", "-r", folder, "gs://one")
    invoke("storage", "cp", "gs://one/renamed", "gs://one/copy")
    assert fake.objects == {
        ("one", "x/a.csv"): b"1,2",
        ("one", "renamed"): b"1,2",
        ("one", "copy"): b"1,2",
        ("one", "data/a.csv"): b"1,2",
        ("one", "data/sub/b.csv"): b"3",
    }

    out = tmp_path / "out"
    assert invoke("storage", "cp", "-r", "gs://one/data", str(out)).exit_code == 0
    assert (out / "data" / "sub" / "b.csv").read_text() == "3"
    invoke("storage", "cp", "gs://one/copy", f"{tmp_path}/made/")
    assert (tmp_path / "made" / "copy").read_text() == "1,2"
    invoke("storage", "cp", "gs://one/**.csv", str(tmp_path / "flat"))
    assert sorted(p.name for p in (tmp_path / "flat").iterdir()) == ["a.csv", "b.csv"]


def test_copies_that_cannot_be(
    invoke: Callable[..., Result], fake: FakeService, tmp_path: Path
) -> None:
    fake.buckets.append("one")
    fake.objects["one", "a/../../evil"] = b""

    def refused(*words: str) -> str:
        result = invoke("storage", "cp", *words)
        assert result.exit_code in (1, 2)
        return result.stderr.splitlines()[-1]

    assert refused(str(tmp_path), "gs://one") == (
        f"Error: {tmp_path} is a folder; --recursive copies a folder with its files"
    )
    assert refused(f"{tmp_path}/x", "gs://one") == f"Error: {tmp_path}/x does not exist"
    assert refused("gs://one/y", ".") == (
        "Error: no objects match gs://one/y; --recursive includes all objects below a folder"
    )
    assert refused("-r", "gs://one/a", str(tmp_path)) == (
        f"Error: the object 'a/../../evil' can't be a file below {tmp_path}"
    )


def test_objects_and_buckets_are_removed(invoke: Callable[..., Result], fake: FakeService) -> None:
    fake.buckets += ["one", "two"]
    fake.objects = {("one", "a/b"): b"", ("one", "a/c"): b"", ("one", "d"): b"", ("one", "ab"): b""}
    assert invoke("storage", "rm", "gs://one/d").stderr == "Removed gs://one/d\n"
    assert invoke("storage", "rm", "-r", "gs://one/a").stderr == (
        "Removed gs://one/a/b\nRemoved gs://one/a/c\n"
    )
    assert invoke("storage", "rm", "gs://one").exit_code == 2
    assert invoke("storage", "buckets", "delete", "one").stderr == (
        "Error: the bucket one isn't empty\n"
    )
    assert invoke("storage", "rm", "-r", "gs://one").stderr == (
        "Removed gs://one/ab\nRemoved gs://one/\n"
    )
    assert invoke("storage", "buckets", "delete", "two").stderr == "Removed gs://two/\n"
    assert fake.buckets == []


def test_objects_are_printed(invoke: Callable[..., Result], fake: FakeService) -> None:
    fake.buckets.append("one")
    fake.objects = {("one", "a b.txt"): b"hello\n", ("one", "c"): b"\xff\x00"}
    assert invoke("storage", "cat", "gs://one/a b.txt", "gs://one/c").stdout_bytes == (
        b"hello\n\xff\x00"
    )
    assert invoke("storage", "cat", "gs://one/none").exit_code == 1
