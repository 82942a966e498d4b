"""Maps requests to handlers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from footplate.api.storage_v1.batch import Batch
from footplate.api.storage_v1.body import Receiver
from footplate.api.storage_v1.buckets import BucketHandlers
from footplate.api.storage_v1.copies import CopyHandlers
from footplate.api.storage_v1.objects import ObjectHandlers
from footplate.api.storage_v1.responses import answering
from footplate.api.storage_v1.uploads import UploadHandlers

if TYPE_CHECKING:
    from footplate.ports.object_storage import ObjectStorage

_BUCKETS = "/storage/v1/b"
_BUCKET = f"{_BUCKETS}/{{bucket}}"
_OBJECTS = f"{_BUCKET}/o"
_OBJECT = f"{_OBJECTS}/{{name:path}}"


def storage_routes(buckets: ObjectStorage, receiver: Receiver | None = None) -> list[Route]:
    """``receiver`` bounds the uploads of several such lists together.

    Bodies of uploads are unbounded: whatever wraps these routes must neither bound nor hold
    them. Errors are answered in Cloud Storage's own form."""
    receiving = (receiver or Receiver()).receiving
    bucket, objects = BucketHandlers(buckets), ObjectHandlers(buckets)
    copies, uploads = CopyHandlers(buckets), UploadHandlers(buckets)
    routes = [
        Route(_BUCKETS, answering(bucket.list), methods=["GET"]),
        Route(_BUCKETS, receiving(bucket.create), methods=["POST"]),
        Route(_BUCKET, answering(bucket.get), methods=["GET"]),
        Route(_BUCKET, answering(bucket.delete), methods=["DELETE"]),
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
    return [*routes, Route("/batch/storage/v1", Batch(routes).post, methods=["POST"])]
