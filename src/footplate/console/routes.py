"""All routes of the console: one module for each view, in the order of the menu."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.console.audit_view import audit_routes
from footplate.console.buckets_view import bucket_routes
from footplate.console.capacity_view import capacity_routes
from footplate.console.changes import changes_route
from footplate.console.connect import connect_routes
from footplate.console.experiments_view import experiments_routes
from footplate.console.job_choices import job_choice_routes
from footplate.console.job_list import job_list_routes
from footplate.console.job_view import job_routes
from footplate.console.models_view import models_routes
from footplate.console.search_view import search_routes
from footplate.console.sessions import Sessions
from footplate.console.sign_in import sign_in_routes
from footplate.console.site import Site
from footplate.console.static_files import StaticFiles
from footplate.console.submit_view import submit_routes
from footplate.console.system_view import system_routes
from footplate.console.terminal import terminal_routes
from footplate.console.unknown_addresses import unknown_address_routes

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.routing import Route
    from starlette.types import ASGIApp

    from footplate.console.feed import Feed
    from footplate.console.sign_in import GuardGuesses


@dataclass(frozen=True)
class ConsoleParts:
    """The console's dependencies. ``app`` returns the service's whole application.

    ``now`` returns seconds. ``guard_guesses`` protects the sign-in page.
    """

    app: Callable[[], ASGIApp]
    feed: Feed
    token: str | None
    version: str
    now: Callable[[], float]
    guard_guesses: GuardGuesses


def console_routes(parts: ConsoleParts) -> list[Route]:
    files = StaticFiles()
    site = Site(parts.app, Sessions(parts.token, parts.now), files, parts.version)
    return [
        files.route(),
        changes_route(site, parts.feed),
        *connect_routes(site),
        *sign_in_routes(site, parts.guard_guesses),
        *job_list_routes(site),
        *job_choice_routes(site),
        *job_routes(site),
        *search_routes(site),
        *submit_routes(site),
        *experiments_routes(site),
        *models_routes(site),
        *bucket_routes(site),
        *capacity_routes(site),
        *system_routes(site),
        *audit_routes(site),
        *terminal_routes(site),
        *unknown_address_routes(site),
    ]
