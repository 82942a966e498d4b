"""The contract of logs, over each kind of them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from footplate.logs.files import FileLogs
from footplate.ports.logs import Logs
from tests.support.logs import MemoryLogs
from tests.support.logs_contract import LogsContract


class TestFileLogs(LogsContract):
    def open_logs(self, directory: Path, now: Callable[[], datetime]) -> Logs:
        return FileLogs(directory, now)


class TestFileLogsWithFewOpenFiles(LogsContract):
    def open_logs(self, directory: Path, now: Callable[[], datetime]) -> Logs:
        return FileLogs(directory, now, open_files=0)


class TestMemoryLogs(LogsContract):
    def open_logs(self, directory: Path, now: Callable[[], datetime]) -> Logs:
        return MemoryLogs(now)
