"""The form of a custom job: its fields, the request that they make, and back. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from footplate.wire.json_text import JsonObject

if TYPE_CHECKING:
    from pydantic import JsonValue

_POOL = re.compile(r"jobSpec\.workerPoolSpecs\[\d+\]\.(.+)")
_FIELDS = {
    "displayName": "name",
    "labels": "labels",
    "jobSpec.baseOutputDirectory": "output",
    "jobSpec.scheduling.timeout": "limit",
    "machineSpec.machineType": "machine",
    "machineSpec.acceleratorType": "accelerator",
    "machineSpec.acceleratorCount": "count",
    "replicaCount": "replicas",
    "pythonPackageSpec.executorImageUri": "runtime",
    "pythonPackageSpec.packageUris": "packages",
    "pythonPackageSpec.pythonModule": "module",
    "pythonPackageSpec.args": "args",
    "pythonPackageSpec.env": "env",
    "containerSpec.imageUri": "image",
    "containerSpec.command": "command",
    "containerSpec.args": "args",
    "containerSpec.env": "env",
}
"""The form's fields, by the paths in which the service names what is wrong."""


@dataclass(frozen=True)
class JobForm:
    """The fields of the form, as text. ``program`` is ``package`` or ``image``.

    ``packages``, ``command``, ``args``, ``env`` and ``labels`` have one entry a line.
    """

    project: str = ""
    region: str = ""
    name: str = ""
    program: str = "package"
    runtime: str = ""
    packages: str = ""
    module: str = ""
    image: str = ""
    command: str = ""
    args: str = ""
    env: str = ""
    machine: str = "n1-standard-4"
    accelerator: str = ""
    count: str = ""
    replicas: str = "1"
    labels: str = ""
    output: str = ""
    limit: str = ""

    @classmethod
    def read(cls, given: Mapping[str, str]) -> JobForm:
        """Reads the form; changes the line ends of web forms to those of Unix."""
        texts = {each.name: given.get(each.name, "") for each in fields(cls)}
        texts |= {name: text.replace("\r\n", "\n") for name, text in texts.items()}
        return cls(**texts)


def to_request(form: JobForm) -> JsonObject:
    """Returns the body of a custom job. The service reports invalid numbers."""
    spec: JsonObject = {"workerPoolSpecs": [*_pools(form)]}
    if form.output.strip():
        spec["baseOutputDirectory"] = {"outputUriPrefix": form.output.strip()}
    if form.limit.strip():
        spec["scheduling"] = {"timeout": f"{form.limit.strip().removesuffix('s')}s"}
    request: JsonObject = {"displayName": form.name, "jobSpec": spec}
    if labels := _pairs(form.labels):
        request["labels"] = {**labels}
    return request


def _pools(form: JobForm) -> list[JsonValue]:
    """Returns the first replica's pool, and a second pool for all others."""
    number = _number(form.replicas.strip() or "1")
    if not isinstance(number, int) or number < 2:
        return [_pool(form, number)]
    return [_pool(form, 1), _pool(form, number - 1)]


def _pool(form: JobForm, replicas: int | str) -> JsonObject:
    machine: JsonObject = {"machineType": form.machine.strip()}
    if form.accelerator.strip():
        machine["acceleratorType"] = form.accelerator.strip()
        machine["acceleratorCount"] = _number(form.count.strip() or "1")
    key, program = _program(form)
    return {"machineSpec": machine, "replicaCount": replicas, key: program}


def _program(form: JobForm) -> tuple[str, JsonObject]:
    program: JsonObject = {}
    if form.program == "image":
        key = "containerSpec"
        program["imageUri"] = form.image.strip()
        if form.command.strip():
            program["command"] = [*_lines(form.command)]
    else:
        key = "pythonPackageSpec"
        program["executorImageUri"] = form.runtime.strip()
        program["packageUris"] = [each.strip() for each in _lines(form.packages)]
        program["pythonModule"] = form.module.strip()
    if args := _lines(form.args):
        program["args"] = [*args]
    if env := _pairs(form.env):
        program["env"] = [{"name": name, "value": value} for name, value in env.items()]
    return key, program


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def _pairs(text: str) -> dict[str, str]:
    """Returns the pairs in lines of ``NAME=VALUE``."""
    parts = (line.partition("=") for line in _lines(text))
    return {name.strip(): value for name, _, value in parts}


def wrong_lines(form: JobForm) -> Iterator[tuple[str, str]]:
    """Yields lines of environment and labels that would be lost or misread, with their fields."""
    for name, text in (("env", form.env), ("labels", form.labels)):
        seen: set[str] = set()
        for line in _lines(text):
            key, equals, _ = line.partition("=")
            if not equals and name == "env":
                yield name, f"{line.strip()[:60]!r} given; allowed: NAME=VALUE"
            elif key.strip() in seen:
                yield name, f"{key.strip()[:60]!r} is given twice; allowed: once"
            seen.add(key.strip())


def _number(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text


def to_form(request: Mapping[str, Any], project: str, region: str) -> JobForm | None:
    """Returns the form that makes this request; None if the form can't hold all of it."""
    try:
        form = replace(_read(request), project=project, region=region)
    except (KeyError, IndexError, TypeError, AttributeError, ValueError):
        return None
    return form if _plain(to_request(form)) == _plain(request) else None


def _read(request: Mapping[str, Any]) -> JobForm:
    spec = request["jobSpec"]
    pools = spec["workerPoolSpecs"]
    first = pools[0]
    machine = first["machineSpec"]
    package, container = first.get("pythonPackageSpec", {}), first.get("containerSpec", {})
    program = package or container
    return JobForm(
        name=str(request["displayName"]),
        program="package" if package else "image",
        runtime=str(package.get("executorImageUri", "")),
        packages=_joined(package.get("packageUris", [])),
        module=str(package.get("pythonModule", "")),
        image=str(container.get("imageUri", "")),
        command=_joined(container.get("command", [])),
        args=_joined(program.get("args", [])),
        env=_joined(f"{each['name']}={each['value']}" for each in program.get("env", [])),
        machine=str(machine["machineType"]),
        accelerator=str(machine.get("acceleratorType", "")),
        count=str(machine.get("acceleratorCount", "")),
        replicas=str(sum(int(pool["replicaCount"]) for pool in pools)),
        labels=_joined(f"{key}={value}" for key, value in request.get("labels", {}).items()),
        output=str(spec.get("baseOutputDirectory", {}).get("outputUriPrefix", "")),
        limit=str(spec.get("scheduling", {}).get("timeout", "")).removesuffix("s"),
    )


def _joined(lines: Any) -> str:
    return "\n".join(map(str, lines))


def _plain(value: Any) -> Any:
    """Returns the value with numbers as text, as clients send both, and without empty parts."""
    if isinstance(value, dict):
        made = {key: _plain(each) for key, each in value.items()}
        return {key: each for key, each in made.items() if each not in ("", [], {})}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def field_of(path: str) -> str:
    """Returns the form's field for a path of the request; '' if none matches."""
    found = _POOL.fullmatch(path)
    within = found[1] if found else path
    longest = max((p for p in _FIELDS if within.startswith(p)), key=len, default="")
    return _FIELDS.get(longest, "")
