"""Requests about buckets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response

from footplate.api.request_bodies import require_json
from footplate.api.storage_v1.resources import bucket_resource
from footplate.api.storage_v1.responses import error_answer
from footplate.domain.bucket_locations import location_type, read_location
from footplate.domain.errors import FailedPrecondition, InvalidArgument, Violation
from footplate.wire.json_text import describe

if TYPE_CHECKING:
    from starlette.requests import Request

    from footplate.api.storage_v1.body import Body
    from footplate.ports.object_storage import ObjectStorage


class BucketHandlers:
    def __init__(self, buckets: ObjectStorage) -> None:
        self._buckets = buckets

    def list(self, request: Request) -> Response:
        """All of them, in one page, whatever project is asked for."""
        prefix, base = request.query_params.get("prefix", ""), str(request.base_url)
        found = [b for b in self._buckets.buckets() if b.name.startswith(prefix)]
        items = [bucket_resource(bucket, base) for bucket in found]
        return JSONResponse({"kind": "storage#buckets", "items": items})

    def create(self, request: Request, body: Body) -> Response:
        require_json(request)
        given = body.json()
        name, location = given.get("name"), given.get("location")
        if not isinstance(name, str):
            raise InvalidArgument.of((Violation("name", "required: the name of the bucket"),))
        if not isinstance(location, str | None):
            wanted = f"{describe(location)} given; allowed: a location such as US or us-central1"
            raise InvalidArgument.of((Violation("location", wanted),))
        project = request.query_params.get("project") or None
        bucket = self._buckets.create_bucket(name, read_location(location or ""), project)
        return JSONResponse(bucket_resource(bucket, str(request.base_url)))

    def get(self, request: Request) -> Response:
        bucket = self._buckets.bucket(request.path_params["bucket"])
        return JSONResponse(bucket_resource(bucket, str(request.base_url)))

    def layout(self, request: Request) -> Response:
        """gcloud asks for it before it copies or removes trees."""
        bucket = self._buckets.bucket(request.path_params["bucket"])
        answer = {
            "kind": "storage#storageLayout",
            "bucket": bucket.name,
            "location": bucket.location,
            "locationType": location_type(bucket.location),
            "hierarchicalNamespace": {"enabled": False},
        }
        return JSONResponse(answer)

    def managed_folders(self, request: Request) -> Response:
        """There are none; gcloud looks for them before it removes a bucket."""
        self._buckets.bucket(request.path_params["bucket"])
        return JSONResponse({"kind": "storage#managedFolders"})

    def delete(self, request: Request) -> Response:
        try:
            self._buckets.delete_bucket(request.path_params["bucket"])
        except FailedPrecondition as error:
            return error_answer(error, 409)
        return Response(status_code=204)
