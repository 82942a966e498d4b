"""Puts guards and patches in place; then lets a sitecustomize run that was there before."""

from __future__ import annotations

import sys
from functools import partial
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import TYPE_CHECKING

from . import auth, discovery, gapic, grpc_channels, guard, storage
from .endpoint import read_endpoint
from .importing import PatchingFinder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

    from .endpoint import Endpoint

_SERVICES = r"google\.cloud\.aiplatform_v1(?:beta1)?\.services\.\w+\.client"

PATCHES = (
    (r"google\.auth\._default(?:_async)?", auth.patch_default),
    (r"google\.auth\.credentials", auth.patch_credentials),
    (_SERVICES, gapic.patch_clients),
    (
        r"google\.cloud\.aiplatform\.utils\.resource_manager_utils",
        gapic.patch_project_numbers,
    ),
    (r"google\.cloud\.storage\.client", storage.patch_client),
    (r"googleapiclient\.discovery", discovery.patch_discovery),
    (r"grpc(?:\.aio)?\._channel", grpc_channels.patch_channel),
)


def start(environ: Mapping[str, str]) -> None:
    guard.install()
    endpoint = read_endpoint(environ)
    patches = [(pattern, partial(_apply, patch, endpoint)) for pattern, patch in PATCHES]
    sys.meta_path.insert(0, PatchingFinder(patches))


def _apply(
    patch: Callable[[ModuleType, Endpoint], None], endpoint: Endpoint, module: ModuleType
) -> None:
    patch(module, endpoint)


def chain(folder: str) -> None:
    """Take ``folder`` off the path, and run the sitecustomize that it hid, if there is one."""
    sys.path[:] = [entry for entry in sys.path if entry != folder]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)
