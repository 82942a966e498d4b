"""footplate env."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    from tests.support.fake_service import FakeService

NAMES = """\
CLOUDSDK_AI_PLATFORM_REGION
CLOUDSDK_AI_REGION
CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM
CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDRESOURCEMANAGER
CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING
CLOUDSDK_API_ENDPOINT_OVERRIDES_ML
CLOUDSDK_API_ENDPOINT_OVERRIDES_SERVICEUSAGE
CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE
CLOUDSDK_AUTH_DISABLE_CREDENTIALS
CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK
CLOUDSDK_COMPUTE_REGION
CLOUDSDK_CORE_CHECK_GCE_METADATA
CLOUDSDK_CORE_DISABLE_USAGE_REPORTING
CLOUDSDK_CORE_PROJECT
CLOUDSDK_ML_ENGINE_POLLING_INTERVAL
CLOUD_STORAGE_EMULATOR_ENDPOINT
GCE_METADATA_HOST
GCE_METADATA_IP
GCE_METADATA_ROOT
GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT
GOOGLE_API_USE_CLIENT_CERTIFICATE
GOOGLE_API_USE_MTLS_ENDPOINT
GOOGLE_APPLICATION_CREDENTIALS
GOOGLE_CLOUD_PROJECT
METADATA_SERVER_DETECTION
NO_GCE_CHECK
STORAGE_EMULATOR_HOST
""".splitlines()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return tmp_path


def test_a_shell_can_take_the_lines(
    invoke: Callable[..., Result], fake: FakeService, cache: Path
) -> None:
    result = invoke("env", "--project=it's mine")
    script = result.stdout + 'printf "%s|" "$GOOGLE_CLOUD_PROJECT" "$STORAGE_EMULATOR_HOST"\n'
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True, env={})
    assert done.stdout == f"it's mine|{fake.url}|"
    lines = result.stdout.splitlines()
    assert [line.partition("=")[0].removeprefix("export ") for line in lines[:-1]] == NAMES
    assert lines[-1] == '# Use it so: eval "$(footplate env)"'
    assert f"export CLOUDSDK_API_ENDPOINT_OVERRIDES_ML={fake.url}/" in lines
    (account,) = (cache / "footplate" / "launch").iterdir()
    assert f"export GOOGLE_APPLICATION_CREDENTIALS={account}" in lines
    assert os.name != "posix" or account.stat().st_mode & 0o077 == 0


def test_other_shells(invoke: Callable[..., Result], fake: FakeService) -> None:
    fish = invoke("env", "--shell=fish", "--project=it's").stdout
    assert f"\nset -gx STORAGE_EMULATOR_HOST '{fake.url}';\n" in fish
    assert "\nset -gx GOOGLE_CLOUD_PROJECT 'it\\'s';\n" in fish
    powershell = invoke("env", "--shell=powershell", "--project=it's").stdout
    assert f"\n$Env:STORAGE_EMULATOR_HOST = '{fake.url}'\n" in powershell
    assert "\n$Env:GOOGLE_CLOUD_PROJECT = 'it''s'\n" in powershell


def test_unset(invoke: Callable[..., Result]) -> None:
    names = sorted([*NAMES, "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"])
    assert invoke("env", "--unset").stdout == "".join(f"unset {name}\n" for name in names)
    assert invoke("env", "--unset", "--shell=fish").stdout.startswith(
        "set -e CLOUDSDK_AI_PLATFORM_REGION;"
    )


def test_a_token_is_handed_to_gcloud(
    invoke: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTPLATE_TOKEN", "s3cret")
    lines = invoke("env").stdout.splitlines()
    assert "export CLOUDSDK_AUTH_ACCESS_TOKEN=s3cret" in lines
    assert not any("DISABLE_CREDENTIALS" in line for line in lines)


def test_a_proxy_is_kept_away_from_loopback(
    invoke: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    monkeypatch.setenv("NO_PROXY", "intranet")
    assert "export NO_PROXY=intranet,127.0.0.1,localhost\n" in invoke("env").stdout


def test_zero_change_needs_the_proxy_of_the_server(invoke: Callable[..., Result]) -> None:
    result = invoke("env", "--zero-change")
    assert result.exit_code == 1
    assert result.stderr.endswith(
        "--zero-change: this server has no proxy; start it with `footplate up --proxy`\n"
    )
    assert invoke("env", "--allow-host=pypi.org").exit_code == 1
    result = invoke("run", "--allow-host=pypi.org", "--", "true")
    assert result.exit_code == 1
    assert "--allow-host pypi.org: this server has no proxy" in result.stderr


@pytest.mark.parametrize("host", ["", "a b", "http://a", "a:443", "*", "a,b"])
def test_a_host_is_a_name(invoke: Callable[..., Result], host: str) -> None:
    result = invoke("env", "--zero-change", f"--allow-host={host}")
    assert result.exit_code == 2
    assert "allowed: a name such as pypi.org" in result.stderr
