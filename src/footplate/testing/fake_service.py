"""A server on loopback that answers as the service does, from memory, and records each request.

It runs nothing: a job stays in the state that the test gives it.
"""

from __future__ import annotations

import base64
import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

import google_crc32c

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType

TIME = "2026-11-21T08:00:00.000000Z"


@dataclass(frozen=True)
class Request:
    """One request as it came in; ``path`` is decoded, ``query`` holds the last of each name."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Answer:
    """A JSON body, or a stream of lines; bytes are sent as they are."""

    status: int = 200
    body: object = field(default_factory=dict)
    stream: Iterable[dict[str, object]] | None = None


def failure(http: int, status: str, message: str) -> Answer:
    return Answer(http, {"error": {"code": http, "status": status, "message": message}})


class FakeService:
    """Use it in a ``with`` block; its dictionaries may be changed."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        """``tls``: of a certificate for ``localhost``."""
        self.requests: list[Request] = []
        self.jobs: dict[str, dict[str, object]] = {}
        """Resources by name, both faces'."""
        self.lines: dict[str, Iterable[dict[str, object]]] = {}
        self.events: dict[str, list[dict[str, object]]] = {}
        self.trials: dict[str, list[dict[str, object]]] = {}
        """What is answered of a job's trials, one after the other; the last one stays."""
        self.measurements: dict[tuple[str, int], list[dict[str, object]]] = {}
        self.studies: dict[str, list[dict[str, object]]] = {}
        """The trials of each study of Vizier."""
        self.meddlers: dict[str, list[dict[str, object]]] = {}
        """What others write into a job just before somebody changes it."""
        self.restarts: dict[str, int] = {}
        """How often each job started again, by name."""
        self.trouble = ""
        self.active_trials: dict[str, int] = {}
        self.buckets: list[str] = []
        self.objects: dict[tuple[str, str], bytes] = {}
        self.refusals: dict[tuple[str, str], Answer] = {}
        """Answers that come before all others, by method and path."""
        handler = type("Handler", (_Handler,), {"service": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._tls = tls
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)

    @property
    def url(self) -> str:
        if self._tls is not None:
            return f"https://localhost:{self._server.server_address[1]}"
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> FakeService:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def calls(self) -> list[str]:
        """``METHOD path`` of each request, in order."""
        return [f"{r.method} {r.path}" for r in self.requests]

    def last(self, method: str) -> Request:
        return next(r for r in reversed(self.requests) if r.method == method)

    def answer(self, request: Request) -> Answer:
        self.requests.append(request)
        if refusal := self.refusals.get((request.method, request.path)):
            return refusal
        for method, pattern, respond in _ROUTES:
            match = re.fullmatch(pattern, request.path)
            if match and method == request.method:
                return respond(self, request, *match.groups())
        return failure(404, "NOT_FOUND", f"{request.method} {request.path}: no such method")


def _create_training(service: FakeService, request: Request, project: str) -> Answer:
    given = request.json()
    name = f"projects/{project}/jobs/{given['jobId']}"
    if name in service.jobs:
        return failure(409, "ALREADY_EXISTS", f"{name} exists already")
    service.jobs[name] = {**given, "createTime": TIME, "state": "QUEUED", "etag": "aGk="}
    return Answer(body=service.jobs[name])


def _create_located(service: FakeService, request: Request, collection: str) -> Answer:
    name = f"{collection}/{len(service.jobs) + 100}"
    service.jobs[name] = {
        **request.json(),
        "name": name,
        "state": "JOB_STATE_QUEUED",
        "createTime": TIME,
        "updateTime": TIME,
    }
    return Answer(body=service.jobs[name])


def _get(service: FakeService, _request: Request, name: str) -> Answer:
    job = service.jobs.get(name)
    return failure(404, "NOT_FOUND", f"{name} not found") if job is None else Answer(body=job)


def _list(service: FakeService, request: Request, collection: str) -> Answer:
    """Two to a page, so that clients have to turn it."""
    names = sorted(n for n in service.jobs if n.rpartition("/")[0] == collection)
    first = int(request.query.get("pageToken", "0"))
    body: dict[str, object] = {}
    if page := [service.jobs[name] for name in names[first : first + 2]]:
        body[collection.rpartition("/")[2]] = page
    if first + 2 < len(names):
        body["nextPageToken"] = str(first + 2)
    return Answer(body=body)


def _relabel(service: FakeService, request: Request, name: str) -> Answer:
    job = service.jobs[name]
    if meddlers := service.meddlers.get(name):
        job.update(meddlers.pop(0))
    given = request.json()
    if given.get("etag", job.get("etag")) != job.get("etag"):
        return failure(409, "ABORTED", f"{name} has changed since")
    job["labels"] = given["labels"]
    return Answer(body=job)


def _cancel(service: FakeService, _request: Request, name: str) -> Answer:
    if name not in service.jobs:
        return failure(404, "NOT_FOUND", f"{name} not found")
    prefix = "JOB_STATE_" if "/locations/" in name else ""
    service.jobs[name]["state"] = f"{prefix}CANCELLED"
    return Answer()


def _delete(service: FakeService, _request: Request, name: str) -> Answer:
    if service.jobs.pop(name, None) is None:
        return failure(404, "NOT_FOUND", f"{name} not found")
    return Answer(body=_operation(name))


def _operation(name: str) -> dict[str, object]:
    parent = name.rpartition("/")[0].rpartition("/")[0]
    empty = {"@type": "type.googleapis.com/google.protobuf.Empty"}
    return {"name": f"{parent}/operations/1", "done": True, "response": empty}


def _restarts(service: FakeService, request: Request) -> Answer:
    names = request.json()["names"]
    assert isinstance(names, list)
    return Answer(body={"restarts": {n: c for n, c in service.restarts.items() if n in names}})


def _logs(service: FakeService, request: Request, name: str) -> Answer:
    cursor = int(request.query.get("cursor", "0"))
    replica = request.query.get("replica")
    kept = service.lines.get(name, ())
    lines = (line for line in kept if replica in (None, line.get("replica")))
    return Answer(stream=(line for line in lines if int(str(line["cursor"])) > cursor))


def _events(service: FakeService, request: Request, name: str) -> Answer:
    cursor = int(request.query.get("after", "0"))
    events = list(service.events.get(name, ()))
    return Answer(stream=[event for event in events if int(str(event["number"])) > cursor])


def _trials(service: FakeService, _request: Request, name: str) -> Answer:
    answers = service.trials.get(name)
    if not answers:
        return failure(400, "FAILED_PRECONDITION", f"{name} is no tuning job: it has no trials")
    return Answer(body=answers.pop(0) if len(answers) > 1 else answers[0])


def _measurements(service: FakeService, _request: Request, name: str, number: str) -> Answer:
    return Answer(body={"measurements": service.measurements.get((name, int(number)), [])})


def _create_study(service: FakeService, request: Request, collection: str) -> Answer:
    name = f"{collection}/{len(service.studies) + 1}"
    service.studies[name] = []
    return Answer(body={**request.json(), "name": name, "state": "ACTIVE", "createTime": TIME})


def _lookup_study(service: FakeService, request: Request, collection: str) -> Answer:
    """It forgets their display names: those of numbers are theirs."""
    name = f"{collection}/{request.json()['displayName']}"
    if name not in service.studies:
        return failure(404, "NOT_FOUND", f"{collection} has no such study")
    return Answer(body={"name": name})


def _create_trial(service: FakeService, request: Request, study: str) -> Answer:
    service.studies[study].append(request.json())
    return Answer(body={**request.json(), "name": f"{study}/trials/{len(service.studies[study])}"})


def _delete_study(service: FakeService, _request: Request, name: str) -> Answer:
    service.studies.pop(name)
    return Answer()


def _health(_service: FakeService, _request: Request) -> Answer:
    return Answer(body={"status": "ok", "version": "0.1.0.dev0"})


def _status(service: FakeService, _request: Request) -> Answer:
    active = {"RUNNING": len(service.jobs)} if service.jobs else {}
    return Answer(
        body={
            "version": "0.1.0.dev0",
            "url": service.url,
            "pid": 4711,
            "dataDir": "/data",
            "activeJobs": active,
            "activeTrials": service.active_trials,
            "trouble": service.trouble,
        }
    )


def _down(service: FakeService, _request: Request) -> Answer:
    return Answer(body={"cancelledJobs": len(service.jobs)})


def _create_bucket(service: FakeService, request: Request) -> Answer:
    name = request.json()["name"]
    if name in service.buckets:
        return failure(409, "ALREADY_EXISTS", f"the bucket {name} exists already")
    service.buckets.append(name)
    return Answer(body=_bucket(name))


def _list_buckets(service: FakeService, _request: Request) -> Answer:
    return Answer(body={"items": [_bucket(name) for name in service.buckets]})


def _get_bucket(service: FakeService, _request: Request, name: str) -> Answer:
    if name not in service.buckets:
        return failure(404, "NOT_FOUND", f"the bucket {name} isn't there")
    return Answer(body=_bucket(name))


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


def _bucket(name: str) -> dict[str, object]:
    return {"kind": "storage#bucket", "id": name, "name": name, "timeCreated": TIME}


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


_TRAINING = r"projects/[^/]+/jobs/[^/:]+"
_KINDS = "(?:customJobs|hyperparameterTuningJobs)"
_LOCATED = rf"projects/[^/]+/locations/[^/]+/{_KINDS}"
_STUDIES = "projects/[^/]+/locations/[^/]+/studies"
_JOB = rf"({_TRAINING}|{_LOCATED}/[^/:]+)"
_COLLECTION = f"(projects/[^/]+/jobs|{_LOCATED})"
_API = r"/v1(?:beta1)?"

_ROUTES: list[tuple[str, str, Callable[..., Answer]]] = [
    ("GET", "/healthz", _health),
    ("POST", "/footplate/v1/restarts", _restarts),
    ("GET", "/footplate/v1/status", _status),
    ("POST", "/footplate/v1/down", _down),
    ("POST", r"/v1/projects/([^/]+)/jobs", _create_training),
    ("POST", rf"{_API}/({_LOCATED})", _create_located),
    ("GET", f"{_API}/{_JOB}", _get),
    ("GET", f"{_API}/{_COLLECTION}", _list),
    ("PATCH", rf"/v1/({_TRAINING})", _relabel),
    ("POST", f"{_API}/{_JOB}:cancel", _cancel),
    ("DELETE", rf"{_API}/({_LOCATED}/[^/:]+)", _delete),
    ("GET", f"/footplate/v1/{_JOB}/logs", _logs),
    ("GET", f"/footplate/v1/{_JOB}/events", _events),
    ("GET", f"/footplate/v1/{_JOB}/trials", _trials),
    ("GET", f"/footplate/v1/{_JOB}/trials/([0-9]+)/measurements", _measurements),
    ("POST", "/storage/v1/b", _create_bucket),
    ("POST", rf"/v1/({_STUDIES})", _create_study),
    ("POST", rf"/v1/({_STUDIES}):lookup", _lookup_study),
    ("POST", rf"/v1/({_STUDIES}/[^/:]+)/trials", _create_trial),
    ("DELETE", rf"/v1/({_STUDIES}/[^/:]+)", _delete_study),
    ("GET", "/storage/v1/b", _list_buckets),
    ("GET", "/storage/v1/b/([^/]+)", _get_bucket),
    ("GET", "/storage/v1/b/([^/]+)/o", _list_objects),
    ("DELETE", "/storage/v1/b/([^/]+)", _delete_bucket),
    ("POST", "/storage/v1/b/([^/]+)/o/(.+)/copyTo/b/([^/]+)/o/(.+)", _copy_object),
    ("DELETE", "/storage/v1/b/([^/]+)/o/(.+)", _delete_object),
    ("POST", "/upload/storage/v1/b/([^/]+)/o", _upload),
    ("GET", "/download/storage/v1/b/([^/]+)/o/(.+)", _download),
]


class _Handler(BaseHTTPRequestHandler):
    service: FakeService
    protocol_version = "HTTP/1.1"

    def _respond(self) -> None:
        split = urlsplit(self.path)
        request = Request(
            method=self.command,
            path=unquote(split.path),
            query={name: values[-1] for name, values in parse_qs(split.query).items()},
            headers={name.lower(): value for name, value in self.headers.items()},
            body=self._body(),
        )
        answer = self.service.answer(request)
        if answer.stream is None:
            body = answer.body
            raw = body if isinstance(body, bytes) else json.dumps(body).encode()
            self._send(answer.status, raw)
        else:
            self._stream(iter(answer.stream))

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        found = b""
        while size := int(self.rfile.readline(), 16):
            found += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return found

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, lines: Iterator[dict[str, object]]) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/x-ndjson")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for line in lines:
            chunk = json.dumps(line).encode() + b"\n"
            self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _respond  # noqa: N815 - the server's names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the server's name
        """Tests read ``requests`` instead."""
