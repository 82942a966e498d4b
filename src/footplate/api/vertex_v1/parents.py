"""Reads the parent resource (project and location) of a call."""

from __future__ import annotations

from footplate.api.json_route import Call
from footplate.domain.names import check_location, check_project
from footplate.domain.submission import Location


def location_of(call: Call) -> Location:
    """Returns the location in the URL. Raises InvalidArgument if it is impossible."""
    project, location = call.path["project"], call.path["location"]
    check_project(project)
    check_location(location)
    return Location(project, location)
