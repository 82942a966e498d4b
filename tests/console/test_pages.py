"""What the console answers, without a browser."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator

import httpx
import pytest

from footplate.testing.service import RunningService
from tests.console.conftest import HOSTILE

HTML = {"Accept": "text/html,application/xhtml+xml;q=0.9"}
FRAGMENT = {"HX-Request": "true"}


@pytest.fixture
def http(service: RunningService) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=service.url, headers=HTML) as client:
        yield client


@pytest.fixture
def closed(guarded: RunningService) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=guarded.url, headers=HTML) as client:
        yield client


def test_the_root_leads_a_browser_to_the_jobs(http: httpx.Client) -> None:
    answer = http.get("/")
    assert (answer.status_code, answer.headers["location"]) == (303, "/jobs")


@pytest.mark.parametrize("accept", ["*/*", "application/json"])
@pytest.mark.parametrize("path", ["/", "/jobs", "/console/changes"])
def test_other_callers_get_404(http: httpx.Client, accept: str, path: str) -> None:
    answer = http.get(path, headers={"Accept": accept})
    assert answer.status_code == 404
    assert answer.json()["error"]["message"] == f"nothing is served at {path}"
    assert answer.headers["vary"] == "Accept"


def test_the_page_on_connecting_has_version_address_and_commands(http: httpx.Client) -> None:
    answer = http.get("/connect")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert f"export FOOTPLATE_URL={http.base_url}".rstrip("/") in answer.text
    for command in ("footplate status", "footplate run -- ", "footplate env"):
        assert command in answer.text


def test_the_page_on_connecting_names_the_token_where_there_is_one(
    http: httpx.Client, closed: httpx.Client
) -> None:
    assert "FOOTPLATE_TOKEN" not in http.get("/connect").text
    closed.post("/sign-in", data={"token": "sesame"})
    text = closed.get("/connect").text
    assert "export FOOTPLATE_TOKEN=TOKEN" in text
    assert "Authorization: Bearer TOKEN" in text
    assert "sesame" not in text


@pytest.mark.parametrize("path", ["/nowhere", "/job/1", "/jobs.html", "/%3Cscript%3E", "/trials/x"])
def test_an_unknown_address_is_a_page(http: httpx.Client, path: str) -> None:
    answer = http.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "This server has no page at /" in answer.text
    assert 'href="/jobs"' in answer.text
    assert "<script>" not in answer.text
    assert http.get(path, headers={"Accept": "*/*"}).json()["error"]["status"] == "NOT_FOUND"


@pytest.mark.parametrize("path", ["/v1/projects/demo/none", "/storage/v1/none", "/footplate/v1/x"])
def test_errors_of_apis_stay_json(http: httpx.Client, closed: httpx.Client, path: str) -> None:
    """Java's own client accepts HTML, too."""
    assert http.get(path).json()["error"]["code"] in (400, 404)
    assert closed.get(path).json()["error"]["code"] == 403


def test_an_unknown_address_says_nothing_before_the_sign_in(closed: httpx.Client) -> None:
    answer = closed.get("/nowhere")
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=/nowhere")
    closed.post("/sign-in", data={"token": "sesame"})
    assert closed.get("/nowhere").status_code == 404


def test_the_form_shows_all_mistakes_at_once(http: httpx.Client) -> None:
    fields = {"machine": "n9-standard", "env": "A=1\nB\nA=2", "labels": "a=1\na=2", "region": "a b"}
    text = http.post("/submit/check", data=fields, headers=FRAGMENT).text
    wrong = dict(re.findall(r'<small id="error-(\w+)"[^>]*>([^<]+)</small>', text))
    assert wrong.keys() >= {"project", "region", "name", "machine", "env", "labels", "module"}
    assert (wrong["project"], "NAME=VALUE" in wrong["env"]) == ("required", True)
    assert wrong["env"].count("twice") == wrong["labels"].count("twice") == 1
    assert text.count("<li class") >= len(wrong) + 1
    assert "Accepted" not in text


def test_pages_may_do_nothing_that_they_need_not(http: httpx.Client) -> None:
    headers = http.get("/jobs").headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"


def test_what_users_wrote_is_text(http: httpx.Client) -> None:
    text = http.get("/jobs").text
    assert "&lt;img src=x" in text
    assert "<img src=x" not in text
    assert "<script>alert" not in text
    searched = http.get("/jobs", params=dict.fromkeys(("q", "label", "project"), HOSTILE)).text
    assert "<img src=x" not in searched
    assert "<script>alert" not in searched


def test_a_page_of_jobs_is_small(service: RunningService) -> None:
    with httpx.stream("GET", f"{service.url}/jobs", headers=HTML) as answer:
        raw = b"".join(answer.iter_raw())
    assert answer.headers["content-encoding"] == "gzip"
    assert len(raw) < 80_000
    assert gzip.decompress(raw).count(b"<tr>") == 51


def test_all_that_the_list_of_jobs_loads_is_small(http: httpx.Client) -> None:
    whole = len(gzip.compress(http.get("/jobs").content))
    for address in set(
        re.findall(r'(?:src|href)="(/console/static/[^"]+)"', http.get("/jobs").text)
    ):
        with http.stream("GET", address) as answer:
            whole += sum(map(len, answer.iter_raw()))
            assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert whole < 80_000


def test_files_of_an_earlier_version_are_not_kept(http: httpx.Client) -> None:
    answer = http.get("/console/static/0000/console.css")
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-cache")
    assert http.get("/console/static/0000/../site.py").status_code == 404
    assert http.get("/console/static/0000/none.js").status_code == 404


def test_rows_that_have_not_changed_are_not_sent_again(http: httpx.Client) -> None:
    first = http.get("/jobs", headers=FRAGMENT)
    found = re.search(r'"seen": "([0-9a-f]+)"', first.text)
    assert found is not None
    assert "<html" not in first.text
    again = http.get("/jobs", params={"seen": found[1]}, headers=FRAGMENT)
    assert (again.status_code, again.content) == (204, b"")


def test_an_error_is_a_page(http: httpx.Client) -> None:
    answer = http.get("/jobs", params={"page": "bogus"})
    assert answer.status_code == 400
    assert "pageToken" in answer.text
    assert http.get("/jobs", params={"page": "x"}, headers=FRAGMENT).status_code == 400


def test_without_the_token_there_is_nothing_but_the_way_in(closed: httpx.Client) -> None:
    answer = closed.get("/jobs?state=FAILED")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/sign-in?next=/jobs%3Fstate%3DFAILED"
    fragment = closed.get("/jobs", headers=FRAGMENT)
    assert (fragment.status_code, fragment.headers["hx-redirect"]) == (401, "/sign-in")
    events = closed.get("/console/changes", headers={"Accept": "text/event-stream"})
    assert events.status_code == 401
    closed.cookies.set("footplate_session", f"99999999999.{'0' * 64}")
    assert closed.get("/jobs").status_code == 303
    job = "projects/demo/jobs/x"
    assert closed.get(f"/searches/{job}").headers["location"] == f"/sign-in?next=/searches/{job}"
    refused = closed.get("/terminal/x")
    assert (refused.status_code, "not the address of a shell" in refused.text) == (403, True)


def test_a_wrong_token_is_refused(closed: httpx.Client) -> None:
    answer = closed.post("/sign-in", data={"token": "open"})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("there", ["https://evil.example/", "//evil.example", "/\\evil.example"])
def test_signing_in_leads_nowhere_else(closed: httpx.Client, there: str) -> None:
    answer = closed.post("/sign-in", params={"next": there}, data={"token": "sesame"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    for part in ("httponly", "samesite=strict", "path=/"):
        assert part in cookie
    assert "sesame" not in cookie
    assert closed.get("/jobs").status_code == 200
    assert closed.get("/v1/projects/demo/jobs").status_code == 403, "the cookie opens no API"


def test_pages_of_others_change_nothing(closed: httpx.Client) -> None:
    for headers in (
        {"Origin": "http://evil.example"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "null"},
        {},  # no HX-Request
    ):
        answer = closed.post("/sign-out", headers=headers)
        assert answer.status_code == 403
