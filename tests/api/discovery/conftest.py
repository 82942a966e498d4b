"""All of Google's APIs that are served, in memory, and a client of theirs without a network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import httplib2
import httpx
import pytest
from googleapiclient import discovery
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from footplate.api.app import create_app
from footplate.api.discovery_v1 import Described, discovery_routes
from footplate.api.locations import location_routes
from footplate.api.logging_v2 import EntryWriting, Followers, JobFinder, logging_routes
from footplate.api.operations import operation_routes
from footplate.api.security import Access
from footplate.api.storage_v1 import storage_routes
from footplate.api.training_v1 import study_routes, training_routes
from footplate.api.vertex_v1 import (
    dataset_routes,
    model_routes,
    persistent_resource_routes,
    tracking_routes,
    vertex_routes,
    vizier_routes,
)
from footplate.buckets.folder_buckets import FolderBuckets
from footplate.catalogue import load_catalogue
from footplate.control.datasets import Datasets
from footplate.control.job_queue import Queue
from footplate.control.models import ModelRegistry
from footplate.control.persistent_resources import PersistentResources
from footplate.control.program_storage import ProgramStorage
from footplate.control.written_entries import WrittenEntries
from footplate.domain.quotas import Quotas
from footplate.domain.sites import Mode
from footplate.grpc_api.published import read_published
from footplate.logs.files import FileLogs
from footplate.proxy.hosts import find_host
from footplate.proxy.served_requests import ServedRequests
from footplate.store import open_store
from tests.support.clock import FakeClock
from tests.support.deadlines import EVENT_S
from tests.support.http_server import serve
from tests.support.jobs_service import MemoryJobs
from tests.support.models import MemoryFiles, MemoryModels
from tests.support.persistent_resources import MemoryResources
from tests.support.sites import make_regions, make_site
from tests.support.store import MemoryStore
from tests.support.vizier import CountingIds, memory_vizier


@dataclass(frozen=True)
class World:
    """A server, and the routes that its documents describe."""

    url: str
    described: Described

    @contextmanager
    def client(self, api: str, version: str, host: str = "") -> Iterator[Any]:
        """The API's client; it goes to ``host``, one of Google's, as if through the proxy.

        Any: it makes its methods at run time, of the document.
        """
        root = f"https://{host}" if host else self.url
        with closing(LedHttp(self.url, root)) as http:
            where = f"{root}/discovery/v1/apis/{{api}}/{{apiVersion}}/rest"
            made = discovery.build(
                api, version, http=http, discoveryServiceUrl=where, static_discovery=False
            )
            yield made


class LedHttp:
    """``httplib2.Http``, whose requests for ``root`` reach the server at ``url``.

    It fails a request for another address.
    """

    def __init__(self, url: str, root: str) -> None:
        self._url, self._root = url, root
        self._client = httpx.Client(headers={"host": urlsplit(root).netloc}, timeout=EVENT_S)

    def request(
        self,
        uri: str,
        method: str = "GET",
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        **_options: object,
    ) -> tuple[httplib2.Response, bytes]:
        assert uri.startswith(f"{self._root}/"), uri
        content = body.read() if hasattr(body, "read") else body
        url = self._url + uri.removeprefix(self._root)
        answer = self._client.request(method, url, content=content, headers=headers)
        shown = {name: value for name, value in answer.headers.items() if name != "content-length"}
        return httplib2.Response({**shown, "status": str(answer.status_code)}), answer.content

    def close(self) -> None:
        self._client.close()


class Led:
    """Takes requests with the name of a host of Google's for those of the proxy."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        if scope["type"] == "http":
            host = find_host(Headers(scope=scope)["host"])
            if host is not None:
                app = ServedRequests(app, host, None, once=False)
                scope = {**scope, "scheme": "https"}
        await app(scope, receive, send)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder, jobs, catalogue, ids = (
        tmp_path_factory.mktemp("w"),
        MemoryJobs(),
        load_catalogue(),
        CountingIds(),
    )
    clock, store = jobs.clock, MemoryStore()
    logs = FileLogs(folder / "logs", lambda: datetime.now(UTC))
    finder = JobFinder(jobs.get, ("us-central1",))
    written = WrittenEntries(jobs.store, logs, ProgramStorage(jobs.store, b"s", "").bearer)
    regions = make_regions(make_site(Mode.ENFORCE, vcpus=8, memory_gb=64))
    registry = ModelRegistry(MemoryModels(), MemoryFiles(), clock, ids)
    kept = MemoryResources()
    queue = Queue(store, regions, catalogue, 3600.0, FakeClock(), resources=kept.all)
    resources = PersistentResources(
        kept, store, queue, regions.site, Quotas, catalogue, clock, queue.resources_changed
    )
    with (
        closing(open_store(f"sqlite:///{folder}/footplate.db")) as opened,
        closing(FolderBuckets(folder / "buckets", clock)) as buckets,
        closing(logs),
    ):
        buckets.create_bucket("stage")
        vizier = memory_vizier(clock)
        vertex = [
            *operation_routes(jobs, registry.exists),
            *vizier_routes(vizier, clock, catalogue),
            *vertex_routes(jobs, clock, catalogue, jobs.kept_trials),
            *model_routes(registry, clock, catalogue),
            *persistent_resource_routes(resources, clock, ids, catalogue),
            *dataset_routes(
                opened.tracking,
                Datasets(opened.tracking, buckets, clock),
                clock,
                ids,
                catalogue,
            ),
            *tracking_routes(opened.tracking, clock, ids, catalogue, buckets),
            *location_routes(catalogue),
        ]
        described = Described(
            training=[
                *training_routes(jobs, catalogue, jobs.kept_trials),
                *study_routes(vizier, clock, catalogue),
                *location_routes(catalogue),
            ],
            vertex=vertex,
            storage=storage_routes(buckets),
            logging=[
                *logging_routes(logs, jobs.get, finder, Followers(), lambda *_: []),
                *EntryWriting(written, finder, jobs.get, clock.now).routes(),
            ],
            read_published=read_published,
        )
        routes = [
            *described.training,
            *described.storage,
            *described.logging,
            *described.vertex,
            *discovery_routes(described),
        ]
        with serve(Led(create_app(routes, Access(token=None)))) as url:
            yield World(url, described)
