"""Buckets and objects."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

import google_crc32c

from tests.support.fake_service.messages import TIME, Answer, failure

if TYPE_CHECKING:
    from tests.support.fake_service.messages import Request, Route
    from tests.support.fake_service.service import FakeService


def _create_bucket(service: FakeService, request: Request) -> Answer:
    name = request.json()["name"]
    if name in service.buckets:
        return failure(409, "ALREADY_EXISTS", f"the bucket {name} exists already")
    service.buckets.append(name)
    return Answer(body=_bucket(service, name))


def _list_buckets(service: FakeService, _request: Request) -> Answer:
    return Answer(body={"items": [_bucket(service, name) for name in service.buckets]})


def _get_bucket(service: FakeService, _request: Request, name: str) -> Answer:
    if name not in service.buckets:
        return failure(404, "NOT_FOUND", f"the bucket {name} isn't there")
    return Answer(body=_bucket(service, name))


def _upload(service: FakeService, request: Request, bucket: str) -> Answer:
    if bucket not in service.buckets:
        return failure(404, "NOT_FOUND", f"the bucket {bucket} isn't there")
    name, content = request.query.get("name", ""), request.body
    if request.query.get("uploadType") == "multipart":
        name, content = _parts(request)
    service.objects[bucket, name] = content
    return Answer(body=_object(service, bucket, name))


def _parts(request: Request) -> tuple[str, bytes]:
    boundary = request.headers["content-type"].rpartition("boundary=")[2].strip("\"'")
    _, metadata, content, _ = request.body.split(b"--" + boundary.encode())
    name: str = json.loads(metadata.partition(b"\r\n\r\n")[2])["name"]
    return name, content.partition(b"\r\n\r\n")[2][: -len(b"\r\n")]


def _list_objects(service: FakeService, request: Request, bucket: str) -> Answer:
    if bucket not in service.buckets:
        return failure(404, "NOT_FOUND", f"the bucket {bucket} isn't there")
    prefix, delimiter = request.query.get("prefix", ""), request.query.get("delimiter")
    names = sorted(n for b, n in service.objects if b == bucket and n.startswith(prefix))
    folders = [n for n in names if delimiter and delimiter in n[len(prefix) :]]
    items = [_object(service, bucket, name) for name in names if name not in folders]
    ends = {prefix + n[len(prefix) :].partition("/")[0] + "/" for n in folders}
    return Answer(body={"items": items, "prefixes": sorted(ends)})


def _delete_object(service: FakeService, _request: Request, bucket: str, name: str) -> Answer:
    if service.objects.pop((bucket, name), None) is None:
        return failure(404, "NOT_FOUND", f"gs://{bucket}/{name} isn't there")
    return Answer()


def _copy_object(service: FakeService, _request: Request, *names: str) -> Answer:
    bucket, name, target, new = names
    service.objects[target, new] = service.objects[bucket, name]
    return Answer(body=_object(service, target, new))


def _delete_bucket(service: FakeService, _request: Request, name: str) -> Answer:
    if any(bucket == name for bucket, _ in service.objects):
        return failure(409, "FAILED_PRECONDITION", f"the bucket {name} isn't empty")
    service.buckets.remove(name)
    return Answer()


def _download(service: FakeService, _request: Request, bucket: str, name: str) -> Answer:
    content = service.objects.get((bucket, name))
    if content is None:
        return failure(404, "NOT_FOUND", f"gs://{bucket}/{name} isn't there")
    return Answer(body=content)


def _bucket(service: FakeService, name: str) -> dict[str, object]:
    fixed = {"kind": "storage#bucket", "project": "demo", "timeCreated": TIME}
    target = service.targets.get(name)
    bound = {} if target is None else {"target": target, "readOnly": True}
    return {**fixed, "id": name, "name": name, **bound}


def _object(service: FakeService, bucket: str, name: str) -> dict[str, object]:
    content = service.objects[bucket, name]
    number: int = google_crc32c.value(content)
    return {
        "kind": "storage#object",
        "bucket": bucket,
        "name": name,
        "size": str(len(content)),
        "crc32c": base64.b64encode(number.to_bytes(4, "big")).decode(),
        "generation": "1",
        "updated": TIME,
    }


ROUTES: list[Route] = [
    ("POST", "/storage/v1/b", _create_bucket),
    ("GET", "/storage/v1/b", _list_buckets),
    ("GET", "/storage/v1/b/([^/]+)", _get_bucket),
    ("GET", "/storage/v1/b/([^/]+)/o", _list_objects),
    ("DELETE", "/storage/v1/b/([^/]+)", _delete_bucket),
    ("POST", "/storage/v1/b/([^/]+)/o/(.+)/copyTo/b/([^/]+)/o/(.+)", _copy_object),
    ("DELETE", "/storage/v1/b/([^/]+)/o/(.+)", _delete_object),
    ("POST", "/upload/storage/v1/b/([^/]+)/o", _upload),
    ("GET", "/download/storage/v1/b/([^/]+)/o/(.+)", _download),
]
