"""Builds the CustomJob to send from a config file and options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.cli.ai.location_jobs.request import put_job_options, put_run_options
from footplate.cli.config_normalization import as_message
from footplate.domain.errors import InvalidArgument
from footplate.wire.vertex_v1.models import CustomJobSpec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from footplate.wire.json_text import JsonObject


def make_job(
    display_name: str,
    config: JsonObject,
    options: Mapping[str, object],
    pools: Sequence[JsonObject] = (),
) -> JsonObject:
    """``config`` is a CustomJobSpec; each option that was given takes the place of its value.

    Raises:
        InvalidArgument: there is no worker pool, or what should be one isn't.
    """
    spec = as_message(CustomJobSpec, config)
    spec["workerPoolSpecs"] = [*pools] or [*_pools(spec)]
    put_run_options(spec, options)
    _put_program(spec, options)
    job: JsonObject = {"displayName": display_name, "jobSpec": spec}
    put_job_options(job, options)
    return job


def _pools(spec: JsonObject) -> list[JsonObject]:
    """gcloud's own example writes a lone pool without the list around it: it has one here."""
    found = spec.get("workerPoolSpecs")
    if not isinstance(found, list) or not found:
        raise InvalidArgument("workerPoolSpecs: none in --config, and no --worker-pool-spec")
    made: list[JsonObject] = []
    for pool in found:
        if not isinstance(pool, dict | None):
            raise InvalidArgument("workerPoolSpecs: allowed: a list of mappings")
        made.append(dict(pool or {}))
    return made


def _put_program(spec: JsonObject, options: Mapping[str, object]) -> None:
    """--args goes to every pool that runs something, --command to every container."""
    pools = spec["workerPoolSpecs"]
    for pool in pools if isinstance(pools, list) else []:
        if not isinstance(pool, dict):
            continue
        for kind, option, field in (
            ("containerSpec", "args", "args"),
            ("pythonPackageSpec", "args", "args"),
            ("containerSpec", "command", "command"),
        ):
            program = pool.get(kind)
            if isinstance(program, dict) and isinstance(value := options.get(option), list):
                pool[kind] = {**program, field: value}
