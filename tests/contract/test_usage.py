"""The contract of histories of utilisation, over each kind of them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from footplate.logs.usage import FileUsage
from footplate.ports.usage import UsageHistory
from tests.support.usage import MemoryUsage
from tests.support.usage_contract import START, UsageContract


class TestFileUsage(UsageContract):
    def open_history(self, directory: Path) -> UsageHistory:
        return FileUsage(directory, lambda: START + timedelta(days=1))


class TestMemoryUsage(UsageContract):
    def open_history(self, directory: Path) -> UsageHistory:
        return MemoryUsage()
