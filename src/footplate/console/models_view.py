"""One model: its versions, and the files of one of them."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from footplate.console.downloads import download
from footplate.console.site import Site, Visit
from footplate.domain.errors import NotFound, ServiceError

_MOST_FILES = 200


def models_routes(site: Site) -> list[Route]:
    return [
        site.page("/models/{name:path}/download", _download),
        site.page("/models/{name:path}", _show),
    ]


async def _download(visit: Visit) -> Response:
    """Downloads a file of a version: ``?version=&file=``."""
    _, chosen, _ = await _read(visit)
    place = _directory(str(chosen.get("artifactUri", "")))
    file = visit.parameter("file")
    if place is None or not file:
        raise NotFound(f"version {chosen['versionId']} of the model has no file {file[:200]!r}")
    bucket, prefix = place
    return await download(visit, bucket, f"{prefix}{file}")


async def _show(visit: Visit) -> Response:
    """Shows a model, with the files of the version ``?version=`` or of the default one."""
    model, chosen, versions = await _read(visit)
    files, more, problem = await _files(visit, str(chosen.get("artifactUri", "")))
    return visit.render(
        "model.html",
        model=model,
        versions=versions,
        chosen=chosen,
        files=files,
        more=more,
        problem=problem,
    )


async def _read(visit: Visit) -> tuple[Any, Any, list[Any]]:
    """Returns the model, the requested or default version, and all, the newest first."""
    name = visit.request.path_params["name"]
    model: Any = await visit.get(f"/v1/{name}")
    listed: Any = await visit.get(f"/v1/{name}:listVersions")
    versions = listed["models"][::-1]
    asked = visit.parameter("version") or str(model["versionId"])
    chosen = next((each for each in versions if str(each["versionId"]) == asked), model)
    return model, chosen, versions


def _directory(uri: str) -> tuple[str, str] | None:
    """Returns the bucket, and the prefix of names in it; None if ``uri`` isn't in a bucket."""
    if not uri.startswith("gs://"):
        return None
    bucket, _, path = uri.removeprefix("gs://").partition("/")
    return bucket, f"{path.rstrip('/')}/" if path.strip("/") else ""


async def _files(visit: Visit, uri: str) -> tuple[list[Any], bool, str]:
    """Returns files in a bucket's directory, whether there are more, and why none are shown."""
    place = _directory(uri)
    if place is None:
        return [], False, ""
    bucket, prefix = place
    asked = {"prefix": prefix, "maxResults": str(_MOST_FILES)}
    try:
        answer: Any = await visit.get(f"/storage/v1/b/{bucket}/o", asked)
    except ServiceError as error:
        return [], False, error.message
    files = [
        {
            "name": str(each["name"]).removeprefix(prefix),
            "size": int(each.get("size", 0)),
            "updated": each.get("updated"),
        }
        for each in answer.get("items", [])
    ]
    return files, bool(answer.get("nextPageToken")), ""
