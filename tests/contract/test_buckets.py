"""The contract of buckets, over each kind of them."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException

from footplate.api.errors import answer_router_error, answer_service_error
from footplate.api.storage_v1 import storage_routes
from footplate.buckets.bindings import BucketBinding
from footplate.buckets.folder_buckets import FolderBuckets
from footplate.domain.errors import Aborted, ServiceError
from footplate.ports.object_storage import Draft, ObjectStorage
from footplate.server.clock import SystemClock
from footplate.server.remote_buckets import open_remotes
from tests.support.buckets_contract import BUCKET, BucketsContract, ObjectsContract
from tests.support.http_server import serve
from tests.support.s3_server import S3Server


class TestFolderBuckets(BucketsContract):
    @pytest.fixture
    def buckets(self, tmp_path: Path) -> Iterator[FolderBuckets]:
        made = FolderBuckets(tmp_path / "buckets", SystemClock())
        yield made
        made.close()


class TestBoundFolder(ObjectsContract):
    @pytest.fixture
    def buckets(self, tmp_path: Path) -> Iterator[FolderBuckets]:
        (tmp_path / "elsewhere").mkdir()
        bindings = (BucketBinding(BUCKET, str(tmp_path / "elsewhere")),)
        made = FolderBuckets(tmp_path / "buckets", SystemClock(), bindings=bindings)
        yield made
        made.close()


def bind(tmp_path: Path, target: str, endpoint: str) -> FolderBuckets:
    bindings = (BucketBinding(BUCKET, target, endpoint=endpoint),)
    remotes = open_remotes(bindings)
    return FolderBuckets(tmp_path / "buckets", SystemClock(), bindings=bindings, remotes=remotes)


class RemoteContract(ObjectsContract):
    def test_a_reader_keeps_the_object_that_it_opened(self, buckets: ObjectStorage) -> None:
        """It gets no byte of another one."""
        buckets.write(BUCKET, "a", [b"old"])
        info, file = buckets.open(BUCKET, "a")
        buckets.write(BUCKET, "a", [b"new one"])
        with file, pytest.raises(Aborted, match="replaced or deleted during the read"):
            file.read()
        assert info.size_bytes == 3


class TestS3(RemoteContract):
    """Below a prefix, so that the whole of a bucket is a special case of it."""

    @pytest.fixture
    def buckets(self, tmp_path: Path, s3: S3Server) -> Iterator[FolderBuckets]:
        bucket = s3.make_bucket(uuid4().hex)
        s3.put(bucket, "a", b"of others")
        s3.put(bucket, "some/where/", b"")
        s3.put(bucket, "some/where0", b"of others")
        made = bind(tmp_path, f"s3://{bucket}/some/where", s3.url)
        yield made
        made.close()

    def test_an_object_is_replaced_by_a_later_generation(self, buckets: ObjectStorage) -> None:
        """By another one: S3 has the time in seconds."""
        first = buckets.write(BUCKET, "a", [b"1"], content_type="text/plain")
        second = buckets.write(BUCKET, "a", [b"2"])
        assert first.generation != second.generation
        assert second.content_type == "application/octet-stream"

    def test_a_description_can_change_alone(self, buckets: ObjectStorage) -> None:
        """In a new state of the object."""
        before = buckets.write(BUCKET, "a", [b"x"], metadata={"k": "v"})
        draft = Draft(BUCKET, "a", "text/html", {"n": "w"}, {"cacheControl": "no-store"})
        after = buckets.update(draft)
        assert after == buckets.stat(BUCKET, "a")
        assert (after.crc32c, after.md5) == (before.crc32c, before.md5)
        assert (after.content_type, after.metadata) == ("text/html", {"n": "w"})
        assert after.headers == {"cacheControl": "no-store"}


class TestGcs(RemoteContract):
    """Below a prefix of a bucket of another server of Cloud Storage's API, which is Footplate."""

    @pytest.fixture
    def buckets(self, tmp_path: Path, cloud: str) -> Iterator[FolderBuckets]:
        made = bind(tmp_path, "gs://real-bucket/some/where/", cloud)
        yield made
        made.close()

    @pytest.fixture
    def cloud(self, tmp_path: Path) -> Iterator[str]:
        """Where it answers."""
        served = FolderBuckets(tmp_path / "cloud", SystemClock())
        served.create_bucket("real-bucket")
        for name in ("a", "some/where/", "some/where0"):
            served.write("real-bucket", name, [b""])
        handlers = {ServiceError: answer_service_error, HTTPException: answer_router_error}
        app = Starlette(routes=storage_routes(served), exception_handlers=handlers)
        with serve(app) as url:
            yield url
        served.close()
