"""The listener for launchers on other machines, on real sockets."""

from __future__ import annotations

import asyncio
import socket
import ssl
import tracemalloc
from asyncio import sslproto
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
import uvicorn
from cryptography import x509
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from uvicorn.server import ServerState

from footplate.domain.errors import InvalidArgument
from footplate.server.bounded_http import BoundedRequests
from footplate.server.cluster_listener import ClusterListener
from footplate.server.data_dir import DataDir
from footplate.server.leaf_certificates import RENEWED_AFTER
from footplate.settings import Settings, load_settings

LIMIT_S = 60


def leads() -> bool:
    return True


def make(
    data_dir: DataDir,
    now: Callable[[], datetime] | None = None,
    port: int = 0,
    database_url: str | None = None,
) -> ClusterListener:
    settings = Settings(
        data_dir.root, cluster_address=("127.0.0.1", port), database_url=database_url
    )
    return ClusterListener(settings, data_dir, now)


def config() -> uvicorn.Config:
    async def answer(_request: Request) -> PlainTextResponse:
        return PlainTextResponse("there")

    app = Starlette(routes=[Route("/replica/v1/task", answer)])
    return uvicorn.Config(app, lifespan="off", http=BoundedRequests, log_config=None)


async def call(listener: ClusterListener) -> tuple[bytes, x509.Certificate]:
    """The answer to a request that trusts the authority alone, and the certificate shown."""
    trusting = ssl.create_default_context(cafile=str(listener.certificate_file))
    port = int(listener.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusting)
    writer.write(b"GET /replica/v1/task HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    answer = await asyncio.wait_for(reader.read(), LIMIT_S)
    shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    return answer, x509.load_der_x509_certificate(shown)


def test_it_answers_with_a_certificate_for_its_address_that_renews_itself(tmp_path: Path) -> None:
    now = datetime.now(UTC) - 2 * RENEWED_AFTER
    data_dir = DataDir(tmp_path)

    async def run() -> None:
        nonlocal now
        with closing(make(data_dir, lambda: now)) as listener:
            await listener.start(config(), ServerState(), leads)
            answer, first = await call(listener)
            assert answer.endswith(b"there")
            names = first.extensions.get_extension_for_class(x509.SubjectAlternativeName)
            assert [str(name) for name in names.value.get_values_for_type(x509.IPAddress)] == [
                "127.0.0.1"
            ]
            assert (await call(listener))[1] == first
            now += RENEWED_AFTER + timedelta(seconds=1)
            assert (await call(listener))[1].not_valid_after_utc > first.not_valid_after_utc
            listener.stop()

    asyncio.run(run())


def test_thousands_of_connections_fit_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each replica of a cluster keeps some for as long as it runs."""
    monkeypatch.setattr(sslproto.SSLProtocol, "max_size", 1024)  # of the clients, which are here
    data_dir = DataDir(tmp_path)

    async def run() -> int:
        with closing(make(data_dir)) as listener:
            await listener.start(config(), ServerState(), leads)
            trusting = ssl.create_default_context(cafile=str(listener.certificate_file))
            port = int(listener.url.rpartition(":")[2])
            tracemalloc.start()
            opened = [
                await asyncio.open_connection("127.0.0.1", port, ssl=trusting) for _ in range(20)
            ]
            used, _ = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            for _, writer in opened:
                writer.close()
            listener.stop()
            return used // len(opened)

    assert asyncio.run(run()) < 30_000


def test_launchers_get_the_authoritys_certificate_without_its_key(tmp_path: Path) -> None:
    data_dir = DataDir(tmp_path)
    with closing(make(data_dir)) as listener:
        content = listener.certificate_file.read_text()
        assert content.startswith("-----BEGIN CERTIFICATE")
        assert "PRIVATE" not in content


def test_a_free_port_is_taken_again_at_the_next_start(tmp_path: Path) -> None:
    data_dir = DataDir(tmp_path)
    with closing(make(data_dir)) as first:
        url = first.url
    with closing(make(data_dir)) as second:
        assert second.url == url


def test_of_several_servers_the_one_that_leads_listens(tmp_path: Path) -> None:
    data_dir = DataDir(tmp_path)
    reserved = socket.socket()  # bound and not listening: nobody else is given its port
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    port = reserved.getsockname()[1]
    shared = "postgresql+psycopg://there/jobs"
    first, second = (make(data_dir, port=port, database_url=shared) for _ in range(2))
    leading = {first: True, second: False}

    async def reach() -> bytes:
        while True:
            try:
                return (await call(first))[0]
            except OSError:
                await asyncio.sleep(0.05)

    async def run() -> None:
        for listener in (first, second):
            await listener.start(config(), ServerState(), partial(leading.__getitem__, listener))
        assert (await asyncio.wait_for(reach(), LIMIT_S)).endswith(b"there")
        leading.update({first: False, second: True})
        while first.listens or not second.listens:
            await asyncio.sleep(0.05)
        assert (await asyncio.wait_for(reach(), LIMIT_S)).endswith(b"there")
        for listener in (first, second):
            listener.stop()

    with closing(reserved):
        asyncio.run(asyncio.wait_for(run(), LIMIT_S))


def test_a_taken_port_and_a_foreign_address_are_named(tmp_path: Path) -> None:
    data_dir = DataDir(tmp_path)
    with closing(make(data_dir)) as taken:
        port = int(taken.url.rpartition(":")[2])
        with pytest.raises(InvalidArgument, match=f"{port} given: another program"):
            make(DataDir(tmp_path), port=port)
    settings = Settings(tmp_path, cluster_address=("203.0.113.5", 0))
    with pytest.raises(
        InvalidArgument, match=r"cluster_address: .*203.*; choose an address of this mach"
    ):
        ClusterListener(settings, data_dir)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("10.0.0.5:8474", ("10.0.0.5", 8474)),
        ("trainer.lan:0", ("trainer.lan", 0)),
        ("[fd00::5]:8474", ("fd00::5", 8474)),
    ],
)
def test_addresses_that_are_taken(tmp_path: Path, text: str, read: tuple[str, int]) -> None:
    settings = load_settings({}, {"data_dir": tmp_path, "cluster_address": text})
    assert settings.cluster_address == read


@pytest.mark.parametrize(
    "given", ["8474", "10.0.0.5", "0.0.0.0:8474", "[::]:1", "a b:1", "a:65536", "", "::5:80"]
)
def test_addresses_that_are_refused(tmp_path: Path, given: str) -> None:
    with pytest.raises(
        InvalidArgument, match=r"cluster_address: .* allowed: HOST:PORT, the address"
    ):
        load_settings({}, {"data_dir": tmp_path, "cluster_address": given})
