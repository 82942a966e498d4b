"""Installs guards and patches, then runs the previous sitecustomize.

This runs at the start of every Python program, whether it will ever use a client of Google's or
not: it imports next to nothing (typing, re and inspect alone would cost 15 ms), and what patches
a module is imported when that module is.
"""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import PathFinder

from . import socket_guard
from .endpoint import ALLOWED, PROXY, read_endpoint
from .google_hosts import allow_hosts
from .import_hooks import PatchingFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

PATCHES = {
    "google.auth._default": ("auth", "patch_default"),
    "google.auth._default_async": ("auth", "patch_default_async"),
    "google.auth.credentials": ("auth", "patch_credentials"),
    "google.cloud.aiplatform.utils.resource_manager_utils": ("gapic", "patch_project_numbers"),
    "google.cloud.storage.client": ("storage", "patch_client"),
    "googleapiclient.discovery": ("discovery", "patch_discovery"),
    "grpc._channel": ("grpc_channels", "patch_channel"),
    "grpc.aio._channel": ("grpc_channels", "patch_channel"),
}
"""By the module that is patched: the module here that does it, and its function."""


def start(environ: Mapping[str, str]) -> None:
    """Where the server has a proxy, that leads the clients, and nothing of Google's is patched."""
    proxy = environ.get(PROXY, "")
    allow_hosts(tuple(filter(None, environ.get(ALLOWED, "").split(","))))
    socket_guard.install(proxy)
    if proxy:
        sys.meta_path.insert(0, PatchingFinder(_find_tunnel_patch))
        return
    endpoint = read_endpoint(environ)

    def find_patch(name: str) -> Callable[[ModuleType], None] | None:
        found = ("gapic", "patch_clients") if _is_client(name) else PATCHES.get(name)
        if found is None:
            return None
        here, function = found

        def patch(module: ModuleType) -> None:
            getattr(importlib.import_module(f"{__package__}.{here}"), function)(module, endpoint)

        return patch

    sys.meta_path.insert(0, PatchingFinder(find_patch))


def _find_tunnel_patch(name: str) -> Callable[[ModuleType], None] | None:
    if name != "httplib2":
        return None

    def patch(module: ModuleType) -> None:
        tunnel = importlib.import_module(f"{__package__}.http_tunnel")
        tunnel.patch_httplib2(module, tunnel)

    return patch


def _is_client(name: str) -> bool:
    """``google.cloud.aiplatform_v1.services.SERVICE.client``, and of v1beta1."""
    return name.startswith("google.cloud.aiplatform_v1") and name.endswith(".client")


def chain(folder: str) -> None:
    """Take ``folder`` off the path, and run the sitecustomize that it hid, if there is one."""
    sys.path[:] = [entry for entry in sys.path if entry != folder]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = importlib.import_module("importlib.util").module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)
