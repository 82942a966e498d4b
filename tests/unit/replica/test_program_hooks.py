"""The hook before a program: where TensorFlow's ``gs://`` leads, and where credentials don't go."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from footplate.replica import program_hook_start
from footplate.replica.program_hook import (
    METADATA,
    PROXY,
    ROOTS,
    TRUSTED,
    compose_variables,
    make_finder,
)
from footplate.replica.program_hooks import make_hook
from tests.support.interpreters import find_interpreters, version_of

ADDRESS = "http://program:key@127.0.0.1:8472"
LED = {PROXY: ADDRESS, "STORAGE_EMULATOR_HOST": "http://127.0.0.1:8470/programs/key"}
PROGRAM = """
import ctypes, json, os, subprocess, sys

def in_c():
    get = ctypes.CDLL(None).getenv
    get.restype = ctypes.c_char_p
    return [(get(name) or b"").decode() for name in (b"https_proxy", b"grpc_proxy")]

found = {"first": in_c(), "customized": os.environ.get("CUSTOMIZED")}
import tensorflow
found["then"] = in_c()
found["environ"] = os.environ.get("https_proxy", "")
found["child"] = subprocess.run(["env"], stdout=subprocess.PIPE).stdout.decode()
found["system"] = os.system("env > " + sys.argv[1] + "; exit 3")
child = os.fork()
if not child:
    os.execv("/bin/sh", ["sh", "-c", "env >> " + sys.argv[1]])
os.waitpid(child, 0)
print(json.dumps(found))
"""


@pytest.mark.parametrize(
    "environment",
    [{}, {**LED, PROXY: ""}, {**LED, "STORAGE_EMULATOR_HOST": ""}, {METADATA: "metadata.internal"}],
    ids=["no server", "no proxy", "Google's own storage", "Google's own metadata server"],
)
def test_nothing_is_made_for_who_is_not_led(tmp_path: Path, environment: dict[str, str]) -> None:
    assert make_hook(environment, "pem", str(tmp_path)) == {}
    assert make_hook(LED, "", str(tmp_path)) == {}
    assert list(tmp_path.iterdir()) == []


def test_the_hook_is_not_laid_where_a_link_leads(tmp_path: Path) -> None:
    """A ``setup.py`` that reaches the folder of tools may have put one there."""
    (tmp_path / "closed").mkdir(mode=0o700)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "hook").symlink_to(tmp_path / "closed")
    with pytest.raises(NotADirectoryError):
        make_hook(LED, "pem", str(tmp_path / "tools"))
    assert list((tmp_path / "closed").iterdir()) == []
    assert (tmp_path / "closed").stat().st_mode & 0o777 == 0o700


def test_the_hook_comes_first(tmp_path: Path) -> None:
    own = {**LED, "PYTHONPATH": "/own"}
    made = make_hook(own, "pem", str(tmp_path), "/seen", str(tmp_path / "none"))
    assert made == {ROOTS: "/seen/hook/roots.pem", "PYTHONPATH": "/seen/hook:/own"}
    assert (tmp_path / "hook" / "roots.pem").read_text() == "pem"


def test_grpc_trusts_the_machines_authorities_and_ours(tmp_path: Path) -> None:
    machine = tmp_path / "machine.pem"
    machine.write_text("theirs")
    made = make_hook(LED, "ours\n", str(tmp_path), "/seen", str(machine))
    assert made[TRUSTED] == "/seen/hook/grpc_roots.pem"
    assert (tmp_path / "hook" / "grpc_roots.pem").read_text() == "theirs\nours\n"
    replaced = make_hook(LED, "ours", str(tmp_path), "/seen", str(machine), replaced=True)
    assert replaced[TRUSTED] == str(machine)
    own = {**LED, TRUSTED: "/own.pem"}
    assert TRUSTED not in make_hook(own, "ours", str(tmp_path), "/seen", str(machine))


GRPC = """
import os, types

class aio:
    pass

def secure_channel(target, credentials, options=None, compression=None):
    return target, credentials, list(options or ()), compression

aio.secure_channel = staticmethod(secure_channel)
"""
CHANNELS = """
import json
import grpc
led = "logging.googleapis.com"
print(json.dumps([
    grpc.secure_channel(led + ":443", "c", [("a", 1)], compression="z"),
    grpc.secure_channel(target="dns:///" + led, credentials="c"),
    grpc.aio.secure_channel(led, "c"),
    grpc.secure_channel("pubsub.googleapis.com:443", "c"),
    grpc.secure_channel("worker:2222", "c", None),
]))
"""


@pytest.mark.parametrize("python", find_interpreters(), ids=version_of)
@pytest.mark.parametrize("led", [True, False])
def test_channels_to_cloud_logging_are_led_and_no_others(
    tmp_path: Path, python: str, *, led: bool
) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "grpc.py").write_text(GRPC)
    environment = {**LED, "PYTHONPATH": str(tmp_path / "own"), "PATH": os.environ["PATH"]}
    if not led:
        environment["grpc_proxy"] = "http://127.0.0.1:1"  # all of gRPC is led
    environment.update(make_hook(environment, "pem", str(tmp_path)))
    done = subprocess.run(
        [python, "-c", CHANNELS], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    by_proxy = [["grpc.http_proxy", ADDRESS]] if led else []
    assert json.loads(done.stdout) == [
        ["logging.googleapis.com:443", "c", [["a", 1], *by_proxy], "z"],
        ["dns:///logging.googleapis.com", "c", by_proxy, None],
        ["logging.googleapis.com", "c", by_proxy, None],
        ["pubsub.googleapis.com:443", "c", [], None],
        ["worker:2222", "c", [], None],
    ]


@pytest.mark.parametrize("python", find_interpreters(), ids=version_of)
def test_tensorflow_is_led_and_nothing_else(tmp_path: Path, python: str) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text(
        "import os; os.environ['CUSTOMIZED'] = 'yes'"
    )
    (tmp_path / "own" / "tensorflow.py").touch()
    written = tmp_path / "written"
    environment = {**LED, "PYTHONPATH": str(tmp_path / "own"), "PATH": os.environ["PATH"]}
    environment.update(make_hook(environment, "pem", str(tmp_path)))
    done = subprocess.run(
        [python, "-c", PROGRAM, str(written)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert found["first"] == ["", ""]
    assert found["customized"] == "yes"
    assert found["then"] == [ADDRESS, ""]
    assert found["environ"] == ""
    assert found["system"] == 3 << 8
    assert "CUSTOMIZED=yes" in found["child"]
    assert "https_proxy" not in found["child"] + written.read_text()
    assert written.read_text().count("CUSTOMIZED=yes") == 2


def test_grpc_goes_as_before() -> None:
    environment = {PROXY: ADDRESS, ROOTS: "/roots", "https_proxy": "http://own:1"}
    made = compose_variables(environment)
    assert (made["https_proxy"], made["grpc_proxy"]) == (ADDRESS, "http://own:1")


STAND_IN = {METADATA: "127.0.0.1:8470/programs/key"}
LIBRARIES = {
    "google/__init__.py": "",
    "google/auth/__init__.py": "",
    "google/auth/exceptions.py": "class RefreshError(Exception): pass",
    "google/auth/credentials.py": """
class Credentials:
    def before_request(self, request, method, url, headers):
        headers["sent to"] = url
class KeyFile(Credentials):
    def __init__(self, token_uri):
        self._token_uri = token_uri
""",
    "google/auth/transport/__init__.py": "",
    "google/auth/transport/requests.py": """
class Request: pass
class AuthorizedSession:
    def __init__(self, credentials):
        self.credentials = credentials
    def request(self, method, url, proxies=None, verify=None):
        self.credentials.before_request(Request(), method, url, {})
        return [proxies, verify]
""",
    "google/auth/compute_engine/__init__.py": """
from google.auth import credentials
class Credentials(credentials.Credentials): pass
""",
    "google/api_core/__init__.py": "",
    "google/api_core/grpc_helpers.py": """
def create_channel(target, credentials=None, **more): return "channel to " + target
""",
    "google/cloud/aiplatform/utils/resource_manager_utils.py": """
def get_project_id(project_number, credentials=None): raise ValueError("Google was asked")
""",
}
"""What the hook takes Google's libraries for, on Pythons that have none of them."""
CASES = """
import json, sys
sys.modules.pop("google", None)  # a .pth file of the real ones makes it
from google.api_core.grpc_helpers import create_channel
from google.auth import compute_engine, credentials
from google.auth.exceptions import RefreshError
from google.auth.transport.requests import AuthorizedSession
from google.cloud.aiplatform.utils import resource_manager_utils

def attempt(call, *args):
    try:
        return call(*args)
    except RefreshError as error:
        return "refused: " + str(error)

def ask(made, url, method="GET"):
    headers = {}
    return attempt(made.before_request, None, method, url, headers) or headers.get("sent to")

own = credentials.KeyFile("https://oauth2.googleapis.com/token")
made_up = compute_engine.Credentials()
account = credentials.KeyFile("http://127.0.0.1:8470/token")
BIGQUERY, HERE = "https://bigquery.googleapis.com/x", "http://127.0.0.1:8470/x"
VERTEX = "https://us-central1-aiplatform.googleapis.com/v1/x"
print(json.dumps({
    "made up": ask(made_up, BIGQUERY),
    "account": ask(account, BIGQUERY),
    "own": ask(own, BIGQUERY),
    "here": ask(made_up, HERE),
    "call over gRPC": ask(made_up, BIGQUERY, "ListJobs"),
    "session": attempt(AuthorizedSession(made_up).request, "GET", VERTEX),
    "session elsewhere": attempt(AuthorizedSession(made_up).request, "GET", BIGQUERY),
    "own session": attempt(AuthorizedSession(own).request, "GET", VERTEX),
    "no session": ask(made_up, VERTEX),
    "channel": attempt(create_channel, "pubsub.googleapis.com:443", made_up),
    "own channel": attempt(create_channel, "pubsub.googleapis.com:443", own),
    "channel elsewhere": attempt(create_channel, "example.com:443", made_up),
    "found channel": attempt(create_channel, "pubsub.googleapis.com:443"),
    "project": resource_manager_utils.get_project_id("demo"),
}))
"""


@pytest.mark.parametrize("python", find_interpreters(), ids=version_of)
@pytest.mark.parametrize("proxy", ["", "http://127.0.0.1:8472"])
def test_made_up_credentials_are_not_sent_to_google(
    tmp_path: Path, python: str, proxy: str
) -> None:
    for name, text in LIBRARIES.items():
        (tmp_path / "own" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "own" / name).write_text(text)
    environment = {**STAND_IN, "PYTHONPATH": str(tmp_path / "own"), "grpc_proxy": proxy}
    environment["GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"] = "/roots.pem"
    environment.update(make_hook(environment, "", str(tmp_path)))
    done = subprocess.run(
        [python, "-c", CASES], env=environment, capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    assert done.stderr == ""
    for name in ("made up", "account"):
        assert found[name].startswith(
            "refused: Footplate has no BigQuery (bigquery.googleapis.com)"
        )
    assert found["own"] == "https://bigquery.googleapis.com/x"
    assert found["here"] == "http://127.0.0.1:8470/x"
    assert found["call over gRPC"] == "https://bigquery.googleapis.com/x"
    if proxy:
        assert found["session"] == [{"https": proxy}, "/roots.pem"]
    else:
        assert found["session"].startswith(
            "refused: programs can't reach Vertex AI (us-central1-aiplatform."
        )
    assert found["session elsewhere"].startswith("refused: Footplate has no BigQuery")
    assert found["no session"].startswith("refused: programs can't reach Vertex AI")
    assert found["own session"] == [None, None]
    refused = "channel to pubsub" if proxy else "refused: Footplate has no Pub/Sub"
    assert found["channel"].startswith(refused)
    assert found["found channel"].startswith(refused)
    assert found["own channel"] == "channel to pubsub.googleapis.com:443"
    assert found["channel elsewhere"] == "channel to example.com:443"
    assert found["project"] == "demo"


LOADED = """
import sys
before = [name for name in sys.modules if name.startswith("footplate_")]
import google
print(before, "footplate_program_hook" in sys.modules)
"""


@pytest.mark.parametrize("python", find_interpreters(), ids=version_of)
def test_the_hook_is_loaded_when_it_is_needed(tmp_path: Path, python: str) -> None:
    (tmp_path / "own" / "google").mkdir(parents=True)
    environment = {**STAND_IN, "PYTHONPATH": str(tmp_path / "own")}
    environment.update(make_hook(environment, "", str(tmp_path)))
    # -S: a .pth file of the real libraries may import them. The hook is imported as site does.
    program = f"import sitecustomize\n{LOADED}"
    done = subprocess.run(
        [python, "-S", "-c", program], env=environment, capture_output=True, text=True, check=True
    )

    assert done.stderr == ""
    assert done.stdout == "[] True\n"


def test_the_start_of_the_hook_knows_all_that_the_hook_waits_for() -> None:
    finder = make_finder({**LED, **STAND_IN, ROOTS: "/roots"}, None)
    names = {*finder._before, *finder._after}

    assert {name.partition(".")[0] for name in names} == set(program_hook_start.LIBRARIES)
