"""Ways in which programs use a directory ``gs://...``: each is a case of a script of this folder.

A place is where programs run: a job of one kind, a container, a node. A test tries each
case that the packages of its place allow. A case writes below ``ROOT/CASE``, unless its name says
that it refuses something, and reads that again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footplate.domain.names import GcsUri
from tests.support.own_process import RUNNER, case_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from footplate.client.service import Service
    from footplate.domain.names import JobName
    from tests.e2e.service.conftest import Context

FOLDER = Path(__file__).parent
TRAINER = """\
import json, os, pathlib, sys

SCRIPTS = {scripts!r}
RUNNER = {runner!r}

words = sys.argv[1:]
if "--job-dir" in words:
    directory = words[words.index("--job-dir") + 1]
else:
    directory = os.environ["AIP_MODEL_DIR"]
    assert directory.endswith("/"), directory
assert directory.startswith("gs://"), directory
os.environ["IDIOMS_ROOT"] = os.path.join(directory, os.environ.get("RANK", "0"))

runner = {{"__name__": "runner"}}
exec(RUNNER, runner)
for name, text in SCRIPTS.items():
    pathlib.Path(name).write_text(text)
    runner["main"](name)
if "CLOUD_ML_TRIAL_ID" in os.environ:
    line = {{"trial": os.environ["CLOUD_ML_TRIAL_ID"], "global_step": "1", "loss": "0.5"}}
    pathlib.Path(os.environ["CLOUD_ML_HP_METRIC_FILE"]).write_text(json.dumps(line) + "\\n")
"""


def cases(places: Mapping[str, Iterable[str]]) -> list[tuple[str, str]]:
    """Return each place with each case of its scripts."""
    return [
        (place, case)
        for place, scripts in places.items()
        for script in scripts
        for case in case_names(FOLDER / script)
    ]


def make_trainer(scripts: Iterable[str]) -> str:
    """Return a program that runs the cases, in its ``--job-dir`` or ``AIP_MODEL_DIR``."""
    texts = {script: (FOLDER / script).read_text("utf-8") for script in scripts}
    return TRAINER.format(scripts=texts, runner=RUNNER.read_text("utf-8"))


@dataclass(frozen=True)
class Outcome:
    """Of one job, of which each replica writes into one of the ``folders``."""

    error: str
    """Why the job failed; '' if it didn't."""
    results: Sequence[tuple[str, str]]
    """Each case that ran, with what went wrong in it or ''."""
    folders: Sequence[Path]
    messages: Sequence[str] = ()

    def check(self, case: str) -> None:
        """Fails unless each replica did what the case says, and wrote into the bucket."""
        last = "\n".join(self.messages[-20:])
        assert not self.error, (self.error, last)
        errors = [error for name, error in self.results if name == case]
        assert errors == [""] * len(self.folders), "\n".join(errors) or last
        for folder in self.folders:
            assert case.startswith("refuses_") or list_files(folder / case), folder


def submit_package(
    client: Service, project: str, place: GcsUri, image: str, package: bytes, pools: int = 1
) -> JobName:
    """Submits a package to Vertex AI's API; ``place`` is the directory that it gets.

    Each of the ``pools`` has one replica.
    """
    at = GcsUri(place.bucket, f"{place.path}.tar.gz")
    program = {"executorImageUri": image, "packageUris": [str(at)], "pythonModule": "trainer.task"}
    pool = {
        "machineSpec": {"machineType": "n1-standard-4"},
        "replicaCount": "1",
        "pythonPackageSpec": program,
    }
    output = {"outputUriPrefix": str(place)}
    spec = {"workerPoolSpecs": [pool] * pools, "baseOutputDirectory": output}
    job: Any = {"displayName": "idioms", "jobSpec": spec}
    client.storage.upload(at, package)
    return client.custom_jobs.create(project, "us-central1", job).name


def wait(context: Context, name: JobName, *folders: Path) -> Outcome:
    job = context.wait_for(name)
    messages = context.messages(name)
    reports = [json.loads(line[2:]) for line in messages if line.startswith("> {")]
    results = [(report["case"], report["error"]) for report in reports]
    return Outcome(job.error_message, results, folders, messages)


def list_files(path: Path) -> list[Path]:
    """Return the files at or below the path that aren't empty."""
    files = [path] if path.is_file() else path.rglob("*")
    return [file for file in files if file.is_file() and file.stat().st_size]
