"""The tutorials, and pages like them: whoever pastes them finds what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tests.docs.walk import ROOT, type_out, walk
from tests.support.gcloud import find_gcloud
from tests.support.ports import free_port
from tests.support.postgresql import Postgresql

TUTORIALS = ROOT / "docs" / "tutorials"


def test_the_tester(tmp_path: Path) -> None:
    walk(TUTORIALS / "tester.md", tmp_path)


def test_the_leaver(tmp_path: Path) -> None:
    find_gcloud()
    walk(TUTORIALS / "leaver.md", tmp_path)


def test_the_owner(tmp_path: Path) -> None:
    """On a machine whose port 8470 is taken."""
    text, port = (TUTORIALS / "owner.md").read_text("utf-8"), str(free_port())
    type_out(text.replace("8470", port), tmp_path, FOOTPLATE_PORT=port)


def test_checking_a_job(tmp_path: Path) -> None:
    """It stands beside a trainer, and a service runs."""
    make = "$ mkdir trainer\n$ touch trainer/__init__.py trainer/task.py"
    begin = f"```console\n$ footplate up\n{make}\n```\n"
    page = (ROOT / "docs" / "how-to" / "check-a-job.md").read_text("utf-8")
    type_out(begin + page, tmp_path)


def test_running_several_servers(tmp_path: Path, postgresql: Postgresql) -> None:
    """On a machine with a database, a folder and ports of other names, in the same order."""
    first, second = sorted((str(free_port()), str(free_port())))
    page = (ROOT / "docs" / "how-to" / "run-several-servers.md").read_text("utf-8")
    for said, here in (
        ("postgresql://footplate@localhost/footplate", postgresql.create_database()),
        ("/srv/footplate", str(tmp_path / "srv")),
        ("8470", first),
        ("8471", second),
    ):
        assert said in page
        page = page.replace(said, f"'{here}'" if "://" in here else here)
    type_out(page, tmp_path)


def test_the_testers_workflow_runs_the_testers_commands() -> None:
    text = (TUTORIALS / "tester.md").read_text("utf-8")
    workflow: dict[str, Any] = yaml.safe_load(
        "name: training" + text.split("name: training")[1].split("```")[0]
    )
    install, test = [step["run"] for step in workflow["jobs"]["train"]["steps"] if "run" in step]
    assert f"\n{install}\n" in text.split("## The code")[0]
    assert f"$ {test}\n" in text
