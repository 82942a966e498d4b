"""footplate env."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.support.fake_service import FakeService

NO_PROXY = (
    "Error: this server has no proxy: restart the server without --no-proxy and without "
    "proxy_port = none\n"
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("JAVA_TOOL_OPTIONS", "NODE_OPTIONS", "PYTHONPATH", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_a_shell_can_take_the_lines_and_give_them_back(
    invoke: Callable[..., Result], fake: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "real")
    monkeypatch.setenv("PYTHONPATH", "/it's/mine")
    lines = invoke("env", "--project=it's mine").stdout
    assert lines.startswith("unset GOOGLE_API_KEY\nexport ALL_PROXY=")
    assert lines.endswith('\n# Use it so: eval "$(footplate env)"\n')
    show = 'printf "%s|" "$GOOGLE_CLOUD_PROJECT" "$STORAGE_EMULATOR_HOST" "$GOOGLE_API_KEY"\n'
    again = invoke("env", "--unset").stdout
    script = f"{lines}{show}{again}env\n"
    environment = {"GOOGLE_API_KEY": "real", "PATH": os.environ["PATH"]}
    done = subprocess.run(
        ["sh", "-c", script], capture_output=True, text=True, check=True, env=environment
    )
    shown, _, left = done.stdout.partition("||")
    assert shown == f"it's mine|{fake.url}"
    kept = {line.partition("=")[0] for line in left.splitlines()}
    assert kept - {"_", "OLDPWD", "SHLVL"} == {"PATH", "PWD", "PYTHONPATH"}
    assert "PYTHONPATH=/it's/mine" in left


def test_other_shells(invoke: Callable[..., Result], fake: FakeService) -> None:
    fish = invoke("env", "--shell=fish", "--project=it's").stdout
    assert f"\nset -gx STORAGE_EMULATOR_HOST '{fake.url}';\n" in fish
    assert "\nset -gx GOOGLE_CLOUD_PROJECT 'it\\'s';\n" in fish
    powershell = invoke("env", "--shell=powershell", "--project=it's").stdout
    assert f"\n$Env:STORAGE_EMULATOR_HOST = '{fake.url}'\n" in powershell
    assert "\n$Env:GOOGLE_CLOUD_PROJECT = 'it''s'\n" in powershell
    assert invoke("env", "--unset", "--shell=fish").stdout.startswith("set -e ALL_PROXY;\n")


def test_both_need_the_proxy_of_the_server(
    invoke: Callable[..., Result], fake: FakeService
) -> None:
    fake.proxy_port = None
    for words in (("env",), ("env", "--allow-host=pypi.org"), ("run", "--", "true")):
        result = invoke(*words)
        assert (result.exit_code, result.stdout, result.stderr) == (1, "", NO_PROXY)


def test_a_proxy_out_of_reach_is_named(invoke: Callable[..., Result], fake: FakeService) -> None:
    fake.proxy_port = 9
    result = invoke("env")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "Error: the server's proxy doesn't answer at 127.0.0.1:9: open this port, or forward the "
        "port with ssh -L 9:127.0.0.1:9 HOST\n"
    )


@pytest.mark.parametrize("host", ["", "a b", "http://a", "a:443", "*", "a,b"])
def test_a_host_is_a_name(invoke: Callable[..., Result], host: str) -> None:
    result = invoke("env", f"--allow-host={host}")
    assert result.exit_code == 2
    assert "allowed: a name such as pypi.org" in result.stderr
