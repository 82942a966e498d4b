"""The page that a browser gets at ``/``: what answers here, and how to use it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

_HEADERS = {
    "Content-Security-Policy": (
        "sandbox; default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Vary": "Accept",
}
_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Footplate {version}</title></head>
<body>
<h1>Footplate {version}</h1>
<p>The server answers API calls at this address. Set it for the commands below:</p>
<pre>export FOOTPLATE_URL={url}</pre>
<p>Show the service and its jobs:</p>
<pre>footplate status</pre>
<p>Run an unchanged Vertex AI script:</p>
<pre>footplate run -- python submit.py</pre>
<p>Point gcloud at this server:</p>
<pre>eval "$(footplate env)"</pre>
</body>
</html>
"""


def start_page_route(version: str) -> Route:
    """Callers that don't accept HTML get 404, as elsewhere where nothing is served."""

    def page(request: Request) -> Response:
        if "text/html" not in request.headers.get("accept", ""):
            raise HTTPException(404, headers={"Vary": "Accept"})
        url = str(request.base_url).rstrip("/")
        text = _PAGE.format(version=escape(version), url=escape(url))
        return HTMLResponse(text, headers=_HEADERS)

    return Route("/", page, methods=["GET"])
