"""The files of a job's directory, for buckets that the service serves: lists, and downloads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from footplate.console.downloads import download
from footplate.console.site import Site, Visit
from footplate.console.timeline import TERMINAL
from footplate.domain.errors import NotFound, ServiceError
from footplate.domain.output_directories import common_directory

_PAGE = "200"


@dataclass(frozen=True)
class Place:
    """A folder of a bucket; ``prefix`` is empty or ends with a slash."""

    bucket: str
    prefix: str

    @classmethod
    def of(cls, uri: str) -> Place | None:
        """Returns the place of a ``gs://`` URI; None for any other."""
        if not uri.startswith("gs://"):
            return None
        bucket, _, path = uri.removeprefix("gs://").partition("/")
        path = path.strip("/")
        return cls(bucket, f"{path}/" if path else "")


def directory_of(job: Any) -> str:
    """Returns the directory that a job's programs write to; '' if it names none."""
    if job["spec"].get("jobDir"):
        return str(job["spec"]["jobDir"])
    return common_directory(str(each["uri"]) for each in job["spec"]["directories"])


def job_file_routes(site: Site) -> list[Route]:
    return [
        site.page("/jobs/{name:path}/files", _show),
        site.page("/jobs/{name:path}/file", _download),
    ]


async def _show(visit: Visit) -> Response:
    """Shows the files in ``?folder=`` below the job's directory, from ``?page=`` on.

    Returns a page of its own or, for htmx, a part of the job's page.
    """
    job: Any = await visit.get(f"/footplate/v1/{visit.request.path_params['name']}/details")
    directory = directory_of(job)
    folder = _folder(visit.parameter("folder"))
    place = Place.of(directory)
    listing: Any = {}
    problem = ""
    if place is not None:
        asked = {"prefix": place.prefix + folder, "delimiter": "/", "maxResults": _PAGE}
        if token := visit.parameter("page"):
            asked["pageToken"] = token
        try:
            listing = await visit.get(f"/storage/v1/b/{place.bucket}/o", asked)
        except ServiceError as error:
            problem = error.message
    prefix = "" if place is None else place.prefix + folder
    return visit.render(
        "job_files_part.html" if visit.is_fragment else "job_files.html",
        job=job,
        directory=directory,
        served=place is not None,
        folder=folder,
        crumbs=_crumbs(folder),
        folders=[str(each).removeprefix(prefix) for each in listing.get("prefixes", [])],
        files=[
            each | {"name": str(each["name"]).removeprefix(prefix)}
            for each in listing.get("items", [])
            if each["name"] != prefix
        ],
        next_page=listing.get("nextPageToken", ""),
        first=not visit.parameter("page"),
        problem=problem,
        ended=job["state"] in TERMINAL,
    )


async def _download(visit: Visit) -> Response:
    """Downloads the file ``?path=`` below the job's directory."""
    job: Any = await visit.get(f"/footplate/v1/{visit.request.path_params['name']}/details")
    place = Place.of(directory_of(job))
    path = visit.parameter("path")
    if place is None or not path:
        raise NotFound(f"{job['name']} has no such file: its directory is {directory_of(job)!r}")
    return await download(visit, place.bucket, f"{place.prefix}{path}")


def _folder(text: str) -> str:
    return f"{text.rstrip('/')}/" if text.strip("/") else ""


def _crumbs(folder: str) -> list[tuple[str, str]]:
    """Returns the names of the folder and its parents, with their paths."""
    parts = folder.split("/")[:-1]
    return [(part, "/".join(parts[: at + 1]) + "/") for at, part in enumerate(parts)]
