"""Uploads: simple, multipart and resumable."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from footplate.api.storage_v1.body import Body
from footplate.api.storage_v1.multipart import RelatedParts
from footplate.api.storage_v1.query_parameters import conditions_in, hashes_in, required_in
from footplate.api.storage_v1.resources import DEFAULT_TYPE, draft_of, object_resource
from footplate.domain.errors import InvalidArgument, NotFound, OutOfRange, Violation
from footplate.ports.buckets import ObjectInfo
from footplate.ports.object_storage import Checksums, Draft, ObjectStorage
from footplate.wire.json_text import JsonObject, parse_object

_CONTENT_RANGE = re.compile(
    r"bytes\s+(?:(\d{1,18})-(\d{1,18})|\*)/(?:(\d{1,18})|\*)", re.ASCII | re.IGNORECASE
)


@dataclass(frozen=True)
class ContentRange:
    """The bytes in a request's body (None for a status query), and their total if it is known."""

    span: range | None
    total: int | None


class UploadHandlers:
    def __init__(self, buckets: ObjectStorage) -> None:
        self._buckets = buckets

    def post(self, request: Request, body: Body) -> Response:
        if "upload_id" in request.query_params:
            return self.put(request, body)
        if request.headers.get("content-encoding", "identity") != "identity":
            raise InvalidArgument(
                "Content-Encoding: the service accepts no compressed requests; for a compressed "
                "object, set the field contentEncoding"
            )
        kind = request.query_params.get("uploadType")
        if kind == "media":
            return self._media(request, body)
        if kind == "multipart":
            return self._multipart(request, body)
        if kind == "resumable":
            return self._begin(request, body)
        text = f"{kind!r} given; allowed: media, multipart, resumable"
        raise InvalidArgument.of((Violation("uploadType", text),))

    def put(self, request: Request, body: Body) -> Response:
        """Continues a resumable upload, or returns how much has arrived."""
        upload_id = self._upload_id(request)
        upload = self._buckets.upload(upload_id)
        if upload.result is not None:
            return _made(request, upload.result)
        content_range = parse_content_range(request.headers.get("content-range"))
        received, total = upload.received_bytes, content_range.total
        if content_range.span is not None:
            chunks = _exactly(body.chunks(), content_range.span)
            try:
                received = self._buckets.append(upload_id, content_range.span.start, chunks)
            except OutOfRange:
                return _incomplete(received)
        elif "content-range" not in request.headers:
            received = total = self._buckets.append(upload_id, 0, body.chunks())
        if received != total:
            return _incomplete(received)
        return _made(request, self._buckets.finish_upload(upload_id, hashes_in(request)))

    def delete(self, request: Request) -> Response:
        self._buckets.abandon_upload(self._upload_id(request))
        return Response(status_code=499)  # what Cloud Storage says to that

    def _media(self, request: Request, body: Body) -> Response:
        content_type = request.headers.get("content-type", DEFAULT_TYPE)
        draft = self._draft(request, {"contentType": content_type})
        return _made(request, self._buckets.put(draft, body.chunks()))

    def _multipart(self, request: Request, body: Body) -> Response:
        parts = RelatedParts(request.headers.get("content-type", ""), body.chunks())
        described = parse_object(parts.description())
        described = {"contentType": parts.media_type() or DEFAULT_TYPE, **described}
        return _made(request, self._buckets.put(self._draft(request, described), parts.media()))

    def _begin(self, request: Request, body: Body) -> Response:
        said = request.headers.get("x-upload-content-type", DEFAULT_TYPE)
        draft = self._draft(request, {"contentType": said, **body.json()})
        upload_id = self._buckets.begin_upload(draft)
        url = request.url.include_query_params(upload_id=upload_id)
        headers = {"Location": str(url), "X-GUploader-UploadID": upload_id}
        return Response(status_code=200, headers=headers)

    def _draft(self, request: Request, described: JsonObject) -> Draft:
        query = request.query_params
        if encoding := query.get("contentEncoding"):
            described = {**described, "contentEncoding": encoding}
        name = query.get("name") or described.get("name")
        if not isinstance(name, str):
            raise InvalidArgument.of((Violation("name", "required: the name of the object"),))
        draft = draft_of(request.path_params["bucket"], name, described)
        return replace(
            draft,
            conditions=conditions_in(query),
            checksums=_joined(draft.checksums, hashes_in(request)),
        )

    def _upload_id(self, request: Request) -> str:
        upload_id = required_in(request.query_params, "upload_id")
        if self._buckets.upload(upload_id).bucket != request.path_params["bucket"]:
            raise NotFound("this bucket has no such upload")
        return upload_id


def parse_content_range(header: str | None) -> ContentRange:
    """Returns the parsed header. Raises InvalidArgument."""
    if header is None:
        return ContentRange(None, None)
    found = _CONTENT_RANGE.fullmatch(header.strip())
    if found is not None:
        total = int(found[3]) if found[3] else None
        if found[1] is None:
            return ContentRange(None, total)
        span = range(int(found[1]), int(found[2]) + 1)
        if span and (total is None or span.stop <= total):
            return ContentRange(span, total)
    text = f"{header[:100]!r} given; allowed: bytes FIRST-LAST/TOTAL, either part may be *"
    raise InvalidArgument.of((Violation("Content-Range", text),))


def _exactly(chunks: Iterator[bytes], span: range) -> Iterator[bytes]:
    """Yields the chunks; raises InvalidArgument unless they add up to the announced bytes."""
    left = len(span)
    for chunk in chunks:
        if len(chunk) > left:
            raise InvalidArgument("the body is longer than Content-Range says")
        left -= len(chunk)
        yield chunk
    if left:
        raise InvalidArgument("the body is shorter than Content-Range says")


def _joined(described: Checksums, header: Checksums) -> Checksums:
    crc32c = described.crc32c if described.crc32c is not None else header.crc32c
    return Checksums(crc32c, described.md5 or header.md5)


def _made(request: Request, info: ObjectInfo) -> Response:
    return JSONResponse(object_resource(info, str(request.base_url)))


def _incomplete(received: int) -> Response:
    headers = {"Range": f"bytes=0-{received - 1}"} if received else {}
    return Response(status_code=308, headers=headers)
