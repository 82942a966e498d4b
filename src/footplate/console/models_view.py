"""One model: its versions, and the files of one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from footplate.domain.errors import ServiceError

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.routing import Route

    from footplate.console.site import Site, Visit

_MOST_FILES = 200


def models_routes(site: Site) -> list[Route]:
    return [site.page("/models/{name:path}", _show)]


async def _show(visit: Visit) -> Response:
    """``?version=`` chooses whose files are shown; else the default version's."""
    name = visit.request.path_params["name"]
    model: Any = await visit.get(f"/v1/{name}")
    listed: Any = await visit.get(f"/v1/{name}:listVersions")
    versions = listed["models"]
    asked = visit.parameter("version") or str(model["versionId"])
    chosen = next((each for each in versions if str(each["versionId"]) == asked), model)
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


async def _files(visit: Visit, uri: str) -> tuple[list[Any], bool, str]:
    """Of a directory in a bucket, whether there are more, and why there are none to show."""
    if not uri.startswith("gs://"):
        return [], False, ""
    bucket, _, path = uri.removeprefix("gs://").partition("/")
    prefix = f"{path.rstrip('/')}/" if path.strip("/") else ""
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
