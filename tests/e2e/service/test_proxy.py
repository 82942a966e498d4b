"""The proxy of a running service: what it answers, refuses, and takes from whom."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx
import pytest

from footplate.client.service import Service
from footplate.domain.job_states import State
from footplate.domain.names import GcsUri
from footplate.proxy.request_head import MAX_BYTES
from footplate.testing.service import RunningService, running_service
from tests.e2e.service.conftest import CACHE, Context
from tests.support.grpc_program import GRPC_CALL

LIMIT_S = 60
TOKEN = "s3 cret%41"
API = "us-central1-aiplatform.googleapis.com:443"
JOBS = "https://us-central1-aiplatform.googleapis.com/v1/projects/demo/locations/us-central1"
BUCKETS = "https://storage.googleapis.com/storage/v1/b"


def certificate(service: RunningService) -> str:
    with Service(service.url, service.environment().get("FOOTPLATE_TOKEN")) as client:
        return client.certificate_authority()


def address(service: RunningService) -> str:
    port = httpx.get(f"{service.url}/healthz").json()["proxyPort"]
    return f"http://127.0.0.1:{port}"


def client(service: RunningService, proxy: str) -> httpx.Client:
    context = ssl.create_default_context(cadata=certificate(service))
    return httpx.Client(proxy=proxy, verify=context, trust_env=False, timeout=LIMIT_S)


def say(proxy: str, content: bytes) -> bytes:
    """All that the proxy answers until it closes the connection."""
    place = urlsplit(proxy)
    with socket.create_connection((place.hostname, place.port), LIMIT_S) as connection:
        connection.sendall(content)
        with connection.makefile("rb") as answer:
            return answer.read()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    data_dir = tmp_path_factory.mktemp("proxy") / "data"
    with running_service(data_dir, CACHE, stop_grace_s=1) as service:
        yield service


def test_the_service_answers_by_googles_names(service: RunningService) -> None:
    with client(service, address(service)) as http:
        assert http.get(f"{JOBS}/customJobs").json() == {}
        made = http.post(BUCKETS, params={"project": "demo"}, json={"name": "by-proxy"}).json()
        assert made["selfLink"] == f"{BUCKETS}/by-proxy"
        url = "https://storage.googleapis.com/upload/storage/v1/b/by-proxy/o"
        begun = http.post(url, params={"uploadType": "resumable", "name": "a/b c"})
        assert begun.headers["location"].startswith(url)
        assert http.put(begun.headers["location"], content=b"0123456789").status_code == 200
        for read in (
            "https://storage.googleapis.com/by-proxy",
            "https://by-proxy.storage.googleapis.com",
        ):
            got = http.get(f"{read}/a%2Fb%20c", headers={"Range": "bytes=2-4"})
            assert (got.status_code, got.content) == (206, b"234")
        token = http.post("https://oauth2.googleapis.com/token", content=b"grant_type=x").json()
        assert token["token_type"] == "Bearer"


def say_over_tls(service: RunningService, host: str, content: bytes) -> bytes:
    """All that is answered in a tunnel until it is closed."""
    place = urlsplit(address(service))
    context = ssl.create_default_context(cadata=certificate(service))
    with socket.create_connection((place.hostname, place.port), LIMIT_S) as connection:
        connection.sendall(f"CONNECT {host}:443 HTTP/1.1\r\n\r\n".encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += connection.recv(1)
        with context.wrap_socket(connection, server_hostname=host) as tunnel:
            tunnel.sendall(content)
            with tunnel.makefile("rb") as answer:
                return answer.read()


def test_uploads_as_tensorflow_sends_them(service: RunningService) -> None:
    """Two lengths in a head, and headers that are found in Google's own spelling alone."""
    httpx.post(f"{service.url}/storage/v1/b?project=demo", json={"name": "tensors"})
    host = "www.googleapis.com"
    common = f"Host: {host}\r\nConnection: close\r\nAuthorization: Bearer any\r\n"
    begun = say_over_tls(
        service,
        host,
        "POST /upload/storage/v1/b/tensors/o?uploadType=resumable&name=a%2Fb%20c HTTP/1.1\r\n"
        f"{common}Content-Length: 0\r\nTransfer-Encoding: identity\r\n\r\n".encode(),
    ).decode()
    assert begun.startswith("HTTP/1.1 200 ")
    (place,) = [line for line in begun.splitlines() if line.startswith("Location: ")]
    path = place.removeprefix(f"Location: https://{host}")
    done = say_over_tls(
        service,
        host,
        f"PUT {path} HTTP/1.1\r\n{common}Transfer-Encoding: chunked\r\n"
        "Content-Range: bytes 0-4/5\r\nContent-Length: 5\r\n\r\n"
        "5\r\nhello\r\n0\r\n\r\n".encode(),
    )
    assert done.startswith(b"HTTP/1.1 200 ")
    read = f"GET /tensors/a%2Fb%20c HTTP/1.1\r\n{common}Range: bytes=1-2\r\n\r\n"
    host = "storage.googleapis.com"
    answer = say_over_tls(service, host, read.replace("www", "storage", 1).encode())
    assert answer.startswith(b"HTTP/1.1 206 ")
    assert answer.endswith(b"\r\n\r\nel")


def test_a_request_without_a_tunnel_is_answered_once(service: RunningService) -> None:
    head = (
        b"GET http://storage.googleapis.com/storage/v1/b?project=p HTTP/1.1\r\n"
        b"Host: storage.googleapis.com\r\n\r\n"
    )
    answer = say(address(service), head + head.replace(b"?project", b"/x?project"))
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.count(b"HTTP/1.1 ") == 1


def test_the_name_in_the_tunnel_is_that_of_the_tunnel(service: RunningService) -> None:
    with client(service, address(service)) as http:
        answer = http.get(f"{JOBS}/customJobs", headers={"Host": "storage.googleapis.com"})
    assert answer.status_code == 403
    assert "this server refuses requests to the host" in answer.text


@pytest.mark.parametrize(
    ("line", "status", "text"),
    [
        ("CONNECT example.com:443", 403, "footplate run --allow-host example.com -- CMD"),
        ("CONNECT 127.0.0.1:22", 403, "It refuses 127.0.0.1:22"),
        ("CONNECT ml.googleapis.com:80", 403, "refuses port 80 of ml.googleapis.com"),
        ("GET http://example.com/", 403, "--allow-host example.com"),
        ("GET http://metadata.google.internal/computeMetadata/v1/", 404, "no metadata server"),
        ("GET /", 400, "this proxy accepts only CONNECT"),
        ("nonsense", 400, "refuses this request"),
    ],
)
def test_the_rest_is_refused(service: RunningService, line: str, status: int, text: str) -> None:
    answer = say(address(service), f"{line} HTTP/1.1\r\nHost: x\r\n\r\n".encode()).decode()
    assert answer.startswith(f"HTTP/1.1 {status} ")
    assert text in answer


def test_products_that_are_not_here_are_refused_in_their_tunnel(service: RunningService) -> None:
    """Where a proxy makes no tunnel, clients try again for minutes."""
    proxy, host = address(service), "pubsub.googleapis.com"
    with client(service, proxy) as http:
        answer = http.post(f"https://{host}/v1/projects/demo/topics/t:publish", json={})
    assert answer.status_code == 403
    said = answer.json()["error"]["message"]
    assert said.startswith("Footplate has no Pub/Sub (pubsub.googleapis.com). Print the ")
    assert f"--allow-host {host} " in said
    command = [sys.executable, "-c", GRPC_CALL, certificate(service), f"{host}:443", proxy]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"PERMISSION_DENIED {said}\n"
    refused = httpx.get(f"{service.url}/footplate/v1/proxy").json()["refusedHosts"]
    assert f"{host}:443" in refused


def test_refused_hosts_are_listed(service: RunningService) -> None:
    say(address(service), b"CONNECT unknown.example.com:8443 HTTP/1.1\r\n\r\n")
    found = httpx.get(f"{service.url}/footplate/v1/proxy").json()
    assert "unknown.example.com:8443" in found["refusedHosts"]
    assert not any("storage.googleapis.com" in host for host in found["refusedHosts"])


def test_heads_without_an_end_and_early_bytes_are_refused(service: RunningService) -> None:
    long = b"CONNECT ml.googleapis.com:443 HTTP/1.1\r\nA: " + b"a" * MAX_BYTES
    assert say(address(service), long).startswith(b"HTTP/1.1 400 ")
    early = b"CONNECT ml.googleapis.com:443 HTTP/1.1\r\n\r\n\x16\x03\x01"
    assert say(address(service), early).startswith(b"HTTP/1.1 400 ")


def test_a_tunnel_with_something_else_than_tls_is_closed(service: RunningService) -> None:
    place = urlsplit(address(service))
    with socket.create_connection((place.hostname, place.port), LIMIT_S) as connection:
        connection.sendall(b"CONNECT ml.googleapis.com:443 HTTP/1.1\r\n\r\n")
        with connection.makefile("rb") as answer:
            assert answer.readline().startswith(b"HTTP/1.1 200 ")
            answer.readline()
            connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
            with suppress(ConnectionResetError):
                assert b"HTTP" not in answer.read()
    with client(service, address(service)) as http:
        assert http.get(f"{JOBS}/customJobs").status_code == 200


def test_the_token_is_the_proxys_password(tmp_path: Path) -> None:
    with running_service(tmp_path / "data", token=TOKEN) as service:
        proxy = address(service)
        for wrong in (proxy, proxy.replace("//", "//footplate:wrong@")):
            with client(service, wrong) as http, pytest.raises(httpx.ProxyError, match="token"):
                http.get(f"{JOBS}/customJobs")
        with client(service, proxy.replace("//", f"//footplate:{quote(TOKEN)}@")) as http:
            made_up = {"Authorization": "Bearer made-up"}
            assert http.get(f"{JOBS}/customJobs", headers=made_up).status_code == 200


CALLER = """
import subprocess, sys, ssl, urllib.error, urllib.request
proxy, certificate, url, python, call, address = sys.argv[1:7]
handlers = (
    urllib.request.ProxyHandler({"https": proxy}),
    urllib.request.HTTPSHandler(context=ssl.create_default_context(cadata=certificate)),
)
try:
    print(urllib.request.build_opener(*handlers).open(url).status, flush=True)
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode(), flush=True)
subprocess.run([python, "-I", "-c", call, certificate, address, proxy], check=True)
"""


def test_programs_of_jobs_are_refused_as_without_it(tmp_path: Path) -> None:
    settings = {"isolation": "best-effort", "allow_root": "true"}
    with running_service(tmp_path / "data", CACHE, stop_grace_s=1, **settings) as service:
        context = Context(service)
        proxy, pem = address(service), certificate(service)
        words = (proxy, pem, f"{JOBS}/customJobs", sys.executable, GRPC_CALL, API)

        name = context.submit(CALLER, *words)
        job = context.wait_for(name)
        user = subprocess.run(
            [sys.executable, "-c", GRPC_CALL, pem, API, proxy],
            capture_output=True,
            text=True,
            check=True,
        )

        assert job.state is State.SUCCEEDED, (job.error_message, context.messages(name))
        said = "\n".join(context.messages(name))
        refused = json.dumps("the program of projects/demo/jobs/")[1:-1]
        assert "403 " in said
        assert said.count(refused) >= 2, said
        assert "PERMISSION_DENIED" in said
        assert "answered" not in said
        assert user.stdout == "answered\n"


SHOW_KEY = """
import os, time
print("PROXY", os.environ["FOOTPLATE_GS_PROXY"], flush=True)
while not os.path.exists("/gcs/stage/end"):
    time.sleep(0.1)
"""


@pytest.mark.parametrize("token", [None, TOKEN])
def test_the_key_of_a_program_opens_its_buckets_alone(tmp_path: Path, token: str | None) -> None:
    """From any client that shows it, over any connection."""
    settings = {} if token is None else {"token": token}
    with running_service(tmp_path / "data", CACHE, **settings) as service:
        context = Context(service, token)
        with context.client() as api:
            api.storage.upload(GcsUri("stage", "a"), b"content")
            api.storage.create_bucket("other", "theirs")
        name = context.submit(SHOW_KEY)
        context.until(lambda: any("PROXY" in line for line in context.messages(name)))
        (said,) = context.messages(name)
        proxy = said.removeprefix("PROXY ")
        with client(service, proxy) as http:
            read = http.get("https://storage.googleapis.com/stage/a")
            assert read.content == b"content"
            assert http.get(f"{BUCKETS}/stage").status_code == 200
            assert http.get(f"{BUCKETS}/theirs").status_code == 403
            for path in ("v1/projects/demo/jobs", "footplate/v1/status", "oauth2/v4/token"):
                assert http.get(f"https://www.googleapis.com/{path}").status_code == 404
        for url in (f"{JOBS}/customJobs", "https://ml.googleapis.com/v1/projects/demo/jobs"):
            assert "403 " in refusal(service, proxy, url)
        wrong = proxy.replace("//program:", "//program:x")
        assert "403 " in refusal(service, wrong, f"{BUCKETS}/stage")

        (context.bucket / "end").touch()
        assert context.wait_for(name).state is State.SUCCEEDED
        assert "403 " in refusal(service, proxy, f"{BUCKETS}/stage")


def refusal(service: RunningService, proxy: str, url: str) -> str:
    with client(service, proxy) as http, pytest.raises(httpx.ProxyError) as refused:
        http.get(url)
    return str(refused.value)
