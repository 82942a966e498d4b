"""The action for GitHub's jobs: its scripts, in the environment that a runner gives them."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from footplate.testing.service import outside
from tests.e2e.service.conftest import CACHE
from tests.support import ROOT
from tests.support.trainers import pack_trainer

LIMIT_S = 600
ASK = """\
import json, urllib.request
with urllib.request.urlopen("https://storage.googleapis.com/storage/v1/b?project=vision") as answer:
    print([bucket["name"] for bucket in json.load(answer).get("items", [])])
"""
ENTRY_POINT = "[console_scripts]\nfootplate = footplate:main\n"
METADATA = "Metadata-Version: 2.1\nName: footplate\nVersion: 9\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


class Runner:
    """A runner of GitHub's, as far as its scripts' files go."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            **outside(os.environ),
            "HOME": str(folder),
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "FOOTPLATE_CACHE_DIR": str(CACHE),
            "RUNNER_TEMP": str(folder),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GOOGLE_API_KEY": "a-real-key",
        }
        for name in ("ENV", "OUTPUT", "PATH", "STEP_SUMMARY"):
            (folder / name).touch()
            self.environment[f"GITHUB_{name}"] = str(folder / name)

    def run(self, *words: str | Path, **variables: str) -> str:
        done = subprocess.run(
            words,
            env=self.environment | variables,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_S,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def step(self, script: str, **inputs: str) -> None:
        """Run a script; what it has written is the environment of the steps after it."""
        self.run(ROOT / "action" / script, **inputs)
        self.environment |= parse((self.folder / "ENV").read_text())

    def outputs(self) -> dict[str, str]:
        lines = (self.folder / "OUTPUT").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines)


def parse(text: str) -> dict[str, str]:
    """Read ``NAME<<END``, lines and ``END`` as a runner does, which refuses NODE_OPTIONS."""
    found, lines = {}, iter(text.splitlines())
    for line in lines:
        name, mark, end = line.partition("<<")
        assert mark
        assert name != "NODE_OPTIONS"
        assert name not in found
        found[name] = "\n".join(iter(lines.__next__, end))
    return found


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    runner = Runner(tmp_path)
    yield runner
    if (tmp_path / "footplate" / "data").exists():
        runner.run("footplate", "down", "--yes")


def test_steps_are_led_and_what_failed_is_collected(runner: Runner) -> None:
    runner.step("start.sh", INPUT_PROJECT="vision", INPUT_ALLOW_HOSTS=".example.com b.example.org")
    url = runner.outputs()["url"]
    assert runner.environment["STORAGE_EMULATOR_HOST"] == url
    assert runner.environment["GOOGLE_API_KEY"] == ""
    hosts = runner.environment["no_proxy"].split(",")
    assert {".githubusercontent.com", "pypi.org", ".example.com", "b.example.org"} <= set(hosts)

    runner.run("footplate", "storage", "buckets", "create", "gs://stage")
    assert runner.run(sys.executable, "-c", ASK) == "['stage']\n"

    (runner.folder / "trainer.tar.gz").write_bytes(pack_trainer("raise SystemExit('no rows')"))
    submit = ("ai-platform", "jobs", "submit", "training", "census", "--module-name=trainer.task")
    places = ("--packages=trainer.tar.gz", "--staging-bucket=gs://stage", "--region=us-central1")
    with pytest.raises(AssertionError, match="no rows"):
        runner.run("footplate", *submit, *places, "--stream-logs")
    runner.step("collect.sh")

    outputs = runner.outputs()
    assert outputs["failed"] == "1"
    collected = {path.name: path.read_text() for path in Path(outputs["folder"]).iterdir()}
    assert set(collected) == {
        *("footplate.log", "jobs.txt"),
        *("projects_vision_jobs_census.yaml", "projects_vision_jobs_census.log"),
    }
    assert "no rows" in collected["projects_vision_jobs_census.log"]
    assert "state: FAILED" in collected["projects_vision_jobs_census.yaml"]
    assert "census" in (runner.folder / "STEP_SUMMARY").read_text()


def test_without_lead_nothing_but_the_service_is_named(runner: Runner) -> None:
    runner.step("start.sh", INPUT_LEAD="false")
    named = parse((runner.folder / "ENV").read_text())
    assert named == {
        "FOOTPLATE_DATA_DIR": str(runner.folder / "footplate" / "data"),
        "FOOTPLATE_PROJECT": "demo",
    }


def test_what_a_service_that_is_down_has_left_is_collected(runner: Runner) -> None:
    """It could not start, or has died: then its log is wanted most."""
    command = runner.folder / "bin" / "footplate"
    command.parent.mkdir()
    command.write_text("#!/bin/sh\necho no server answers >&2\nexit 1\n")
    command.chmod(0o755)
    runner.environment["PATH"] = f"{command.parent}{os.pathsep}{runner.environment['PATH']}"
    with pytest.raises(AssertionError, match="no server answers"):
        runner.step("start.sh")
    runner.environment |= parse((runner.folder / "ENV").read_text())
    log = Path(runner.environment["FOOTPLATE_DATA_DIR"], "footplate.log")
    log.parent.mkdir(parents=True)
    log.write_text("why it ended")
    runner.step("collect.sh")
    log.parent.rename(runner.folder / "gone")  # nothing of it has to be stopped

    outputs = runner.outputs()
    assert outputs["failed"] == "0"
    assert Path(outputs["folder"], "footplate.log").read_text() == "why it ended"
    assert "no server answers" in Path(outputs["folder"], "jobs.txt").read_text()


def make_wheel(folder: Path) -> Path:
    wheel = folder / "footplate-9-py3-none-any.whl"
    info = "footplate-9.dist-info"
    files = {
        "footplate.py": "import sys\ndef main():\n    print('version 9 of', sys.prefix)\n",
        f"{info}/METADATA": METADATA,
        f"{info}/WHEEL": WHEEL,
        f"{info}/entry_points.txt": ENTRY_POINT,
        f"{info}/RECORD": "",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return wheel


def test_it_is_installed_beside_the_python_of_the_job(runner: Runner) -> None:
    wheel = make_wheel(runner.folder)
    runner.step("install.sh", INPUT_PATH=str(wheel), PYTHON=sys.executable)
    (added,) = (runner.folder / "PATH").read_text().splitlines()
    assert [path.name for path in Path(added).iterdir()] == ["footplate"]
    home = runner.folder / "footplate" / "venv"
    assert runner.run(Path(added, "footplate")) == f"version 9 of {home}\n"


@pytest.mark.parametrize("folder", ["", "action/collect"])
def test_each_input_reaches_a_script(folder: str) -> None:
    document: dict[str, Any] = yaml.safe_load((ROOT / folder / "action.yml").read_text())
    text = yaml.safe_dump(document["runs"])
    assert [name for name in document["inputs"] if f"inputs.{name}" not in text] == []
    place: Callable[[str], Path] = (ROOT / folder).joinpath
    scripts = [step["run"].strip('"') for step in document["runs"]["steps"] if "run" in step]
    paths = [s.removeprefix("$GITHUB_ACTION_PATH/") for s in scripts if s.startswith("$")]
    assert [path for path in paths if not os.access(place(path), os.X_OK)] == []
    assert paths
