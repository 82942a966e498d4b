"""The contract of backends, over a real Kubernetes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.engine_contract import EngineContract
from tests.support.kubernetes_rig import KubernetesRig

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.kubernetes import Kubernetes


class TestKubernetesBackend(EngineContract):
    @pytest.fixture
    def rig(self, kubernetes: Kubernetes, tmp_path: Path) -> Iterator[KubernetesRig]:
        rig = KubernetesRig(kubernetes, tmp_path)
        yield rig
        rig.close()
