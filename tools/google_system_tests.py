"""Run the Vertex SDK's own system tests, unmodified, against a service of their own.

``python tools/google_system_tests.py [FOLDER] [TEST...]``: FOLDER is a clone of
googleapis/python-aiplatform; without one it is fetched from GitHub. TEST is the name of a module
(``custom_job``) or an expression of pytest's; without one all of MODULES run.

It makes an environment with the SDK of that clone, starts ``footplate up`` with a new data
directory, runs the tests under ``footplate run``, and prints a table of tests and results. Needs a
package index. What fails here, and why, is in docs/reference/google-system-tests.md.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

from uv import find_uv_bin

from footplate.client.service import Service
from footplate.domain.names import GcsUri
from footplate.testing.service import FOOTPLATE, running_service

REPOSITORY = "https://github.com/googleapis/python-aiplatform"
TAG = "v1.165.1"
MODULES = (*("vizier", "initializer", "custom_job", "tensorboard", "experiments", "model_upload"),)
EXTRAS = "metadata,vizier"
PACKAGES = ("pytest", "pytest-asyncio", "scikit-learn", "setuptools", "pyyaml")
PROJECT = "demo"
SAMPLES = GcsUri(
    "cloud-samples-data-us-central1",
    "vertex-ai/google-cloud-aiplatform-ci-artifacts/models/iris_xgboost/model.bst",
)
"""A public object of Google's, which tests upload as a model: any content will do."""
CACHE = Path(__file__).parent.parent / ".cache"
RUN = (*FOOTPLATE, "run", "--")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, help=f"a clone of {REPOSITORY}")
    parser.add_argument("tests", nargs="*", help="modules, like custom_job")
    parser.add_argument("--python", default="3.11", help="of the tests")
    parser.add_argument("--select", help="as pytest's -k")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        source = unpack(arguments.folder, work / "source")
        python = make_environment(source, arguments.python)
        report = work / "report.xml"
        run_tests(source, python, arguments.tests or MODULES, arguments.select, report)
        print_table(report)


def unpack(folder: Path | None, target: Path) -> Path:
    """The pinned version of the repository, without its history."""
    if folder is None:
        command = ("git", "clone", "-q", "--depth=1", "--branch", TAG, REPOSITORY, str(target))
        subprocess.run(command, check=True)
        return target
    target.mkdir()
    archive = subprocess.run(
        ("git", "-C", str(folder), "archive", TAG), stdout=subprocess.PIPE, check=True
    )
    subprocess.run(("tar", "x", "-C", str(target)), input=archive.stdout, check=True)
    return target


def make_environment(source: Path, version: str) -> Path:
    """The interpreter of an environment with the SDK and what the tests import. It is kept."""
    place = CACHE / f"google-system-tests-{TAG}-{version}"
    python = place / "bin" / "python"
    if not python.exists():
        subprocess.run((find_uv_bin(), "venv", "-q", "--python", version, str(place)), check=True)
    install = (find_uv_bin(), "pip", "install", "-q", "--python", str(python))
    subprocess.run((*install, f"{source}[{EXTRAS}]", *PACKAGES), check=True)
    return python


def run_tests(
    source: Path, python: Path, modules: tuple[str, ...], select: str | None, report: Path
) -> None:
    """Only the folder of tests is on the path: the SDK comes from the environment."""
    work = source.parent / "tests-alone"
    work.mkdir()
    (source / "tests").rename(work / "tests")
    files = [f"tests/system/aiplatform/test_{name}.py" for name in modules]
    options = ["-q", "-p", "no:cacheprovider", f"--junitxml={report}", "-rfE", "--tb=short"]
    chosen = ["-k", select] if select else []
    settings = {"api_access": PROJECT, "stop_grace_s": 2}
    with running_service(source.parent / "data", CACHE / "footplate", **settings) as service:
        environment = service.environment(
            BUILD_SPECIFIC_GCLOUD_PROJECT=PROJECT, FOOTPLATE_PROJECT=PROJECT, HOME=str(work)
        )
        with Service(service.url) as client:
            client.storage.create_bucket(PROJECT, SAMPLES.bucket)
            client.storage.upload(SAMPLES, b"a model")
        command = (*RUN, str(python), "-m", "pytest", *options, *chosen, *files)
        subprocess.run(command, cwd=work, env=environment, check=False)


def print_table(report: Path) -> None:
    lines = ["", "| test | result |", "|---|---|"]
    for case in ET.parse(report).getroot().iter("testcase"):  # noqa: S314  pytest wrote it
        found = {child.tag: child.get("message", "") for child in case}
        kind = next((tag for tag in ("error", "failure", "skipped") if tag in found), "passed")
        reason = " ".join(found.get(kind, "").split())[:200].replace("|", "\\|")
        module = case.get("classname", "").rpartition("test_")[2].partition(".")[0]
        result = f"{kind}: {reason}" if reason else kind
        lines.append(f"| `{module}: {case.get('name')}` | {result} |")
    sys.stdout.write("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
