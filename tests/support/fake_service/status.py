"""The service at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.fake_service.messages import Answer

if TYPE_CHECKING:
    from tests.support.fake_service.messages import Request, Route
    from tests.support.fake_service.service import FakeService

CERTIFICATE = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
"""In form only."""


def _health(service: FakeService, _request: Request) -> Answer:
    proxy = {} if service.proxy_port is None else {"proxyPort": service.proxy_port}
    return Answer(body={"status": "ok", "version": "0.1.0.dev0", **proxy})


def _authority(_service: FakeService, _request: Request) -> Answer:
    return Answer(body={"certificate": CERTIFICATE})


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
            "regions": service.regions,
        }
    )


def _down(service: FakeService, _request: Request) -> Answer:
    return Answer(body={"cancelledJobs": len(service.jobs)})


ROUTES: list[Route] = [
    ("GET", "/healthz", _health),
    ("GET", "/footplate/v1/certificateAuthority", _authority),
    ("GET", "/footplate/v1/status", _status),
    ("POST", "/footplate/v1/down", _down),
]
