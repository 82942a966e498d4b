"""What the routes answer, request by request."""

import base64
import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote, urlsplit

import google_crc32c
import httpx
import pytest
from starlette.applications import Starlette

from footplate.api.storage_v1 import batch, storage_routes
from footplate.api.storage_v1.body import MAX_RECEIVERS, SMALL_BYTES
from footplate.buckets.folder_buckets import FolderBuckets
from footplate.server.clock import SystemClock
from tests.support.http_server import serve
from tests.support.supervisor_process import wait_until

UPLOAD = "/upload/storage/v1/b/stage/o"
OBJECTS = "/storage/v1/b/stage/o"
RANGES = {
    "bytes=0-2": b"012",
    "bytes=7-": b"789",
    "bytes=-3": b"789",
    "bytes=-99": b"0123456789",
    "bytes=8-99": b"89",
    "bytes=9-9": b"9",
}


def put_object(http: httpx.Client, name: str, content: bytes, **headers: str) -> httpx.Response:
    params = {"uploadType": "media", "name": name}
    return http.post(UPLOAD, params=params, content=content, headers=headers)


def begin(http: httpx.Client, name: str, **body: str) -> str:
    params = {"uploadType": "resumable", "name": name}
    answer = http.post(UPLOAD, params=params, json=body)
    assert (answer.status_code, answer.content) == (200, b"")
    return answer.headers["location"]


def left_over(root: Path) -> list[Path]:
    return list((root / ".footplate" / "staging").iterdir())


def wait_until_nothing_is_left(root: Path) -> None:
    wait_until(lambda: not left_over(root), "the removal of what was staged")


def test_an_object_as_json(http: httpx.Client) -> None:
    made = put_object(http, "a/b:c ü", b"0123", **{"content-type": "text/plain"}).json()
    path = f"{http.base_url}/storage/v1/b/stage/o/a%2Fb%3Ac%20%C3%BC".replace(
        "//storage", "/storage"
    )
    generation = made["generation"]
    assert made["selfLink"] == path
    assert made["id"] == f"stage/a/b:c ü/{generation}"
    assert (
        made["crc32c"] == base64.b64encode(google_crc32c.value(b"0123").to_bytes(4, "big")).decode()
    )
    assert (made["size"], made["metageneration"], made["contentType"]) == ("4", "1", "text/plain")
    assert http.get(path).json() == made
    assert http.get(made["mediaLink"]).content == b"0123"
    assert http.get(path, params={"alt": "media"}).content == b"0123"
    assert http.get(OBJECTS).json() == {"kind": "storage#objects", "items": [made]}


def test_a_download_says_all_of_its_object(http: httpx.Client) -> None:
    made = put_object(http, "a", b"0123456789", **{"content-type": "text/html"}).json()
    answer = http.get(f"/download{OBJECTS}/a", params={"alt": "media"})
    assert answer.headers["etag"] == made["etag"]
    assert answer.headers["x-goog-hash"] == f"crc32c={made['crc32c']},md5={made['md5Hash']}"
    assert answer.headers["x-goog-generation"] == made["generation"]
    assert answer.headers["content-type"] == "text/html"
    assert answer.headers["content-security-policy"] == "sandbox"
    assert http.head(f"/download{OBJECTS}/a").headers["content-length"] == "10"


@pytest.mark.parametrize("wanted", RANGES)
def test_a_part_of_an_object(http: httpx.Client, wanted: str) -> None:
    put_object(http, "a", b"0123456789")
    answer = http.get(f"/download{OBJECTS}/a", headers={"Range": wanted})
    assert (answer.status_code, answer.content) == (206, RANGES[wanted])
    first = 10 - len(RANGES[wanted]) if wanted != "bytes=0-2" else 0
    assert answer.headers["content-range"] == f"bytes {first}-{first + len(answer.content) - 1}/10"


def test_ranges_that_are_impossible_or_not_understood(http: httpx.Client) -> None:
    put_object(http, "a", b"0123456789")
    put_object(http, "empty", b"")
    for name, wanted in (("a", "bytes=10-"), ("a", "bytes=-0"), ("empty", "bytes=0-")):
        answer = http.get(f"/download{OBJECTS}/{name}", headers={"Range": wanted})
        assert answer.status_code == 416
        assert answer.headers["content-range"] in ("bytes */10", "bytes */0")
    for wanted in ("bytes=-", "bytes=3-1", "bytes=0-1,3-4", "lines=1-2", "bytes=a-b", "bytes=٣-"):
        answer = http.get(f"/download{OBJECTS}/a", headers={b"Range": wanted.encode()})
        assert (answer.status_code, answer.content) == (200, b"0123456789")


def test_errors_have_the_form_of_cloud_storage(http: httpx.Client) -> None:
    answer = http.get(f"{OBJECTS}/nothing")
    message = "object 'nothing' does not exist in bucket 'stage'"
    details = [{"message": message, "domain": "global", "reason": "notFound"}]
    error = {"code": 404, "message": message, "status": "NOT_FOUND", "errors": details}
    assert (answer.status_code, answer.json()) == (404, {"error": error})


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/storage/v1/b/elsewhere", 404),
        ("GET", "/storage/v1/b/Bad_", 400),
        ("GET", "/storage/v1/b/elsewhere/o", 404),
        ("GET", f"{OBJECTS}?maxResults=0", 400),
        ("GET", f"{OBJECTS}?maxResults=many", 400),
        ("DELETE", f"{OBJECTS}/a?ifGenerationMatch=-1", 400),
        ("GET", f"{OBJECTS}/..%2F..%2Fetc", 400),
        ("GET", f"{OBJECTS}/%FF", 400),
        ("GET", f"{OBJECTS}/a%00b", 400),
        ("DELETE", f"{OBJECTS}/a", 404),
        ("POST", f"{OBJECTS}/a", 404),
        ("POST", f"{OBJECTS}/a/compose", 400),
        ("POST", f"{OBJECTS}/a/rewriteTo/b/stage/o/b", 404),
        ("POST", "/storage/v1/b", 415),
        ("POST", UPLOAD, 400),
        ("POST", f"{UPLOAD}?uploadType=other", 400),
        ("POST", f"{UPLOAD}?uploadType=media", 400),
        ("POST", f"{UPLOAD}?uploadType=multipart", 400),
        ("POST", f"{UPLOAD}?uploadType=media&name=../a", 400),
        ("POST", "/upload/storage/v1/b/elsewhere/o?uploadType=media&name=a", 404),
        ("PUT", f"{UPLOAD}?upload_id=0", 404),
        ("PUT", UPLOAD, 400),
        ("DELETE", f"{UPLOAD}?upload_id=../x", 404),
    ],
)
def test_bad_requests(http: httpx.Client, root: Path, method: str, path: str, status: int) -> None:
    answer = http.request(method, path)
    assert answer.status_code == status
    assert answer.json()["error"]["message"]
    assert list((root / "stage").iterdir()) == left_over(root) == []


@pytest.mark.parametrize(
    ("resource", "field"),
    [
        ({"name": 7}, "name"),
        ({"name": "a", "metadata": {"k": 1}}, "metadata"),
        ({"name": "a", "metadata": {"k": "v" * 9000}}, "metadata"),
        ({"name": "a", "contentType": "a\r\nX: y"}, "contentType"),
        ({"name": "a", "crc32c": "AA=="}, "crc32c"),
        ({"name": "a", "crc32c": "AAAAAA=="}, "crc32c"),
        ({"name": "a", "md5Hash": "not base64"}, "md5Hash"),
        ({"name": "a", "md5Hash": "\u00e1"}, "md5Hash"),
    ],
)
def test_bad_descriptions(
    http: httpx.Client, root: Path, resource: dict[str, object], field: str
) -> None:
    body = b"--b\r\n\r\n%s\r\n--b\r\n\r\nx\r\n--b--" % json.dumps(resource).encode()
    answer = http.post(
        UPLOAD,
        params={"uploadType": "multipart"},
        content=body,
        headers={"Content-Type": "multipart/related; boundary=b"},
    )
    assert answer.status_code == 400
    assert field in answer.json()["error"]["message"]
    assert list((root / "stage").iterdir()) == left_over(root) == []


def test_a_hash_in_a_header_is_checked(http: httpx.Client) -> None:
    answer = put_object(http, "a", b"x", **{"x-goog-hash": "crc32c=AAAAAA=="})
    assert (answer.status_code, answer.json()["error"]["errors"][0]["reason"]) == (400, "invalid")
    right = base64.b64encode(google_crc32c.value(b"x").to_bytes(4, "big")).decode()
    assert put_object(http, "a", b"x", **{"x-goog-hash": f"crc32c={right}"}).status_code == 200


def test_conditions_on_reading(http: httpx.Client) -> None:
    generation = put_object(http, "a", b"x").json()["generation"]
    for path in (f"{OBJECTS}/a", f"/download{OBJECTS}/a"):
        unchanged = http.get(path, params={"ifGenerationNotMatch": generation})
        assert (unchanged.status_code, unchanged.content) == (304, b"")
        assert http.get(path, params={"ifGenerationMatch": "1"}).status_code == 412
        assert http.get(path, params={"generation": "1"}).status_code == 404
        assert http.get(path, params={"generation": generation}).status_code == 200


def test_a_refused_body_is_read_to_its_end(http: httpx.Client) -> None:
    answer = http.post(
        "/upload/storage/v1/b/elsewhere/o",
        params={"uploadType": "media", "name": "a"},
        content=b"x" * (8 << 20),
    )
    assert answer.status_code == 404


@pytest.mark.parametrize("size", [0, 1, SMALL_BYTES, SMALL_BYTES + 1])
def test_bodies_read_before_and_in_a_thread_are_kept_whole(http: httpx.Client, size: int) -> None:
    content = b"x" * size

    put_object(http, "a", content)

    assert http.get(f"/download{OBJECTS}/a").content == content


def test_a_sender_of_little_that_goes_away_leaves_nothing(
    http: httpx.Client, url: str, root: Path
) -> None:
    put_object(http, "a", b"before")
    host, port = urlsplit(url).hostname, urlsplit(url).port
    head = f"POST {UPLOAD}?uploadType=media&name=a HTTP/1.1\r\nHost: {host}\r\n"
    with socket.create_connection((host, port)) as sender:
        sender.sendall(head.encode() + b"Content-Length: 5000\r\n\r\n" + b"x" * 3000)
        sender.shutdown(socket.SHUT_WR)
        while sender.recv(4096):
            continue
    wait_until_nothing_is_left(root)
    assert http.get(f"/download{OBJECTS}/a").content == b"before"


def test_a_resumable_upload_step_by_step(http: httpx.Client) -> None:
    place = begin(http, "big", contentType="text/plain")
    asked = http.put(place, headers={"Content-Range": "bytes */10"})
    assert (asked.status_code, asked.headers.get("range")) == (308, None)
    first = http.put(place, content=b"01234", headers={"Content-Range": "bytes 0-4/*"})
    assert (first.status_code, first.headers["range"]) == (308, "bytes=0-4")
    ahead = http.put(place, content=b"9", headers={"Content-Range": "bytes 9-9/10"})
    assert (ahead.status_code, ahead.headers["range"]) == (308, "bytes=0-4")
    for wrong in ("bytes 5-9/9", "bytes 9-5/10", "bytes x", "bytes 5-6/10", "bytes 5-7/10"):
        length = 2 if wrong == "bytes 5-7/10" else 3
        answer = http.put(place, content=b"x" * length, headers={"Content-Range": wrong})
        assert answer.status_code == 400
        place = begin(http, "big", contentType="text/plain")
        http.put(place, content=b"01234", headers={"Content-Range": "bytes 0-4/*"})
    last = http.put(place, content=b"3456789", headers={"Content-Range": "bytes 3-9/10"})
    assert (last.status_code, last.json()["size"]) == (200, "10")
    again = http.put(place, headers={"Content-Range": "bytes */10"})
    assert (again.status_code, again.json()) == (200, last.json())
    assert http.get(f"/download{OBJECTS}/big").content == b"0123456789"
    assert http.get(f"/download{OBJECTS}/big").headers["content-type"] == "text/plain"


def test_a_resumable_upload_of_nothing_and_one_in_one_piece(http: httpx.Client) -> None:
    empty = http.put(begin(http, "empty"), headers={"Content-Range": "bytes */0"})
    assert (empty.status_code, empty.json()["size"]) == (200, "0")
    whole = http.put(begin(http, "whole"), content=b"x" * 3_000_000)
    assert (whole.status_code, whole.json()["size"]) == (200, "3000000")


def test_a_resumable_upload_that_is_given_up(http: httpx.Client) -> None:
    place = begin(http, "big")
    elsewhere = place.replace("/b/stage/", "/b/other/")
    assert http.put(elsewhere, content=b"x").status_code == 404
    assert http.delete(place).status_code == 499
    assert http.put(place, content=b"x").status_code == 404


def test_an_upload_goes_on_over_a_restart(root: Path) -> None:
    first, second = (FolderBuckets(root, SystemClock()) for _ in range(2))
    first.create_bucket("stage")
    with serve(Starlette(routes=storage_routes(first))) as url, httpx.Client(base_url=url) as http:
        place = begin(http, "big")
        http.put(place, content=b"01234", headers={"Content-Range": "bytes 0-4/10"})
    first.close()
    with serve(Starlette(routes=storage_routes(second))) as url, httpx.Client(base_url=url) as http:
        path = f"{urlsplit(place).path}?{urlsplit(place).query}"
        asked = http.put(path, headers={"Content-Range": "bytes */10"})
        assert (asked.status_code, asked.headers["range"]) == (308, "bytes=0-4")
        last = http.put(path, content=b"56789", headers={"Content-Range": "bytes 5-9/10"})
        assert last.status_code == 200
    with second.read("stage", "big") as file:
        assert file.read() == b"0123456789"
    second.close()


@pytest.mark.parametrize("kind", ["length", "chunked"])
def test_a_sender_that_goes_away_leaves_nothing(
    http: httpx.Client, url: str, root: Path, kind: str
) -> None:
    put_object(http, "a", b"before")
    host, port = urlsplit(url).hostname, urlsplit(url).port
    frame = (
        b"Content-Length: 5000000\r\n\r\n"
        if kind == "length"
        else b"Transfer-Encoding: chunked\r\n\r\nffffff\r\n"
    )
    with socket.create_connection((host, port)) as sender:
        head = f"POST {UPLOAD}?uploadType=media&name=a HTTP/1.1\r\nHost: {host}\r\n"
        sender.sendall(head.encode() + frame + b"x" * 3_000_000)
        wait_until(lambda: bool(left_over(root)), "a part that is staged")
    wait_until_nothing_is_left(root)
    assert http.get(f"/download{OBJECTS}/a").content == b"before"


def test_names_come_through(http: httpx.Client) -> None:
    names = [
        "a/b/c",
        "a/compose",
        "b c:d@e",
        "ü/🚂",
        "%2F",
        "a?b#c",
        "x/copyTo/b/y/o/z",
        "~-._",
        "+",
    ]
    for name in names:
        assert put_object(http, name, name.encode()).json()["name"] == name
        path = f"{OBJECTS}/{quote(name, safe='')}"
        assert http.get(path).json()["name"] == name
        assert http.get(path, params={"alt": "media"}).text == name
    listed = [item["name"] for item in http.get(OBJECTS).json()["items"]]
    assert listed == sorted(names, key=str.encode)


def test_pages(http: httpx.Client) -> None:
    for name in ("a/1", "b", "c/1", "c/2", "d"):
        put_object(http, name, b"")

    def pages() -> Iterator[dict[str, object]]:
        params = {"maxResults": "2", "delimiter": "/"}
        while True:
            page = http.get(OBJECTS, params=params).json()
            yield page
            if "nextPageToken" not in page:
                return
            params["pageToken"] = page["nextPageToken"]

    first, second = pages()
    assert (first["prefixes"], [i["name"] for i in first["items"]]) == (["a/"], ["b"])  # type: ignore[attr-defined]
    assert (second["prefixes"], [i["name"] for i in second["items"]]) == (["c/"], ["d"])  # type: ignore[attr-defined]


def test_broken_batches(http: httpx.Client) -> None:
    for content_type in ("text/plain", "multipart/mixed; boundary=b"):
        answer = http.post(
            "/batch/storage/v1",
            content=b"--b\r\n\r\nx\r\n--b--",
            headers={"Content-Type": content_type},
        )
        assert answer.status_code == 400


@pytest.mark.parametrize(
    "part",
    [
        b"GET http://[ HTTP/1.1\r\n",
        b"GET /storage/v1/b HTTP/1.1\r\nX-A: \xe2\x82\xac\r\n",
        b"".join(
            b"--b%d\r\nContent-Type: multipart/mixed; boundary=b%d\r\n\r\n" % (n, n + 1)
            for n in range(2000)
        ),
    ],
    ids=["address", "header", "depth"],
)
def test_batches_that_hold_no_requests(http: httpx.Client, part: bytes) -> None:
    content = b"--b\r\nContent-Type: %b\r\n\r\n%b\r\n--b--"
    for kind in (b"application/http", b"multipart/mixed; boundary=b0"):
        answer = http.post(
            "/batch/storage/v1",
            content=content % (kind, part),
            headers={"Content-Type": "multipart/mixed; boundary=b"},
        )
        assert answer.status_code == 400, answer.text


def test_parts_within_parts_of_a_batch_are_not_looked_into(http: httpx.Client) -> None:
    """Each level would have to be sought in every line."""
    level = "--B{0}\r\nContent-Type: multipart/mixed; boundary=B{1}\r\n\r\n"
    content = "".join(level.format(number, number + 1) for number in range(3000))
    headers = {"Content-Type": "multipart/mixed; boundary=B0"}
    answer = http.post("/batch/storage/v1", content=content.encode(), headers=headers)
    assert answer.status_code == 400
    assert "isn't an HTTP request" in answer.text


@pytest.mark.parametrize("end", ["--B--\r\n", "--B--", "", "--B--\r\nan epilogue\r\n--B\r\n"])
@pytest.mark.parametrize("newline", ["\r\n", "\n"])
def test_where_a_batch_ends(http: httpx.Client, end: str, newline: str) -> None:
    part = (
        "--B\r\nContent-Type: application/http\r\n\r\nGET /storage/v1/b/stage HTTP/1.1\r\n\r\n\r\n"
    )
    content = f"a preamble\r\n{part}{part}{end}".replace("\r\n", newline)
    headers = {"Content-Type": 'multipart/mixed; boundary="B"'}
    answer = http.post("/batch/storage/v1", content=content.encode(), headers=headers)
    assert answer.text.count("HTTP/1.1 200") == 2


def test_the_answer_of_a_batch_is_bounded(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_object(http, "a", b"x")
    monkeypatch.setattr(batch, "MAX_ANSWER_BYTES", 2000)
    part = f"--x\r\nContent-Type: application/http\r\n\r\nGET {OBJECTS} HTTP/1.1\r\n\r\n\r\n"
    headers = {"content-type": "multipart/mixed; boundary=x"}
    answer = http.post("/batch/storage/v1", content=f"{part * 50}--x--", headers=headers).text
    assert 2 <= answer.count("HTTP/1.1 200 ") <= 3
    assert answer.count("HTTP/1.1 413 ") == 50 - answer.count("HTTP/1.1 200 ")
    assert "send fewer requests" in answer


def test_who_sends_next_to_nothing_keeps_nobody_waiting(url: str, http: httpx.Client) -> None:
    split = urlsplit(url)
    start = f"POST {UPLOAD}?uploadType=media&name=x HTTP/1.1\r\nHost: a\r\n"
    head = f"{start}Content-Length: 999999\r\n\r\na"
    with ExitStack() as stack:
        for _ in range(2 * MAX_RECEIVERS):
            address = split.hostname, split.port
            stack.enter_context(socket.create_connection(address)).sendall(head.encode())
        assert put_object(http, "b", b"x" * (2 * SMALL_BYTES)).status_code == 200


def test_a_batch_that_is_broken_at_its_end_changes_nothing(http: httpx.Client) -> None:
    put_object(http, "kept", b"x")
    parts = (f"DELETE {OBJECTS}/kept HTTP/1.1", "DELETE http://[ HTTP/1.1")
    head = "--b\r\nContent-Type: application/http\r\n\r\n"
    content = "".join(f"{head}{part}\r\n\r\n\r\n" for part in parts) + "--b--"
    headers = {"Content-Type": "multipart/mixed; boundary=b"}
    answer = http.post("/batch/storage/v1", content=content.encode(), headers=headers)
    assert answer.status_code == 400
    assert http.get(f"{OBJECTS}/kept").status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        f"/download{OBJECTS}/big",
        f"/%64ownload{OBJECTS}/big",
        f"{OBJECTS}/big?alt=media",
        f"{OBJECTS}/big?%61lt=media",
    ],
)
def test_a_batch_downloads_nothing(http: httpx.Client, path: str) -> None:
    """Nor does Google's; a small request would have the server hold any number of copies."""
    put_object(http, "big", b"x")
    content = f"--b\r\nContent-Type: application/http\r\n\r\nGET {path} HTTP/1.1\r\n\r\n\r\n--b--"
    headers = {"Content-Type": "multipart/mixed; boundary=b"}
    answer = http.post("/batch/storage/v1", content=content.encode(), headers=headers)
    assert answer.status_code == 400
    assert "can't download" in answer.json()["error"]["message"]


def test_locations_of_buckets(http: httpx.Client) -> None:
    made = http.post("/storage/v1/b?project=demo", json={"name": "eu-data", "location": "eu"})
    http.post("/storage/v1/b?project=demo", json={"name": "near", "location": "us-central1"})

    assert (made.json()["location"], made.json()["locationType"]) == ("EU", "multi-region")
    near = http.get("/storage/v1/b/near").json()
    assert (near["location"], near["locationType"]) == ("US-CENTRAL1", "region")
    assert http.get("/storage/v1/b/near/storageLayout").json()["location"] == "US-CENTRAL1"
    assert http.get("/storage/v1/b/stage").json()["location"] == "US"


@pytest.mark.parametrize("location", ["mars", 5, "us-central1-a"])
def test_what_is_no_location(http: httpx.Client, location: object) -> None:
    answer = http.post("/storage/v1/b?project=demo", json={"name": "x-data", "location": location})

    assert answer.status_code == 400
    assert "location: " in answer.json()["error"]["message"]
    assert http.get("/storage/v1/b/x-data").status_code == 404
