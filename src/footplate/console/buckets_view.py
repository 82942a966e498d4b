"""Buckets and their objects: lists, downloads, uploads, deletion of single objects."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Message

from footplate.console.downloads import download
from footplate.console.forms import read_form
from footplate.console.operations import make_scope
from footplate.console.site import Site, Visit
from footplate.domain.errors import InvalidArgument

_PAGE = "200"
_MAX_FORM_BYTES = 16_384
_SIZE = b"content-length"


def bucket_routes(site: Site) -> list[Route]:
    return [
        site.page("/buckets", _list),
        site.page("/buckets/{bucket}", _show),
        site.page("/buckets/{bucket}/object", _download),
        site.page("/buckets/{bucket}/upload", _upload, ("POST",)),
        site.page("/buckets/{bucket}/delete", _delete, ("POST",)),
    ]


def bucket_url(bucket: str, folder: str = "") -> str:
    query = f"?{urlencode({'folder': folder})}" if folder else ""
    return f"/buckets/{quote(bucket, safe='')}{query}"


async def _list(visit: Visit) -> Response:
    found: Any = await visit.get("/storage/v1/b", {"project": visit.parameter("project") or "-"})
    return visit.render("buckets.html", buckets=found.get("items", []))


async def _show(visit: Visit) -> Response:
    """Shows a folder. ``?folder=`` ends with a slash or is empty; ``?page=`` continues."""
    bucket, folder = visit.request.path_params["bucket"], visit.parameter("folder")
    asked = {"prefix": folder, "delimiter": "/", "maxResults": _PAGE}
    if token := visit.parameter("page"):
        asked["pageToken"] = token
    listing: Any = await visit.get(f"/storage/v1/b/{bucket}/o", asked)
    following = listing.get("nextPageToken")
    return visit.render(
        "bucket.html",
        bucket=bucket,
        folder=folder,
        crumbs=_crumbs(bucket, folder),
        folders=[
            (str(each).removeprefix(folder), bucket_url(bucket, str(each)))
            for each in listing.get("prefixes", [])
        ],
        objects=[
            each | {"title": str(each["name"]).removeprefix(folder)}
            for each in listing.get("items", [])
            if each["name"] != folder
        ],
        base=bucket_url(bucket),
        next_url=f"{bucket_url(bucket)}?{urlencode({'folder': folder, 'page': following})}"
        if following
        else "",
    )


def _crumbs(bucket: str, folder: str) -> list[tuple[str, str]]:
    """Returns the names of the folder and its parents, with their addresses."""
    parts = folder.split("/")[:-1]
    return [
        (part, bucket_url(bucket, "/".join(parts[: at + 1]) + "/")) for at, part in enumerate(parts)
    ]


async def _download(visit: Visit) -> Response:
    return await download(visit, visit.request.path_params["bucket"], visit.parameter("name"))


async def _upload(visit: Visit) -> Response:
    """Uploads the body as the object ``?name=``; passes it on as it arrives, whatever its size."""
    bucket, name = visit.request.path_params["bucket"], visit.parameter("name")
    if not name:
        raise InvalidArgument("name: required: the name of the object")
    query = {"uploadType": "media", "name": name}
    scope = make_scope(
        visit.request, visit.token, "POST", f"/upload/storage/v1/b/{bucket}/o", query
    )
    given = [pair for pair in visit.request.scope["headers"] if pair[0] == _SIZE]
    scope["headers"] += [*given, (b"content-type", b"application/octet-stream")]
    answer: list[Message] = []

    async def send(message: Message) -> None:
        answer.append(message)

    await visit.site.app()(scope, visit.request.receive, send)
    status = int(answer[0]["status"])
    body = b"".join(part.get("body", b"") for part in answer[1:])
    return Response(body, status, media_type="application/json")


async def _delete(visit: Visit) -> Response:
    fields = await read_form(visit.request, _MAX_FORM_BYTES)
    bucket, name = visit.request.path_params["bucket"], fields.get("name", "")
    answer = await visit.call("DELETE", f"/storage/v1/b/{bucket}/o/{name}")
    if answer.status >= HTTPStatus.BAD_REQUEST:
        raise answer.error()
    folder = name.rpartition("/")[0]
    there = bucket_url(bucket, f"{folder}/" if folder else "")
    return RedirectResponse(there, HTTPStatus.SEE_OTHER)
