"""The contract of backends, over a real Kubernetes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.engine_contract import EngineContract
from tests.support.kubernetes import Kubernetes
from tests.support.kubernetes_rig import KubernetesRig


class TestKubernetesBackend(EngineContract):
    @pytest.fixture
    def rig(self, kubernetes: Kubernetes, tmp_path: Path) -> Iterator[KubernetesRig]:
        rig = KubernetesRig(kubernetes, tmp_path)
        yield rig
        rig.close()
