"""Engines that send a byte now and then: the thread that asks them is free again after a time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from footplate.backends.engine.engine import EngineUnavailable
from footplate.backends.kubernetes import KubernetesEngine, PodSettings
from footplate.backends.limited_client import make_client
from footplate.backends.ray.dashboard import Dashboard
from footplate.backends.slurm.job_script import RestServer, SlurmSettings
from footplate.backends.slurm.rest_client import RestClient
from tests.support.dripping_server import BODY, HEAD, drip
from tests.support.http_server import serve

LIMIT_S = 0.2
LATE = r"can't be reached: the whole answer took longer than 0\.2 s"


def make_kubeconfig(url: str) -> str:
    return json.dumps(
        {
            "clusters": [{"name": "c", "cluster": {"server": url}}],
            "users": [{"name": "u", "user": {"token": "t"}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
    )


@pytest.mark.parametrize("begin", [HEAD, BODY])
def test_a_dashboard_that_drips_is_away(begin: bytes) -> None:
    with drip(begin) as host, pytest.raises(EngineUnavailable, match=LATE):
        Dashboard(f"http://{host}", limit_s=LIMIT_S).send("GET", "/api/jobs/")


@pytest.mark.parametrize("begin", [HEAD, BODY])
def test_a_slurmrestd_that_drips_is_away(begin: bytes, tmp_path: Path) -> None:
    with drip(begin) as host:
        urls = [f"http://{host}"]
        with drip(begin, str(tmp_path / "socket")) as path:
            for url in (*urls, f"unix:{path}"):
                client = RestClient(SlurmSettings(), RestServer(url, "ada"), LIMIT_S)
                with pytest.raises(EngineUnavailable, match=LATE):
                    client.list_jobs("footplate-")


@pytest.mark.parametrize("begin", [HEAD, BODY])
def test_a_cluster_of_kubernetes_that_drips_is_away(
    begin: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("footplate.limited_http.LIMIT_S", LIMIT_S)
    config = tmp_path / "config"
    with drip(begin) as host:
        config.write_text(make_kubeconfig(f"http://{host}"))
        engine = KubernetesEngine(PodSettings(image="i"), kubeconfig=config)
        with pytest.raises(EngineUnavailable, match=r"can't be reached: .*imed out"):
            engine.find("x")


def test_large_bodies_go_both_ways() -> None:
    content = bytes(range(256)) * 4000

    async def echo(request: Request) -> Response:
        return Response(await request.body())

    with serve(Starlette(routes=[Route("/", echo, methods=["PUT"])])) as url:
        client = make_client(url, 60)
        for _ in range(2):
            assert client.put("/", content=content).content == content
