"""Programs that call the API of a service, with a token of a person or where none is required."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from footplate.domain.job_states import State
from footplate.domain.names import TrainingJobName
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, Context, SharedServices
from tests.support.grpc_program import GRPC_CALL

CALLER = """
import importlib.metadata, json, os, subprocess, sys, urllib.error, urllib.request

server, key = os.environ["STORAGE_EMULATOR_HOST"].split("/programs/")
project, bucket = sys.argv[2:4]
JOBS = "/v1/projects/" + project + "/jobs"
BODY = {"jobId": "made_by_program", "trainingInput": json.loads(sys.argv[1])}

def call(path, body=None, **headers):
    data = None if body is None else json.dumps(body).encode()
    headers["Content-Type"] = "application/json"
    try:
        with urllib.request.urlopen(urllib.request.Request(server + path, data, headers)) as answer:
            return answer.status, ""
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()

calls = [
    call(JOBS + "/job_1:cancel", {}),
    call(JOBS, BODY),
    call(JOBS),
    call(JOBS, **{"X-Forwarded-For": "127.0.0.1:1"}),
    call("/footplate/v1/status"),
    call("/storage/v1/b?project=" + project),
]
if "child" in sys.argv:
    code = "import urllib.request as r; r.urlopen(%r)" % (server + JOBS)
    child = subprocess.run([sys.executable, "-c", code], start_new_session=True)
    calls.append((403 if child.returncode else 200, ""))
own = [
    call("/healthz"),
    call("/programs/" + key + "/storage/v1/b/" + bucket + "/o"),
    call("/storage/v1/b/" + bucket + "/o", Authorization="Bearer " + key),
]
build = importlib.metadata.metadata("trainer")["Summary"]
print(json.dumps({"calls": calls, "own": own, "build": build}), flush=True)
"""
SETUP = """
import os, urllib.error, urllib.request
from setuptools import find_packages, setup
server = os.environ["STORAGE_EMULATOR_HOST"].partition("/programs/")[0]
try:
    with urllib.request.urlopen(server + "/v1/projects/PROJECT/jobs") as answer:
        got = str(answer.status)
except urllib.error.HTTPError as error:
    got = str(error.code)
setup(name="trainer", version="0.1.0", packages=find_packages(), description=got)
"""
WAITER = "import time; time.sleep(600)"
INPUT = {
    "scaleTier": "BASIC",
    "region": "us-central1",
    "pythonModule": "trainer.task",
}
ACCOUNT = "trainer@demo.iam.gserviceaccount.com"
MODES = [
    {},
    {"allow_root": "true"},
    {"allow_root": "true", "isolation": "namespace"},
    {"allow_root": "true", "isolation": "subreaper"},
    {"isolation": "best-effort"},
]


def _arguments(context: Context) -> tuple[str, ...]:
    bucket = context.bucket.name
    training_input = {**INPUT, "packageUris": [f"gs://{bucket}/job_1.tar.gz"]}
    return json.dumps(training_input), context.project, bucket


def _call(context: Context) -> tuple[TrainingJobName, dict[str, Any]]:
    """What a program got that called the API while ``job_1`` ran; and that job."""
    victim = context.submit(WAITER)
    context.wait_for(victim, State.RUNNING)
    setup = SETUP.replace("PROJECT", context.project)
    setup += f"# {secrets.token_hex(8)}\n"  # what was built before isn't built again
    name = context.submit(
        CALLER, *_arguments(context), "child", setup=setup, serviceAccount=ACCOUNT
    )
    job = context.wait_for(name)
    assert job.state is State.SUCCEEDED, (job.error_message, context.messages(name))
    line = next(line for line in context.messages(name) if line.startswith("{"))
    return victim, json.loads(line)


@pytest.mark.parametrize("settings", MODES, ids=lambda given: ",".join(given.values()) or "auto")
def test_programs_are_told_apart_and_refused(
    shared_services: SharedServices, settings: dict[str, str]
) -> None:
    with shared_services.context(**settings) as context:
        victim, got = _call(context)
        assert [status for status, _ in got["calls"]] == [403] * len(got["calls"])
        assert got["build"] == "403"
        for _, text in got["calls"][:-1]:
            assert f"setting api_access doesn't name the project '{context.project}'" in text
        assert [status for status, _ in got["own"]] == [200] * len(got["own"])
        assert context.job(victim).state is State.RUNNING


def test_a_program_may_call_whose_project_and_job_say_so(tmp_path: Path) -> None:
    with running_service(
        tmp_path / "data", CACHE, stop_grace_s=1, api_access="other,demo"
    ) as service:
        context = Context(service)
        victim, got = _call(context)
        assert [status for status, _ in got["calls"]] == [200] * len(got["calls"])
        assert got["build"] == "200"
        context.wait_for(victim, State.CANCELLED)

        quiet = context.submit(CALLER, *_arguments(context))
        context.wait_for(quiet, State.SUCCEEDED)
        line = next(line for line in context.messages(quiet) if line.startswith("{"))
        status, text = json.loads(line)["calls"][0]
        assert (status, "its job has no serviceAccount" in text) == (403, True)


THIEF = """
import json, os, socket, sys, time, urllib.error, urllib.parse, urllib.request

server = os.environ["STORAGE_EMULATOR_HOST"].partition("/programs/")[0]
token, cookie, project = sys.argv[1:4]
JOBS = "/v1/projects/" + project + "/jobs"
BEARER = {"Authorization": "Bearer " + token}
PAGE = {"Accept": "text/html", "Cookie": cookie}

def call(path, data=None, **headers):
    try:
        request = urllib.request.Request(server + path, data, headers)
        with urllib.request.urlopen(request) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code

form = urllib.parse.urlencode({"token": token}).encode()
print(json.dumps([
    call(JOBS, **BEARER),
    call(JOBS, **{"x-goog-api-key": token}),
    call(JOBS + "?key=" + token),
    call(JOBS, **{**BEARER, "X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": "https"}),
    call(JOBS + "/job_1:cancel", b"{}", **{**BEARER, "Content-Type": "application/json"}),
    call("/jobs", **PAGE),
    call("/jobs", **{**PAGE, "X-Forwarded-For": "192.0.2.7"}),
    call("/sign-in", form, Accept="text/html"),
]), flush=True)
host, port = server.partition("://")[2].split(":")
with socket.create_connection((host, int(port))) as gone:  # it doesn't wait for its answer
    head = "POST " + JOBS + "/job_1:cancel HTTP/1.1\\r\\nHost: localhost\\r\\n"
    head += "Authorization: Bearer " + token + "\\r\\nContent-Type: application/json\\r\\n"
    gone.sendall((head + "Content-Length: 2\\r\\n\\r\\n{}").encode())
time.sleep(0.5)
print(json.dumps(call("/healthz")), flush=True)
"""
TOKEN = "s3cret"


def test_a_program_with_a_persons_token_and_cookie_is_refused(
    shared_services: SharedServices,
) -> None:
    with shared_services.context(token=TOKEN) as context:
        victim = context.submit(WAITER)
        context.wait_for(victim, State.RUNNING)
        page, jobs = {"Accept": "text/html"}, f"/v1/projects/{context.project}/jobs"
        with httpx.Client(base_url=context.service.url) as person:
            person.post("/sign-in", data={"token": TOKEN}, headers=page)
            assert person.get("/jobs", headers=page).status_code == 200
            assert person.get(jobs, params={"key": TOKEN}).status_code == 200
            cookies = "; ".join(f"{name}={value}" for name, value in person.cookies.items())
        name = context.submit(THIEF, TOKEN, cookies, context.project, serviceAccount=ACCOUNT)
        job = context.wait_for(name)
        assert job.state is State.SUCCEEDED, (job.error_message, context.messages(name))
        statuses, health = map(json.loads, context.messages(name))
        assert statuses == [403] * 8
        assert health == 200
        assert context.job(victim).state is State.RUNNING


GRPC_CALLER = """
import subprocess, sys
subprocess.run([sys.argv[1], "-I", "-c", sys.argv[2], *sys.argv[3:]], check=True)
"""


def test_programs_are_refused_over_grpc_and_users_are_not(tmp_path: Path) -> None:
    """The program starts the Python of the tests, which has gRPC."""
    settings = {"isolation": "best-effort", "allow_root": "true"}
    with running_service(tmp_path / "data", CACHE, stop_grace_s=1, **settings) as service:
        context = Context(service)
        port = httpx.get(f"{service.url}/healthz").json()["grpcPort"]
        url = f"{service.url}/footplate/v1/certificateAuthority"
        certificate = httpx.get(url).json()["certificate"]
        words = [sys.executable, GRPC_CALL, certificate, f"127.0.0.1:{port}"]

        name = context.submit(GRPC_CALLER, *words)
        job = context.wait_for(name)
        user = subprocess.run(
            [sys.executable, "-c", GRPC_CALL, *words[2:]],
            capture_output=True,
            text=True,
            check=True,
        )

        assert job.state is State.SUCCEEDED, (job.error_message, context.messages(name))
        said = "\n".join(context.messages(name))
        assert "PERMISSION_DENIED the program of projects/demo/jobs/" in said, said
        assert "answered" not in said
        assert user.stdout == "answered\n"


LOGGER = """
import subprocess, sys
subprocess.run([sys.argv[1], "-W", "ignore", "-c", sys.argv[2]], check=True)
"""
EXPERIMENT = """
from google.cloud import aiplatform
aiplatform.init(
    project="demo", location="us-central1", experiment="first", experiment_tensorboard=False
)
with aiplatform.start_run("one"):
    aiplatform.log_params({"rate": 0.5})
print(aiplatform.ExperimentRun("one", "first").get_params(), flush=True)
"""


def test_the_sdk_in_a_program_that_may_call_is_led_by_the_proxy(tmp_path: Path) -> None:
    """The program starts the Python of the tests, which has the SDK."""
    settings = {"isolation": "best-effort", "allow_root": "true", "api_access": "demo"}
    with running_service(tmp_path / "data", CACHE, stop_grace_s=1, **settings) as service:
        context = Context(service)
        name = context.submit(LOGGER, sys.executable, EXPERIMENT, serviceAccount=ACCOUNT)
        job = context.wait_for(name)
        assert job.state is State.SUCCEEDED, (job.error_message, context.messages(name))
        assert "{'rate': 0.5}" in context.messages(name)
