"""Requests to check packages, and the answers."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Self

from pydantic import Field

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.preview import package_check as domain
from footplate.wire.footplate_v1.answer import Answer
from footplate.wire.json_text import JsonObject


class PackageCheck(Answer):
    """One package of the replicas with ``roles``, resolved together with their other packages.

    ``added``: what they all would install beside the runtime. ``error``: why the preparation of
    these replicas would fail.
    """

    package: str
    roles: tuple[str, ...] = ()
    runtime: str = ""
    result: str = ""
    error: str | None = None
    added: tuple[str, ...] | None = Field(None, alias="adds")

    @classmethod
    def of(cls, check: domain.PackageCheck) -> Self:
        return cls(
            package=check.package,
            roles=check.roles,
            runtime=check.runtime,
            result="FAILED" if check.error else "OK",
            error=check.error or None,
            adds=None if check.error else check.added,
        )


class PackageChecks(Answer):
    packages: tuple[PackageCheck, ...] = ()

    @classmethod
    def of(cls, checks: Sequence[domain.PackageCheck]) -> Self:
        return cls(packages=tuple(map(PackageCheck.of, checks)))


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


def _wrong(field: str, text: str) -> InvalidArgument:
    return InvalidArgument.of((Violation(field, text),))
