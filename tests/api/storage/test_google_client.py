"""What google-cloud-storage does, against a real server."""

import base64
import hashlib
import io
from pathlib import Path

import google_crc32c
import pytest
from google.api_core.exceptions import BadRequest, Conflict, NotFound, PreconditionFailed
from google.cloud import storage
from google.cloud.storage.retry import DEFAULT_RETRY

from footplate.replica.diagnosis import ReplicaFacts, advise

NAMES = ("a", "a b/c:d.txt", "b/#?&=+%25'\"\\", "ä/日本/🚂", "x/compose", "x/rewriteTo/b/y/o/z")
MEBIBYTE = 1 << 20


@pytest.fixture(params=["user", "program"])
def url(request: pytest.FixtureRequest, server: str, program_url: str) -> str:
    """All holds at both addresses."""
    return server if request.param == "user" else program_url


@pytest.fixture
def bucket(client: storage.Client) -> storage.Bucket:
    return client.bucket("stage")


def test_buckets(client: storage.Client) -> None:
    made = client.create_bucket("models.v1")
    assert [b.name for b in client.list_buckets()] == ["models.v1", "stage"]
    assert client.get_bucket("models.v1").time_created == made.time_created
    assert client.lookup_bucket("elsewhere") is None
    with pytest.raises(NotFound, match="elsewhere"):
        client.get_bucket("elsewhere")
    with pytest.raises(Conflict, match="models"):
        client.create_bucket("models.v1")
    with pytest.raises(BadRequest, match="allowed: 3 to 63"):
        client.create_bucket("Models")
    made.blob("a/b").upload_from_string(b"x")
    with pytest.raises(Conflict, match="not empty; `footplate storage rm --recursive gs:"):
        made.delete()
    made.delete(force=True)
    assert not made.exists()


def test_policies_grant_what_everyone_has(bucket: storage.Bucket) -> None:
    policy = bucket.get_iam_policy()
    assert list(policy) == []
    member = "serviceAccount:trainer@demo.iam.gserviceaccount.com"
    policy["roles/storage.objectViewer"] = {member}
    assert bucket.set_iam_policy(policy)["roles/storage.objectViewer"] == {member}
    assert list(bucket.get_iam_policy()) == []
    asked = ["storage.objects.get", "storage.buckets.delete"]
    assert bucket.test_iam_permissions(asked) == asked


@pytest.mark.parametrize("name", NAMES)
def test_an_object_lives(bucket: storage.Bucket, name: str) -> None:
    blob = bucket.blob(name)
    blob.metadata = {"ключ": "värde"}
    blob.cache_control = "no-store"
    blob.upload_from_string("grüße", content_type="text/plain; charset=utf-8")
    again = bucket.get_blob(name)
    assert again is not None
    assert again.metadata == {"ключ": "värde"}
    assert again.cache_control == "no-store"
    assert again.content_type == "text/plain; charset=utf-8"
    assert again.size == len("grüße".encode())
    assert again.generation == blob.generation
    assert again.download_as_text() == "grüße"
    assert blob.download_as_bytes(start=1, end=3) == "grüße".encode()[1:4]
    assert [b.name for b in bucket.list_blobs()] == [name]
    blob.delete()
    assert not blob.exists()
    with pytest.raises(NotFound, match="does not exist"):
        blob.delete()
    with pytest.raises(NotFound):
        blob.download_as_bytes()


@pytest.mark.parametrize("size", [0, 1, 9 * MEBIBYTE + 7])
def test_files_of_every_size_go_up_and_down(
    bucket: storage.Bucket, tmp_path: Path, size: int
) -> None:
    content = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    here, back = tmp_path / "here", tmp_path / "back"
    here.write_bytes(content)
    blob = bucket.blob("big")
    blob.upload_from_filename(str(here))
    crc32c = google_crc32c.value(content).to_bytes(4, "big")
    assert blob.crc32c == base64.b64encode(crc32c).decode()
    md5 = hashlib.md5(content, usedforsecurity=False).digest()
    assert blob.md5_hash == base64.b64encode(md5).decode()
    blob.download_to_filename(str(back))
    assert back.read_bytes() == content
    blob.reload()
    blob.download_to_filename(str(back), checksum="md5")
    assert back.read_bytes() == content


def test_an_upload_of_unknown_length_in_chunks(bucket: storage.Bucket) -> None:
    blob = bucket.blob("chunked", chunk_size=256 << 10)
    content = b"0123456789abcdef" * (48 << 10)
    with blob.open("wb", chunk_size=256 << 10) as file:
        for place in range(0, len(content), 100_000):
            file.write(content[place : place + 100_000])
    assert blob.download_as_bytes() == content
    with blob.open("rb", chunk_size=256 << 10) as file:
        file.seek(5)
        assert file.read(300_000) == content[5:300_005]
    blob.upload_from_file(io.BytesIO(content + b"!"))
    assert blob.download_as_bytes() == content + b"!"


def test_conditions(bucket: storage.Bucket) -> None:
    blob = bucket.blob("a")
    blob.upload_from_string(b"1", if_generation_match=0)
    with pytest.raises(PreconditionFailed):
        blob.upload_from_string(b"2", if_generation_match=0)
    first = blob.generation
    blob.upload_from_string(b"2", if_generation_match=first)
    with pytest.raises(PreconditionFailed):
        blob.delete(if_generation_match=first)
    with pytest.raises(PreconditionFailed):
        blob.download_as_bytes(if_generation_match=first)
    with pytest.raises(NotFound, match="the service keeps only the last one"):
        bucket.blob("a", generation=first).download_as_bytes()
    with pytest.raises(NotFound):
        bucket.blob("a", generation=first).delete()
    blob.delete(if_generation_match=blob.generation)


def test_descriptions_change(bucket: storage.Bucket) -> None:
    blob = bucket.blob("a")
    blob.upload_from_string(b"x")
    blob.content_type = "text/html"
    blob.metadata = {"a": "1", "b": "2"}
    blob.patch()
    blob.metadata = {"a": None, "c": "3"}
    blob.patch()
    found = bucket.get_blob("a")
    assert found is not None
    assert (found.content_type, found.metadata) == ("text/html", {"b": "2", "c": "3"})
    assert found.metageneration == 3
    found.metadata = {"only": "this"}
    found.update()
    found.reload()
    assert found.metadata == {"only": "this"}


def test_listing(bucket: storage.Bucket) -> None:
    names = ["a", "d/1", "d/2", "d/e/3", "d/e/4", "é"]
    for name in names:
        bucket.blob(name).upload_from_string(b"x")
    bucket.blob("d/").upload_from_string(b"")
    assert [b.name for b in bucket.list_blobs(page_size=2)] == ["a", "d/", *names[1:]]
    below = bucket.list_blobs(prefix="d/", delimiter="/")
    assert [b.name for b in below] == ["d/", "d/1", "d/2"]
    assert below.prefixes == {"d/e/"}
    top = bucket.list_blobs(delimiter="/", include_trailing_delimiter=True)
    assert [b.name for b in top] == ["a", "d/", "é"]
    part = bucket.list_blobs(start_offset="d/2", end_offset="d/e/4", fields="items(name)")
    assert [b.name for b in part] == ["d/2", "d/e/3"]
    assert len(list(bucket.list_blobs(max_results=3))) == 3


def test_copies(client: storage.Client, bucket: storage.Bucket) -> None:
    other = client.create_bucket("other")
    blob = bucket.blob("a/b c")
    blob.metadata = {"k": "v"}
    blob.upload_from_string(b"content", content_type="text/plain")
    copy = bucket.copy_blob(blob, other, "x/compose")
    assert (copy.download_as_bytes(), copy.content_type) == (b"content", "text/plain")
    token, done, size = other.blob("rewritten").rewrite(blob)
    assert (token, done, size) == (None, 7, 7)
    renamed = bucket.rename_blob(blob, "moved")
    assert renamed.metadata == {"k": "v"}
    assert [b.name for b in bucket.list_blobs()] == ["moved"]
    joined = other.blob("joined")
    joined.compose([other.blob("rewritten"), copy, joined][:2])
    assert joined.download_as_bytes() == b"contentcontent"
    with pytest.raises(NotFound):
        joined.compose([other.blob("nowhere")])


def test_a_batch(client: storage.Client, bucket: storage.Bucket) -> None:
    for name in ("a", "b/ü"):
        bucket.blob(name).upload_from_string(b"x")
    with client.batch(raise_exception=False) as batch:
        bucket.delete_blob("a")
        bucket.delete_blob("b/ü")
        bucket.delete_blob("c")
    assert [response.status_code for response in batch._responses] == [204, 204, 404]
    assert list(bucket.list_blobs()) == []


def test_wrong_checksums_are_refused(bucket: storage.Bucket) -> None:
    blob = bucket.blob("a")
    blob.md5_hash = base64.b64encode(b"1" * 16).decode()
    with pytest.raises(BadRequest, match="don't match the md5"):
        blob.upload_from_string(b"x", retry=DEFAULT_RETRY)
    assert not blob.exists()


def test_what_a_program_writes_is_an_object(bucket: storage.Bucket, root: Path) -> None:
    folder = root / "stage" / "out"
    folder.mkdir()
    (folder / "model.json").write_bytes(b"{}")
    blob = bucket.get_blob("out/model.json")
    assert blob is not None
    assert (blob.content_type, blob.size) == ("application/json", 2)
    assert blob.download_as_bytes(checksum="crc32c") == b"{}"
    bucket.blob("in/data.csv").upload_from_string(b"1,2")
    assert (root / "stage" / "in" / "data.csv").read_bytes() == b"1,2"


def test_a_bucket_that_is_not_here_is_explained_to_programs(client: storage.Client) -> None:
    blob = client.bucket("cloud-samples-data").blob("census/adult.data.csv")
    with pytest.raises(NotFound) as missing:
        blob.download_as_bytes()
    cause = f"google.api_core.exceptions.NotFound: {missing.value}"
    assert advise(cause, ReplicaFacts()).startswith("There is no bucket 'cloud-samples-data' here")
    with pytest.raises(NotFound) as missing:
        client.bucket("stage").blob("nothing").download_as_bytes()
    assert advise(f"google.api_core.exceptions.NotFound: {missing.value}", ReplicaFacts()) == ""
