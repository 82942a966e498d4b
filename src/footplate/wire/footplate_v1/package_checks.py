"""Requests to check packages, and their answers: values to JSON, and back."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from pydantic import ValidationError

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.preview.package_check import PackageCheck
from footplate.wire.footplate_v1 import models

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from footplate.wire.json_text import JsonObject


def encode_check_request(job: JsonObject, uploads: Mapping[str, bytes]) -> JsonObject:
    """Encodes a request; ``uploads`` has, by URI, the packages that aren't in a bucket yet."""
    packages: list[JsonObject] = [
        {"uri": uri, "content": base64.b64encode(content).decode("ascii")}
        for uri, content in uploads.items()
    ]
    return {"job": job, "packages": [*packages]}


def read_check_request(body: JsonObject) -> tuple[JsonObject, dict[str, bytes]]:
    """Reads a request: the job, and the contents of uploads by URI. Raises InvalidArgument."""
    job, packages = body.get("job"), body.get("packages", [])
    if not isinstance(job, dict):
        raise _wrong("job", "required: the body of a create request")
    if not isinstance(packages, list):
        raise _wrong("packages", "required: a list")
    uploads: dict[str, bytes] = {}
    for index, package in enumerate(packages):
        field = f"packages[{index}]"
        if not isinstance(package, dict):
            raise _wrong(field, "required: an object with uri and content")
        try:
            content = base64.b64decode(str(package["content"]), validate=True)
            uploads[str(package["uri"])] = content
        except (KeyError, binascii.Error, ValueError):
            raise _wrong(field, "required: uri, and content in base64") from None
    return job, uploads


def package_checks_json(checks: Sequence[PackageCheck]) -> JsonObject:
    return {"packages": [_check_json(check) for check in checks]}


def read_package_checks(resource: JsonObject) -> tuple[PackageCheck, ...]:
    """Reads checks of packages. Raises InvalidArgument: the JSON doesn't describe such checks."""
    try:
        found = models.PackageChecks.model_validate(resource)
    except ValidationError as error:
        raise InvalidArgument(
            f"the answer contains no checks of packages: {error.errors()[0]['msg']}"
        ) from None
    return tuple(
        PackageCheck(each.package, each.roles, each.runtime, each.adds, each.error)
        for each in found.packages
    )


def _check_json(check: PackageCheck) -> JsonObject:
    made: JsonObject = {
        "package": check.package,
        "roles": [*check.roles],
        "runtime": check.runtime,
        "result": "FAILED" if check.error else "OK",
    }
    if check.error:
        return {**made, "error": check.error}
    return {**made, "adds": [*check.added]}


def _wrong(field: str, text: str) -> InvalidArgument:
    return InvalidArgument.of((Violation(field, text),))
