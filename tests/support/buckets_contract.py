"""What all buckets do. Subclass a contract and give it a fixture ``buckets``."""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING

import google_crc32c
import pytest

from footplate.domain.errors import (
    Aborted,
    AlreadyExists,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    OutOfRange,
)
from footplate.ports.object_storage import Checksums, Conditions, Draft, ObjectStorage
from tests.support.deadlines import EVENT_S

if TYPE_CHECKING:
    from collections.abc import Iterator

BUCKET = "models"
NAMES = (
    "a",
    "a b/c:d.txt",
    "a%2Fb",
    "a-b",
    "a.txt",
    "b/#?&=+'\"\\",
    "b/c/d/e",
    "ba",
    "ä/日本/🚂",
    "\u202e/.hidden",
    "x" * 255 + "/" + "é" * 127,
)
HOSTILE_NAMES = ("", ".", "..", "a\nb", "a\rb", "x" * 1025, "é" * 513, "half \ud800")
BAD_BUCKETS = (
    "",
    "ab",
    "a" * 64,
    "Upper",
    "-a-",
    "a..b",
    "a.-b",
    "10.0.0.1",
    "goog-x",
    "a/b",
    "..",
)


class ObjectsContract:
    """What the objects of ``BUCKET`` do, which is there and empty."""

    def test_a_bucket_that_is_not_there(self, buckets: ObjectStorage) -> None:
        with pytest.raises(NotFound, match="elsewhere"):
            buckets.bucket("elsewhere")
        with pytest.raises(NotFound, match="elsewhere"):
            buckets.write("elsewhere", "a", [b""])
        with pytest.raises(NotFound, match="elsewhere"):
            buckets.list("elsewhere")

    @pytest.mark.parametrize("name", NAMES)
    def test_what_is_written_is_read(self, buckets: ObjectStorage, name: str) -> None:
        content = [b"one ", b"", b"two"]
        written = buckets.write(
            BUCKET, name, content, content_type="text/plain", metadata={"k": "ü"}
        )
        assert written == buckets.stat(BUCKET, name)
        assert written.size_bytes == 7
        assert written.crc32c == google_crc32c.value(b"one two")
        assert written.md5 == hashlib.md5(b"one two", usedforsecurity=False).digest()
        assert (written.content_type, written.metadata) == ("text/plain", {"k": "ü"})
        assert _read(buckets, name) == b"one two"
        assert _names(buckets) == [name]
        buckets.delete(BUCKET, name)
        assert _names(buckets) == []
        with pytest.raises(NotFound):
            buckets.stat(BUCKET, name)
        with pytest.raises(NotFound):
            buckets.delete(BUCKET, name)

    @pytest.mark.parametrize("name", HOSTILE_NAMES)
    def test_a_name_that_no_object_can_have(self, buckets: ObjectStorage, name: str) -> None:
        with pytest.raises(InvalidArgument):
            buckets.write(BUCKET, name, [b""])
        with pytest.raises(InvalidArgument):
            buckets.stat(BUCKET, name)
        with pytest.raises(InvalidArgument):
            buckets.begin_upload(Draft(BUCKET, name))

    def test_an_object_is_replaced_by_a_later_generation(self, buckets: ObjectStorage) -> None:
        first = buckets.write(BUCKET, "a", [b"1"], content_type="text/plain")
        second = buckets.write(BUCKET, "a", [b"2"])
        buckets.delete(BUCKET, "a")
        third = buckets.write(BUCKET, "a", [b"1"])
        assert first.generation < second.generation < third.generation
        assert second.content_type == "application/octet-stream"

    def test_a_reader_keeps_the_object_that_it_opened(self, buckets: ObjectStorage) -> None:
        buckets.write(BUCKET, "a", [b"old"])
        info, file = buckets.open(BUCKET, "a")
        buckets.write(BUCKET, "a", [b"new one"])
        with file:
            assert file.read() == b"old"
        assert info.size_bytes == 3
        assert _read(buckets, "a") == b"new one"

    def test_a_write_that_breaks_off_changes_nothing(self, buckets: ObjectStorage) -> None:
        def chunks() -> Iterator[bytes]:
            yield b"half"
            raise ConnectionError

        with pytest.raises(ConnectionError):
            buckets.write(BUCKET, "a", chunks())
        assert _names(buckets) == []
        before = buckets.write(BUCKET, "a", [b"whole"])
        with pytest.raises(ConnectionError):
            buckets.write(BUCKET, "a", chunks())
        assert buckets.stat(BUCKET, "a") == before

    def test_wrong_checksums_change_nothing(self, buckets: ObjectStorage) -> None:
        for checksums in (Checksums(crc32c=1), Checksums(md5=b"1" * 16)):
            with pytest.raises(InvalidArgument, match="don't match"):
                buckets.put(Draft(BUCKET, "a", checksums=checksums), [b"x"])
        assert _names(buckets) == []

    def test_conditions_on_the_generation(self, buckets: ObjectStorage) -> None:
        first = buckets.write(BUCKET, "a", [b"1"], if_generation=0)
        with pytest.raises(FailedPrecondition):
            buckets.write(BUCKET, "a", [b"2"], if_generation=0)
        with pytest.raises(FailedPrecondition):
            buckets.write(BUCKET, "b", [b"2"], if_generation=first.generation)
        second = buckets.write(BUCKET, "a", [b"2"], if_generation=first.generation)
        with pytest.raises(FailedPrecondition):
            buckets.remove(BUCKET, "a", Conditions(generation=first.generation))
        with pytest.raises(FailedPrecondition):
            buckets.remove(BUCKET, "a", Conditions(metageneration=2))
        buckets.remove(BUCKET, "a", Conditions(generation=second.generation, metageneration=1))
        assert _names(buckets) == []

    def test_a_description_can_change_alone(self, buckets: ObjectStorage) -> None:
        before = buckets.write(BUCKET, "a", [b"x"], metadata={"k": "v"})
        draft = Draft(BUCKET, "a", "text/html", {"n": "w"}, {"cacheControl": "no-store"})
        after = buckets.update(draft)
        assert after == buckets.stat(BUCKET, "a")
        assert (after.generation, after.metageneration) == (before.generation, 2)
        assert (after.crc32c, after.md5) == (before.crc32c, before.md5)
        assert (after.content_type, after.metadata) == ("text/html", {"n": "w"})
        assert after.headers == {"cacheControl": "no-store"}

    def test_one_of_two_writers_wins_whole(self, buckets: ObjectStorage) -> None:
        both = threading.Barrier(2, timeout=EVENT_S)

        def chunks(letter: bytes) -> Iterator[bytes]:
            for _ in range(20):
                both.wait()
                yield letter * 1000

        def write(letter: bytes) -> None:
            buckets.write(BUCKET, "a", chunks(letter), content_type=f"x/{letter.decode()}")

        threads = [threading.Thread(target=write, args=(letter,)) for letter in (b"x", b"y")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        content, info = _read(buckets, "a"), buckets.stat(BUCKET, "a")
        assert content in (b"x" * 20000, b"y" * 20000)
        assert info.content_type == f"x/{content[:1].decode()}"
        assert info.crc32c == google_crc32c.value(content)

    def test_a_folder_is_an_empty_object(self, buckets: ObjectStorage) -> None:
        buckets.write(BUCKET, "d/e/", [b""])
        buckets.write(BUCKET, "d/f", [b""])
        assert _names(buckets) == ["d/e/", "d/f"]
        assert buckets.stat(BUCKET, "d/e/").size_bytes == 0
        assert _read(buckets, "d/e/") == b""
        assert buckets.list(BUCKET, delimiter="/").prefixes == ("d/",)
        buckets.delete(BUCKET, "d/e/")
        assert _names(buckets) == ["d/f"]

    def test_listing_in_pages(self, buckets: ObjectStorage) -> None:
        names = sorted(["a", "a-", "a.b", "a0", "b/1", "b/2/3", "b!", "b0", "ü", "🚂", "\uffff"])
        for name in names:
            buckets.write(BUCKET, name, [b"x"])
        assert names == sorted(names, key=str.encode)
        assert _names(buckets) == names
        for limit in (1, 2, 3, 5):
            pages, token = [], None
            while True:
                page = buckets.list(BUCKET, limit=limit, token=token)
                assert len(page.objects) <= limit
                pages += [found.name for found in page.objects]
                token = page.next_token
                if token is None:
                    break
            assert pages == names

    def test_listing_by_prefix_and_delimiter(self, buckets: ObjectStorage) -> None:
        for name in ("a/1", "a/b/2", "a/b/3", "a/c", "ab", "b/x"):
            buckets.write(BUCKET, name, [b"x"])
        top = buckets.list(BUCKET, delimiter="/")
        assert ([o.name for o in top.objects], top.prefixes) == (["ab"], ("a/", "b/"))
        inner = buckets.list(BUCKET, prefix="a/", delimiter="/")
        assert ([o.name for o in inner.objects], inner.prefixes) == (["a/1", "a/c"], ("a/b/",))
        begun = buckets.list(BUCKET, prefix="a", delimiter="/")
        assert ([o.name for o in begun.objects], begun.prefixes) == (["ab"], ("a/",))
        first = buckets.list(BUCKET, delimiter="/", limit=1)
        assert first.prefixes == ("a/",)
        second = buckets.list(BUCKET, delimiter="/", limit=1, token=first.next_token)
        assert [o.name for o in second.objects] == ["ab"]
        for nowhere in ("zz", "a/b/2/", "../", "/", "a//", "a/../"):
            assert buckets.list(BUCKET, prefix=nowhere).objects == ()

    def test_an_upload_in_parts(self, buckets: ObjectStorage) -> None:
        upload_id = buckets.begin_upload(Draft(BUCKET, "a", "text/plain", {"k": "v"}))
        assert buckets.upload(upload_id).received_bytes == 0
        assert buckets.append(upload_id, 0, [b"on", b"e"]) == 3
        with pytest.raises(OutOfRange):
            buckets.append(upload_id, 4, [b"x"])
        assert buckets.append(upload_id, 1, [b"n", b"e two"]) == 7
        assert _names(buckets) == []
        made = buckets.finish_upload(upload_id, Checksums(google_crc32c.value(b"one two")))
        assert made == buckets.stat(BUCKET, "a")
        assert (made.content_type, made.metadata) == ("text/plain", {"k": "v"})
        assert _read(buckets, "a") == b"one two"
        assert buckets.upload(upload_id).result == made
        assert buckets.finish_upload(upload_id, Checksums()) == made

    def test_what_arrived_of_an_upload_stays(self, buckets: ObjectStorage) -> None:
        def chunks() -> Iterator[bytes]:
            yield b"ab"
            with pytest.raises(Aborted):
                buckets.append(upload_id, 0, [b"x"])
            raise ConnectionError

        upload_id = buckets.begin_upload(Draft(BUCKET, "a"))
        with pytest.raises(ConnectionError):
            buckets.append(upload_id, 0, chunks())
        assert buckets.upload(upload_id).received_bytes == 2
        assert buckets.append(upload_id, 2, [b"c"]) == 3
        buckets.finish_upload(upload_id, Checksums())
        assert _read(buckets, "a") == b"abc"

    def test_an_upload_that_fails_or_is_abandoned_is_gone(self, buckets: ObjectStorage) -> None:
        wrong = buckets.begin_upload(Draft(BUCKET, "a"))
        with pytest.raises(InvalidArgument):
            buckets.finish_upload(wrong, Checksums(crc32c=1))
        late = buckets.begin_upload(Draft(BUCKET, "a", conditions=Conditions(generation=7)))
        with pytest.raises(FailedPrecondition):
            buckets.finish_upload(late, Checksums())
        left = buckets.begin_upload(Draft(BUCKET, "a"))
        buckets.abandon_upload(left)
        for upload_id in (wrong, late, left, "made-up", "../objects"):
            with pytest.raises(NotFound):
                buckets.upload(upload_id)
        assert _names(buckets) == []


class BucketsContract(ObjectsContract):
    """And what those do that can make and delete buckets."""

    @pytest.fixture(autouse=True)
    def _bucket(self, buckets: ObjectStorage) -> None:
        buckets.create_bucket(BUCKET)

    def test_a_new_bucket_is_there_and_empty(self, buckets: ObjectStorage) -> None:
        assert buckets.bucket(BUCKET) in buckets.buckets()
        assert buckets.list(BUCKET) == buckets.list(BUCKET, prefix="x")
        assert buckets.list(BUCKET).objects == ()

    def test_a_bucket_is_made_once(self, buckets: ObjectStorage) -> None:
        with pytest.raises(AlreadyExists, match=BUCKET):
            buckets.create_bucket(BUCKET)

    def test_a_bucket_keeps_its_location(self, buckets: ObjectStorage) -> None:
        made = buckets.create_bucket("in-europe", "EUROPE-WEST4")

        assert (made.location, buckets.bucket(BUCKET).location) == ("EUROPE-WEST4", "US")
        assert buckets.bucket("in-europe") == made
        assert made in buckets.buckets()

    @pytest.mark.parametrize("name", BAD_BUCKETS)
    def test_a_name_that_no_bucket_can_have(self, buckets: ObjectStorage, name: str) -> None:
        with pytest.raises(InvalidArgument, match="allowed: 3 to 63"):
            buckets.create_bucket(name)

    def test_only_an_empty_bucket_can_be_deleted(self, buckets: ObjectStorage) -> None:
        buckets.write(BUCKET, "a/b", [b"x"])
        with pytest.raises(FailedPrecondition, match="not empty"):
            buckets.delete_bucket(BUCKET)
        buckets.delete(BUCKET, "a/b")
        buckets.delete_bucket(BUCKET)
        with pytest.raises(NotFound):
            buckets.bucket(BUCKET)


def _read(buckets: ObjectStorage, name: str) -> bytes:
    with buckets.read(BUCKET, name) as file:
        return file.read()


def _names(buckets: ObjectStorage) -> list[str]:
    return [found.name for found in buckets.list(BUCKET).objects]
