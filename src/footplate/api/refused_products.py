"""Refuses requests for Google's products that don't exist here, with a sentence for gcloud."""

from __future__ import annotations

from typing import NoReturn

from starlette.requests import Request
from starlette.routing import Route

from footplate.domain.errors import PermissionDenied
from footplate.domain.formatting import quoted
from footplate.domain.google_products import explain_host

_METHODS = ["DELETE", "GET", "PATCH", "POST", "PUT"]


def refused_product_routes(path: str) -> list[Route]:
    """Returns the routes below ``PATH/-/HOST/``, which take no key."""
    return [Route(f"{path}/-/{{host}}/{{rest:path}}", _refuse, methods=_METHODS)]


def _refuse(request: Request) -> NoReturn:
    """Raises PermissionDenied, as Google does for a product that isn't enabled in the project."""
    host, rest = request.path_params["host"], request.path_params["rest"]
    raise PermissionDenied(
        explain_host(host, rest) or f"{quoted(host)} is not a host of Google's APIs"
    )
