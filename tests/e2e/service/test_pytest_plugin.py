"""The fixture ``footplate``, as projects of users find it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from footplate.client.error_mapping import NoServer
from footplate.client.service import Service
from footplate.testing.workbench import ProgramFailed

if TYPE_CHECKING:
    from pathlib import Path

    from footplate.testing.workbench import Workbench


@pytest.fixture
def footplate_settings() -> dict[str, object]:
    return {"max_replicas": 3, "token": "a-token"}


def test_a_test_has_a_service_of_its_own(footplate: Workbench, tmp_path: Path) -> None:
    with footplate.client() as client:
        assert client.status().url == footplate.url
        assert list(client.training_jobs.list("demo")) == []
    assert footplate.env["FOOTPLATE_DATA_DIR"] == str(footplate.service.data_dir)
    assert "up to 3 replicas" in footplate.service.log.read_text("utf-8")

    bucket = footplate.make_bucket("stage")
    (tmp_path / "hello.txt").write_text("hello")
    script = (
        "from google.cloud import storage;"
        "storage.Client().bucket('stage').blob('a/b').upload_from_filename('hello.txt')"
    )
    footplate.run("python", "-c", script, cwd=tmp_path)
    assert (bucket / "a" / "b").read_text() == "hello"
    assert footplate.command("storage", "ls", "-r", "gs://stage").split() == ["gs://stage/a/b"]

    with pytest.raises(ProgramFailed, match=r"(?s)^python -c .* ended with 3:\nsorry"):
        footplate.run("python", "-c", "print('sorry'); raise SystemExit(3)")
    with pytest.raises(ProgramFailed, match=r"^footplate ai-platform jobs describe none ended"):
        footplate.command("ai-platform", "jobs", "describe", "none")


def test_its_jobs_end_with_the_test(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(
        "def test_it(footplate):\n    print('URL', footplate.url)\n    assert 0\n"
    )
    command = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_one.py")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    (url,) = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("URL ")]
    with Service(url) as client, pytest.raises(NoServer):
        client.health()


def test_a_project_without_it_pays_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_none.py").write_text(
        "import sys\n"
        "def test_it():\n"
        "    assert {m for m in sys.modules if m.startswith('footplate')}\\\n"
        "        == {'footplate', 'footplate.pytest_plugin'}\n"
    )
    command = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_none.py")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
