"""Resolves packages in a process of the supervisor's archive, as replicas do."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import uv

from footplate.control.preparations import describe_runtime
from footplate.domain.errors import DeadlineExceeded, Unavailable
from footplate.domain.runtimes import Runtimes
from footplate.ports.package_resolver import EnvironmentRequest, Resolution
from footplate.protocol.message import Message
from footplate.protocol.promised import Promised
from footplate.protocol.task import SLICE_VARIABLE, Package, PythonTask, Task
from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.isolation.procfs import MARK_VARIABLE
from footplate.replica.isolation.subreaper import sweep_marked
from footplate.replica.program_spec import compose_build_environment
from footplate.server.data_dir import DataDir
from footplate.server.program_users import resolve

if TYPE_CHECKING:
    from footplate.settings import Settings

LIMIT_S = 600.0
"""The limit of one environment. The first check of a runtime builds it."""
_AT_ONCE = 2
_STALE_S = 86_400
_ERROR_CHARACTERS = 2000


class ProcessResolver:
    """Resolves packages, each in a directory of its own in ``DATA_DIR/package-checks``."""

    def __init__(
        self,
        settings: Settings,
        data_dir: DataDir,
        runtimes: Runtimes,
        archive: Path,
        promised: Callable[[], Promised],
        limit_s: float = LIMIT_S,
    ) -> None:
        self._limit_s = limit_s
        self._promised = promised
        self._runtimes = runtimes
        self._command = (sys.executable, "-I", "-S", str(archive), "check-packages")
        self._folder = data_dir.root / "package-checks"
        self._make_ticket = partial(
            SupervisorTicket,
            cache=str(settings.cache.absolute()),
            cache_limit_bytes=settings.cache_limit_bytes,
            build_limits=settings.build_limits,
            buckets=str(data_dir.buckets.absolute()),
            uv=uv.find_uv_bin(),
            build_users=resolve(settings.program_users),
            pythons=tuple(settings.pythons),
            fetch_interpreters=settings.fetches_interpreters,
            private=(
                str(data_dir.root.absolute()),
                *(str(folder) for folder in settings.bound_folders),
            ),
        )
        self._slots = asyncio.Semaphore(_AT_ONCE)

    async def resolve(
        self, request: EnvironmentRequest, open_package: Callable[[str], BinaryIO]
    ) -> Resolution:
        async with self._slots:
            home = await asyncio.to_thread(self._make_home, request, open_package)
            try:
                async with asyncio.timeout(self._limit_s):
                    return await self._run(home)
            except TimeoutError:
                names = ", ".join(uri.rpartition("/")[2] for uri in request.packages)
                raise DeadlineExceeded(
                    f"the check of the packages {names} took longer than {self._limit_s:g} s; "
                    "the job itself has no such limit"
                ) from None
            finally:
                await asyncio.shield(asyncio.to_thread(shutil.rmtree, home, ignore_errors=True))

    async def _run(self, home: Path) -> Resolution:
        """Runs the resolver; kills all its remaining processes at the end."""
        mark = secrets.token_hex(16)
        environment = {**compose_build_environment(os.environ), MARK_VARIABLE: mark}
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                str(home),
                env=environment,
                cwd=home,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise Unavailable(f"the server can't check packages now: {error}") from error
        try:
            output, errors = await process.communicate()
        finally:
            with suppress(ProcessLookupError):
                # Builds may have started processes in other groups: `sweep_marked` ends these.
                os.killpg(process.pid, signal.SIGKILL)
            await asyncio.shield(asyncio.to_thread(sweep_marked, mark))
        return _read_result(output, errors)

    def _make_home(
        self, request: EnvironmentRequest, open_package: Callable[[str], BinaryIO]
    ) -> Path:
        """Creates the resolver's directory. Raises Unavailable, NotFound."""
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            self._remove_stale()
            home = Path(tempfile.mkdtemp(dir=self._folder))
        except OSError as error:
            raise Unavailable(f"the server can't check packages now: {error}") from error
        try:
            self._fill(home, request, open_package)
        except BaseException as error:
            shutil.rmtree(home, ignore_errors=True)
            if isinstance(error, OSError):
                raise Unavailable(f"the server can't check packages now: {error}") from error
            raise
        return home

    def _fill(
        self, home: Path, request: EnvironmentRequest, open_package: Callable[[str], BinaryIO]
    ) -> None:
        for folder in ("locks", "given"):
            (home / folder).mkdir()
        for slices in request.runtime.variants.values():
            for part in slices:
                text = self._runtimes.lock_text(part.lock_sha256)
                (home / "locks" / part.lock_sha256).write_text(text, encoding="utf-8")
        for index, uri in enumerate(request.packages):
            with open_package(uri) as source, (home / "given" / str(index)).open("wb") as target:
                shutil.copyfileobj(source, target)
        _write(home / "ticket.json", self._make_ticket(promised=self._promised()))
        _write(home / "task.json", _describe(request))

    def _remove_stale(self) -> None:
        """Removes directories that a killed server left."""
        for path in self._folder.iterdir():
            if time.time() - path.stat().st_mtime > _STALE_S:
                shutil.rmtree(path, ignore_errors=True)


def _describe(request: EnvironmentRequest) -> Task:
    return Task(
        PythonTask(request.module),
        packages=tuple(Package(uri.rpartition("/")[2]) for uri in request.packages),
        runtime=describe_runtime(request.runtime),
        environment=((SLICE_VARIABLE, request.slice),) if request.slice else (),
        gpus=request.gpus,
        buckets=(),  # builds without a job have none
    )


def _write(path: Path, message: Message) -> None:
    path.write_text(json.dumps(message.encode()), encoding="utf-8")


def _read_result(output: bytes, errors: bytes) -> Resolution:
    """Returns the command's result. Raises Unavailable if the command broke."""
    try:
        result = json.loads(output.splitlines()[-1])
        if "error" in result:
            return Resolution(error=str(result["error"]))
        return Resolution(tuple(str(text) for text in result["added"]))
    except (ValueError, IndexError, KeyError, TypeError):
        details = errors.decode("utf-8", "replace").strip()[-_ERROR_CHARACTERS:]
        raise Unavailable(
            f"the check of packages failed: {details or 'the check printed nothing'}"
        ) from None
