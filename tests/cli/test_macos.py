"""What clients use runs on macOS, as far as a Linux that looks like it can show."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Protocol

import pytest

from tests.support import ROOT, darwin
from tests.support.deadlines import EVENT_S
from tests.support.fake_service import FakeService

SOURCES = ROOT / "src" / "footplate"
CLIENT = ("cli", "client", "domain", "wire", "protocol", "settings.py", "safe_path.py", "http1.py")
CHECKED_FIRST = {"cli/child_program.py": {"sigwaitinfo", "sigtimedwait"}}
"""What a module uses only where Python has it."""
IMPORT_ALL = """
import importlib, pkgutil
from tests.support.darwin import pretend
pretend()
import footplate.cli, footplate.client
for package in (footplate.cli, footplate.client):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
"""
ELSEWHERE = (
    "Start the service on a Linux machine, in a virtual machine or in a container, and set "
    "FOOTPLATE_URL to the address of the service here"
)

SUBMIT = "Submit the job to a service: `footplate ai-platform jobs submit training --stream-logs`"


class Run(Protocol):
    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]: ...


def start(words: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *words],
        env=environment | variables,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=EVENT_S,
    )


@pytest.fixture
def on_a_mac(fake: FakeService, tmp_path: Path) -> Run:
    """Run ``footplate WORDS`` against the fake service, in an empty folder."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        words = ("-m", "tests.support.darwin", "footplate.cli.main", *words)
        return start(list(words), tmp_path, FOOTPLATE_URL=fake.url)

    return run


def find_uses(path: Path) -> set[str]:
    """Names of Python's on Linux alone that a module uses of their modules."""
    absent = {module: darwin.find_absent(module) for module in darwin.MODULES}
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found |= {node.attr} & absent.get(node.value.id, frozenset())
        elif isinstance(node, ast.ImportFrom) and node.module in absent:
            found |= {name.name for name in node.names} & absent[node.module]
    return found


def test_clients_use_no_call_that_linux_alone_has() -> None:
    places = [SOURCES / name for name in CLIENT]
    files = [f for place in places for f in ([place] if place.is_file() else place.rglob("*.py"))]
    uses = {str(path.relative_to(SOURCES)): find_uses(path) for path in files}
    assert {path: names for path, names in uses.items() if names} == CHECKED_FIRST


def test_all_modules_of_commands_and_client_can_be_imported(tmp_path: Path) -> None:
    done = start(["-c", IMPORT_ALL], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_it_looks_like_a_mac(tmp_path: Path) -> None:
    text = """
import os, platform, select, signal, sys
from tests.support.darwin import pretend
pretend()
print(sys.platform, platform.system(), os.path.exists("/proc/self"), hasattr(select, "epoll"))
try:
    open("/proc/self/status")
except FileNotFoundError:
    print("no file")
"""
    done = start(["-c", text], tmp_path)
    assert (done.stdout, done.stderr) == ("darwin Darwin False False\nno file\n", "")


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--version"], "footplate "),
        (["--help"], "Train models on your own machine"),
        (["ai", "custom-jobs", "list"], "Listed 0 items"),
        (["status"], "Footplate "),
        (["env"], "export https_proxy=http://127.0.0.1:"),
    ],
)
def test_commands_that_ask_a_service(on_a_mac: Run, words: list[str], shown: str) -> None:
    done = on_a_mac(*words)
    assert done.returncode == 0, done.stderr
    assert shown in done.stdout + done.stderr


def test_a_package_is_built_and_sent(on_a_mac: Run, fake: FakeService, tmp_path: Path) -> None:
    (tmp_path / "trainer").mkdir()
    for name, text in (("__init__", ""), ("task", "print(1)\n")):
        (tmp_path / "trainer" / f"{name}.py").write_text(text)
    assert on_a_mac("storage", "buckets", "create", "gs://stage").returncode == 0
    places = ("--package-path=trainer", "--staging-bucket=gs://stage", "--region=us-central1")
    submit = ("ai-platform", "jobs", "submit", "training", "census")
    done = on_a_mac(*submit, *places, "--module-name=trainer.task")
    assert done.returncode == 0, done.stderr
    assert [name for _, name in fake.objects if name.endswith("/trainer-0.0.0.tar.gz")]


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("exit 3", 3),
        ("kill -KILL $$", -9),
        ("trap 'exit 7' TERM; kill -TERM $PPID; while :; do sleep 0.02; done", 7),
    ],
    ids=["its exit code", "its signal", "a signal to the command"],
)
def test_run_ends_as_its_program_does(on_a_mac: Run, script: str, code: int) -> None:
    done = on_a_mac("run", "--", "sh", "-c", script)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        (["up"], ELSEWHERE),
        (["doctor"], ELSEWHERE),
        (["runtimes", "list"], ELSEWHERE),
        (
            ["ai-platform", "local", "train", "--module-name=trainer.task"],
            SUBMIT,
        ),
        (
            ["ai", "custom-jobs", "local-run", "--executor-image-uri=x", "--script=task.py"],
            "Send the code to a service: `footplate ai custom-jobs create --worker-pool-spec=...`",
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_what_runs_jobs_here_says_where_they_can_run(
    on_a_mac: Run, words: list[str], instead: str
) -> None:
    done = on_a_mac(*words)
    assert (done.returncode, done.stdout) == (1, "")
    command = " ".join(["footplate", *(word for word in words if not word.startswith("--"))])
    command = command.removesuffix(" list")
    assert done.stderr == (
        f"Error: `{command}` needs Linux, and this machine runs macOS. {instead}\n"
    )
