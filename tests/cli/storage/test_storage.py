"""Buckets and objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.testing.fake_service import TIME

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    from footplate.testing.fake_service import FakeService


def test_buckets_are_made_and_listed(invoke: Callable[..., Result]) -> None:
    assert invoke("storage", "buckets", "list").stderr == "Listed 0 items.\n"
    result = invoke("storage", "buckets", "create", "gs://one", "two")
    assert result.stderr == "Created gs://one/\nCreated gs://two/\n"
    assert invoke("storage", "buckets", "list").stdout == (
        f"NAME  CREATED\none   {TIME}\ntwo   {TIME}\n"
    )
    again = invoke("storage", "buckets", "create", "gs://one")
    assert (again.exit_code, again.stderr) == (1, "Error: the bucket one exists already\n")


def test_objects_are_listed(invoke: Callable[..., Result], fake: FakeService) -> None:
    fake.buckets.append("one")
    fake.objects = {("one", "a/model.txt"): b"12345", ("one", "b"): b""}
    assert invoke("storage", "ls", "gs://one").stdout == "gs://one/a/model.txt\ngs://one/b\n"
    assert invoke("storage", "ls", "-l", "gs://one/a/").stdout == (
        f"SIZE  UPDATED{' ' * 20}  OBJECT\n5     {TIME}  gs://one/a/model.txt\n"
    )
    wrong = invoke("storage", "ls", "one")
    assert wrong.stderr == "Error: place: 'one' given; allowed: gs://BUCKET/PATH\n"


def test_objects_are_printed(invoke: Callable[..., Result], fake: FakeService) -> None:
    fake.buckets.append("one")
    fake.objects = {("one", "a b.txt"): b"hello\n", ("one", "c"): b"\xff\x00"}
    assert invoke("storage", "cat", "gs://one/a b.txt", "gs://one/c").stdout_bytes == (
        b"hello\n\xff\x00"
    )
    assert invoke("storage", "cat", "gs://one/none").exit_code == 1
