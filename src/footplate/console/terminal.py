"""A terminal in a replica: the page behind ``webAccessUris``.

Whoever has the address may use it, as with the service's own operation; no session is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from footplate.console.formatting import job_url

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.routing import Route

    from footplate.console.site import Site, Visit

_PRIVATE = {"Referrer-Policy": "no-referrer"}
"""The address is a key: no other site may learn it."""


def terminal_routes(site: Site) -> list[Route]:
    return [site.page("/terminal/{token}", _show, signed_in=False)]


async def _show(visit: Visit) -> Response:
    token = visit.request.path_params["token"]
    shell: Any = await visit.get(f"/shell/v1/{token}")
    response = visit.render(
        "terminal.html", shell=shell, token=token, job_page=job_url(str(shell["job"]))
    )
    response.headers.update(_PRIVATE)
    return response
