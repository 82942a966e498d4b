"""Batch requests: each inner request gets the response that it would get alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from email.parser import BytesHeaderParser
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Scope

from footplate.api.caller_shares import Shares, find_caller
from footplate.api.storage_v1.multipart import boundary_of
from footplate.api.storage_v1.responses import error_answer
from footplate.api.worker_threads import in_thread
from footplate.domain.errors import InvalidArgument
from footplate.wire.asgi_call import AppAnswer, call_asgi

if TYPE_CHECKING:
    from email.message import Message

MAX_BYTES = 10 << 20
MAX_REQUESTS = 1000
MAX_AT_ONCE = 8
MAX_OF_CALLER = 4
MAX_ANSWER_BYTES = 16 << 20
"""Of all answers: what comes after them is refused, and can be asked for in another batch."""
_DOWNLOAD = re.compile(r"/download/storage/v1/")
_HEADERS = BytesHeaderParser()
_BOUNDARY = "footplate-batch-9f2c1d7e"


class Batch:
    """Serves batches of requests, ``shares`` at once, since each holds its whole answer."""

    def __init__(self, routes: Sequence[Route], shares: Shares) -> None:
        self._router = Router(routes)
        self._shares = shares

    async def post(self, request: Request) -> Response:
        content = b""
        async for chunk in request.stream():
            content += chunk
            if len(content) > MAX_BYTES:
                return error_answer(
                    InvalidArgument(f"the batch is too large; allowed: {MAX_BYTES} bytes")
                )
        try:
            inner = await in_thread(_requests, request, content)  # may take its time
        except InvalidArgument as error:
            return error_answer(error)
        except (ValueError, RecursionError):
            return error_answer(InvalidArgument("the batch can't be read as HTTP requests"))
        async with self._shares.taken(find_caller(request.scope), MAX_OF_CALLER):
            body = await self._answer_all(inner)
        return Response(body, media_type=f"multipart/mixed; boundary={_BOUNDARY}")

    async def _answer_all(self, inner: Sequence[tuple[Message, Scope, bytes]]) -> bytes:
        line, left = b"--%b\r\n" % _BOUNDARY.encode(), MAX_ANSWER_BYTES
        pieces: list[bytes] = []
        for part, scope, sent in inner:
            answer = await self._answer(part, scope, sent) if left > 0 else _refuse(part)
            left -= len(answer)
            pieces += (line, answer, b"\r\n")
        return b"".join((*pieces, b"--%b--\r\n" % _BOUNDARY.encode()))

    async def _answer(self, part: Message, scope: Scope, content: bytes) -> bytes:
        return _encode(part, await call_asgi(self._router, scope, content))


def _refuse(part: Message) -> bytes:
    text = (
        f"the answers to this batch have more than {MAX_ANSWER_BYTES} bytes; send fewer requests "
        "in a batch"
    )
    refusal = error_answer(InvalidArgument(text), HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    answer = AppAnswer(refusal.status_code, refusal.raw_headers, bytes(refusal.body))
    return _encode(part, answer)


def _encode(part: Message, answer: AppAnswer) -> bytes:
    number = part.get("Content-ID", "").strip("<>")
    head = f"Content-Type: application/http\r\nContent-ID: <response-{number}>\r\n\r\n"
    lines = [f"HTTP/1.1 {answer.status} -\r\n".encode()]
    lines += [name + b": " + value + b"\r\n" for name, value in answer.headers]
    return head.encode() + b"".join(lines) + b"\r\n" + answer.body


def _requests(request: Request, content: bytes) -> list[tuple[Message, Scope, bytes]]:
    parts = _parts(request.headers.get("content-type", ""), content)
    return [(part, *_request(request.scope, part)) for part in parts]


def _parts(content_type: str, content: bytes) -> list[Message]:
    """Returns the outermost parts of a multipart body; doesn't look for parts inside of parts."""
    boundary = boundary_of(content_type)
    pieces = [] if boundary is None else list(_split(content, boundary.encode()))
    if boundary is None or len(pieces) > MAX_REQUESTS:
        raise InvalidArgument(f"allowed: multipart/mixed with at most {MAX_REQUESTS} requests")
    return [_HEADERS.parsebytes(piece) for piece in pieces]


def _split(content: bytes, boundary: bytes) -> Iterator[bytes]:
    """Yields the parts between boundary lines, up to the closing line or the end."""
    line = re.compile(rb"(?:\A|\r?\n)--" + re.escape(boundary) + rb"(--)?[ \t]*(?:\r?\n|\Z)")
    start = None
    while found := line.search(content, 0 if start is None else start - 1):
        if start is not None:
            yield content[start : found.start()]
        if found[1]:
            return
        start = found.end()
    if start is not None:
        yield content[start:]


def _request(scope: Scope, part: Message) -> tuple[Scope, bytes]:
    payload = part.get_payload(decode=True)
    raw = payload if isinstance(payload, bytes) else b""
    line, _, rest = raw.lstrip().partition(b"\n")
    words = line.decode("latin-1").split()
    if len(words) < 2:
        raise InvalidArgument("a part of the batch isn't an HTTP request")
    message = _HEADERS.parsebytes(rest)
    inner = message.get_payload(decode=True)
    url = urlsplit(words[1])
    path = unquote(url.path)
    if _DOWNLOAD.search(path) or QueryParams(url.query).get("alt") == "media":
        raise InvalidArgument("a batch can't download objects: send each download by itself")
    headers = [(k.lower().encode("latin-1"), str(v).encode("latin-1")) for k, v in message.items()]
    # The host of the batch itself was checked; those of the requests in it were not.
    host = [(name, value) for name, value in scope["headers"] if name == b"host"]
    return {
        **scope,
        "method": words[0].upper(),
        "path": path,
        "raw_path": url.path.encode("latin-1"),
        "query_string": url.query.encode("latin-1"),
        "headers": [*host, *(pair for pair in headers if pair[0] != b"host")],
    }, inner if isinstance(inner, bytes) else b""
