"""A slurmrestd that is away, answers half, or refuses: the reason is said, and nothing is lost."""

from __future__ import annotations

import base64
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from footplate.backends.engine.engine import (
    EngineRefused,
    EngineUnavailable,
    JobRequest,
    LauncherRequest,
)
from footplate.backends.slurm import RestServer, SlurmEngine, SlurmSettings
from tests.support.http_server import serve

V = "/slurm/v0.0.41"
DOCUMENT = json.dumps({"paths": {f"{V}/job/submit": {}}})
REQUEST = JobRequest("footplate-s-u-1.0", "europe-west4", (LauncherRequest("a"),), b"")


def make_jwt(end_s: int) -> str:
    claims = json.dumps({"exp": end_s, "sun": "ada"}).encode()
    return f"e30.{base64.urlsafe_b64encode(claims).decode().rstrip('=')}.signature"


class CutOff(PlainTextResponse):
    """Announces more than it sends, then breaks off."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(head)
        await send({"type": "http.response.body", "body": self.body, "more_body": True})
        raise ConnectionAbortedError


class Slurmrestd:
    """Answers what a test has put at a path, and keeps who asked."""

    def __init__(self) -> None:
        self.answers: dict[str, Response] = {"/openapi/v3": PlainTextResponse(DOCUMENT)}
        self.callers: list[tuple[str, str]] = []

    def put(self, path: str, text: str, status: int = 200) -> None:
        self.answers[f"{V}/{path}"] = PlainTextResponse(text, status)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.decode(): text.decode() for name, text in scope["headers"]}
        names = ("x-slurm-user-name", "x-slurm-user-token")
        self.callers.append((headers.get(names[0], ""), headers.get(names[1], "")))
        missing = PlainTextResponse("Unable find requested URL.", 404)
        await self.answers.get(scope["path"], missing)(scope, receive, send)


@pytest.fixture
def server() -> Slurmrestd:
    return Slurmrestd()


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    file = tmp_path / "token"
    file.write_text("one.two.three\n")
    file.chmod(0o600)
    return file


@pytest.fixture
def engine(server: Slurmrestd, token_file: Path) -> Iterator[SlurmEngine]:
    with serve(server) as url:
        given = RestServer(url, "ada", str(token_file))
        yield SlurmEngine(SlurmSettings(partition="pool", server=given))


def test_the_token_is_read_anew_for_each_request(
    engine: SlurmEngine, server: Slurmrestd, token_file: Path
) -> None:
    server.put("jobs", '{"jobs": []}')
    assert engine.list("footplate-") == ()
    token_file.write_text("SLURM_JWT=four.five.six\n")
    engine.list("footplate-")
    assert server.callers[0] == ("ada", "one.two.three")
    assert server.callers[-1] == ("ada", "four.five.six")
    token_file.unlink()
    with pytest.raises(EngineUnavailable, match=r"token can't be read: No such file"):
        engine.list("footplate-")
    token_file.write_text("two words")
    with pytest.raises(EngineUnavailable, match="has no token in it"):
        engine.list("footplate-")


def test_an_expired_token_is_the_reason_of_an_error_without_words(
    engine: SlurmEngine, server: Slurmrestd, token_file: Path
) -> None:
    opaque = {"description": "Failed while looking for jobs", "error_number": -1}
    server.put("jobs", json.dumps({"errors": [opaque], "jobs": []}), 500)
    with pytest.raises(EngineUnavailable, match=r"^Failed while looking for jobs$"):
        engine.list("footplate-")
    token_file.write_text(make_jwt(86_400))
    with pytest.raises(EngineUnavailable) as caught:
        engine.list("footplate-")
    assert str(caught.value).startswith(f"the token of ada in {token_file} has expired at 1970")
    assert "scontrol token username=ada lifespan=SECONDS" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ('{"jobs": [{"job_id": 7, "na', 200, "answers 200 with"),
        ("<html>Bad Gateway</html>", 502, "answers 502 with '<html>Bad"),
        ('["jobs"]', 200, "answers with"),
        ("{}", 200, "no list of jobs"),
        (
            "Authentication failure",
            401,
            "refuses the server's token: Authentication failure; write a new",
        ),
    ],
)
def test_what_is_no_answer_is_silence_with_the_reason(
    engine: SlurmEngine, server: Slurmrestd, text: str, status: int, said: str
) -> None:
    server.put("jobs", text, status)
    with pytest.raises(EngineUnavailable, match=said):
        engine.list("footplate-")


def test_an_answer_that_is_cut_off_is_silence(engine: SlurmEngine, server: Slurmrestd) -> None:
    """The connection ends before the body is whole."""
    text = '{"jobs": []}'
    server.answers[f"{V}/jobs"] = CutOff(text, headers={"Content-Length": str(len(text) + 100)})
    with pytest.raises(EngineUnavailable, match=r"can't be reached: peer closed connection"):
        engine.list("footplate-")


def test_a_server_that_is_away_is_silence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
    report = SlurmEngine(SlurmSettings(server=RestServer(url, "ada"))).check()
    assert not report.reachable
    assert "slurmrestd at http://127.0.0.1:" in report.problems[0]
    assert "can't be reached" in report.problems[0]


def test_another_version_after_an_upgrade_is_found(engine: SlurmEngine, server: Slurmrestd) -> None:
    server.put("jobs", '{"jobs": []}')
    engine.list("footplate-")
    later = "/slurm/v0.0.44"
    server.answers = {
        "/openapi/v3": PlainTextResponse(json.dumps({"paths": {f"{later}/job/submit": {}}})),
        f"{later}/jobs": PlainTextResponse('{"jobs": []}'),
    }
    with pytest.raises(EngineUnavailable, match=r"has no path /slurm/v0\.0\.41/jobs"):
        engine.list("footplate-")
    assert engine.list("footplate-") == ()


def test_submits_that_are_taken_and_refused(engine: SlurmEngine, server: Slurmrestd) -> None:
    late = {"error_code": 2015, "error": "Requested partition configuration not available now"}
    server.put("job/submit", json.dumps({"job_id": 7, "errors": [late]}))
    assert engine.submit(REQUEST) == "7"
    wrong = {"error_number": 2000, "error": "Invalid partition name specified"}
    server.put("job/submit", json.dumps({"job_id": 0, "errors": [wrong]}), 500)
    with pytest.raises(EngineRefused, match=r"^Invalid partition name specified$"):
        engine.submit(REQUEST)
    busy = {"error_number": 1, "error": "Unable to contact slurm controller (connect failure)"}
    server.put("job/submit", json.dumps({"errors": [busy]}), 500)
    with pytest.raises(EngineUnavailable, match="Unable to contact"):
        engine.submit(REQUEST)


def test_jobs_that_slurm_does_not_know(engine: SlurmEngine, server: Slurmrestd) -> None:
    unknown = {"error_number": 2017, "error": "Invalid job id specified"}
    server.put("job/9", json.dumps({"errors": [unknown], "jobs": []}), 500)
    assert engine.find("9") is None
    engine.cancel("9")
    server.put("job/9", json.dumps({"errors": [{"error": "no", "error_number": 1}]}), 500)
    with pytest.raises(EngineUnavailable):
        engine.find("9")
    with pytest.raises(EngineUnavailable):
        engine.cancel("9")


def test_a_job_of_another_user_is_never_ours(engine: SlurmEngine, server: Slurmrestd) -> None:
    """Anybody may give a job any name, and Slurm gives out numbers again."""
    ours = {"job_id": 7, "name": REQUEST.name, "job_state": ["PENDING"], "user_name": "ada"}
    forged = {**ours, "job_id": 8, "user_name": "eve"}
    unknown = {name: value for name, value in ours.items() if name != "user_name"}
    other = {**forged, "job_id": 9, "name": "of-eve"}
    server.put("jobs", json.dumps({"jobs": [forged, ours, {**unknown, "job_id": 10}, other]}))
    server.put("job/8", json.dumps({"jobs": [forged]}))
    assert [job.id for job in engine.list("footplate-s-")] == ["7"]
    words = "has the name of one of this service's, but is of user"
    assert [each.partition(": it is left alone")[0] for each in engine.oddities] == [
        f"job 8 in Slurm {words} 'eve'",
        f"job 10 in Slurm {words} None",
    ]
    assert engine.find("8") is None


def test_a_socket_gets_neither_user_nor_token() -> None:
    """Slurm refuses a user without a token, and takes the user from the socket."""
    server = Slurmrestd()
    server.put("jobs", '{"jobs": []}')
    with serve(server) as url:
        SlurmEngine(SlurmSettings(server=RestServer(url, "ada"))).list("footplate-")
    assert server.callers == [("", "")] * 2


def test_a_check_says_what_is_there_and_what_is_wrong(
    engine: SlurmEngine, server: Slurmrestd, token_file: Path
) -> None:
    meta = {"slurm": {"release": "24.11.5"}}
    node = {
        "name": "n1",
        "state": ["IDLE"],
        "cpus": 8,
        "real_memory": 16000,
        "partitions": ["pool"],
    }
    job = {"job_id": 7, "name": "x", "partition": "pool", "job_state": ["PENDING"]}
    ended = {**job, "job_id": 6, "job_state": ["COMPLETED"]}
    server.put("ping", json.dumps({"meta": meta, "pings": [{"pinged": "UP"}]}))
    server.put("nodes", json.dumps({"nodes": [node, {**node, "name": "n2", "partitions": []}]}))
    server.put("jobs", json.dumps({"jobs": [job, ended]}))
    report = engine.check()
    assert report.problems == ()
    assert report.facts[0].startswith("version: slurm 24.11.5, by slurmrestd v0.0.41 at http://")
    assert report.facts[1:] == (
        "nodes: 1 idle, 8 CPUs, 16000 MB",
        "queue: 0 jobs run, 1 wait",
    )
    assert (
        engine.try_out(LauncherRequest("", vcpus=16))
        == "no node that meets the other options has 16 CPUs"
    )
    assert engine.silent_nodes("n[1-2]") == ()
    assert engine.silent_nodes("n[2-3]") == ("n3",), "nothing is said of it"

    token_file.chmod(0o644)
    (problem,) = engine.check().problems
    assert "has the mode 0644" in problem
    server.put("ping", json.dumps({"pings": [{"pinged": "DOWN"}]}))
    assert engine.check().problems == (
        "Slurm does not answer: slurmrestd answers, but slurmctld doesn't",
    )
