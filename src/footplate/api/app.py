"""Creates the ASGI app: all APIs behind one set of middleware."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from footplate.api.errors import ErrorShape, answer_router_error, answer_service_error
from footplate.api.method_override import MethodOverride
from footplate.api.security import Access, SameOrigin, TokenCheck
from footplate.domain.errors import ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.routing import BaseRoute
    from starlette.types import Lifespan


def _crash_id() -> str:
    return uuid4().hex[:12]


def create_app(
    routes: Sequence[BaseRoute],
    access: Access,
    *,
    inner: Sequence[Middleware] = (),
    lifespan: Lifespan[Starlette] | None = None,
    new_id: Callable[[], str] = _crash_id,
) -> Starlette:
    """Creates the ASGI application with its middleware.

    ``routes`` are tried in their order. ``inner`` is middleware that sees only calls of authorized
    callers. ``new_id`` makes the ids under which the log records internal errors.
    """
    app = Starlette(
        routes=routes,
        middleware=[
            Middleware(ErrorShape, new_id=new_id),
            Middleware(SameOrigin, host_names=access.host_names),
            Middleware(MethodOverride),
            Middleware(TokenCheck, access=access),
            *inner,
        ],
        exception_handlers={
            ServiceError: answer_service_error,
            HTTPException: answer_router_error,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app
