"""Packages a trainer, runs it as a job of a private service, and follows it to its end."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from footplate.cli.jobs.training_job_draft import make_job
from footplate.cli.linux_only import require_linux
from footplate.cli.local_runs.job_run import PROJECT, require_version, run_to_end
from footplate.cli.packaging.archive import Source
from footplate.cli.packaging.staging import check_names, stage
from footplate.cli.packaging.trainer_package import (
    build_shown,
    check_module,
    is_project,
    make_sdist,
)
from footplate.domain.errors import InvalidArgument
from footplate.domain.names import GcsUri

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from footplate.cli.local_runs.options import LocalTrain
    from footplate.cli.packaging.archive import Archive
    from footplate.client.service import Service
    from footplate.domain.names import JobName
    from footplate.wire.json_text import JsonObject

_STAGE = "footplate-local-train"
"""The private service's bucket for packages."""
_INSTEAD = "Submit the job to a service: `footplate ai-platform jobs submit training --stream-logs`"
JOB = "local_train"
WORKERS = 2
PARAMETER_SERVERS = 2
"""Both counts are gcloud's, for a distributed run that names none."""
_MACHINE = "n1-standard-4"
_FIELD = "--job-dir"
_STARTER = "footplate_local_train"
_TASK = '''\
"""Starts the module {module} in the folder around its package, as gcloud does."""
import os
import runpy
import sys

if __name__ == "__main__":
    try:
        os.chdir({folder!r})
    except OSError as error:
        sys.stderr.write("%s; started in the replica's working directory\\n" % error)
    runpy.run_module({module!r}, run_name="__main__", alter_sys=True)
'''


def train_here(run: LocalTrain, user_args: Sequence[str] | None) -> NoReturn:
    """Packages the trainer, runs it, and ends the process with it.

    Raises:
        InvalidArgument: the package, module or runtime doesn't exist, or --job-dir is invalid.
        FailedPrecondition: the private service can't start, or has died.
        Failure: this machine doesn't run Linux.
    """
    require_linux("`footplate ai-platform local train`", _INSTEAD)
    members = cluster(run)
    place = read_job_dir(run.job_dir)
    require_version(run.runtime_version, run.python_version)
    program = package_program(run.package_path, run.module_name)
    options = {
        "module_name": program.module,
        "job_dir": place,
        "runtime_version": run.runtime_version,
        "python_version": run.python_version,
    }

    def send(service: Service) -> JobName:
        request = local_job(members, options, _stage(service, program, place), user_args)
        return service.training_jobs.create(PROJECT, request).name

    run_to_end(send, members.replicas, seen=program.folder)


def _stage(service: Service, program: Program, place: str | GcsUri | None) -> list[str]:
    """Creates the buckets that the job names, and uploads its packages; returns their URIs."""
    check_names(program.packages)
    buckets = [_STAGE]
    if isinstance(place, GcsUri):
        buckets.append(place.bucket)
        text = f"Note: the files in {place} are removed after this run; to keep them, give a folder"
        click.secho(f"{text} as --job-dir.", err=True, fg="yellow")
    for bucket in dict.fromkeys(buckets):
        service.storage.create_bucket(PROJECT, bucket)
    return stage(service.storage, GcsUri(_STAGE, ""), program.packages)


@dataclass(frozen=True)
class Cluster:
    """The numbers of replicas besides the master."""

    workers: int = 0
    parameter_servers: int = 0
    evaluators: int = 0

    @property
    def replicas(self) -> int:
        return 1 + self.workers + self.parameter_servers + self.evaluators


def cluster(run: LocalTrain) -> Cluster:
    """Returns the numbers of replicas: gcloud's defaults for None, and none unless distributed."""
    if not run.distributed:
        return Cluster()
    workers, servers = run.worker_count, run.parameter_server_count
    return Cluster(
        WORKERS if workers is None else workers,
        PARAMETER_SERVERS if servers is None else servers,
        run.evaluator_count or 0,
    )


def local_job(
    members: Cluster,
    options: Mapping[str, object],
    package_uris: Sequence[str],
    user_args: Sequence[str] | None,
) -> JsonObject:
    """Returns the job to run. ``options`` are a submit's: module_name, job_dir, runtime_version,
    python_version.
    """
    if members == Cluster():
        chosen: dict[str, object] = {"scale_tier": "basic"}
    else:
        chosen = {
            "scale_tier": "custom",
            "master_machine_type": _MACHINE,
            **_role("worker", members.workers),
            **_role("parameter_server", members.parameter_servers),
        }
    evaluators: JsonObject = {}
    if members.evaluators:  # a submit has no options for them
        evaluators = {"evaluatorType": _MACHINE, "evaluatorCount": str(members.evaluators)}
    return make_job(
        JOB,
        {"trainingInput": evaluators},
        {**options, **chosen},
        package_uris=package_uris,
        user_args=user_args,
    )


def _role(name: str, count: int) -> dict[str, object]:
    return {f"{name}_machine_type": _MACHINE, f"{name}_count": count} if count else {}


def read_job_dir(text: str | None) -> str | GcsUri | None:
    """Returns a real path, or the place in a bucket; None if no job directory is given.

    Raises:
        InvalidArgument: ``text`` is neither, or a file has this path.
    """
    if not text:
        return None
    if text.startswith("gs://"):
        return GcsUri.parse(text, _FIELD)
    if "://" in text:
        raise InvalidArgument(f"{_FIELD}: {text!r} given; allowed: a folder, or gs://BUCKET/PATH")
    path = Path(text).expanduser().resolve()  # the service follows no links
    if path.exists() and not path.is_dir():
        raise InvalidArgument(f"{_FIELD}: {path} is a file; allowed: a folder, or gs://BUCKET/PATH")
    return str(path)


@dataclass(frozen=True)
class Program:
    """The packages to submit, and the module to run."""

    module: str
    packages: tuple[Archive, ...]
    folder: Path
    """Where it starts."""


def package_program(package_path: str, module: str) -> Program:
    """Returns the packages; the module runs from the installed package, in the parent of
    ``package_path``.

    Raises:
        InvalidArgument: the package or module doesn't exist, or doesn't build.
    """
    archive = build_shown(package_path)
    parent = Path(package_path).expanduser().resolve().parent
    check_module(module, archive, own_build=is_project(parent))
    task = _TASK.format(module=module, folder=str(parent))
    files = {
        f"{_STARTER}/__init__.py": Source(b""),
        f"{_STARTER}/task.py": Source(task.encode()),
    }
    return Program(f"{_STARTER}.task", (archive, make_sdist(_STARTER, files)), parent)
