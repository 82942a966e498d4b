"""google-cloud-logging, which writes and reads over REST, and over gRPC as it does by default."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import grpc
import pytest
from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.cloud.logging_v2 import Client, Resource
from google.cloud.logging_v2.handlers import CloudLoggingHandler
from google.cloud.logging_v2.handlers.transports import SyncTransport
from google.cloud.logging_v2.services.logging_service_v2 import LoggingServiceV2Client
from google.cloud.logging_v2.services.logging_service_v2.transports import (
    LoggingServiceV2GrpcTransport,
)
from google.cloud.logging_v2.types import TailLogEntriesRequest

from footplate.grpc_api import tailing
from footplate.grpc_api.port import GrpcPort
from footplate.grpc_api.schema import load_schema
from tests.api.logging.conftest import World, build
from tests.support.deadlines import EVENT_S

Make = Callable[[], Client]


@contextmanager
def grpc_port(world: World) -> Iterator[str]:
    """Where it listens, without TLS, in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def start() -> tuple[Any, int]:
        handler = GrpcPort(build(world), load_schema(), "127.0.0.1", "127.0.0.1", {})
        server = grpc.aio.server(handlers=(handler,))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        return server, port

    server, port = asyncio.run_coroutine_threadsafe(start(), loop).result(EVENT_S)
    try:
        yield f"127.0.0.1:{port}"
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(None), loop).result(EVENT_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(EVENT_S)
        loop.close()


@pytest.fixture
def service(world: World) -> Iterator[LoggingServiceV2Client]:
    with grpc_port(world) as address, grpc.insecure_channel(address) as channel:
        yield LoggingServiceV2Client(transport=LoggingServiceV2GrpcTransport(channel=channel))


@pytest.fixture(params=["grpc", "rest"])
def client(request: pytest.FixtureRequest, url: str) -> Client:
    options = {"api_endpoint": url}
    rest = request.param == "rest"
    made = Client(
        project="demo",
        credentials=AnonymousCredentials(),
        client_options=options,
        _use_grpc=not rest,
    )
    if not rest:
        made.logging_api._gapic_api = request.getfixturevalue("service")
    return made


def test_a_logger_of_the_program_writes_to_the_jobs_log(world: World, client: Client) -> None:
    job = world.start()
    world.programs = {str(job.name)}
    resource = Resource("global", {"project_id": "demo"})
    handler = CloudLoggingHandler(client, transport=SyncTransport, resource=resource)
    logger = logging.Logger("trainer", logging.INFO)
    logger.addHandler(handler)
    logger.warning("loss %s", 0.5, extra={"labels": {"epoch": "3"}})
    logger.info("payload", extra={"json_fields": {"step": 12, "nested": {"rate": 0.25}}})
    logger.debug("too low")

    first, second = client.list_entries(order_by="timestamp asc")
    assert (first.severity, first.payload) == ("WARNING", "loss 0.5")
    assert first.labels["epoch"] == "3"
    assert first.labels["python_logger"] == "trainer"
    assert first.logger.name == "python"
    assert (
        first.source_location["function"] == "test_a_logger_of_the_program_writes_to_the_jobs_log"
    )
    assert first.resource.labels["task_name"] == "master-replica-0"
    assert second.payload == {"message": "payload", "step": 12, "nested": {"rate": 0.25}}
    (found,) = client.logger("python").list_entries(filter_="jsonPayload.step>10")
    assert found.insert_id == second.insert_id


def test_entries_of_a_project_in_pages_and_by_a_filter(world: World, client: Client) -> None:
    job = world.start()
    world.print(job, *(f"line {number}" for number in range(7)))
    world.print(job, "bad", stream="stderr")
    found = client.list_entries(order_by="timestamp desc", page_size=3)
    assert [entry.payload for entry in found] == ["bad", *(f"line {6 - n}" for n in range(7))]
    severe = client.list_entries(filter_="severity>=ERROR")
    assert [entry.payload for entry in severe] == ["bad"]
    by_pattern = client.list_entries(filter_='textPayload=~"^line [0-2]$"', max_results=2)
    assert [entry.payload for entry in by_pattern] == ["line 0", "line 1"]
    with pytest.raises(exceptions.BadRequest, match="unknown field"):
        list(client.list_entries(filter_="colour=red"))


def test_a_batch_and_each_kind_of_entry(world: World, client: Client) -> None:
    world.programs = {str(world.start().name)}
    logger = client.logger("mine", labels={"team": "ads"})
    with logger.batch() as batch:
        batch.log_text("text", severity="NOTICE", insert_id="a")
        batch.log_struct({"a": [1, None, "b"]}, labels={"own": "x"})
        batch.log_empty(severity=500)
    logger.log_text("now", timestamp=datetime(2026, 1, 2, tzinfo=UTC))
    entries = list(client.list_entries())
    assert [entry.payload for entry in entries] == ["text", {"a": [1, None, "b"]}, "", "now"]
    assert [entry.severity or "DEFAULT" for entry in entries[:3]] == ["NOTICE", "DEFAULT", "ERROR"]
    assert entries[3].labels["printed"] == "2026-01-02T00:00:00.000000Z"
    assert entries[3].labels["team"] == "ads"


def test_logs_over_grpc(world: World, service: LoggingServiceV2Client) -> None:
    world.print(world.start(), "x")
    assert list(service.list_logs(parent="projects/demo")) == [
        "projects/demo/logs/master-replica-0"
    ]
    with pytest.raises(exceptions.MethodNotImplemented, match="a log only with its job"):
        service.delete_log(log_name="projects/demo/logs/python")


def test_entries_are_followed(
    world: World, service: LoggingServiceV2Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tailing, "INTERVAL_S", 0.05)
    job = world.start()
    world.print(job, "before")
    asked = TailLogEntriesRequest(
        resource_names=["projects/demo"],
        filter="NOT textPayload:quiet",
        buffer_window=timedelta(0),
    )
    found: list[str] = []
    arrived = threading.Event()

    def follow() -> None:
        for answer in service.tail_log_entries(iter([asked])):  # it waits for the first one
            found.extend(entry.text_payload for entry in answer.entries)
            if found[-1] == "last":
                arrived.set()
                return

    thread = threading.Thread(target=follow)
    thread.start()
    numbers = iter(range(1_000_000))
    while not found and thread.is_alive():  # until the session has begun
        world.print(job, f"line {next(numbers)}", "quiet")
        arrived.wait(0.05)
    world.print(job, "quiet", "one", "two", "last")
    assert arrived.wait(EVENT_S)
    thread.join(EVENT_S)
    assert "before" not in found
    assert "quiet" not in found
    assert found[-3:] == ["one", "two", "last"]
    assert found[:-3] == sorted(set(found[:-3]), key=lambda text: int(text.split()[1]))


def test_a_session_is_refused_by_name(world: World, service: LoggingServiceV2Client) -> None:
    for fields, problem in (
        ({"resource_names": ["folders/1"]}, "projects/PROJECT"),
        ({"resource_names": ["projects/demo"], "filter": "colour=red"}, "unknown field"),
    ):
        asked = TailLogEntriesRequest(**fields, buffer_window=timedelta(0))
        with pytest.raises(exceptions.InvalidArgument, match=problem):
            next(iter(service.tail_log_entries(iter([asked]))))
