"""The workflows of the host are valid, safe, and run what developers run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support import ROOT
from tests.support.shares import count_shares

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
ACTIONS = sorted(ROOT.glob("action*/**/action.yml")) + sorted(ROOT.glob("action.yml"))
SCRIPTS = [ROOT / ".ci" / "run", *sorted(ROOT.glob("action/*.sh")), *(ROOT / "tools").glob("*.sh")]
SCHEMAS = {
    "vendor.github-workflows": WORKFLOWS,
    "vendor.github-actions": ACTIONS,
    "vendor.dependabot": [GITHUB / "dependabot.yml"],
    "vendor.github-issue-config": [GITHUB / "ISSUE_TEMPLATE" / "config.yml"],
    "vendor.github-issue-forms": [
        GITHUB / "ISSUE_TEMPLATE" / f"{n}.yml" for n in ("bug", "feature")
    ],
}
WORKFLOW = re.compile(r"^```yaml\n(name: .*?runs-on.*?)^```", re.M | re.S)
BIN = Path(sys.executable).parent
PINNED = re.compile(r"uses: ([\w./-]+)@([0-9a-f]{40}) # (v[\d.]+)$")


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    return found


def find_jobs() -> list[tuple[str, dict[str, Any]]]:
    return [(f"{w.name}: {name}", job) for w in WORKFLOWS for name, job in read(w)["jobs"].items()]


def find_commands(path: Path) -> list[str]:
    """The scripts of a workflow or an action."""
    found = read(path)
    jobs = found["jobs"].values() if "jobs" in found else [found["runs"]]
    return [step["run"] for job in jobs for step in job.get("steps", []) if "run" in step]


def run(*words: str | Path, text: str = "") -> None:
    done = subprocess.run(words, cwd=ROOT, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("schema", SCHEMAS)
def test_each_file_is_what_its_schema_says(schema: str) -> None:
    assert SCHEMAS[schema]
    run(BIN / "check-jsonschema", "--builtin-schema", schema, *SCHEMAS[schema])


def test_workflows_in_the_documentation_are_valid(tmp_path: Path) -> None:
    files: list[Path] = []
    for page in ("tutorials/tester.md", "how-to/use-the-github-action.md"):
        (text,) = WORKFLOW.findall((ROOT / "docs" / page).read_text("utf-8"))
        files.append(tmp_path / f"{len(files)}.yml")
        files[-1].write_text(text)
    run(BIN / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", *files)


def test_nothing_is_unsafe() -> None:
    """No text of an event in a script, no action that can change, no right that isn't needed."""
    run(BIN / "zizmor", "--offline", "--quiet", GITHUB, *ACTIONS)


def test_shellcheck_has_no_complaint() -> None:
    run(BIN / "shellcheck", *SCRIPTS)
    for path in (*WORKFLOWS, *ACTIONS):
        for script in find_commands(path):
            run(BIN / "shellcheck", "--shell=bash", "-", text=script)


def test_scripts_have_their_values_from_variables() -> None:
    scripts = [script for path in (*WORKFLOWS, *ACTIONS) for script in find_commands(path)]
    assert [script for script in scripts if "${{" in script] == []


def test_an_action_is_pinned_by_hash_and_everywhere_to_the_same() -> None:
    pins: dict[str, tuple[str | Any, ...]] = {}
    for path in (*WORKFLOWS, *ACTIONS):
        for line in path.read_text("utf-8").splitlines():
            if "uses: " in line and "uses: ./" not in line:
                pin = PINNED.search(line)
                assert pin, f"{path.name}: {line}"
                assert pins.setdefault(pin[1], pin.groups()) == pin.groups()
    assert len(pins) > 5


def test_workflows_have_no_rights_and_jobs_few_and_an_end() -> None:
    assert [path.name for path in WORKFLOWS if read(path)["permissions"] != {}] == []
    jobs = find_jobs()
    assert [name for name, job in jobs if "permissions" not in job] == []
    assert [name for name, job in jobs if "timeout-minutes" not in job and "uses" not in job] == []
    callable_ = {path.name for path in WORKFLOWS if "workflow_call" in path.read_text("utf-8")}
    assert [w.name for w in WORKFLOWS if "concurrency" not in read(w)] == sorted(callable_)


def test_the_night_has_each_share() -> None:
    matrix = read(GITHUB / "workflows" / "nightly.yml")["jobs"]["tests"]["strategy"]["matrix"]
    assert matrix["share"] == [str(number) for number in range(1, count_shares() + 1)]


def test_a_workflow_runs_only_what_make_has() -> None:
    scripts = "\n".join(script for path in WORKFLOWS for script in find_commands(path))
    targets = set(re.findall(r"\bmake (\w+)$", scripts, re.MULTILINE))
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert targets == {"dist", "docs"}
    assert [t for t in sorted(targets) if not re.search(rf"^{t}:", makefile, re.MULTILINE)] == []
