"""Google's own clients with buckets that are bound to a folder and to S3."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from google.api_core.exceptions import Forbidden, NotFound, PreconditionFailed

from footplate.buckets.bindings import BucketBinding
from footplate.buckets.folder_buckets import FolderBuckets
from footplate.server.clock import SystemClock
from footplate.server.remote_buckets import open_remotes
from tests.api.storage.test_gcloud import Gcloud, gcloud
from tests.support.s3_server import S3Server

if TYPE_CHECKING:
    from google.cloud import storage

__all__ = ["gcloud"]
MEBIBYTE = 1 << 20


@pytest.fixture
def buckets(tmp_path: Path, s3: S3Server) -> Iterator[FolderBuckets]:
    """``folder`` and ``s3x``; ``sealed`` can only be read, and ``gone`` isn't there."""
    (tmp_path / "srv").mkdir()
    real = s3.make_bucket(uuid4().hex)
    s3.put(real, "a/b", b"there")
    bindings = (
        BucketBinding("folder", str(tmp_path / "srv")),
        BucketBinding("s3x", f"s3://{real}/below", endpoint=s3.url),
        BucketBinding("sealed", f"s3://{real}", read_only=True, endpoint=s3.url),
        BucketBinding("gone", "s3://no-such-bucket", endpoint=s3.url),
    )
    remotes = open_remotes(bindings)
    made = FolderBuckets(tmp_path / "buckets", SystemClock(), bindings=bindings, remotes=remotes)
    yield made
    made.close()


@pytest.mark.parametrize("name", ["folder", "s3x"])
def test_an_object_lives(client: storage.Client, name: str) -> None:
    bucket = client.bucket(name)
    content = b"0123456789" * 60_000
    blob = bucket.blob("a/ü b.bin", chunk_size=MEBIBYTE // 4)
    blob.metadata = {"k": "v"}
    blob.upload_from_string(content, "text/csv")
    found = bucket.get_blob("a/ü b.bin")
    assert (found.size, found.content_type, found.metadata) == (600_000, "text/csv", {"k": "v"})
    assert found.download_as_bytes(start=5, end=14) == b"5678901234"
    assert bucket.blob("a/ü b.bin").download_as_bytes() == content
    with pytest.raises(PreconditionFailed):
        bucket.blob("a/ü b.bin").upload_from_string(b"x", if_generation_match=0)
    copied = bucket.copy_blob(found, bucket, "copy")
    assert copied.size == 600_000
    listing = client.list_blobs(name, delimiter="/")
    assert ([each.name for each in listing], set(listing.prefixes)) == (["copy"], {"a/"})
    for each in client.list_blobs(name):
        each.delete()
    with pytest.raises(NotFound):
        bucket.blob("copy").download_as_bytes()


def test_errors_of_the_store_are_those_of_cloud_storage(client: storage.Client) -> None:
    sealed = client.bucket("sealed")
    assert sealed.blob("a/b").download_as_bytes() == b"there"
    with pytest.raises(Forbidden, match="is read-only"):
        sealed.blob("new").upload_from_string(b"x")
    with pytest.raises(Forbidden, match="is read-only"):
        sealed.blob("a/b").delete()
    with pytest.raises(NotFound, match="s3://no-such-bucket doesn't exist"):
        client.bucket("gone").blob("x").upload_from_string(b"x")


def test_gcloud_copies_and_removes(gcloud: Gcloud, buckets: FolderBuckets, tmp_path: Path) -> None:
    (tmp_path / "tree" / "sub").mkdir(parents=True)
    (tmp_path / "tree" / "sub" / "large").write_bytes(b"x" * (2 * MEBIBYTE))
    gcloud("cp", "--recursive", "tree", "gs://s3x/there")
    assert gcloud("ls", "--recursive", "gs://s3x/**") == "gs://s3x/there/sub/large\n"
    gcloud("cp", "gs://s3x/there/sub/large", "back")
    assert (tmp_path / "back").stat().st_size == 2 * MEBIBYTE
    gcloud("rm", "--recursive", "gs://s3x/there")
    assert buckets.list("s3x").objects == ()
