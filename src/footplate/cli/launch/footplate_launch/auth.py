"""Patches google.auth to return anonymous credentials only."""

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


def patch_default_async(module: ModuleType, endpoint: Endpoint) -> None:
    """The same for ``google.auth._default_async``, whose credentials are of another kind."""

    @functools.wraps(module.default_async)
    def default_async(*_args: object, **_kwargs: object) -> tuple[Any, str]:
        # Imported here: only programs that use Google's clients have it.
        from google.auth._credentials_async import AnonymousCredentials

        kind: Any = AnonymousCredentials
        return kind(), endpoint.project

    setattr(module, "default_async", default_async)  # noqa: B010 - as above


def patch_credentials(module: ModuleType, endpoint: Endpoint) -> None:
    """Anonymous credentials carry the server's token, to the server only."""
    if not endpoint.token:
        return
    served = (endpoint.url + "/", *(["https://" + endpoint.grpc + "/"] if endpoint.grpc else ()))

    def before_request(
        _self: object, _request: object, _method: str, url: str, headers: dict[str, str]
    ) -> None:
        if url.startswith(served):
            headers["authorization"] = "Bearer " + endpoint.token

    module.AnonymousCredentials.before_request = before_request
