"""The specification that the service made of a request, and who chose each value. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from footplate.console.formatting import duration, machines
from footplate.domain.directory_form import DirectoryForm

_SPECS = {
    "jobs": "trainingInput",
    "customJobs": "jobSpec",
    "hyperparameterTuningJobs": "trialJobSpec",
    "trainingPipelines": "trainingTaskInputs",
}
_TIER = "trainingInput.scaleTier"
_ROLES = {"worker": "worker", "ps": "parameterServer", "evaluator": "evaluator"}
"""The others are the master."""


@dataclass(frozen=True)
class Value:
    """A value of the spec. ``field`` is the request's field that set it; otherwise ``why`` has
    the reason.
    """

    title: str
    text: str
    field: str = ""
    why: str = ""


def effective_values(job: Any) -> list[Value]:
    ml = job["kind"] == "jobs"
    base = _SPECS.get(job["kind"], "")
    reader = _Reader(job["request"], base)
    found = [_region(job, ml=ml)]
    for pool in job["spec"]["pools"]:
        found += _pool(reader, pool, job["request"], ml=ml)
    return [*found, *_limits(reader, job["spec"], ml=ml), *_rest(reader, job["spec"], ml=ml)]


@dataclass(frozen=True)
class _Reader:
    request: Any
    base: str

    def value(self, title: str, text: str, field: str, why: str) -> Value:
        """Returns a value of the spec. ``why`` applies if the request has no such ``field``."""
        path = f"{self.base}.{field}"
        return (
            Value(title, text, path) if look_up(self.request, path) else Value(title, text, why=why)
        )


def look_up(value: Any, path: str) -> Any:
    """Returns the value at a path such as ``a.b[0].c``; None if there is none."""
    for part in path.replace("[", ".[").split("."):
        if part.startswith("["):
            at = int(part[1:-1]) if part[1:-1].isdecimal() else -1
            value = value[at] if isinstance(value, list) and 0 <= at < len(value) else None
        else:
            value = value.get(part) if isinstance(value, dict) else None
    return value


def _region(job: Any, *, ml: bool) -> Value:
    if ml:
        return Value("region", str(job["region"]), "trainingInput.region")
    return Value(
        "region", str(job["region"]), why="the address to which the client sent the request"
    )


def _pool(reader: _Reader, pool: Any, request: Any, *, ml: bool) -> Iterator[Value]:
    role = str(pool["role"])
    at = f"workerPoolSpecs[{role.removeprefix('workerpool')}]"
    machine, title = machines([pool]), f"{role}: machines"
    if ml:
        tier = look_up(request, _TIER)
        why = f"the machines of the scale tier {tier}" if tier else "default: scale tier BASIC"
        yield reader.value(title, machine, f"{_ROLES.get(role, 'master')}Type", why)
    else:
        why = "the request gives no value"
        yield reader.value(title, machine, f"{at}.machineSpec.machineType", why)
    disk = f"{pool['bootDiskSizeGb']} GB {pool['bootDiskType']}"
    field = f"{_ROLES.get(role, 'master')}Config.diskConfig" if ml else f"{at}.diskSpec"
    yield reader.value(
        f"{role}: boot disk", disk, field, "default, as in both of Google's services"
    )
    program = pool["program"]
    if ml and str(program.get("runtime", "")).startswith("version:"):
        version, _, python = str(program["runtime"]).removeprefix("version:").partition("/")
        text = f"{version or 'newest'}, Python {python or 'of that version'}"
        why = "default: the newest runtime version"
        yield reader.value(f"{role}: runtime", text, "runtimeVersion", why)


def _limits(reader: _Reader, spec: Any, *, ml: bool) -> Iterator[Value]:
    wait = spec["maxWaitTimeS"]
    yield reader.value(
        "longest running time",
        duration(spec["maxRunningTimeS"]),
        "scheduling.maxRunningTime" if ml else "scheduling.timeout",
        "default, as in both of Google's services: a week",
    )
    never = "default: the job waits until machines are free"
    if not ml:
        never += " (only jobs with strategy FLEX_START have a limit)"
    yield reader.value(
        "longest waiting time",
        "none" if wait is None else duration(wait),
        "scheduling.maxWaitTime" if ml else "scheduling.maxWaitDuration",
        never if wait is None else "default of the strategy FLEX_START: a day",
    )
    if ml:
        yield reader.value("priority", str(spec["priority"]), "scheduling.priority", "default: 0")
    for title, name in (
        ("restarts of lost replicas", "maxRestarts"),
        ("restarts of the whole job", "maxRetries"),
    ):
        why = f"this service's setting {'max_restarts' if name == 'maxRestarts' else 'max_retries'}"
        field = "scheduling.disableRetries"
        yield reader.value(title, str(spec[name]), field, why)


def _rest(reader: _Reader, spec: Any, *, ml: bool) -> Iterator[Value]:
    web = "on" if spec["webAccess"] else "off"
    yield reader.value("shell in replicas", web, "enableWebAccess", "default: off")
    directories = [str(each["uri"]) for each in spec["directories"]]
    named = spec.get("jobDir") or ", ".join(directories) or "none"
    as_paths = directories and spec["directoryForm"] == DirectoryForm.PATHS.value
    yield reader.value(
        "directories",
        f"{named} (programs get paths)" if as_paths else named,
        "jobDir" if ml else "baseOutputDirectory",
        "the tuning job's directory, for this trial" if directories else "default: none",
    )
    for title, name in (
        ("service account", "serviceAccount"),
        ("network", "network"),
        ("persistent resource", "persistentResource"),
        ("TensorBoard", "tensorboard"),
    ):
        if spec.get(name):
            field = "persistentResourceId" if name == "persistentResource" else name
            yield reader.value(title, str(spec[name]), field, "a value of the tuning job")
