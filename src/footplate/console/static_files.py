"""Serves scripts and styles: from memory, compressed, under addresses that change with them."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

FOLDER = Path(__file__).parent / "static"
PREFIX = "/console/static"
VENDOR = "vendor"
VENDOR_FILES = (
    *("htmx.min.js", "uPlot.iife.min.js", "uPlot.min.css", "echarts.min.js"),
    *("xterm.mjs", "xterm.css", "addon-fit.mjs"),
)
"""What ``make console`` gets from the npm registry."""
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_FOREVER = "public, max-age=31536000, immutable"
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Vary": "Accept-Encoding",
    "Content-Security-Policy": "default-src 'none'",
}


class StaticFiles:
    """Serves all files of ``folder``, in the state of the first request."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder

    @cached_property
    def _files(self) -> Mapping[str, tuple[bytes, bytes]]:
        """Returns the files by path, plain and compressed."""
        found = sorted(path for path in self._folder.rglob("*") if path.suffix in _TYPES)
        return {
            path.relative_to(self._folder).as_posix(): (raw, gzip.compress(raw, mtime=0))
            for path in found
            for raw in (path.read_bytes(),)
        }

    @cached_property
    def digest(self) -> str:
        whole = sha256()
        for name, (raw, _) in self._files.items():
            whole.update(name.encode() + b"\0" + sha256(raw).digest())
        return whole.hexdigest()[:16]

    def missing(self) -> tuple[str, ...]:
        """Returns the missing files, which ``make console`` would download."""
        return tuple(n for n in VENDOR_FILES if f"{VENDOR}/{n}" not in self._files)

    def url(self, name: str) -> str:
        return f"{PREFIX}/{self.digest}/{name}"

    def route(self) -> Route:
        def serve(request: Request) -> Response:
            name = request.path_params["name"]
            if name not in self._files:
                raise HTTPException(404)
            raw, compressed = self._files[name]
            current = request.path_params["digest"] == self.digest
            headers = {**_HEADERS, "Cache-Control": _FOREVER if current else "no-cache"}
            if "gzip" in request.headers.get("accept-encoding", ""):
                raw, headers["Content-Encoding"] = compressed, "gzip"
            kind = _TYPES[Path(name).suffix]
            return Response(raw, headers=headers, media_type=kind)

        return Route(f"{PREFIX}/{{digest}}/{{name:path}}", serve, methods=["GET"])
