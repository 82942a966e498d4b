"""The custom job that a local run is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.cli.ai_platform.local.gpu_type import GPU_TYPE
from footplate.cli.packaging.local_code import MODULE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.wire.json_text import JsonObject

NAME = "local-run"
_MACHINE = "n1-standard-4"


def local_run_job(
    image: str, package_uris: Sequence[str], args: Sequence[str], key_file: str | None, *, gpu: bool
) -> JsonObject:
    """``key_file``: an absolute path, which the program gets as Google's libraries want it."""
    machine: JsonObject = {"machineType": _MACHINE}
    if gpu:
        machine |= {"acceleratorType": GPU_TYPE, "acceleratorCount": 1}
    program: JsonObject = {
        "executorImageUri": image,
        "packageUris": [*package_uris],
        "pythonModule": MODULE,
        "args": [*args],
    }
    if key_file:
        program["env"] = [{"name": "GOOGLE_APPLICATION_CREDENTIALS", "value": key_file}]
    pool: JsonObject = {
        "machineSpec": machine,
        "replicaCount": "1",
        "pythonPackageSpec": program,
    }
    return {"displayName": NAME, "jobSpec": {"workerPoolSpecs": [pool]}}
