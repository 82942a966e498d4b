"""``footplate tensorboard``."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from footplate.cli.group import Failure
from footplate.cli.jobs.kinds import CUSTOM, TRAINING
from footplate.cli.session import region_option, with_session

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

    from footplate.cli.session import Session

DEFAULT_PORT = 6006
_EVENT_FILES = "*tfevents*"
_BUCKET = "gs://"


@click.command("tensorboard")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=DEFAULT_PORT,
    show_default=True,
    metavar="PORT",
    help="Port to listen on; 0 chooses a free port.",
)
@region_option()
@with_session
@click.argument("place", metavar="JOB|DIR")
def command(session: Session, /, region: str, port: int, place: str) -> None:
    """Show the event files of a job, or of a folder, in TensorBoard.

    JOB is the id or the whole name of a training job or a custom job: its job directory, or the
    folder `logs` of its base output directory. DIR is a folder of this machine, or `gs://BUCKET/...`.
    It is read while the job writes it. TensorBoard answers on this machine alone, until Ctrl-C.

    Needs `pip install 'footplate[tensorboard]'`.

    \b
    Examples:
      footplate tensorboard census_20261121_0900
      footplate tensorboard 1234567890123456789 --port=0
      footplate tensorboard gs://stage/census
    """
    if find_spec("tensorboard") is None:
        raise Failure("TensorBoard is not installed: pip install 'footplate[tensorboard]'")
    folder = _find_folder(session, region, place)
    if not folder.is_dir() or next(folder.rglob(_EVENT_FILES), None) is None:
        raise Failure(
            f"{place}: there are no event files in {folder}; programs write event files with the "
            "summary writers of TensorBoard or TensorFlow"
        )
    # -P: the working directory may hold what a program wrote, and has no modules of ours.
    words = ["-P", "-m", "tensorboard.main", "--logdir", str(folder), "--host", "127.0.0.1"]
    _become([sys.executable, *words, "--port", str(port)])


def _find_folder(session: Session, region: str, place: str) -> Path:
    path = Path(place)
    if path.is_dir() or place.startswith((".", "/", "~")):
        return path.expanduser().absolute()
    uri = place if place.startswith(_BUCKET) else _job_logs(session, region, place)
    bucket, _, prefix = uri.removeprefix(_BUCKET).partition("/")
    settings = session.settings()
    buckets = settings.data_dir / "buckets"
    bound = {binding.name: binding.folder for binding in settings.buckets}
    folder = None if session.url else bound.get(bucket)
    if folder is not None:
        return folder / prefix
    if session.url or bucket in bound or not buckets.is_dir():
        raise Failure(
            f"{place}: the service's buckets are not in {buckets}; copy the files to this machine, "
            f"and pass the folder: footplate storage cp -r {uri} ."
        )
    return buckets / bucket / prefix


def _job_logs(session: Session, region: str, place: str) -> str:
    """Returns the URI of a job's event files. Raises a ServiceError if there is no such job."""
    located = place.isdecimal() or "/customJobs/" in place
    with session.connect() as service:
        if located:
            job = service.custom_jobs.get(session.job(CUSTOM, place, region)).resource
            uri = _text(job, "jobSpec", "baseOutputDirectory", "outputUriPrefix")
        else:
            job = service.training_jobs.get(session.job(TRAINING, place)).resource
            uri = _text(job, "trainingInput", "jobDir")
    if not uri.startswith(_BUCKET):
        field = "baseOutputDirectory" if located else "jobDir"
        raise Failure(f"{place}: the job has no {field} in a bucket, so it has no event files")
    return f"{uri.rstrip('/')}/logs" if located else uri


def _text(resource: Mapping[str, JsonValue], *path: str) -> str:
    value: JsonValue = dict(resource)
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""


def _become(words: list[str]) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "posix":
        os.execv(words[0], words)  # noqa: S606 - TensorBoard gets this process's terminal
    sys.exit(subprocess.run(words, check=False).returncode)
