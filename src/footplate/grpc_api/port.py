"""Answers gRPC calls with the HTTP app: one handler for all methods."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING, Any

import grpc
from starlette.types import ASGIApp

from footplate.domain.errors import Code, ServiceError
from footplate.domain.formatting import quoted
from footplate.domain.google_products import explain_package
from footplate.grpc_api.asgi_call import authorized, call_app, client_of, request_headers, server_of
from footplate.grpc_api.relayed_callers import RelayedCallers
from footplate.grpc_api.tailing import TAIL_LOG_ENTRIES, Tails, tail_entries
from footplate.grpc_api.transcoding import Failure, HttpRequest, Transcoder
from footplate.grpc_api.unserved_calls import unserved_request
from footplate.wire.json_text import parse_object
from footplate.wire.status import error_json

if TYPE_CHECKING:
    from footplate.grpc_api.schema import Method, Schema


STATUS_DETAILS = "grpc-status-details-bin"
_FIRST_FAILURE = 300
"""The first HTTP status that is a failure."""
_CODES = {code.value[0]: code for code in grpc.StatusCode}


class _Failed(Exception):
    """The app answered with an error, which is the argument."""


class GrpcPort(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc has no types
    """The handler of all gRPC calls, which passes them to the app as HTTP requests.

    ``http_host`` is the name and port of the HTTP server, which answers may contain. gRPC listens
    at ``listen_host`` and ``port``; the port is set before the first call. Calls that the proxy
    relays count as those of its clients.
    """

    def __init__(
        self,
        app: ASGIApp,
        schema: Schema,
        http_host: str,
        listen_host: str,
        relayed: RelayedCallers,
    ) -> None:
        self.port = 0
        self._relayed = relayed
        self._listen_host = listen_host
        self._app = app
        self._methods = schema.methods
        self._transcoder = Transcoder(schema)
        self._http_host = http_host
        self._tails = Tails()

    def service(self, handler_call_details: Any) -> Any:
        name = handler_call_details.method
        method = self._methods.get(name)
        if method is not None and name == TAIL_LOG_ENTRIES:
            return grpc.stream_stream_rpc_method_handler(partial(self._tail, method))
        answer = partial(self._refuse, name) if method is None else partial(self._answer, method)
        return grpc.unary_unary_rpc_method_handler(answer)

    async def _answer(self, method: Method, content: bytes, context: Any) -> bytes:
        """Answers a call. Messages are decoded here, not by gRPC, so that an invalid one gets
        our own error.
        """
        try:
            body = await self._ask(context, self._transcoder.request(method, content))
            return self._transcoder.answer(method, body)
        except (_Failed, ServiceError) as error:
            return await _abort(context, self._failure(error))

    async def _tail(self, method: Method, contents: Any, context: Any) -> AsyncIterator[bytes]:
        """Yields the stream of entries; ignores the client's requests after the first one."""
        try:
            content = await anext(aiter(contents), b"")
            asked = parse_object(self._transcoder.request(method, content).body or b"{}")
            async for body in tail_entries(asked, partial(self._ask, context), self._tails):
                yield self._transcoder.answer(method, body)
        except (_Failed, ServiceError) as error:
            await _abort(context, self._failure(error))

    async def _ask(self, context: Any, request: HttpRequest) -> bytes:
        """Returns the app's answer to a request of the caller. Raises _Failed."""
        headers = request_headers(context.invocation_metadata(), self._http_host)
        client = client_of(context.peer())
        server = server_of(client, self._listen_host, self.port)
        relayed = None if client is None else self._relayed.get(client)
        app = self._app
        if relayed is not None:
            app = relayed.app or app
            client, server = relayed.client, relayed.server
            headers = authorized(headers, relayed.authorization)
        status, body = await call_app(app, request, headers, client, server)
        if status >= _FIRST_FAILURE:
            raise _Failed(body)
        return body

    def _failure(self, error: Exception) -> Failure:
        if isinstance(error, ServiceError):
            details: Any = error_json(error)["error"]
            return self._transcoder.describe(error.code, error.message, details.get("details", []))
        return self._transcoder.failure(error.args[0])

    async def _refuse(self, name: str, _content: bytes, context: Any) -> bytes:
        request = unserved_request(name, context.invocation_metadata() or ())
        if request is None:
            failure = self._transcoder.describe(Code.UNIMPLEMENTED, why_unserved(name), [])
            return await _abort(context, failure)
        try:
            await self._ask(context, request)
        except (_Failed, ServiceError) as error:
            return await _abort(context, self._failure(error))
        return b""  # a list without items, in each answer's type


async def _abort(context: Any, failure: Failure) -> bytes:
    trailers = ((STATUS_DETAILS, failure.details),)
    await context.abort(_CODES[failure.code], failure.message, trailers)
    raise AssertionError("abort raises")


_SERVED = (
    "jobs, training pipelines, persistent resources, models, datasets, Vizier's studies, metadata, "
    "TensorBoards, logs, operations and locations"
)
_BY_SERVICE = {
    "ConfigServiceV2": (
        "Footplate keeps only the logs of jobs: it has no log sinks, log buckets or exclusions"
    ),
    "LoggingServiceV2": "Footplate deletes a log only with its job: delete the job",
    "MetricsServiceV2": "Footplate keeps the logs of jobs, but has no log-based metrics",
}


def why_unserved(name: str) -> str:
    """Returns why a method isn't served. ``name`` is gRPC's: ``/PACKAGE.SERVICE/METHOD``."""
    service = name.strip("/").partition("/")[0]
    known = _BY_SERVICE.get(service.rpartition(".")[2])
    other = explain_package(service.rpartition(".")[0])
    if other:
        return other
    if known:
        return f"{known} ({quoted(name)})"
    return f"Footplate doesn't serve {quoted(name)} over gRPC; it serves {_SERVED}"
