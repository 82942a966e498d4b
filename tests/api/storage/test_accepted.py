"""What clients ask for is honoured, has no effect for a known reason, or is refused by name."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any

import pytest
from google.api_core.exceptions import BadRequest, PreconditionFailed

if TYPE_CHECKING:
    import httpx
    from google.cloud import storage

BUCKETS = "/storage/v1/b"
OBJECTS = f"{BUCKETS}/stage/o"
UPLOAD = "/upload/storage/v1/b/stage/o"


def put(http: httpx.Client, *names: str) -> None:
    for name in names:
        http.post(UPLOAD, params={"uploadType": "media", "name": name}, content=b"x")


def fields_of(answer: httpx.Response) -> set[str]:
    assert answer.status_code == 400, answer.text
    found = re.findall(r"(?:^|[;:] )([\w.-]+): ", answer.json()["error"]["message"])
    return set(found) - {"allowed"}


def test_a_clean_up_deletes_what_matches_alone(client: storage.Client, http: httpx.Client) -> None:
    put(http, "a.tmp", "b.bin", "runs/1/c.tmp", "runs/1/d.bin", "runs/2/e.tmp")
    for blob in client.list_blobs("stage", match_glob="runs/**.tmp", page_size=1):
        blob.delete()
    left = [blob.name for blob in client.list_blobs("stage")]
    assert left == ["a.tmp", "b.bin", "runs/1/d.bin"]


def test_pages_of_a_glob_hold_as_many_as_are_asked_for(http: httpx.Client) -> None:
    put(http, *(f"{i:02}.{'tmp' if i % 3 else 'bin'}" for i in range(12)), "d/x.tmp")
    names, token = [], ""
    while True:
        query = {"matchGlob": "*.tmp", "maxResults": "3", "pageToken": token}
        page = http.get(OBJECTS, params=query).json()
        names.append([item["name"] for item in page.get("items", [])])
        if not (token := page.get("nextPageToken", "")):
            break
    assert [len(page) for page in names] == [3, 3, 2]
    assert [*chain(*names)] == [f"{i:02}.tmp" for i in range(12) if i % 3]


def test_a_glob_matches_prefixes_too(http: httpx.Client) -> None:
    put(http, "a/x", "ab/x", "b/x", "a1", "b1")
    found = http.get(OBJECTS, params={"matchGlob": "a*{,/}", "delimiter": "/"}).json()
    assert found["prefixes"] == ["a/", "ab/"]
    assert [item["name"] for item in found["items"]] == ["a1"]


def test_only_the_fields_asked_for_are_answered(client: storage.Client, http: httpx.Client) -> None:
    put(http, "a", "b")
    query = {"fields": "items(name,size),nextPageToken", "maxResults": "1"}
    assert http.get(OBJECTS, params=query).json() == {
        "nextPageToken": "b",
        "items": [{"name": "a", "size": "1"}],
    }
    query = {"uploadType": "media", "name": "c", "fields": "size"}
    assert http.post(UPLOAD, params=query, content=b"123").json() == {"size": "3"}
    copied = http.post(f"{OBJECTS}/a/copyTo/b/stage/o/d", params={"fields": "name"})
    assert copied.json() == {"name": "d"}
    blobs = client.list_blobs("stage", fields="items(name),nextPageToken", page_size=1)
    assert [(blob.name, blob.size) for blob in blobs][:2] == [("a", None), ("b", None)]
    assert fields_of(http.get(OBJECTS, params={"fields": "items("})) == {"fields"}


@pytest.mark.parametrize(
    ("path", "query"),
    [
        (OBJECTS, {"filter": 'contexts."a"="b"'}),
        (OBJECTS, {"matchglob": "*"}),
        (OBJECTS, {"matchGlob": "[a"}),
        (OBJECTS, {"orderBy": "name"}),
        (f"{OBJECTS}/a", {"softDeleted": "true"}),
        (f"{OBJECTS}/a", {"alt": "proto"}),
        (f"{BUCKETS}/stage", {"generation": "1"}),
        (BUCKETS, {"filter": "labels.a:b"}),
    ],
)
def test_a_parameter_that_is_not_honoured_is_refused(
    http: httpx.Client, path: str, query: dict[str, str]
) -> None:
    put(http, "a")
    assert fields_of(http.get(path, params=query)) == set(query)


def test_a_wrong_parameter_changes_nothing(http: httpx.Client) -> None:
    put(http, "a")
    assert fields_of(http.delete(f"{OBJECTS}/a", params={"ifGeneration": "1"})) == {"ifGeneration"}
    query = {"uploadType": "media", "name": "b", "predefinedAcl": "publicRead"}
    assert fields_of(http.post(UPLOAD, params=query, content=b"x")) == {"predefinedAcl"}
    keys = {"x-goog-encryption-algorithm": "AES256"}
    query = {"uploadType": "media", "name": "b"}
    refused = http.post(UPLOAD, params=query, content=b"x", headers=keys)
    assert fields_of(refused) == {"x-goog-encryption-algorithm"}
    assert [item["name"] for item in http.get(OBJECTS).json()["items"]] == ["a"]


REFUSED_OF_BUCKETS: list[dict[str, Any]] = [
    {"lifecycle": {"rule": [{"action": {"type": "Delete"}, "condition": {"age": 3}}]}},
    {"versioning": {"enabled": True}},
    {"retentionPolicy": {"retentionPeriod": "60"}},
    {"softDeletePolicy": {"retentionDurationSeconds": "604800"}},
    {"iamConfiguration": {"uniformBucketLevelAccess": {"enabled": False}}},
    {"acl": [{"entity": "allUsers", "role": "READER"}]},
    {"encryption": {"defaultKmsKeyName": "k"}},
    {"lable": {"a": "b"}},
]
HARMLESS_OF_BUCKETS: dict[str, Any] = {
    "versioning": {"enabled": False},
    "lifecycle": {"rule": []},
    "softDeletePolicy": {"retentionDurationSeconds": 0},
    "iamConfiguration": {
        "uniformBucketLevelAccess": {"enabled": True},
        "publicAccessPrevention": "enforced",
    },
    "storageClass": "NEARLINE",
    "acl": [],
    "website": None,
}


@pytest.mark.parametrize("wrong", REFUSED_OF_BUCKETS, ids=lambda wrong: next(iter(wrong)))
def test_a_bucket_that_would_not_do_what_is_asked_is_not_made(
    http: httpx.Client, wrong: dict[str, Any]
) -> None:
    refused = http.post(BUCKETS, json={"name": "other", **wrong})
    [field] = fields_of(refused)
    assert field.partition(".")[0] in wrong
    assert http.get(f"{BUCKETS}/other").status_code == 404
    assert fields_of(http.patch(f"{BUCKETS}/stage", json=wrong)) == {field}


def test_what_is_so_anyway_may_be_asked_for(http: httpx.Client) -> None:
    made = http.post(BUCKETS, json={"name": "other", **HARMLESS_OF_BUCKETS})
    assert made.status_code == 200, made.text
    whole = http.put(f"{BUCKETS}/other", json=made.json())
    assert (whole.status_code, whole.json()) == (200, made.json())


def test_buckets_keep_labels(client: storage.Client, http: httpx.Client) -> None:
    bucket = client.bucket("labelled")
    bucket.labels = {"team": "vision", "env": "test"}
    client.create_bucket(bucket)
    found = client.get_bucket("labelled")
    assert (found.labels, found.metageneration) == ({"team": "vision", "env": "test"}, 2)
    found.labels = {"team": "speech"}
    found.patch(if_metageneration_match=2)
    again = client.get_bucket("labelled")
    assert (again.labels, again.metageneration) == ({"team": "speech"}, 3)
    found.patch()
    with pytest.raises(PreconditionFailed):
        found.patch(if_metageneration_match=2)
    assert http.patch(f"{BUCKETS}/labelled", json={"labels": None}).json().get("labels") is None
    wrong = {"labels": {"Team": "x"}}
    assert fields_of(http.patch(f"{BUCKETS}/labelled", json=wrong)) == {"labels"}
    assert fields_of(http.patch(f"{BUCKETS}/labelled", json={"location": "eu"})) == {"location"}
    assert http.delete(f"{BUCKETS}/labelled", params={"ifMetagenerationMatch": "1"}).is_error
    client.get_bucket("labelled").delete()
    assert not client.create_bucket("labelled").labels


def test_lists_of_buckets_have_pages(http: httpx.Client) -> None:
    for name in ("other-1", "other-2"):
        http.post(BUCKETS, json={"name": name})
    first = http.get(BUCKETS, params={"maxResults": "2"}).json()
    token = first["nextPageToken"]
    second = http.get(BUCKETS, params={"pageToken": token, "maxResults": "2"}).json()
    names = [[bucket["name"] for bucket in page["items"]] for page in (first, second)]
    assert names == [["other-1", "other-2"], ["stage"]]
    assert "nextPageToken" not in second
    assert http.get(BUCKETS, params={"softDeleted": "true"}).json()["items"] == []


def test_custom_times_are_kept_and_move_on_alone(
    client: storage.Client, http: httpx.Client
) -> None:
    query = {"uploadType": "resumable", "name": "a"}
    made = http.post(UPLOAD, params=query, json={"customTime": "2026-01-02T03:04:05Z"})
    http.put(made.headers["location"], content=b"x")
    blob = client.bucket("stage").get_blob("a")
    assert blob is not None
    assert blob.custom_time.isoformat() == "2026-01-02T03:04:05+00:00"
    blob.custom_time = blob.custom_time.replace(year=2027)
    blob.patch()
    blob.patch()
    blob.custom_time = blob.custom_time.replace(year=2025)
    with pytest.raises(BadRequest, match="customTime"):
        blob.patch()
    assert http.get(f"{OBJECTS}/a", params={"alt": "media"}).headers["x-goog-custom-time"]
    wrong = http.patch(f"{OBJECTS}/a", json={"customTime": "soon"})
    assert fields_of(wrong) == {"customTime"}


def test_fields_of_objects_that_are_not_honoured_are_refused(http: httpx.Client) -> None:
    put(http, "a")
    for wrong in (
        {"temporaryHold": True},
        {"retention": {"mode": "Locked"}},
        {"kmsKeyName": "k"},
        {"contexts": {"custom": {"a": {"value": "b"}}}},
        {"colour": "red"},
    ):
        for answer in (
            http.patch(f"{OBJECTS}/a", json=wrong),
            http.post(f"{OBJECTS}/a/copyTo/b/stage/o/b", json=wrong),
            http.post(UPLOAD, params={"uploadType": "resumable", "name": "b"}, json=wrong),
        ):
            [field] = fields_of(answer)
            assert field.partition(".")[0] in wrong
    body = {"sourceObjects": [{"name": "a"}], "deleteSourceObjects": True}
    assert fields_of(http.post(f"{OBJECTS}/c/compose", json=body)) == {"deleteSourceObjects"}
    assert [item["name"] for item in http.get(OBJECTS).json()["items"]] == ["a"]


def test_the_encoding_in_the_query_is_kept(http: httpx.Client) -> None:
    query = {"uploadType": "media", "name": "a", "contentEncoding": "gzip"}
    assert http.post(UPLOAD, params=query, content=b"x").json()["contentEncoding"] == "gzip"
