"""Objects made from other objects: copy, rewrite, compose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from footplate.api.storage_v1.accepted_fields import check_fields
from footplate.api.storage_v1.body import Body
from footplate.api.storage_v1.object_names import ObjectName, composed_in, copied_in
from footplate.api.storage_v1.query_parameters import conditions_in, number_in
from footplate.api.storage_v1.resources import draft_of, object_resource
from footplate.api.storage_v1.responses import checked
from footplate.domain.errors import FailedPrecondition, InvalidArgument, NotFound, Violation
from footplate.ports.buckets import ObjectInfo
from footplate.ports.object_storage import Checksums, Conditions, Draft, ObjectStorage

if TYPE_CHECKING:
    from pydantic import JsonValue

CHUNK_BYTES = 1 << 20
MAX_PARTS = 32
"""Source: cloud.google.com/storage/docs/json_api/v1/objects/compose."""


class CopyHandlers:
    def __init__(self, buckets: ObjectStorage) -> None:
        self._buckets = buckets

    def post(self, request: Request, body: Body) -> Response:
        target = composed_in(request)
        if target is not None:
            return checked("objects.compose", self._compose)(request, body, target)
        method = "objects.copy" if "/copyTo/" in request.url.path else "objects.rewrite"
        return checked(method, self._copy)(request, body)

    def _copy(self, request: Request, body: Body) -> Response:
        """Copies in one step, whatever the size; a rewrite never needs to be continued."""
        source, target = copied_in(request)
        given, query = body.json(), request.query_params
        info, file = self._open(
            source, conditions_in(query, "Source"), number_in(query, "sourceGeneration")
        )
        with file:
            draft = draft_of(target.bucket, target.name, given) if given else _same(info, target)
            draft = replace(draft, conditions=conditions_in(query), checksums=Checksums())
            made = self._buckets.put(draft, _chunks(file, info.size_bytes))
        resource = object_resource(made, str(request.base_url))
        if "/copyTo/" in request.url.path:
            return JSONResponse(resource)
        answer = {
            "kind": "storage#rewriteResponse",
            "totalBytesRewritten": str(made.size_bytes),
            "objectSize": str(made.size_bytes),
            "done": True,
            "resource": resource,
        }
        return JSONResponse(answer)

    def _compose(self, request: Request, body: Body, target: ObjectName) -> Response:
        given, query = body.json(), request.query_params
        check_fields("COMPOSE", given)
        described = given.get("destination")
        described = described if isinstance(described, dict) else {}
        draft = replace(
            draft_of(target.bucket, target.name, described),
            conditions=conditions_in(query),
            checksums=Checksums(),  # gcloud says those of a part
        )
        parts = [_part(target.bucket, value) for value in _parts(given.get("sourceObjects"))]
        made = self._buckets.put(draft, self._joined(parts))
        return JSONResponse(object_resource(made, str(request.base_url)))

    def _joined(self, parts: list[tuple[ObjectName, int | None]]) -> Iterator[bytes]:
        for name, generation in parts:
            info, file = self._open(name, Conditions(), generation)
            with file:
                yield from _chunks(file, info.size_bytes)

    def _open(
        self, name: ObjectName, conditions: Conditions, generation: int | None
    ) -> tuple[ObjectInfo, BinaryIO]:
        info, file = self._buckets.open(name.bucket, name.name)
        if generation not in (None, info.generation):
            file.close()
            raise NotFound(f"object {info.name!r} has no generation {generation}")
        if not conditions.hold(info):
            file.close()
            raise FailedPrecondition(
                f"the request's condition on object {info.name!r} doesn't hold"
            )
        return info, file


def _chunks(file: BinaryIO, size_bytes: int) -> Iterator[bytes]:
    while size_bytes and (chunk := file.read(min(CHUNK_BYTES, size_bytes))):
        size_bytes -= len(chunk)
        yield chunk


def _same(info: ObjectInfo, target: ObjectName) -> Draft:
    return Draft(target.bucket, target.name, info.content_type, info.metadata, info.headers)


def _parts(value: JsonValue) -> list[JsonValue]:
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_PARTS:
        text = f"allowed: a list of 1 to {MAX_PARTS} source objects, each with its name"
        raise InvalidArgument.of((Violation("sourceObjects", text),))
    return value


def _part(bucket: str, value: JsonValue) -> tuple[ObjectName, int | None]:
    name = value.get("name") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(name, str):
        raise InvalidArgument.of((Violation("sourceObjects.name", "required"),))
    wanted = value.get("objectPreconditions")
    wanted = wanted.get("ifGenerationMatch") if isinstance(wanted, dict) else None
    generation = value.get("generation", wanted)
    text = {} if generation is None else {"generation": str(generation)}
    return ObjectName(bucket, name), number_in(text, "generation")
