"""The variables that lead programs to the proxy, and the files that they name."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from configparser import ConfigParser
from datetime import UTC, datetime
from pathlib import Path

import pytest

from footplate.cli.environment_variables import (
    TRUSTING,
    ProxyTarget,
    forget,
    java_key_store,
    launch,
    machine_roots,
    make_variables,
    take_away,
    write_files,
)
from footplate.cli.session import Target
from footplate.server.certificate_authority import open_authority
from footplate.server.data_dir import DataDir

URL = "http://127.0.0.1:8470"
CARRIED = {
    "JAVA_TOOL_OPTIONS": "-Xmx1g",
    "NODE_OPTIONS": "--max-old-space-size=100",
    "PYTHONPATH": "/mine",
}


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
        files = write_files(target, "demo", self.proxy, allowed, environ)
        return make_variables(target, "demo", "us-east1", self.proxy, files, allowed, environ)


@pytest.fixture
def rig(tmp_path: Path, authority: str) -> Rig:
    return Rig(tmp_path / "with a blank", authority)


def test_all_lead_to_the_proxy_and_trust_the_service_alone(rig: Rig) -> None:
    found = rig.variables()
    for name in ("http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY", "grpc_proxy"):
        assert found[name] == "http://127.0.0.1:8472"
    assert found["NO_PROXY"] == found["no_grpc_proxy"] == "127.0.0.1,localhost,::1"
    (roots,) = {found[name] for name in TRUSTING}
    assert Path(roots).read_text() == rig.authority
    assert found["GOOGLE_CLOUD_PROJECT"] == "demo"
    account = json.loads(Path(found["GOOGLE_APPLICATION_CREDENTIALS"]).read_text())
    assert account["token_uri"] == "https://oauth2.googleapis.com/token"


def test_allowed_hosts_are_reached_beside_it_and_trusted_as_ever(rig: Rig) -> None:
    found = rig.variables("pypi.org", ".example.com")
    assert found["no_proxy"].endswith(",pypi.org,.example.com")
    assert "|pypi.org|.example.com" in found["JAVA_TOOL_OPTIONS"]
    roots = Path(found["SSL_CERT_FILE"]).read_text()
    assert roots.startswith(rig.authority)
    assert roots.count("BEGIN CERTIFICATE") > 20


def test_openssl_finds_no_other_authority(rig: Rig) -> None:
    """So that a client which passes by the proxy trusts no real service."""
    found = rig.variables()
    code = "import ssl; print(ssl.get_default_verify_paths()[:2])"
    shown = subprocess.run(
        [sys.executable, "-c", code], env=found, capture_output=True, text=True, check=True
    ).stdout
    roots = Path(found["SSL_CERT_FILE"])
    assert shown == f"{(str(roots), str(roots.parent))}\n"
    assert list(roots.parent.iterdir()) == [roots]
    assert "--use-openssl-ca" in found["NODE_OPTIONS"]


def test_httplib2_finds_pysocks(rig: Rig) -> None:
    found = rig.variables()
    code = "import socks; print(socks.__file__, socks.socksocket.setproxy.__name__)"
    shown = subprocess.run(
        [sys.executable, "-S", "-c", code], env=found, capture_output=True, text=True, check=True
    ).stdout
    assert shown == f"{found['PYTHONPATH']}/socks.py setproxy\n"


def test_a_token_is_the_password(rig: Rig) -> None:
    found = rig.variables(token="a/b c")
    assert found["https_proxy"] == "http://footplate:a%2Fb%20c@127.0.0.1:8472"
    assert found["CLOUDSDK_PROXY_PASSWORD"] == "a%2Fb%20c"
    assert "STORAGE_EMULATOR_HOST" not in found


def test_gsutil_is_led_by_a_file(rig: Rig) -> None:
    found = rig.variables(token="a/b%")
    boto = Path(found["BOTO_CONFIG"])
    config = ConfigParser()
    config.read(boto)
    assert dict(config["Boto"]) == {
        "proxy": "127.0.0.1",
        "proxy_port": "8472",
        "proxy_user": "footplate",
        "proxy_pass": "a%2Fb%25",
        "ca_certificates_file": found["SSL_CERT_FILE"],
        "https_validate_certificates": "True",
    }
    assert config["GSUtil"]["default_project_id"] == "demo"
    assert os.name != "posix" or boto.stat().st_mode & 0o077 == 0
    assert rig.variables()["BOTO_CONFIG"] != str(boto)


def test_what_others_put_into_a_variable_stays_there_once(rig: Rig) -> None:
    first = rig.variables(**CARRIED)
    again = rig.variables(**{name: first[name] for name in CARRIED})
    assert again == first
    assert first["JAVA_TOOL_OPTIONS"].startswith('-Xmx1g "-Djavax.net.ssl.trustStore=')
    assert first["NODE_OPTIONS"].startswith("--max-old-space-size=100 --use-openssl-ca ")
    assert first["PYTHONPATH"].startswith(f"/mine{os.pathsep}")


def test_all_that_is_set_can_be_taken_away(rig: Rig) -> None:
    for token in (None, "secret"):
        found = rig.variables(token=token, **CARRIED)
        left = dict(take_away({**rig.environ, **found}))
        assert set(found) <= set(left)
        assert {name: rest for name, rest in left.items() if rest} == CARRIED


def test_a_server_forgets_what_leads_a_shell(rig: Rig) -> None:
    environ = {**rig.environ, **rig.variables(**CARRIED)}
    forget(environ)
    assert environ == {**rig.environ, **CARRIED}
    own = {**rig.environ, "https_proxy": "http://proxy.example:3128"}
    environ = dict(own)
    forget(environ)
    assert environ == own


def test_secrets_are_taken_out_of_a_programs_environment(rig: Rig) -> None:
    environ = {**rig.environ, "GOOGLE_API_KEY": "real", "HOME": "/home/me"}
    found = launch(rig.variables(), Target(URL, "t"), environ)
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
