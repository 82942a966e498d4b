"""URLs of a job's web shells, in the format of both APIs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from footplate.api.json_route import Call
from footplate.domain.jobs import Job

ShellPaths = Callable[[Job], Mapping[str, str]]
"""Where in the server's URLs the shells of a job are, by replica; empty: there are none."""


def no_shells(_job: Job) -> Mapping[str, str]:
    """Returns no shells, for a service that has none."""
    return {}


def web_access_uris(call: Call, paths: Mapping[str, str]) -> dict[str, str]:
    """Returns the addresses by which the caller's browser reaches the shells."""
    return {replica: f"{call.server}{path}" for replica, path in paths.items()}
