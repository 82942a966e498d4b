"""The program that an engine starts for each replica, and the settings of its launchers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from importlib.util import MAGIC_NUMBER

from footplate.backends.engine.attempt import Attempt
from footplate.backends.engine.engine import Engine
from footplate.backends.engine.launcher_tokens import LauncherBearer, LauncherTokens
from footplate.backends.engine.lost_nodes import LostNodeLimits
from footplate.domain.launchers import LEASE_MARGIN_S, LEASE_S


@dataclass(frozen=True)
class LauncherSettings:
    """The settings for launchers of one region.

    ``url`` returns the server's address for nodes, ``authority`` the certificate (PEM) by which
    they verify it if that is https. ``archive`` and ``supervisor`` are digests of the files that
    launchers run. A launcher without contact for ``lease_s`` ends its replica, and ``margin_s``
    later no process of it is left. A node whose launcher is silent for ``node_lost_s`` is lost (0:
    not set); ``fence`` and ``voids_keys`` are those of ``LostNodeLimits``. ``scratch`` is a
    directory on each node for this user alone (empty: below /tmp). ``settle_s`` is how long
    processes may survive that the engine ended without their launcher.
    """

    url: Callable[[], str]
    authority: Callable[[], str]
    archive: str
    supervisor: str
    scratch: str = ""
    lease_s: float = LEASE_S
    margin_s: float = LEASE_MARGIN_S
    settle_s: float = 0.0
    node_lost_s: float = 0.0
    fence: tuple[str, ...] = ()
    voids_keys: bool = False

    @property
    def limits(self) -> LostNodeLimits:
        lease_end_s = self.lease_s + self.margin_s
        return LostNodeLimits(lease_end_s, self.node_lost_s, self.fence, self.voids_keys)


def make_program(
    engine: Engine,
    settings: LauncherSettings,
    tokens: LauncherTokens,
    region: str,
    attempt: Attempt,
    allocation: int,
    replicas: tuple[str, ...],
) -> bytes:
    """Returns the configured launcher program, which each rank of an allocation runs."""
    config = {
        "url": settings.url(),
        "authority": settings.authority(),
        "archive": settings.archive,
        "supervisor": settings.supervisor,
        "bytecode": MAGIC_NUMBER.hex(),
        "scratch": settings.scratch,
        "lease_s": settings.lease_s,
        "rank_variable": engine.rank_variable,
        "job_variable": engine.job_variable,
        "node_variable": engine.node_variable,
        "replicas": [
            {
                "replica": name,
                "directory": f"{attempt.id}.{name}.{allocation}",
                "token": tokens.issue(LauncherBearer(region, attempt.id, allocation, name)),
            }
            for name in replicas
        ],
    }
    source = resources.files("footplate") / "replica" / "launcher" / "bootstrap.py"
    return source.read_bytes() + f"\nmain(json.loads({json.dumps(config)!r}))\n".encode()
