"""The launcher's way to its server: requests of its own, and bytes of the supervisor's."""

from __future__ import annotations

import asyncio
import json
import ssl
from urllib.parse import urlsplit

from footplate.http1 import AT_ONCE_BYTES, BadResponse, Response, format_request
from footplate.replica.http_client import Refused, ServerUnavailable, parse_object

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Tuple

    Streams = Tuple[asyncio.StreamReader, asyncio.StreamWriter]

CONNECT_S = 15.0
LOOPBACK = "127.0.0.1"
"""What stands in ``Host``: it is all that the server's own supervisors say, too."""
_MAX_BYTES = 8 << 20


class ServerLink:
    """The way of a launcher to its server. ``authority`` holds the certificates (PEM) to trust for
    an https URL; if empty, the node's own trusted certificates apply.

    A connection is kept from one request to the next: TLS costs several times what a request does.
    """

    def __init__(self, url: str, authority: str, token: str) -> None:
        parts = urlsplit(url)
        self._host = parts.hostname or LOOPBACK
        self._port = parts.port or (443 if parts.scheme == "https" else 80)
        self._token = token
        self.own_address = ""
        """That of the node, on the way to the server; empty before the first connection."""
        self._kept: Streams | None = None
        self._tls: ssl.SSLContext | None = None
        if parts.scheme == "https":
            self._tls = ssl.create_default_context(cadata=authority or None)

    async def post(self, path: str, body: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """Posts a JSON object and returns the server's answer.

        Raises:
            ServerUnavailable: ask again later.
            Refused: with the status that the server gave.
        """
        try:
            answer = await asyncio.wait_for(self._post(path, json.dumps(body).encode()), timeout_s)
        except (OSError, asyncio.TimeoutError) as error:
            raise ServerUnavailable(f"{path}: {error!r}") from error
        return parse_object(answer, path)

    async def _post(self, path: str, body: bytes) -> bytes:
        request = format_request("POST", path, LOOPBACK, self._token, body)
        kept, self._kept = self._kept, None
        if kept is not None:
            response = Response(_MAX_BYTES)
            try:
                return await self._exchange(kept, request, response)
            except OSError:
                # Servers close idle connections, and restart. A report may be sent twice.
                if response.begun:
                    raise
        return await self._exchange(await self.connect(), request, Response(_MAX_BYTES))

    async def _exchange(self, streams: Streams, request: bytes, response: Response) -> bytes:
        """Sends a request and returns the body of the answer; keeps a connection that can be used
        again, and closes any other, also when it is cancelled.
        """
        reader, writer = streams
        try:
            writer.write(request)
            await writer.drain()
            while not response.done:
                response.gather(await reader.read(AT_ONCE_BYTES))
            if response.reusable and response.status < 300:
                self._kept = streams
        finally:
            if self._kept is not streams:
                writer.close()
        body = bytes(response.content)
        if response.status >= 500:
            raise BadResponse(f"HTTP {response.status}")
        if response.status >= 300:
            raise Refused(response.status, body[:500].decode(errors="replace"))
        return body

    def close(self) -> None:
        """Closes the kept connection."""
        if self._kept is not None:
            self._kept[1].close()
            self._kept = None

    async def connect(self) -> Streams:
        """Returns a new connection to the server. Raises OSError."""
        reader, writer = await asyncio.wait_for(
            asyncio.open_connection(self._host, self._port, ssl=self._tls), CONNECT_S
        )
        self.own_address = str(writer.get_extra_info("sockname")[0])
        return reader, writer
