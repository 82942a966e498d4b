"""HTTP client of one server: JSON in and out, errors as domain errors."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from footplate import __version__
from footplate.client.error_mapping import (
    ConnectionBroke,
    NoServer,
    UntrustedCertificate,
    read_failure,
)
from footplate.domain.errors import InvalidArgument, UnknownError
from footplate.plain_httpx import httpx
from footplate.wire.json_text import JsonObject, objects, parse_object

if TYPE_CHECKING:
    import ssl

_UNLIMITED = httpx.Timeout(60.0, read=None)
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_CERTIFICATE_FAILURE = re.compile(r"certificate verify failed: (.+?)(?: \(_ssl|$)")


def leader(status: int, location: str | None, asked: str) -> str | None:
    """Returns the leader's URL that a server redirects to; None if it doesn't redirect.

    Accepts only the same host, since no other may get the token.
    """
    if status != HTTPStatus.TEMPORARY_REDIRECT or not location:
        return None
    return location if urlsplit(location).hostname == urlsplit(asked).hostname else None


@cache
def _trust(*_places: str | None) -> ssl.SSLContext:
    """Loads the authorities once for all connections, as that takes longer than many requests.

    ``_places`` are the places that the environment names.
    """
    return httpx.create_ssl_context()


class Connection:
    """Connections to ``url``, kept open between calls; several threads may use them."""

    def __init__(self, url: str, token: str | None = None, timeout_s: float = 60.0) -> None:
        self.url = url.rstrip("/")
        split = urlsplit(self.url)
        if split.scheme not in {"http", "https"} or not split.hostname:
            raise InvalidArgument(f"{url!r} is not a URL; allowed: such as http://127.0.0.1:8470")
        headers = {"user-agent": f"footplate/{__version__}"}
        headers |= {"authorization": f"Bearer {token}"} if token else {}
        trust = _trust(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
        self._http = httpx.Client(
            base_url=self.url,
            headers=headers,
            timeout=timeout_s,
            verify=trust,
            # A proxy of the environment knows nothing of this machine's loopback, which its
            # certificates are for as well: a transport of one's own takes these alone.
            transport=httpx.HTTPTransport(verify=trust) if split.hostname in LOOPBACK else None,
            trust_env=split.hostname not in LOOPBACK,
        )

    def close(self) -> None:
        self._http.close()

    def call(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str | Sequence[str]] | None = None,
        body: JsonObject | None = None,
        unlimited: bool = False,
    ) -> JsonObject:
        """Calls the server; ``unlimited``: the answer may take any time.

        Raises the service's own error, NoServer or ConnectionBroke.
        """
        content = None if body is None else json.dumps(body).encode()
        return self.send(method, path, params=params, content=content, unlimited=unlimited)

    def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str | Sequence[str]] | None = None,
        content: bytes | Iterable[bytes] | None = None,
        content_type: str = "application/json",
        unlimited: bool = False,
    ) -> JsonObject:
        """Sends a request with a body of any kind, and otherwise as ``call`` does."""
        headers = {} if content is None else {"content-type": content_type}
        timeout = _UNLIMITED if unlimited else httpx.USE_CLIENT_DEFAULT
        with self._failures():
            answer = self._http.request(
                method, path, params=params, content=content, headers=headers, timeout=timeout
            )
            if there := leader(answer.status_code, answer.headers.get("location"), self.url):
                answer = self._http.request(method, there, content=content, headers=headers)
        if not answer.is_success:
            raise read_failure(answer.status_code, answer.content, self.url)
        try:
            return parse_object(answer.content) if answer.content else {}
        except InvalidArgument as error:
            raise UnknownError(
                f"the server at {self.url} sent an invalid answer: {error.message}"
            ) from None

    def pages(self, path: str, params: Mapping[str, str] | None = None) -> Iterator[JsonObject]:
        """Yields the answers of a list, page by page."""
        params = {**(params or {})}
        while True:
            answer = self.call("GET", path, params=params)
            yield answer
            token = answer.get("nextPageToken")
            if not token:
                return
            params["pageToken"] = str(token)

    def list(
        self, path: str, key: str, params: Mapping[str, str] | None = None
    ) -> Iterator[JsonObject]:
        """Yields what ``key`` has on all pages of a list."""
        for answer in self.pages(path, params):
            yield from objects(answer.get(key))

    def lines(self, path: str, params: Mapping[str, str]) -> Iterator[JsonObject]:
        """Yields the JSON objects of an answer, one per line, as they arrive; waits without a
        timeout.

        Skips empty lines, which are signs of life.
        """
        stream = self._http.stream("GET", path, params=params, timeout=_UNLIMITED)
        with self._failures(), stream as a:
            if not a.is_success:
                raise read_failure(a.status_code, a.read(), self.url)
            for line in a.iter_lines():
                if line.strip():
                    yield self._parse_line(line)

    def download(self, path: str, params: Mapping[str, str]) -> Iterator[bytes]:
        with self._failures(), self._http.stream("GET", path, params=params) as answer:
            if not answer.is_success:
                raise read_failure(answer.status_code, answer.read(), self.url)
            yield from answer.iter_bytes()

    def _parse_line(self, line: str) -> JsonObject:
        try:
            return parse_object(line.encode())
        except InvalidArgument as error:
            raise ConnectionBroke(
                self.url, f"a line of the answer is incomplete: {error.message}"
            ) from None

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            distrust = _CERTIFICATE_FAILURE.search(str(error))
            if distrust is not None:
                raise UntrustedCertificate(self.url, distrust.group(1)) from None
            raise NoServer(self.url) from None
        except httpx.HTTPError as error:
            raise ConnectionBroke(self.url, str(error) or type(error).__name__) from None
