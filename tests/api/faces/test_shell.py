"""The manners of every face: one shape of errors, no surprises from outside."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from footplate.api.request_bodies import MAX_JSON_BYTES

if TYPE_CHECKING:
    import httpx

JOBS = "/v1/projects/demo/jobs"
JSON = {"Content-Type": "application/json"}


def error(response: httpx.Response) -> tuple[int, str, str]:
    """Its code, status and message, after a look at the shape."""
    assert response.headers["content-type"].startswith("application/json")
    document = response.json()
    assert set(document) == {"error"}
    assert set(document["error"]) <= {"code", "message", "status", "details"}
    assert document["error"]["code"] == response.status_code
    return response.status_code, document["error"]["status"], document["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path", "code", "status"),
    [
        ("GET", "/", 404, "NOT_FOUND"),
        ("GET", "/v1/nothing", 404, "NOT_FOUND"),
        ("GET", "/v1/projects/demo/models/m", 404, "NOT_FOUND"),
        ("GET", f"{JOBS}/", 404, "NOT_FOUND"),
        ("POST", "/v1/projects/demo/jobs/j:promote", 405, "UNIMPLEMENTED"),
        ("DELETE", JOBS, 405, "UNIMPLEMENTED"),
        ("OPTIONS", JOBS, 405, "UNIMPLEMENTED"),
        ("TRACE", JOBS, 405, "UNIMPLEMENTED"),
    ],
)
def test_the_router_answers_in_googles_shape(
    http: httpx.Client, method: str, path: str, code: int, status: str
) -> None:
    assert error(http.request(method, path))[:2] == (code, status)


def test_a_wrong_method_is_told_the_right_ones(http: httpx.Client) -> None:
    response = http.delete(JOBS)
    assert set(response.headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}
    assert "allowed: " in error(response)[2]


def test_a_crash_tells_its_id_and_nothing_else(
    http: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    code, status, message = error(http.get("/v1/crash"))
    assert (code, status) == (500, "INTERNAL")
    assert message == "internal error c0ffee; the server's log has more under this id"
    assert "c0ffee" in caplog.text
    assert "a secret of the inside" in caplog.text


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "not JSON"),
        (b"[]", "allowed: a JSON object"),
        (b'"x"', "allowed: a JSON object"),
        (b"\xff", "not UTF-8"),
        (b'{"a":' * 100_000, "nested too deeply"),
    ],
)
def test_a_broken_body_is_told_what_is_wrong(http: httpx.Client, body: bytes, said: str) -> None:
    code, status, message = error(http.post(JOBS, content=body, headers=JSON))
    assert (code, status) == (400, "INVALID_ARGUMENT")
    assert said in message


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_over_the_limit_is_refused_with_the_limit(
    http: httpx.Client, *, chunked: bool
) -> None:
    body = b"x" * (MAX_JSON_BYTES + 1)
    content = (body[i : i + 65_536] for i in range(0, len(body), 65_536)) if chunked else body
    code, status, message = error(http.post(JOBS, content=content, headers=JSON))
    assert (code, status) == (413, "INVALID_ARGUMENT")
    assert f"allowed: {MAX_JSON_BYTES} bytes" in message


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
def test_only_json_changes_something(http: httpx.Client, kind: str) -> None:
    """What web pages can send without asking is none of it."""
    code, _, message = error(http.post(JOBS, content=b"{}", headers={"Content-Type": kind}))
    assert code == 415
    assert "application/json" in message


def test_json_may_name_its_charset(http: httpx.Client) -> None:
    headers = {"Content-Type": "Application/JSON; charset=UTF-8"}
    assert error(http.post(JOBS, content=b"{}", headers=headers))[0] == 400


def test_get_and_delete_may_carry_any_content_type(http: httpx.Client) -> None:
    assert http.get(JOBS, headers=JSON).json() == {}
    custom = "/v1/projects/demo/locations/us-central1/customJobs/1"
    assert error(http.delete(custom, headers=JSON))[0] == 404


def test_a_nul_in_a_parameter_is_refused(http: httpx.Client) -> None:
    assert error(http.get(f"{JOBS}/a%00b"))[0] == 400
    assert error(http.get(JOBS, params={"filter": "jobId=a\x00"}))[0] == 400
    code, _, message = error(http.get(JOBS, params={"filter": ["jobId=a\x00", "jobId=a"]}))
    assert (code, "filter: the character U+0000" in message) == (400, True)


@pytest.mark.parametrize("project", ["-x", "a b", "x" * 101, "a%0Ab"])
def test_a_project_that_cant_be_is_refused(http: httpx.Client, project: str) -> None:
    code, _, message = error(http.get(f"/v1/projects/{project}/jobs"))
    assert code == 400
    assert message.startswith("project: ")


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "127.0.0.1", "127.8.9.10:80", "[::1]:8080", "[::1]"]
)
def test_loopback_names_may_be_called(http: httpx.Client, host: str) -> None:
    assert http.get(JOBS, headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "10.0.0.1",
        "0.0.0.0",
        "localhost:80:80",
        "a@localhost",
        "[::1",
        "[]",
        "box.lan",
    ],
)
def test_other_names_may_not(url: str, host: str) -> None:
    """A web page whose DNS name was bound to loopback sends its own name."""
    answer = raw(url, f"GET {JOBS} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
    assert " 403 " in answer.splitlines()[0]


def test_a_missing_host_is_refused(url: str) -> None:
    answer = raw(url, f"GET {JOBS} HTTP/1.0\r\n\r\n")
    assert " 403 " in answer.splitlines()[0]
    assert json.loads(answer.partition("\r\n\r\n")[2])["error"]["status"] == "PERMISSION_DENIED"


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:1"])
def test_pages_of_other_origins_may_not_call(http: httpx.Client, origin: str) -> None:
    for path in (JOBS, "/healthz", "/replica/v1/crash"):
        code, status, message = error(http.get(path, headers={"Origin": origin}))
        assert (code, status) == (403, "PERMISSION_DENIED")
        assert "Origin" in message


def test_its_own_pages_may_call(http: httpx.Client, url: str) -> None:
    assert http.get(JOBS, headers={"Origin": url}).status_code == 200


def test_answers_protect_browsers(http: httpx.Client) -> None:
    headers = http.get(JOBS).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in headers["content-security-policy"]
    assert headers["cross-origin-resource-policy"] == "same-origin"


def test_without_the_token_the_answer_is_403(guarded: httpx.Client) -> None:
    """401 makes Google's clients refresh credentials and hide the message."""
    for path in (JOBS, "/metrics", "/v1/nothing", "/ui/projects/demo/locations"):
        code, status, message = error(guarded.get(path))
        assert (code, status) == (403, "PERMISSION_DENIED")
        assert "Authorization: Bearer TOKEN" in message


@pytest.mark.parametrize(
    ("headers", "params"),
    [
        ({"Authorization": "Bearer s3cret"}, {}),
        ({"authorization": "bearer s3cret"}, {}),
        ({"x-goog-api-key": "s3cret"}, {}),
        ({}, {"key": "s3cret"}),
    ],
)
def test_the_token_comes_in_three_ways(
    guarded: httpx.Client, headers: dict[str, str], params: dict[str, str]
) -> None:
    assert guarded.get(JOBS, headers=headers, params=params).status_code == 200


@pytest.mark.parametrize("token", ["s3cre", "s3cret2", "S3CRET", "sécret"])
def test_another_token_is_refused(guarded: httpx.Client, token: str) -> None:
    headers = {b"Authorization": f"Bearer {token}".encode()}
    code, _, message = error(guarded.get(JOBS, headers=headers))
    assert (code, message) == (403, "the token of this request isn't the token of this server")


def test_health_and_supervisors_need_no_user_token(guarded: httpx.Client) -> None:
    assert guarded.get("/healthz").status_code == 200
    assert guarded.get("/replica/v1/crash").status_code == 500


def test_a_name_that_the_operator_allows_may_be_called(guarded: httpx.Client) -> None:
    headers = {"Host": "box.LAN:8470", "x-goog-api-key": "s3cret"}
    assert guarded.get(JOBS, headers=headers).status_code == 200


def test_health_and_metrics(http: httpx.Client) -> None:
    assert http.get("/healthz").json() == {"status": "ok", "version": "1.2.3", "dataDir": "here"}
    metrics = http.get("/metrics")
    assert metrics.status_code == 200
    assert metrics.headers["content-type"].startswith("text/plain")


def test_a_long_get_comes_as_a_post_with_its_query_in_the_body(http: httpx.Client) -> None:
    headers = {
        "X-HTTP-Method-Override": "GET",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    assert http.post(JOBS, content=b"pageSize=5&alt=json", headers=headers).json() == {}
    code, _, message = error(http.post(JOBS, content=b"pageSize=x", headers=headers))
    assert (code, message) == (400, 'pageSize: "x" given; allowed: 0 or more')


def test_a_body_that_is_no_form_is_no_query(http: httpx.Client) -> None:
    headers = {"X-HTTP-Method-Override": "GET", "Content-Type": "application/json"}
    assert http.post(JOBS, content=b"pageSize=x", headers=headers).json() == {}


def test_the_token_may_be_in_the_query_of_a_long_get(guarded: httpx.Client) -> None:
    headers = {
        "X-HTTP-Method-Override": "GET",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    assert guarded.post(JOBS, content=b"key=s3cret", headers=headers).json() == {}


def test_an_unknown_override_is_refused(http: httpx.Client) -> None:
    code, _, message = error(http.post(JOBS, headers={"X-HTTP-Method-Override": "TRACE"}))
    assert code == 400
    assert "allowed: GET, POST, PUT, PATCH, DELETE" in message


def raw(url: str, request: str) -> str:
    """The answer to a request that no client would send."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=10) as connection:
        connection.sendall(request.encode())
        received = b""
        while chunk := connection.recv(65_536):
            received += chunk
    return received.decode()
