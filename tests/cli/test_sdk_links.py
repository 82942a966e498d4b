"""Links of Google's SDK under ``footplate run``."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from footplate.cli import sdk_links
from footplate.cli.environment_variables import SITECUSTOMIZE
from footplate.cli.sdk_links import rewrite
from tests.support.interpreters import find_interpreters, version_of

URL = "http://127.0.0.1:8470"
GOOGLE = "https://console.cloud.google.com"
PAGE = f"{URL}/jobs/projects/demo/locations/us-central1"


@pytest.mark.parametrize(
    ("said", "link", "expected"),
    [
        ("View Custom Job:", "agent-platform/locations/L/training/7", f"{PAGE}/customJobs/7"),
        ("View backing custom job:", "ai/platform/locations/L/training/7", f"{PAGE}/customJobs/7"),
        (
            "View HyperparameterTuningJob:",
            "vertex-ai/locations/L/training/8",
            f"{PAGE}/hyperparameterTuningJobs/8",
        ),
        ("View Training:", "agent-platform/locations/L/training/9", f"{PAGE}/trainingPipelines/9"),
        ("View Training:", "ai/platform/locations/L/training/9/cpu", f"{PAGE}/trainingPipelines/9"),
    ],
)
def test_links_of_jobs_lead_to_their_pages(said: str, link: str, expected: str) -> None:
    text = f"{said}\n{GOOGLE}/{link.replace('L', 'us-central1')}?project=demo"
    assert rewrite(text, f"{URL}/") == f"{said}\n{expected}"


@pytest.mark.parametrize(
    "text",
    [
        "no link at all",
        f"{GOOGLE}/vertex-ai/experiments/locations/us-central1/experiments/e?project=demo",
        "https://example.com/ai/platform/locations/us-central1/training/7?project=demo",
    ],
)
def test_all_else_stays(text: str) -> None:
    assert rewrite(text, URL) == text


def _run(folder: Path, code: str, python: str = sys.executable, **variables: str) -> str:
    """What a program prints that finds the hook, and a made-up SDK, on its path."""
    hook, other = folder / "hook", folder / "other"
    package = other / "google" / "cloud" / "aiplatform"
    for each in (hook, package):
        each.mkdir(parents=True)
    shutil.copy(sdk_links.__file__, hook / "footplate_sdk_links.py")
    (hook / "sitecustomize.py").write_text(SITECUSTOMIZE)
    (other / "sitecustomize.py").write_text("print('the next one runs')\n")
    log = f"View Custom Job:\\n{GOOGLE}/ai/platform/locations/us-central1/training/7?project=demo"
    (package / "__init__.py").write_text(
        f"import logging\nlogging.getLogger(__name__ + '.jobs').warning('{log}')\n"
    )
    environment = {
        **{name: text for name, text in os.environ.items() if name != "FOOTPLATE_URL"},
        **variables,
        "PYTHONPATH": os.pathsep.join([str(hook), str(other)]),
    }
    done = subprocess.run(
        [python, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("python", find_interpreters(), ids=version_of)
def test_the_sdk_logs_the_page_here(python: str, tmp_path: Path) -> None:
    printed = _run(tmp_path, "import google.cloud.aiplatform", python, FOOTPLATE_URL=URL)
    assert printed.splitlines() == [
        "the next one runs",
        "View Custom Job:",
        f"{PAGE}/customJobs/7",
    ]


def test_a_program_without_the_sdk_loads_nothing_more(tmp_path: Path) -> None:
    code = "import sys; print('logging' in sys.modules)"
    assert _run(tmp_path, code, FOOTPLATE_URL=URL).splitlines() == ["the next one runs", "False"]


def test_without_an_address_links_stay(tmp_path: Path) -> None:
    assert GOOGLE in _run(tmp_path, "import google.cloud.aiplatform")


def test_python_3_7_reads_it() -> None:
    source = Path(sdk_links.__file__).read_text("utf-8")
    ast.parse(source, feature_version=(3, 7))


def test_a_record_made_from_another_ones_values_stays(tmp_path: Path) -> None:
    """Queue listeners, sockets and structlog make records so, first without a name."""
    code = (
        "import google.cloud.aiplatform, logging; print(logging.makeLogRecord({'msg': 'it'}).msg)"
    )
    assert "it" in _run(tmp_path, code, FOOTPLATE_URL=URL).splitlines()
