"""google.auth: no credentials but anonymous ones."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from .endpoint import Endpoint


def anonymous() -> Any:  # of whatever google.auth the program has
    # Imported here: only programs that use Google's clients have it.
    from google.auth.credentials import AnonymousCredentials

    kind: Any = AnonymousCredentials
    return kind()


def patch_default(module: ModuleType, endpoint: Endpoint) -> None:
    """``google.auth.default`` looks nowhere: no files, no metadata server."""

    @functools.wraps(module.default)
    def default(*_args: object, **_kwargs: object) -> tuple[Any, str]:
        return anonymous(), endpoint.project

    setattr(module, "default", default)  # noqa: B010 - mypy knows no attributes of modules


def patch_credentials(module: ModuleType, endpoint: Endpoint) -> None:
    """Anonymous credentials carry the server's token, to the server only."""
    if not endpoint.token:
        return

    def before_request(
        _self: object, _request: object, _method: str, url: str, headers: dict[str, str]
    ) -> None:
        if url.startswith(endpoint.url + "/"):
            headers["authorization"] = "Bearer " + endpoint.token

    module.AnonymousCredentials.before_request = before_request
