"""Unchanged scripts under ``footplate run``: all they send arrives here, nothing elsewhere.

The real clients, against a server that records. Where a script asks for the real service it is
refused before a packet leaves; that the fake answers every call is the proof for the rest.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from tests.support.certificates import sign_own
from tests.support.fake_service import FakeService
from tests.support.forked_process import interpreter_variables, run_footplate
from tests.support.gcloud import find_gcloud

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes of POSIX")

LIMIT_S = 120
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"


class Run(Protocol):
    def __call__(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]: ...


@pytest.fixture
def fake() -> Iterator[FakeService]:
    with FakeService() as fake:
        yield fake


@pytest.fixture
def run(fake: FakeService, tmp_path: Path) -> Run:
    """Start ``footplate run -- WORDS`` with credentials and proxies that must not be used."""
    (tmp_path / "task.py").write_text("print('hello')\n")

    def start(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {
            **interpreter_variables(),
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "FOOTPLATE_URL": fake.url,
            "GOOGLE_API_KEY": "a-real-key",
            "https_proxy": "http://127.0.0.1:9",
            "http_proxy": "http://127.0.0.1:9",
            **variables,
        }
        return run_footplate("run", "--", *words, env=environment, cwd=tmp_path, timeout=LIMIT_S)

    return start


def script(run: Run, text: str, **variables: str) -> list[str]:
    """The lines that a Python script prints; it must succeed."""
    done = run(sys.executable, "-c", text, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


# The SDK and its parts ------------------------------------------------------------------------


def test_an_unchanged_sdk_script(run: Run, fake: FakeService) -> None:
    """Default transport, a real endpoint by name, no credentials: as in the cloud."""
    fake.buckets.append("stage")
    lines = script(
        run,
        f"""
from google.cloud import aiplatform
aiplatform.init(project="p", location="europe-west4", staging_bucket="gs://stage")
job = aiplatform.CustomJob.from_local_script("cj", "task.py", "{IMAGE}")
job.submit()
print(job.resource_name)
print([j.display_name for j in aiplatform.CustomJob.list()])
job.cancel()
job.delete()
""",
    )
    name = "projects/p/locations/europe-west4/customJobs/100"
    assert name in lines
    assert "['cj']" in lines
    collection = "/v1/projects/p/locations/europe-west4/customJobs"
    calls = [call for call in fake.calls() if "customJobs" in call]
    assert calls[0] == f"POST {collection}"
    assert calls[-2:] == [f"POST /v1/{name}:cancel", f"DELETE /v1/{name}"]
    assert not any("authorization" in request.headers for request in fake.requests)


def test_the_project_of_the_environment_takes_no_detour(run: Run, fake: FakeService) -> None:
    """The SDK asks a service of Google's for the project's number, over gRPC: not here."""
    text = """
from google.cloud import aiplatform
aiplatform.init(location="us-central1")
print(len(aiplatform.CustomJob.list()))
"""
    assert script(run, text, GOOGLE_CLOUD_PROJECT="mine")[-1] == "0"
    assert fake.calls()[-1] == "GET /v1/projects/mine/locations/us-central1/customJobs"


def test_explicit_endpoints_and_credentials_are_overridden(
    run: Run, fake: FakeService, tmp_path: Path
) -> None:
    """A script that insists on the real service, with a key file of its own."""
    fake.buckets.append("stage")
    script(run, "pass")  # makes a key file, as good as a real one for this
    (key,) = (tmp_path / ".cache" / "footplate" / "launch").iterdir()
    lines = script(
        run,
        f"""
from google.cloud import aiplatform, aiplatform_v1, aiplatform_v1beta1, storage
from google.oauth2 import service_account
mine = service_account.Credentials.from_service_account_file({str(key)!r})
real = "us-central1-aiplatform.googleapis.com"
aiplatform.init(project="p", credentials=mine, api_endpoint=real, api_transport="grpc")
print(len(aiplatform.CustomJob.list()))
parent = "projects/p/locations/us-central1"
for module in (aiplatform_v1, aiplatform_v1beta1):
    client = module.JobServiceClient(
        credentials=mine, transport="grpc", client_options={{"api_endpoint": real}})
    print(len(list(client.list_custom_jobs(parent=parent))))
    client = module.JobServiceClient.from_service_account_file({str(key)!r})
    print(len(list(client.list_custom_jobs(parent=parent))))
from google.cloud.aiplatform_v1.services.job_service.transports import JobServiceRestTransport
client = aiplatform_v1.JobServiceClient(transport=JobServiceRestTransport(credentials=mine))
print(len(list(client.list_custom_jobs(parent=parent))))
client = storage.Client("p", mine, client_options={{"api_endpoint": "https://storage.googleapis.com"}})
print(client.bucket("stage").exists())
""",
    )
    assert lines == ["0"] * 6 + ["True"]
    assert not any("authorization" in request.headers for request in fake.requests)


def test_the_token_of_the_server_goes_to_the_server(run: Run, fake: FakeService) -> None:
    fake.buckets.append("stage")
    text = """
from google.cloud import aiplatform_v1, storage
from googleapiclient import discovery
list(aiplatform_v1.JobServiceClient().list_custom_jobs(parent="projects/p/locations/l"))
storage.Client().bucket("stage").exists()
discovery.build("ml", "v1").projects().jobs().list(parent="projects/p").execute()
"""
    script(run, text, FOOTPLATE_TOKEN="s3cret")
    assert len(fake.requests) == 4
    assert {request.headers["authorization"] for request in fake.requests} == {"Bearer s3cret"}


def test_asynchronous_clients_are_refused_with_the_way_out(run: Run) -> None:
    done = run(
        sys.executable,
        "-c",
        "from google.cloud import aiplatform_v1 as v1; v1.JobServiceAsyncClient()",
    )
    assert done.returncode == 1
    assert "use the client without Async in its name" in done.stderr


# googleapiclient and storage ------------------------------------------------------------------


def test_an_unchanged_googleapiclient_script(run: Run, fake: FakeService) -> None:
    lines = script(
        run,
        """
import httplib2
from googleapiclient import discovery
from googleapiclient.discovery import build
ml = discovery.build("ml", "v1")
body = {"jobId": "census_1", "trainingInput": {"region": "us-central1"}}
print(ml.projects().jobs().create(parent="projects/p", body=body).execute()["state"])
print(ml.new_batch_http_request()._batch_uri)
other = build("ml", "v1", http=httplib2.Http(), developerKey="real",
              discoveryServiceUrl="https://ml.googleapis.com/$discovery/rest?version=v1")
print(len(other.projects().jobs().list(parent="projects/p").execute()["jobs"]))
vertex = build("aiplatform", "v1",
               client_options={"api_endpoint": "https://us-central1-aiplatform.googleapis.com"})
jobs = vertex.projects().locations().customJobs()
print(jobs.list(parent="projects/p/locations/us-central1").execute())
""",
    )
    assert lines == ["QUEUED", f"{fake.url}/batch", "1", "{}"]
    assert not any("key" in request.query for request in fake.requests)


def test_storage_objects(run: Run, fake: FakeService) -> None:
    fake.buckets.append("stage")
    text = """
from google.cloud import storage
bucket = storage.Client().bucket("stage")
bucket.blob("a/b.txt").upload_from_string("hello")
print([blob.name for blob in bucket.list_blobs()])
"""
    assert script(run, text) == ["['a/b.txt']"]
    assert fake.objects == {("stage", "a/b.txt"): b"hello"}


# The real service -----------------------------------------------------------------------------

ATTEMPTS = {
    "requests": "import requests; requests.get('https://us-central1-aiplatform.googleapis.com/v1')",
    "requests through a proxy": (
        "import os, requests; requests.get('https://ml.googleapis.com/v1', "
        "proxies={'https': os.environ['FOOTPLATE_RUN_URL']})"
    ),
    "urllib": "import urllib.request as u; u.urlopen('https://storage.googleapis.com/b')",
    "httpx": "import httpx; httpx.post('https://oauth2.googleapis.com/token')",
    "httplib2": "import httplib2; httplib2.Http().request('https://accounts.google.com/o')",
    "asyncio": ("import asyncio; asyncio.run(asyncio.open_connection('ML.googleapis.com.', 443))"),
    "socket": "import socket; socket.create_connection(('bigquery.googleapis.com', 443))",
    "metadata server": "import socket; socket.socket().connect(('169.254.169.254', 80))",
    "grpc": (
        "import grpc; grpc.secure_channel('us-central1-aiplatform.googleapis.com:443', "
        "grpc.ssl_channel_credentials())"
    ),
    "grpc.aio": (
        "import grpc.aio; grpc.aio.secure_channel('dns:///ml.googleapis.com', "
        "grpc.ssl_channel_credentials())"
    ),
    "grpc by the name of a port": (
        "import grpc; grpc.secure_channel('ml.googleapis.com:https', "
        "grpc.ssl_channel_credentials())"
    ),
    "another client": "from google.cloud import bigquery; list(bigquery.Client().list_datasets())",
    "a session": (
        "import google.auth, google.auth.transport.requests as t; "
        "t.AuthorizedSession(google.auth.default()[0]).get('https://ml.googleapis.com/v1')"
    ),
    "another API": "from googleapiclient.discovery import build; build('compute', 'v1')",
    "a child": (
        "import subprocess, sys; print(subprocess.run([sys.executable, '-c', "
        "'import socket; socket.getaddrinfo(\"ml.googleapis.com\", 443)'], "
        "capture_output=True, text=True).stderr, file=sys.stderr); sys.exit(1)"
    ),
}


@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS)
def test_the_real_service_is_refused(attempt: str, run: Run, fake: FakeService) -> None:
    done = run(sys.executable, "-c", attempt)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("footplate_launch.google_hosts.RealServiceRefused: footplate run")
    assert fake.calls() == ["GET /healthz"]  # the launcher's own look: nothing through a proxy


def test_tls_of_grpc_trusts_nobody(run: Run) -> None:
    """Where even the name is hidden, the roots that gRPC gets let no server in."""
    text = """
import os
pem = open(os.environ["GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"]).read()
from cryptography.x509 import load_pem_x509_certificate
print(load_pem_x509_certificate(pem.encode()).subject.rfc4514_string())
"""
    assert script(run, text) == ["CN=Nobody: trusts no server,O=Footplate"]


HANDSHAKE = """
import sys, grpc
from pathlib import Path
key, certificate = (Path(name).read_bytes() for name in ("tls.key", "tls.pem"))
from concurrent.futures import ThreadPoolExecutor
server = grpc.server(ThreadPoolExecutor(1))
port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([(key, certificate)]))
server.start()
def connects(roots):
    credentials = grpc.ssl_channel_credentials(roots)
    with grpc.secure_channel(f"localhost:{port}", credentials) as channel:
        call = channel.unary_unary("/any/method")
        try:
            call(b"", timeout=20)
        except grpc.RpcError as error:
            return error.code().name, "CERTIFICATE_VERIFY_FAILED" in error.details()
print(connects(certificate))
print(connects(None))
server.stop(0)
"""


def test_no_tls_server_gets_past_the_handshake_of_grpc(run: Run, tmp_path: Path) -> None:
    """The server is there (it lets in who trusts its own authority), but not for whoever asks
    with the roots that the program finds."""
    sign_own(tmp_path)

    trusted, ours = script(run, HANDSHAKE)

    assert trusted == "('UNIMPLEMENTED', False)"  # it answered: there is no such method
    assert ours == "('UNAVAILABLE', True)"


def test_secrets_are_taken_out_of_the_environment(run: Run, fake: FakeService) -> None:
    text = """
import json, os
names = ("GOOGLE_API_KEY", "CLOUDSDK_AUTH_ACCESS_TOKEN", "STORAGE_EMULATOR_HOST", "NO_PROXY")
print(json.dumps([os.environ.get(name) for name in names]))
account = json.load(open(os.environ["GOOGLE_APPLICATION_CREDENTIALS"]))
print(account["token_uri"])
"""
    found, token_uri = script(run, text, CLOUDSDK_AUTH_ACCESS_TOKEN="ya29.real", NO_PROXY="x.y")
    no_proxy = (
        "x.y,127.0.0.1,localhost,.googleapis.com,googleapis.com,accounts.google.com,"
        "metadata.google.internal"
    )
    assert json.loads(found) == [None, None, fake.url, no_proxy]
    assert token_uri == f"{fake.url}/token"


# The program itself ---------------------------------------------------------------------------


def test_nothing_of_google_is_imported_for_a_script_that_does_not(run: Run) -> None:
    """What stands there without us, namespaces from .pth files, isn't ours."""
    text = "import sys; print([m for m in sys.modules if m.startswith(('google', 'grpc'))])"
    plain = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True, env={}
    )
    assert script(run, text) == plain.stdout.splitlines()


def test_an_earlier_sitecustomize_still_runs(run: Run, tmp_path: Path) -> None:
    (tmp_path / "earlier").mkdir()
    (tmp_path / "earlier" / "sitecustomize.py").write_text("MARK = 'earlier'\n")
    text = "import sitecustomize, sys; print(sitecustomize.MARK, 'launch' in ''.join(sys.path))"
    assert script(run, text, PYTHONPATH=str(tmp_path / "earlier")) == ["earlier False"]


def pythons() -> list[str]:
    """One of each version that is here and starts: a version manager's stand-in may not."""
    managed = Path.home().glob(".pyenv/versions/3.*/bin/python3")
    found = [shutil.which(f"python3.{minor}") for minor in range(8, 14)]
    candidates = [sys.executable, *(python for python in found if python), *map(str, managed)]
    versions: dict[str, str] = {}
    for python in candidates:
        shown = subprocess.run([python, "-V"], capture_output=True, text=True, check=False)
        minor = shown.stdout.strip().rpartition(".")[0]
        if shown.returncode == 0 and minor not in {"Python 3.6", "Python 3.7"}:
            versions.setdefault(minor, python)
    return [versions[minor] for minor in sorted(versions)]


def test_other_pythons_are_guarded_alike(run: Run) -> None:
    for python in pythons():
        done = run(python, "-c", "import socket; socket.getaddrinfo('ml.googleapis.com', 443)")
        assert "RealServiceRefused: footplate run stopped a call to ml." in done.stderr, python


def test_a_python_that_would_run_unguarded_does_not_run(run: Run) -> None:
    done = run(sys.executable, "-I", "-c", "print('ran')")
    assert (done.returncode, done.stdout) == (1, "")
    assert "with -I Python would run without the guards" in done.stderr
    broken = run("env", "-u", "FOOTPLATE_RUN_URL", sys.executable, "-c", "print('ran')")
    assert (broken.returncode, broken.stdout) == (1, "")
    assert broken.stderr.endswith(
        "footplate run: could not guard this program: "
        "FOOTPLATE_RUN_URL is missing from the environment\n"
    )


def test_words_exit_code_and_signals_are_the_programs_own(run: Run) -> None:
    show = "import sys; print(sys.argv[1:]); sys.exit(7)"
    done = run(sys.executable, "-c", show, "--url", "--", "a b")
    assert (done.returncode, done.stdout) == (7, "['--url', '--', 'a b']\n")
    assert run("sh", "-c", "kill -TERM $$").returncode == -signal.SIGTERM


def test_a_program_that_is_not_there(run: Run, tmp_path: Path) -> None:
    done = run("no-such-program")
    assert (done.returncode, done.stderr) == (
        127,
        "footplate run: no-such-program: no such program\n",
    )
    done = run(str(tmp_path / "task.py"))
    assert done.returncode == 126


def test_without_a_server_nothing_runs(run: Run) -> None:
    done = run("echo", "ran", FOOTPLATE_URL="http://127.0.0.1:9")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: no Footplate server answers at http://127.0.0.1:9;")


def test_the_real_gcloud(run: Run, fake: FakeService) -> None:
    find_gcloud()
    fake.jobs["projects/p/jobs/census_1"] = {"jobId": "census_1", "state": "QUEUED"}
    done = run("gcloud", "ai-platform", "jobs", "list", "--project=p", "--format=value(jobId)")
    assert (done.returncode, done.stdout) == (0, "census_1\n"), done.stderr
