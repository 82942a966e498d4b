"""A request for GPUs reaches Podman, which says that this machine has none of that name."""

from __future__ import annotations

from typing import Any

import pytest

from footplate.containers.engine_api import Engine as EngineApi
from footplate.containers.engine_api import EngineError
from tests.e2e.containers.container_context import IMAGE, Engine


def test_podman_looks_for_the_requested_gpu(podman: Engine) -> None:
    spec: dict[str, Any] = {
        "Image": IMAGE,
        "Cmd": ["true"],
        "Env": [],
        "Labels": {},
        "HostConfig": {
            "Mounts": [],
            "NetworkMode": "host",
            "LogConfig": {"Type": "none"},
            "ShmSize": 64 << 20,
            "CapDrop": [],
            "SecurityOpt": [],
            "OomScoreAdj": 0,
            "DeviceRequests": [{"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=absent"]}],
        },
    }
    api, name = EngineApi(podman.socket), "footplate-test-gpus"
    try:
        api.create(name, spec)
        with pytest.raises(EngineError, match=r"nvidia\.com/gpu=absent"):
            api.start(name)
    finally:
        api.remove(name)
    assert podman.containers() == []
