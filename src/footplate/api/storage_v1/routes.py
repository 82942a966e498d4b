"""Routes of buckets and objects, and the handlers of buckets."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from footplate.api.request_bodies import require_json
from footplate.api.storage_v1.accepted_fields import check_fields
from footplate.api.storage_v1.batch import Batch
from footplate.api.storage_v1.body import Body, Receiver
from footplate.api.storage_v1.copies import CopyHandlers
from footplate.api.storage_v1.objects import ObjectHandlers
from footplate.api.storage_v1.query_parameters import flag_in, limit_in, number_in
from footplate.api.storage_v1.resources import bucket_resource, labels_of, patched_labels
from footplate.api.storage_v1.responses import answering, checked, error_answer
from footplate.api.storage_v1.uploads import UploadHandlers
from footplate.domain.bucket_locations import location_type, read_location
from footplate.domain.errors import FailedPrecondition, InvalidArgument, Violation
from footplate.ports.buckets import Bucket
from footplate.ports.object_storage import ObjectStorage
from footplate.wire.json_text import JsonObject, describe

if TYPE_CHECKING:
    from pydantic import JsonValue


class BucketHandlers:
    def __init__(self, buckets: ObjectStorage) -> None:
        self._buckets = buckets

    def list(self, request: Request) -> Response:
        """Returns the buckets of all projects, whichever project the request names."""
        query, base = request.query_params, str(request.base_url)
        prefix, start = query.get("prefix", ""), query.get("pageToken", "")
        buckets = () if flag_in(query, "softDeleted") else self._buckets.buckets()
        found = sorted(
            (b for b in buckets if b.name.startswith(prefix) and b.name >= start),
            key=lambda bucket: bucket.name,
        )
        limit = limit_in(query)
        items: list[JsonValue] = [bucket_resource(bucket, base) for bucket in found[:limit]]
        answer: JsonObject = {"kind": "storage#buckets", "items": items}
        if found[limit:]:
            answer["nextPageToken"] = found[limit].name
        return JSONResponse(answer)

    def create(self, request: Request, body: Body) -> Response:
        require_json(request)
        given = body.json()
        check_fields("BUCKET", given)
        labels = labels_of(given)
        name, location = given.get("name"), given.get("location")
        if not isinstance(name, str):
            raise InvalidArgument.of((Violation("name", "required: the name of the bucket"),))
        if not isinstance(location, str | None):
            wanted = f"{describe(location)} given; allowed: a location such as US or us-central1"
            raise InvalidArgument.of((Violation("location", wanted),))
        project = request.query_params.get("project") or None
        bucket = self._buckets.create_bucket(name, read_location(location or ""), project)
        if labels:
            bucket = self._buckets.label_bucket(name, labels)
        return JSONResponse(bucket_resource(bucket, str(request.base_url)))

    def get(self, request: Request) -> Response:
        bucket, query = self._buckets.bucket(request.path_params["bucket"]), request.query_params
        if not _is_met(bucket, query, "ifMetagenerationNotMatch"):
            return Response(status_code=304)
        _require(bucket, query, "ifMetagenerationMatch")
        return JSONResponse(bucket_resource(bucket, str(request.base_url)))

    def update(self, request: Request, body: Body) -> Response:
        """Updates a bucket's labels; nothing else of a bucket can change."""
        bucket, query = self._buckets.bucket(request.path_params["bucket"]), request.query_params
        if given := body.json():  # clients that change nothing name no type
            require_json(request)
        check_fields("BUCKET", given)
        _keep(bucket, given)
        _require(bucket, query, "ifMetagenerationMatch", "ifMetagenerationNotMatch")
        patch = request.method == "PATCH"
        labels = patched_labels(bucket, given) if patch else labels_of(given)
        if labels != bucket.labels:
            bucket = self._buckets.label_bucket(bucket.name, labels, bucket.metageneration)
        return JSONResponse(bucket_resource(bucket, str(request.base_url)))

    def layout(self, request: Request) -> Response:
        """Returns a bucket's layout, which gcloud requests before it copies or removes trees."""
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
        """Returns no managed folders; gcloud looks for them before it removes a bucket."""
        self._buckets.bucket(request.path_params["bucket"])
        return JSONResponse({"kind": "storage#managedFolders"})

    def policy(self, request: Request) -> Response:
        """Returns an empty policy: everyone who reaches the service may use all buckets."""
        return JSONResponse(self._policy(request, []))

    def set_policy(self, request: Request, body: Body) -> Response:
        """Accepts a policy that grants nothing new, and doesn't store it."""
        require_json(request)
        given = body.json()
        check_fields("POLICY", given)
        bindings = given.get("bindings", [])
        if not isinstance(bindings, list):
            raise InvalidArgument.of((Violation("bindings", "a list is expected"),))
        return JSONResponse(self._policy(request, bindings))

    def permissions(self, request: Request) -> Response:
        """Returns all permissions of the request: everyone has all of them."""
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
        bucket, query = self._buckets.bucket(request.path_params["bucket"]), request.query_params
        _require(bucket, query, "ifMetagenerationMatch", "ifMetagenerationNotMatch")
        try:
            self._buckets.delete_bucket(bucket.name)
        except FailedPrecondition as error:
            return error_answer(error, 409)
        return Response(status_code=204)


def _keep(bucket: Bucket, given: JsonObject) -> None:
    """Raises InvalidArgument if a field would change that can't change."""
    for name, value in (("name", bucket.name), ("location", bucket.location)):
        given_value = given.get(name)
        if given_value is not None and str(given_value).casefold() != value.casefold():
            wanted = (
                f"{describe(given_value)} given; allowed: {value}, because this field "
                "of a bucket can't change"
            )
            raise InvalidArgument.of((Violation(name, wanted),))


def _require(bucket: Bucket, query: Mapping[str, str], *conditions: str) -> None:
    for condition in conditions:
        if not _is_met(bucket, query, condition):
            raise FailedPrecondition(
                f"{condition} doesn't hold: the bucket's metageneration is {bucket.metageneration}"
            )


def _is_met(bucket: Bucket, query: Mapping[str, str], condition: str) -> bool:
    wanted = number_in(query, condition)
    same = wanted == bucket.metageneration
    return wanted is None or same != condition.endswith("NotMatch")


_BUCKETS = "/storage/v1/b"
_BUCKET = f"{_BUCKETS}/{{bucket}}"
_OBJECTS = f"{_BUCKET}/o"
_OBJECT = f"{_OBJECTS}/{{name:path}}"
_UPLOADS = (f"/upload{_OBJECTS}", f"/resumable/upload{_OBJECTS}")


def storage_routes(buckets: ObjectStorage, receiver: Receiver | None = None) -> list[Route]:
    """Returns the routes of the storage API; a shared ``receiver`` limits the uploads of several
    such lists.

    Bodies of uploads have no size limit: no middleware may limit or buffer them. Errors are
    answered in Cloud Storage's own form.
    """
    receiver = receiver or Receiver()
    bucket, objects = BucketHandlers(buckets), ObjectHandlers(buckets)
    copies, uploads = CopyHandlers(buckets), UploadHandlers(buckets)
    reads: list[tuple[str, str, str, Callable[[Request], Response]]] = [
        ("GET", _BUCKETS, "buckets.list", bucket.list),
        ("GET", _BUCKET, "buckets.get", bucket.get),
        ("DELETE", _BUCKET, "buckets.delete", bucket.delete),
        ("GET", f"{_BUCKET}/iam", "buckets.getIamPolicy", bucket.policy),
        ("GET", f"{_BUCKET}/iam/testPermissions", "buckets.testIamPermissions", bucket.permissions),
        ("GET", f"{_BUCKET}/storageLayout", "buckets.getStorageLayout", bucket.layout),
        ("GET", f"{_BUCKET}/managedFolders", "managedFolders.list", bucket.managed_folders),
        ("GET", _OBJECTS, "objects.list", objects.list),
        ("GET", _OBJECT, "objects.get", objects.get),
        ("DELETE", _OBJECT, "objects.delete", objects.delete),
        ("GET", f"/download{_OBJECT}", "objects.get", objects.download),
        *(("DELETE", path, "objects.insert", uploads.delete) for path in _UPLOADS),
    ]
    writes: list[tuple[str, str, str, Callable[[Request, Body], Response]]] = [
        ("POST", _BUCKETS, "buckets.insert", bucket.create),
        ("PATCH", _BUCKET, "buckets.patch", bucket.update),
        ("PUT", _BUCKET, "buckets.update", bucket.update),
        ("PUT", f"{_BUCKET}/iam", "buckets.setIamPolicy", bucket.set_policy),
        ("PATCH", _OBJECT, "objects.patch", objects.update),
        ("PUT", _OBJECT, "objects.update", objects.update),
        *(("POST", path, "objects.insert", uploads.post) for path in _UPLOADS),
        *(("PUT", path, "objects.insert", uploads.put) for path in _UPLOADS),
    ]
    receive = receiver.receiving
    routes = [
        *(Route(path, answering(checked(n, does)), methods=[m]) for m, path, n, does in reads),
        *(Route(path, receive(checked(n, does)), methods=[m]) for m, path, n, does in writes),
        Route(_OBJECT, receive(copies.post), methods=["POST"]),  # checks itself what it is asked
    ]
    for route in routes:
        # A line break in a name is refused as such: a path that has one is no unknown path.
        route.path_regex = re.compile(route.path_regex.pattern, re.DOTALL)
    return [
        *routes,
        Route("/batch/storage/v1", Batch(routes, receiver.batches).post, methods=["POST"]),
    ]
