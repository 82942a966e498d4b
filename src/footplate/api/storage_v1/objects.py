"""Requests about objects: list, get, download (whole or a range of bytes), patch, delete."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import BinaryIO

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from footplate.api.client_disconnect import leaves
from footplate.api.request_bodies import require_json
from footplate.api.storage_v1.body import Body
from footplate.api.storage_v1.object_names import object_in
from footplate.api.storage_v1.query_parameters import conditions_in, flag_in, limit_in, number_in
from footplate.api.storage_v1.resources import draft_of, media_headers, object_resource, patched
from footplate.api.storage_v1.responses import error_answer
from footplate.domain.errors import (
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    OutOfRange,
    Violation,
)
from footplate.domain.globs import Glob
from footplate.ports.buckets import Listing, ObjectInfo
from footplate.ports.object_storage import Conditions, ObjectStorage
from footplate.wire.json_text import JsonObject, describe

SCANNED = 1000
MAX_SCANS = 50
"""What one page looks through at most; it has a token then, however few names match."""


def read_glob(text: str) -> Glob:
    """Reads a pattern. Raises InvalidArgument."""
    try:
        return Glob(text)
    except ValueError as error:
        said = f"{describe(text)} given; allowed: {error}"
        raise InvalidArgument.of((Violation("matchGlob", said),)) from None


def list_matching(scan: Callable[..., Listing], glob: Glob, start: str, limit: int) -> Listing:
    """Returns a page of matching objects and prefixes, from ``start`` on.

    ``scan`` takes ``start`` and ``limit``, and returns a page of all names.
    """
    objects: list[ObjectInfo] = []
    prefixes: list[str] = []
    following: str | None = max(start, glob.prefix)
    for _ in range(MAX_SCANS):
        page = scan(start=following, limit=SCANNED)
        found = [(each.name, each) for each in page.objects] + [(p, None) for p in page.prefixes]
        for name, info in sorted(found, key=lambda pair: pair[0]):
            if not glob.matches(name):
                continue
            if len(objects) + len(prefixes) == limit:
                return Listing(tuple(objects), tuple(prefixes), name)
            if info is None:
                prefixes.append(name)
            else:
                objects.append(info)
        following = page.next_token
        if following is None or following[: len(glob.prefix)] > glob.prefix:
            return Listing(tuple(objects), tuple(prefixes), None)
    return Listing(tuple(objects), tuple(prefixes), following)


CHUNK_BYTES = 1 << 20
_RANGE = re.compile(r"\s*+bytes\s*+=\s*+(\d{0,18})\s*+-\s*+(\d{0,18})\s*+", re.ASCII)


def media_answer(info: ObjectInfo, file: BinaryIO, wanted: str) -> Response:
    """Returns a response with an object's content; it closes ``file``. ``wanted``: Range header."""
    span = parse_range(wanted, info.size_bytes)
    headers = media_headers(info)
    if span is None:
        return FileAnswer(file, 0, info.size_bytes, 200, headers)
    if not span:
        file.close()
        answer = error_answer(OutOfRange(f"the object has {info.size_bytes} bytes"), 416)
        answer.headers["Content-Range"] = f"bytes */{info.size_bytes}"
        return answer
    headers["Content-Range"] = f"bytes {span.start}-{span.stop - 1}/{info.size_bytes}"
    return FileAnswer(file, span.start, len(span), 206, headers)


def parse_range(header: str, size_bytes: int) -> range | None:
    """Returns the requested bytes: None for all or an invalid header, empty if unsatisfiable."""
    found = _RANGE.fullmatch(header)
    if found is None or found[1] == found[2] == "":
        return None
    if not found[1]:
        return range(max(0, size_bytes - int(found[2])), size_bytes)
    first = int(found[1])
    last = int(found[2]) if found[2] else size_bytes
    if last < first:
        return None
    return range(first, max(first, min(last + 1, size_bytes)))


class FileAnswer(Response):
    """A response with a part of a file, read in threads by chunks; it closes the file."""

    def __init__(
        self, file: BinaryIO, first: int, size_bytes: int, status: int, headers: dict[str, str]
    ) -> None:
        super().__init__(status_code=status, headers=headers)
        self.headers["Content-Length"] = str(size_bytes)
        self._file = file
        self._first = first
        self._left = size_bytes

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        # Asked once: to ask before each chunk takes a sixth of a download's processor time.
        left = asyncio.ensure_future(leaves(receive))
        try:
            start = {"type": "http.response.start", "status": self.status_code}
            await send({**start, "headers": self.raw_headers})
            await to_thread.run_sync(self._file.seek, self._first)
            while self._left and (chunk := await to_thread.run_sync(self._read)):
                if left.done():
                    return
                self._left -= len(chunk)
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            # a file that became shorter meanwhile: the connection breaks, the client sees it
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            left.cancel()
            self._file.close()

    def _read(self) -> bytes:
        return self._file.read(min(CHUNK_BYTES, self._left))


class ObjectHandlers:
    def __init__(self, buckets: ObjectStorage) -> None:
        self._buckets = buckets

    def list(self, request: Request) -> Response:
        bucket, query = request.path_params["bucket"], request.query_params
        scan = partial(
            self._buckets.scan,
            bucket,
            prefix=query.get("prefix", ""),
            delimiter=query.get("delimiter", ""),
            end=query.get("endOffset", ""),
        )
        start, limit = (
            max(query.get("pageToken", ""), query.get("startOffset", "")),
            limit_in(query),
        )
        if glob := query.get("matchGlob"):
            listing = list_matching(scan, read_glob(glob), start, limit)
        else:
            listing = scan(start=start, limit=limit)
        if flag_in(query, "softDeleted"):
            return JSONResponse({"kind": "storage#objects"})  # nothing is kept once deleted
        objects = listing.objects
        if flag_in(query, "includeTrailingDelimiter"):
            objects = self._with_folders(bucket, listing)
        return JSONResponse(_listing_resource(listing, objects, str(request.base_url)))

    def get(self, request: Request) -> Response:
        if request.query_params.get("alt") == "media":
            return self.download(request)
        found = object_in(request)
        info = self._buckets.stat(found.bucket, found.name)
        if (answer := _unmet(info, request.query_params)) is not None:
            return answer
        return JSONResponse(object_resource(info, str(request.base_url)))

    def download(self, request: Request) -> Response:
        found = object_in(request)
        info, file = self._buckets.open(found.bucket, found.name)
        try:
            answer = _unmet(info, request.query_params)
        except BaseException:
            file.close()
            raise
        if answer is not None:
            file.close()
            return answer
        return media_answer(info, file, request.headers.get("range", ""))

    def update(self, request: Request, body: Body) -> Response:
        found = object_in(request)
        if given := body.json():  # clients that change nothing name no type
            require_json(request)
        info = self._buckets.stat(found.bucket, found.name)
        if request.method == "PATCH":
            given = patched(info, given)
        draft = draft_of(found.bucket, found.name, given)
        conditions = _with_generation(request.query_params, conditions_in(request.query_params))
        info = self._buckets.update(replace(draft, conditions=conditions))
        return JSONResponse(object_resource(info, str(request.base_url)))

    def delete(self, request: Request) -> Response:
        found, query = object_in(request), request.query_params
        if number_in(query, "generation") is not None:
            _check_generation(self._buckets.stat(found.bucket, found.name), query)
        conditions = _with_generation(query, conditions_in(query))
        self._buckets.remove(found.bucket, found.name, conditions)
        return Response(status_code=204)

    def _with_folders(self, bucket: str, listing: Listing) -> tuple[ObjectInfo, ...]:
        """Returns the listed objects, and the prefixes that are objects too."""
        found = list(listing.objects)
        for name in listing.prefixes:
            try:
                found.append(self._buckets.stat(bucket, name))
            except NotFound:
                continue
        return tuple(sorted(found, key=lambda info: info.name))


def _listing_resource(
    listing: Listing, objects: tuple[ObjectInfo, ...], base_url: str
) -> JsonObject:
    resource: JsonObject = {"kind": "storage#objects"}
    if listing.next_token:
        resource["nextPageToken"] = listing.next_token
    if listing.prefixes:
        resource["prefixes"] = list(listing.prefixes)
    if objects:
        resource["items"] = [object_resource(info, base_url) for info in objects]
    return resource


def _unmet(info: ObjectInfo, query: Mapping[str, str]) -> Response | None:
    """Returns the error answer if the conditions of a read request don't hold; None if they do."""
    _check_generation(info, query)
    conditions = conditions_in(query)
    wanted = replace(conditions, generation_not=None, metageneration_not=None)
    if not wanted.hold(info):
        raise FailedPrecondition("the condition doesn't hold: the object has changed since")
    return None if conditions.hold(info) else Response(status_code=304)


def _check_generation(info: ObjectInfo, query: Mapping[str, str]) -> None:
    generation = number_in(query, "generation")
    if generation not in (None, info.generation):
        raise NotFound(
            f"object {info.name!r} has no generation {generation}; the service keeps only the "
            f"last one, {info.generation}"
        )


def _with_generation(query: Mapping[str, str], conditions: Conditions) -> Conditions:
    """Returns conditions by which a request for one generation can't change another one."""
    generation = number_in(query, "generation")
    if generation is None or conditions.generation is not None:
        return conditions
    return replace(conditions, generation=generation)
