"""The variables that lead programs to the proxy, and the files that they name."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from footplate.cli.environment_variables import LAUNCH
from footplate.cli.proxy_variables import (
    TRUSTING,
    ProxyTarget,
    launch_by_proxy,
    proxy_variables,
)
from footplate.cli.session import Target
from footplate.cli.trust_stores import java_key_store, machine_roots
from footplate.server.certificate_authority import open_authority
from footplate.server.data_dir import DataDir

if TYPE_CHECKING:
    from collections.abc import Mapping

URL = "http://127.0.0.1:8470"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> str:
    data_dir = DataDir(tmp_path_factory.mktemp("authority"))
    return open_authority(data_dir, datetime.now(UTC)).certificate.decode()


class Rig:
    def __init__(self, cache: Path, authority: str) -> None:
        self.authority = authority
        self.proxy = ProxyTarget("127.0.0.1", 8472, authority)
        self.environ = {"XDG_CACHE_HOME": str(cache)}

    def variables(self, *allowed: str, token: str | None = None, **more: str) -> Mapping[str, str]:
        environ = {**self.environ, **more}
        target = Target(URL, token)
        return proxy_variables(target, "demo", "us-east1", self.proxy, allowed, environ)


@pytest.fixture
def rig(tmp_path: Path, authority: str) -> Rig:
    return Rig(tmp_path, authority)


def test_all_lead_to_the_proxy_and_trust_the_service_alone(rig: Rig) -> None:
    found = rig.variables()
    for name in ("http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY", "grpc_proxy"):
        assert found[name] == "http://127.0.0.1:8472"
    assert found["NO_PROXY"] == found["no_grpc_proxy"] == "127.0.0.1,localhost,::1"
    (roots,) = {found[name] for name in TRUSTING}
    assert Path(roots).read_text() == rig.authority
    assert found["GOOGLE_CLOUD_PROJECT"] == "demo"
    assert not any(name.startswith("CLOUDSDK_API_ENDPOINT") for name in found)
    account = json.loads(Path(found["GOOGLE_APPLICATION_CREDENTIALS"]).read_text())
    assert account["token_uri"] == "https://oauth2.googleapis.com/token"


def test_allowed_hosts_are_reached_beside_it_and_trusted_as_ever(rig: Rig) -> None:
    found = rig.variables("pypi.org", ".example.com")
    assert found["no_proxy"].endswith(",pypi.org,.example.com")
    assert "|pypi.org|.example.com" in found["JAVA_TOOL_OPTIONS"]
    assert found["FOOTPLATE_RUN_ALLOWED"] == "pypi.org,.example.com"
    roots = Path(found["SSL_CERT_FILE"]).read_text()
    assert roots.startswith(rig.authority)
    assert roots.count("BEGIN CERTIFICATE") > 20


def test_a_token_is_the_password(rig: Rig) -> None:
    found = rig.variables(token="a/b c")
    assert found["https_proxy"] == "http://footplate:a%2Fb%20c@127.0.0.1:8472"
    assert found["CLOUDSDK_PROXY_PASSWORD"] == "a%2Fb%20c"
    assert "STORAGE_EMULATOR_HOST" not in found
    assert "CLOUDSDK_AUTH_ACCESS_TOKEN" not in found


def test_what_was_there_for_java_and_python_stays_once(rig: Rig) -> None:
    first = rig.variables(JAVA_TOOL_OPTIONS="-Xmx1g", PYTHONPATH="/mine")
    again = rig.variables(**{n: first[n] for n in ("JAVA_TOOL_OPTIONS", "PYTHONPATH")})
    assert again == first
    assert first["JAVA_TOOL_OPTIONS"].startswith("-Xmx1g -Djavax.net.ssl.trustStore=")
    assert first["PYTHONPATH"] == os.pathsep.join([str(LAUNCH), "/mine"])


def test_secrets_are_taken_out_of_a_programs_environment(rig: Rig) -> None:
    environ = {**rig.environ, "GOOGLE_API_KEY": "real", "HOME": "/home/me"}
    found = launch_by_proxy(rig.variables(), Target(URL, "t"), environ)
    assert "GOOGLE_API_KEY" not in found
    assert (found["HOME"], found["FOOTPLATE_TOKEN"]) == ("/home/me", "t")


def test_java_reads_the_key_store(authority: str, tmp_path: Path) -> None:
    store = tmp_path / "roots.jks"
    store.write_bytes(java_key_store(authority + machine_roots()))
    assert store.read_bytes()[:8] == bytes.fromhex("feedfeed00000002")
    if shutil.which("keytool") is None:
        return
    words = ("keytool", "-list", "-keystore", str(store), "-storepass", "changeit")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "footplate0, " in done.stdout
