"""Routes of buckets and objects, and the handlers of buckets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from footplate.api.request_bodies import require_json
from footplate.api.storage_v1.batch import Batch
from footplate.api.storage_v1.body import Receiver
from footplate.api.storage_v1.copies import CopyHandlers
from footplate.api.storage_v1.objects import ObjectHandlers
from footplate.api.storage_v1.resources import bucket_resource
from footplate.api.storage_v1.responses import answering, error_answer
from footplate.api.storage_v1.uploads import UploadHandlers
from footplate.domain.bucket_locations import location_type, read_location
from footplate.domain.errors import FailedPrecondition, InvalidArgument, Violation
from footplate.wire.json_text import describe

if TYPE_CHECKING:
    from pydantic import JsonValue
    from starlette.requests import Request

    from footplate.api.storage_v1.body import Body
    from footplate.ports.object_storage import ObjectStorage
    from footplate.wire.json_text import JsonObject


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

    def policy(self, request: Request) -> Response:
        """An empty one: everyone who reaches the service may use all buckets."""
        return JSONResponse(self._policy(request, []))

    def set_policy(self, request: Request, body: Body) -> Response:
        """Grants nothing that isn't granted already, and is not kept."""
        require_json(request)
        bindings = body.json().get("bindings", [])
        if not isinstance(bindings, list):
            raise InvalidArgument.of((Violation("bindings", "a list is expected"),))
        return JSONResponse(self._policy(request, bindings))

    def permissions(self, request: Request) -> Response:
        """All that are asked for."""
        self._buckets.bucket(request.path_params["bucket"])
        asked = request.query_params.getlist("permissions")
        return JSONResponse({"kind": "storage#testIamPermissionsResponse", "permissions": asked})

    def _policy(self, request: Request, bindings: JsonValue) -> JsonObject:
        bucket = self._buckets.bucket(request.path_params["bucket"])
        return {
            "kind": "storage#policy",
            "resourceId": f"projects/_/buckets/{bucket.name}",
            "version": 1,
            "etag": "CAE=",
            "bindings": bindings,
        }

    def delete(self, request: Request) -> Response:
        try:
            self._buckets.delete_bucket(request.path_params["bucket"])
        except FailedPrecondition as error:
            return error_answer(error, 409)
        return Response(status_code=204)


_BUCKETS = "/storage/v1/b"
_BUCKET = f"{_BUCKETS}/{{bucket}}"
_OBJECTS = f"{_BUCKET}/o"
_OBJECT = f"{_OBJECTS}/{{name:path}}"


def storage_routes(buckets: ObjectStorage, receiver: Receiver | None = None) -> list[Route]:
    """``receiver`` bounds the uploads of several such lists together.

    Bodies of uploads are unbounded: whatever wraps these routes must neither bound nor hold
    them. Errors are answered in Cloud Storage's own form."""
    receiver = receiver or Receiver()
    receiving = receiver.receiving
    bucket, objects = BucketHandlers(buckets), ObjectHandlers(buckets)
    copies, uploads = CopyHandlers(buckets), UploadHandlers(buckets)
    routes = [
        Route(_BUCKETS, answering(bucket.list), methods=["GET"]),
        Route(_BUCKETS, receiving(bucket.create), methods=["POST"]),
        Route(_BUCKET, answering(bucket.get), methods=["GET"]),
        Route(_BUCKET, answering(bucket.delete), methods=["DELETE"]),
        Route(f"{_BUCKET}/iam", answering(bucket.policy), methods=["GET"]),
        Route(f"{_BUCKET}/iam", receiving(bucket.set_policy), methods=["PUT"]),
        Route(f"{_BUCKET}/iam/testPermissions", answering(bucket.permissions), methods=["GET"]),
        Route(f"{_BUCKET}/storageLayout", answering(bucket.layout), methods=["GET"]),
        Route(f"{_BUCKET}/managedFolders", answering(bucket.managed_folders), methods=["GET"]),
        Route(_OBJECTS, answering(objects.list), methods=["GET"]),
        Route(_OBJECT, answering(objects.get), methods=["GET"]),
        Route(_OBJECT, answering(objects.delete), methods=["DELETE"]),
        Route(_OBJECT, receiving(objects.update), methods=["PATCH", "PUT"]),
        Route(_OBJECT, receiving(copies.post), methods=["POST"]),
        Route(f"/download{_OBJECT}", answering(objects.download), methods=["GET"]),
    ]
    for prefix in ("/upload", "/resumable/upload"):
        path = f"{prefix}{_OBJECTS}"
        routes.append(Route(path, receiving(uploads.post), methods=["POST"]))
        routes.append(Route(path, receiving(uploads.put), methods=["PUT"]))
        routes.append(Route(path, answering(uploads.delete), methods=["DELETE"]))
    for route in routes:
        # A line break in a name is refused as such: a path that has one is no unknown path.
        route.path_regex = re.compile(route.path_regex.pattern, re.DOTALL)
    return [
        *routes,
        Route("/batch/storage/v1", Batch(routes, receiver.batches).post, methods=["POST"]),
    ]
