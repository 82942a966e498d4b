"""What S3 answers, as Cloud Storage's errors and fields."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import google_crc32c
import pytest

from footplate.buckets import s3_store
from footplate.buckets.bindings import BucketBinding
from footplate.buckets.folder_buckets import FolderBuckets
from footplate.domain.errors import NotFound, Unavailable
from footplate.server.clock import SystemClock
from footplate.server.remote_buckets import open_remotes
from tests.support.s3_server import S3Server


@pytest.fixture
def real(s3: S3Server) -> str:
    return s3.make_bucket(uuid4().hex)


def bind(tmp_path: Path, *bindings: BucketBinding) -> FolderBuckets:
    remotes = open_remotes(bindings)
    return FolderBuckets(tmp_path / "buckets", SystemClock(), bindings=bindings, remotes=remotes)


@pytest.fixture
def buckets(tmp_path: Path, s3: S3Server, real: str) -> Iterator[FolderBuckets]:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        away = f"http://127.0.0.1:{closed.getsockname()[1]}"
    made = bind(
        tmp_path,
        BucketBinding("data", f"s3://{real}", endpoint=s3.url),
        BucketBinding("missing", "s3://no-such-bucket", endpoint=s3.url),
        BucketBinding("away", "s3://bucket", endpoint=away),
    )
    yield made
    made.close()


def test_objects_of_others_are_described_as_far_as_s3_knows(
    buckets: FolderBuckets, s3: S3Server, real: str
) -> None:
    s3.put(real, "a//b", b"theirs", ContentType="text/csv", Metadata={"owner": "ada"})
    found = buckets.stat("data", "a//b")
    assert (found.size_bytes, found.content_type, found.metadata) == (
        6,
        "text/csv",
        {"owner": "ada"},
    )
    assert (found.crc32c, found.md5 is not None, found.metageneration) == (None, True, 1)
    (listed,) = buckets.list("data").objects
    assert (listed.generation, listed.md5) == (found.generation, found.md5)
    assert listed.update_time == found.update_time


def test_own_metadata_is_not_shown_and_others_can_read_the_plain_part(
    buckets: FolderBuckets, s3: S3Server, real: str
) -> None:
    buckets.write("data", "a", [b"x"], metadata={"plain": "v", "Not Plain": "\u00fc"})
    assert buckets.stat("data", "a").metadata == {"plain": "v", "Not Plain": "\u00fc"}
    head = s3.client.head_object(Bucket=real, Key="a")
    assert head["Metadata"]["plain"] == "v"


def test_a_large_object_goes_in_parts(
    buckets: FolderBuckets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3_store, "PART_BYTES", 5 << 20)
    content = os.urandom(1 << 20) * 11
    made = buckets.write("data", "large", [content])
    assert (made.size_bytes, made.crc32c) == (len(content), google_crc32c.value(content))
    _, file = buckets.open("data", "large")
    with file:
        file.seek(len(content) - 3)
        assert file.read() == content[-3:]
        file.seek(0)
        assert file.read() == content


def test_a_bucket_that_is_not_there(buckets: FolderBuckets) -> None:
    assert buckets.bucket("missing").remote
    for call in (
        lambda: buckets.list("missing"),
        lambda: buckets.write("missing", "a", [b"x"]),
    ):
        with pytest.raises(NotFound, match="s3://no-such-bucket doesn't exist"):
            call()


def test_a_store_that_is_away(buckets: FolderBuckets) -> None:
    with pytest.raises(Unavailable, match="s3://bucket doesn't answer now"):
        buckets.list("away")
