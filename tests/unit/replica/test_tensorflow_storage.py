"""TensorFlow's own ``gs://``: the hook before a program, and what it sets in which processes."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from footplate.replica.tensorflow_hook import PROXY, ROOTS, compose_variables
from footplate.replica.tensorflow_storage import make_hook, make_roots
from tests.support.interpreters import find_interpreters, version_of

if TYPE_CHECKING:
    from pathlib import Path

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
    [{}, {**LED, PROXY: ""}, {**LED, "STORAGE_EMULATOR_HOST": ""}],
    ids=["no server", "no proxy", "Google's own storage"],
)
def test_nothing_is_made_for_who_is_not_led(tmp_path: Path, environment: dict[str, str]) -> None:
    assert make_hook(environment, "pem", str(tmp_path)) == {}
    assert make_hook(LED, "", str(tmp_path)) == {}
    assert list(tmp_path.iterdir()) == []


def test_the_hook_is_not_laid_where_a_link_leads(tmp_path: Path) -> None:
    """A ``setup.py`` that reaches the folder of tools may have put one there."""
    (tmp_path / "closed").mkdir(mode=0o700)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "tensorflow").symlink_to(tmp_path / "closed")
    with pytest.raises(NotADirectoryError):
        make_hook(LED, "pem", str(tmp_path / "tools"))
    assert list((tmp_path / "closed").iterdir()) == []
    assert (tmp_path / "closed").stat().st_mode & 0o777 == 0o700


def test_the_hook_comes_first(tmp_path: Path) -> None:
    made = make_hook({**LED, "PYTHONPATH": "/own"}, "pem", str(tmp_path), "/seen")
    assert made == {ROOTS: "/seen/tensorflow/roots.pem", "PYTHONPATH": "/seen/tensorflow:/own"}
    assert (tmp_path / "tensorflow" / "roots.pem").read_text() == "pem"


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


def test_the_machines_authorities_are_trusted_besides(tmp_path: Path) -> None:
    machine = tmp_path / "machine.pem"
    machine.write_text("first")
    ((path, place),) = make_roots("second\n", str(tmp_path), str(machine))
    assert place == str(machine)
    with open(path) as file:
        assert file.read() == "first\nsecond\n"
    assert make_roots("", str(tmp_path), str(machine)) == []
    assert make_roots("second", str(tmp_path), str(tmp_path / "none")) == []
