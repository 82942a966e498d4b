"""The proxy for programs on nodes, at the port of launchers, on real sockets."""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from uvicorn.server import ServerState

from footplate.domain.errors import NotFound, PermissionDenied
from footplate.server.bounded_http import BoundedRequests
from footplate.server.certificate_authority import open_authority
from footplate.server.cluster_listener import ClusterListener
from footplate.server.data_dir import DataDir
from footplate.server.grpc_relay import GrpcRelay
from footplate.server.leaf_certificates import LeafCertificates
from footplate.server.node_proxy import NodeProxy
from footplate.server.proxy_connection import Tunnels
from footplate.settings import Settings

LIMIT_S = 60
AIPLATFORM, STORAGE = "us-central1-aiplatform.googleapis.com", "storage.googleapis.com"
LOGGING = "logging.googleapis.com"
KEYS = {"program": "buckets", "caller": "calls"}


def check_key(key: str) -> None:
    if key != KEYS["program"]:
        raise PermissionDenied("no key to buckets")


def check_call(key: str) -> None:
    if key == "refused":
        raise PermissionDenied("its job has no serviceAccount")
    if key != KEYS["caller"]:
        raise NotFound("no key")


async def answer(request: Request) -> PlainTextResponse:
    """What reached the app."""
    shown = request.headers.get("authorization", "nothing")
    return PlainTextResponse(f"{request.url.path} with {shown}")


async def ask(
    url: str, trusting: ssl.SSLContext, host: str, user: str, key: str, *, port: int = 443
) -> str:
    """The answer to a request in a tunnel, or the line that refuses the tunnel."""
    address = int(url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", address, ssl=trusting)
    shown = b64encode(f"{user}:{key}".encode()).decode()
    head = f"CONNECT {host}:{port} HTTP/1.1\r\nProxy-Authorization: Basic {shown}\r\n\r\n"
    for part in (head[:3], head[3:]):
        writer.write(part.encode())
        await writer.drain()
    line = (await reader.readuntil(b"\r\n\r\n")).decode().splitlines()[0]
    if " 200 " not in line:
        writer.close()
        return line
    await writer.start_tls(trusting, server_hostname=host)
    writer.write(
        f"GET /v1/x HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer made-up\r\n"
        "Connection: close\r\n\r\n".encode()
    )
    body = (await reader.read()).decode().rpartition("\r\n")[2]
    writer.close()
    return body


def run(tmp_path: Path, *asked: tuple[str, str, str, int], proxied: bool = True) -> list[str]:
    async def start() -> list[str]:
        data_dir = DataDir(tmp_path)
        settings = Settings(tmp_path, cluster_address=("127.0.0.1", 0))
        app = Starlette(routes=[Route("/{rest:path}", answer)])
        config = uvicorn.Config(app, lifespan="off", http=BoundedRequests, log_config=None)
        state, now = ServerState(), datetime.now(UTC)
        with closing(ClusterListener(settings, data_dir)) as listener:
            authority = open_authority(data_dir, now)
            relay = GrpcRelay("http://127.0.0.1:1")  # is not started
            leaves = LeafCertificates(lambda: authority, tmp_path)
            tunnels = Tunnels("http://127.0.0.1:8470", leaves, relay, config, state)
            proxy = NodeProxy(tunnels, check_key, check_call) if proxied else None
            await listener.start(config, state, lambda: True, proxy)
            trusting = ssl.create_default_context(cafile=str(listener.certificate_file))
            try:
                return [
                    await asyncio.wait_for(
                        ask(listener.url, trusting, host, user, key, port=port), LIMIT_S
                    )
                    for host, user, key, port in asked
                ]
            finally:
                listener.stop()

    return asyncio.run(start())


def test_a_key_says_who_calls_whatever_the_client_sends(tmp_path: Path) -> None:
    called, stored, logged = run(
        tmp_path,
        (AIPLATFORM, "caller", KEYS["caller"], 443),
        (STORAGE, "program", KEYS["program"], 443),
        (LOGGING, "program", KEYS["program"], 443),
    )
    assert called == f"/v1/x with Bearer {KEYS['caller']}"
    assert stored.startswith(f"/programs/{KEYS['program']}/")
    assert logged.startswith(f"/programs/{KEYS['program']}/v1/x ")


def test_tunnels_are_refused(tmp_path: Path) -> None:
    refused = [
        (AIPLATFORM, "", "", 443),
        (AIPLATFORM, "footplate", "token", 443),
        (AIPLATFORM, "caller", "", 443),
        (AIPLATFORM, "caller", KEYS["program"], 443),
        (AIPLATFORM, "caller", "refused", 443),
        (AIPLATFORM, "program", KEYS["program"], 443),
        (STORAGE, "program", KEYS["caller"], 443),
        ("internal.example", "caller", KEYS["caller"], 443),
        ("127.0.0.1", "caller", KEYS["caller"], 443),
        (AIPLATFORM, "caller", KEYS["caller"], 8470),
    ]
    assert all(" 403 " in line for line in run(tmp_path, *refused))


def test_without_a_proxy_no_tunnel_begins(tmp_path: Path) -> None:
    (line,) = run(tmp_path, (AIPLATFORM, "caller", KEYS["caller"], 443), proxied=False)
    assert " 200 " not in line
