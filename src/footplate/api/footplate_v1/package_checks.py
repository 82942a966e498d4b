"""Footplate's own API: whether the packages of a job can be installed, without submitting it.

The body has the ``job``, as the create request of either face, and the ``packages`` that the
client uploads before it submits. A package that can't be installed is the answer, not an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from footplate.api.client_disconnect import while_wanted
from footplate.api.footplate_v1.validation import READERS, staging_of
from footplate.api.json_route import Call
from footplate.api.request_bodies import read_body, require_json
from footplate.api.worker_threads import in_thread
from footplate.control.package_checks import PackageChecks, PoolPackages
from footplate.domain.catalogue import Catalogue
from footplate.wire.footplate_v1 import package_checks as answers

if TYPE_CHECKING:
    from footplate.api.footplate_v1.validation import Read

MAX_BYTES = 64 << 20


def package_check_routes(checks: PackageChecks, catalogue: Catalogue) -> list[Route]:
    """Returns the routes of package checks; they must precede those of single jobs."""
    api = _PackageChecks(checks, catalogue)
    return [api.route(f"{path}:checkPackages", reader) for path, reader in READERS.items()]


@dataclass(frozen=True)
class _PackageChecks:
    """The routes' endpoints; ``?staging`` and ``makesBucket`` are as for validations."""

    _checks: PackageChecks
    _catalogue: Catalogue

    def route(self, path: str, reader: Callable[[Call], Read]) -> Route:
        async def endpoint(request: Request) -> Response:
            raw = await read_body(request, MAX_BYTES)
            require_json(request)
            call = Call(request.path_params, request.query_params, raw)
            planned, uploads = await in_thread(self._plan, call, reader)
            found = await while_wanted(request, self._checks.check(planned, uploads))
            return JSONResponse(answers.PackageChecks.of(found).encode())

        return Route(path, endpoint, methods=["POST"])

    def _plan(
        self, call: Call, reader: Callable[[Call], Read]
    ) -> tuple[tuple[PoolPackages, ...], dict[str, bytes]]:
        job, uploads = answers.read_check_request(call.body())
        submission = reader(call)(job, self._catalogue)
        return self._checks.plan(submission, staging_of(call)), uploads
