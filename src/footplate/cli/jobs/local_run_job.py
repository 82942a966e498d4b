"""Creates the custom job of a local run, and runs it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from footplate.cli.defaults import GPU_TYPE
from footplate.cli.linux_only import require_linux
from footplate.cli.local_runs.job_run import PROJECT, require_image, run_to_end
from footplate.cli.packaging.image_build import build_image
from footplate.cli.packaging.local_code import MODULE, LocalCode, package_local_code
from footplate.cli.packaging.staging import check_names, stage
from footplate.domain.names import GcsUri

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.cli.local_runs.options import LocalRun
    from footplate.client.service import Service
    from footplate.domain.names import JobName
    from footplate.wire.json_text import JsonObject

NAME = "local-run"
_INSTEAD = "Send the code to a service: `footplate ai custom-jobs create --worker-pool-spec=...`"
_REGION = "us-central1"
_MACHINE = "n1-standard-4"
_STAGE = "footplate-local-run"
"""The private service's bucket for packages."""


def run_here(run: LocalRun, args: Sequence[str]) -> NoReturn:
    """Packages the code, runs it, and ends the process with it.

    Raises:
        InvalidArgument: the runtime doesn't exist, or a named file isn't in the folder.
        FailedPrecondition: the private service can't start, or has died.
        Failure: this machine doesn't run Linux.
    """
    require_linux("`footplate ai custom-jobs local-run`", _INSTEAD)
    if run.output_image_uri is not None:
        _run_image(run, run.output_image_uri, args)
    require_image(run.executor_image_uri)
    archives = package_local_code(_code(run))
    check_names(archives)

    def send(service: Service) -> JobName:
        service.storage.create_bucket(PROJECT, _STAGE)
        uris = stage(service.storage, GcsUri(_STAGE, ""), archives)
        return service.custom_jobs.create(PROJECT, _REGION, _request(run, uris, args)).name

    run_to_end(send, gpus=run.gpu)


def _run_image(run: LocalRun, image: str, args: Sequence[str]) -> NoReturn:
    """Builds the image, and runs it in the container engine."""
    build_image(_code(run), run.executor_image_uri, image, "--output-image-uri", pushes=False)
    program: JsonObject = {"containerSpec": {"imageUri": image, "args": [*args]}}

    def send(service: Service) -> JobName:
        return service.custom_jobs.create(PROJECT, _REGION, _job(run, program)).name

    run_to_end(send, gpus=run.gpu)


def _code(run: LocalRun) -> LocalCode:
    return LocalCode(
        root=Path(run.local_package_path),
        python_module=run.python_module,
        script=run.script,
        requirements=tuple(run.requirements),
        extra_packages=tuple(run.extra_packages),
        extra_dirs=tuple(run.extra_dirs),
        option="--",
    )


def _request(run: LocalRun, package_uris: Sequence[str], args: Sequence[str]) -> JsonObject:
    program: JsonObject = {
        "executorImageUri": run.executor_image_uri,
        "packageUris": [*package_uris],
        "pythonModule": MODULE,
        "args": [*args],
    }
    if key_file := run.service_account_key_file:  # as Google's libraries want it
        program["env"] = [{"name": "GOOGLE_APPLICATION_CREDENTIALS", "value": key_file}]
    return _job(run, {"pythonPackageSpec": program})


def _job(run: LocalRun, program: JsonObject) -> JsonObject:
    machine: JsonObject = {"machineType": _MACHINE}
    if run.gpu:
        machine |= {"acceleratorType": GPU_TYPE, "acceleratorCount": 1}
    pool: JsonObject = {"machineSpec": machine, "replicaCount": "1", **program}
    return {"displayName": NAME, "jobSpec": {"workerPoolSpecs": [pool]}}
