"""The HTTP API of Ray's dashboard, directly or behind a proxy that wants a token."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from footplate.backends.engine.engine import EngineUnavailable
from footplate.backends.limited_client import make_client
from footplate.backends.token_files import read_token
from footplate.domain.formatting import last_line
from footplate.limited_http import LIMIT_S
from footplate.plain_httpx import httpx

Read = TypeVar("Read")
TIMEOUT_S = 20.0
_NODES = 10_000


class Dashboard:
    """Sends requests below ``address``, which may have a path.

    ``token_file`` has a bearer token, which others may replace at any time; '' for none.
    """

    def __init__(self, address: str, token_file: str = "", limit_s: float = LIMIT_S) -> None:
        self._address = address
        self._token_file = token_file
        self._http = make_client(address, TIMEOUT_S, limit_s=limit_s)

    def send(self, method: str, path: str, **given: Any) -> httpx.Response:
        """Returns any answer. Raises EngineUnavailable if there is none."""
        headers = {}
        if self._token_file:
            headers["Authorization"] = f"Bearer {read_token(self._token_file)}"
        try:
            answer = self._http.request(method, path, headers=headers, **given)
        except httpx.HTTPError as error:
            raise EngineUnavailable(f"{self._address} can't be reached: {error}") from error
        if answer.status_code in (401, 403):
            out = f"see {self._token_file}" if self._token_file else "set token_file of the region"
            raise EngineUnavailable(
                f"{self._address} refuses the server (HTTP {answer.status_code}): {out}"
            )
        return answer

    def ask(
        self, method: str, path: str, *, missing_ok: bool = False, **given: Any
    ) -> httpx.Response:
        """Returns an answer without an error. Raises EngineUnavailable for all others."""
        answer = self.send(method, path, **given)
        return answer if missing_ok and answer.status_code == 404 else check(answer)

    def list_nodes(self) -> list[dict[str, Any]]:
        """Returns the nodes that are alive."""
        answer = self.ask("GET", "/api/v0/nodes", params={"limit": _NODES})
        return [node for node in read(answer, _listed) if node.get("state") == "ALIVE"]

    def list_waiting_groups(self) -> dict[str, Mapping[str, Any]]:
        """Returns the placement groups that wait for room, by the names of their jobs."""
        parameters = {"limit": _NODES, "detail": True}
        answer = self.ask("GET", "/api/v0/placement_groups", params=parameters)
        groups = read(answer, _listed)
        return {str(g.get("name")): g for g in groups if g.get("state") == "PENDING"}


def check(answer: httpx.Response) -> httpx.Response:
    if answer.status_code >= 400:
        raise EngineUnavailable(f"HTTP {answer.status_code}: {last_line(answer.text)}")
    return answer


def read(answer: httpx.Response, reader: Callable[[Any], Read]) -> Read:
    """Returns the result of ``reader`` on the answer's JSON.

    Raises EngineUnavailable for any other answer, such as the page of a proxy.
    """
    try:
        return reader(answer.json())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        path, text = answer.request.url.path, answer.text[:200].strip()
        raise EngineUnavailable(f"{path} answers with {text!r}") from error


def _listed(said: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the entries in an answer of Ray's State API."""
    return [each for each in said["data"]["result"]["result"] if isinstance(each, dict)]
