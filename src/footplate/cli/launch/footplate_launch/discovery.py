"""Patches googleapiclient: ``build`` returns clients of Footplate, batches included."""

from __future__ import annotations

import functools
import importlib
import inspect
import json
from typing import TYPE_CHECKING

from .auth import anonymous
from .google_hosts import RealServiceRefused

if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from types import ModuleType
    from typing import Any

    from .endpoint import Endpoint

SERVED = ("aiplatform", "logging", "ml", "storage")

_REAL = ("developerKey", "adc_cert_path", "adc_key_path", "always_use_jwt_access")
"""Arguments that only mean something to the real service."""


def patch_discovery(module: ModuleType, endpoint: Endpoint) -> None:
    build, build_from_document = module.build, module.build_from_document

    @functools.wraps(build)
    def local_build(*args: Any, **kwargs: Any) -> Any:
        bound = inspect.signature(build).bind(*args, **kwargs)
        _check_served(str(bound.arguments["serviceName"]))
        bound.arguments.pop("discoveryServiceUrl", None)
        if "static_discovery" in bound.signature.parameters:
            bound.arguments["static_discovery"] = True
        _lead(bound.arguments, endpoint)
        return build(*bound.args, **bound.kwargs)

    @functools.wraps(build_from_document)
    def local_build_from_document(*args: Any, **kwargs: Any) -> Any:
        bound = inspect.signature(build_from_document).bind(*args, **kwargs)
        bound.arguments["service"] = _localise(bound.arguments["service"], endpoint)
        _lead(bound.arguments, endpoint)
        return build_from_document(*bound.args, **bound.kwargs)

    module.build = local_build  # type: ignore[attr-defined]  # a module of another program
    module.build_from_document = local_build_from_document  # type: ignore[attr-defined]  # as above


def _check_served(name: str) -> None:
    if name not in SERVED:
        raise RealServiceRefused(
            f"footplate run: there is no {name!r} here; Footplate serves {', '.join(SERVED)}. "
            "Run the program without footplate run to reach the real one."
        )


def _localise(service: Any, endpoint: Endpoint) -> Any:
    """The discovery document with our address as its root: batches go to it."""
    given = json.loads(service) if isinstance(service, (str, bytes)) else service
    document = dict(given)
    _check_served(str(document.get("name")))
    for key in ("mtlsRootUrl", "endpoints"):
        document.pop(key, None)
    document["rootUrl"] = endpoint.url + "/"
    document["baseUrl"] = endpoint.url + "/" + str(document.get("servicePath", ""))
    return document


def _lead(arguments: MutableMapping[str, Any], endpoint: Endpoint) -> None:
    for name in _REAL:
        arguments.pop(name, None)
    arguments["client_options"] = {"api_endpoint": endpoint.url}
    http = _plain(arguments.pop("http", None))
    arguments.pop("credentials", None)
    arguments["http"] = http if _is_mock(http) else _anonymous_http(http, endpoint)


def _plain(http: Any) -> Any:
    """``http`` without the credentials around it; None where they have grown into it, too."""
    if http is not None and "request" in vars(http):  # oauth2client's way
        return None
    return http.http if hasattr(http, "credentials") and hasattr(http, "http") else http


def _is_mock(http: Any) -> bool:
    return type(http).__module__ == "googleapiclient.http"


def _anonymous_http(http: Any, endpoint: Endpoint) -> Any:
    # By name: only programs that use Google's clients have them, and not all have both.
    if http is None:
        http = importlib.import_module("googleapiclient.http").build_http()
    if endpoint.loopback:
        # Without PySocks httplib2 stumbles over a proxy that it need not use.
        http.proxy_info = None
    try:
        authorized = importlib.import_module("google_auth_httplib2").AuthorizedHttp
    except ImportError:
        return http
    return authorized(anonymous(), http=http)
