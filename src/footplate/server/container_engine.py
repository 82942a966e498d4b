"""The container engine, as the settings name it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from footplate.container_engine.discovery import EngineFinder

if TYPE_CHECKING:
    from footplate.ports.container_engine import ContainerEngine
    from footplate.settings import Settings


def find_container_engine(settings: Settings) -> ContainerEngine:
    return EngineFinder(settings.container_engine, os.environ)
