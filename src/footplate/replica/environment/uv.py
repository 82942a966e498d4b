"""Runs uv: settings, progress, errors."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import threading
import time

from footplate.replica.environment.errors import PreparationError
from footplate.replica.isolation.spawn import SpawnFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Iterator, Mapping, Sequence

    from footplate.replica.environment.build_isolation import Build, BuildIsolation
    from footplate.replica.environment.interpreters import Interpreter
    from footplate.replica.isolation.users import User

    Progress = Callable[[int, int], None]

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_RESOLVED = re.compile(r"Resolved (\d+) packages?")
_PREPARING = re.compile(r"Preparing packages\.\.\. \((\d+)/(\d+)\)")
_DONE = re.compile(r"(?:Installed|Audited|Checked) (\d+) packages?")
_ROWS_AND_COLUMNS = struct.pack("HHHH", 50, 300, 0, 0)
_LOST_MODULE = "No module named 'pkg_resources'"
_BEFORE_THE_LOSS = "setuptools<81\n"
"""The bound that the deprecation warning of ``pkg_resources`` names."""
_TAIL_CHARACTERS = 64 << 10
_READABLE = 0o755
_MOST_OUTPUT_BYTES = 16 << 20
"""The limit of what is read as a whole."""
_MOST_LINE_BYTES = 64 << 10
_UNCOMPILED = r"/site-packages/pip/"
_INSTALL = ("pip", "install", "--no-compile-bytecode")
"""No bytecode: to compile, uv would run the environment's Python with the packages' code."""


class UvFailed(Exception):
    """uv failed; ``output`` is its complete output."""

    def __init__(self, output: str) -> None:
        super().__init__(output)
        self.output = output


class _DelayedInterrupt:
    """Delays Ctrl-C while a process starts: nobody could end yet what has begun by then."""

    def __init__(self) -> None:
        self._came = False
        # Another thread may set no handler, and Ctrl-C doesn't come there.
        self._delays = (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
        if self._delays:
            signal.signal(signal.SIGINT, self._note)

    def _note(self, *_: object) -> None:
        self._came = True

    def deliver(self) -> None:
        """Delays no longer; raises KeyboardInterrupt if Ctrl-C came meanwhile."""
        if self._delays:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._came:
            raise KeyboardInterrupt


class Uv:
    """The program uv, with the settings of ``environment``, which may be pip's.

    Processes of uv inherit the descriptor ``held``; ``build_isolation`` is the isolation of builds.
    ``limit_s`` limits all runs from now on, together; 0 means no limit.
    """

    def __init__(
        self,
        program: str,
        environment: Mapping[str, str],
        held: int = -1,
        build_isolation: BuildIsolation | None = None,
        limit_s: float = 0,
    ) -> None:
        self._limit_s = limit_s
        self._deadline = time.monotonic() + limit_s if limit_s else None
        found = program if os.access(program, os.X_OK) else shutil.which("uv")
        if found is None:
            raise PreparationError(
                f"the program uv, which makes environments, is neither at {program or '?'} nor on "
                "PATH; install footplate again, or install uv"
            )
        self.program = found
        self._environment = translate_settings(environment)
        self._scratch = environment.get("TMPDIR")  # builds see it
        self._held = held
        self._build_isolation = build_isolation
        self._entered: BuildIsolation | None = None
        self.exposed = False
        """Whether programs can change what this makes: they see all files of their own user."""

    def holding(self, descriptor: int) -> Uv:
        """Returns the same uv, with a descriptor that its processes inherit."""
        made = object.__new__(Uv)
        made.__dict__.update(self.__dict__, _held=descriptor)
        return made

    @property
    def isolated(self) -> Uv:
        """The same uv for commands that may run foreign code: with the view and the user of
        builds.
        """
        made = object.__new__(Uv)
        made.__dict__.update(self.__dict__, _entered=self._build_isolation)
        if self._build_isolation is not None:
            made._environment = {**self._environment, **self._build_isolation.variables()}
        return made

    def writing(self, path: str) -> Uv:
        """Returns what ``isolated`` returns, for commands that may change only the environment at
        ``path``.
        """
        made = self.isolated
        if made._entered is not None:
            made._entered = made._entered.writing(path)
        return made

    def secluding(self, build_isolation: BuildIsolation) -> Uv:
        """Returns the same uv with another isolation of builds.

        If programs could change environments, these have no links to uv's cache.
        """
        made = object.__new__(Uv)
        made.__dict__.update(self.__dict__, _build_isolation=build_isolation)
        made.exposed = build_isolation.view is None and os.geteuid() != 0
        if made.exposed:
            made._environment = {**self._environment, "UV_LINK_MODE": "copy"}
        return made

    @property
    def build_user(self) -> User | None:
        """The user that builds run as, if not that of this process."""
        return None if self._build_isolation is None else self._build_isolation.user

    def find_output(self, directory: str) -> str:
        """Returns the directory that isolated commands can write to; ``directory`` if there is no
        isolation.
        """
        return directory if self._build_isolation is None else self._build_isolation.output

    def find_installed_by_builds(self, interpreter: Interpreter) -> list[str]:
        """Returns the packages that builds have installed by pip, with versions."""
        own = self._build_isolation
        return [] if own is None else own.find_installed(interpreter)

    def run(self, arguments: Sequence[str], variables: Mapping[str, str] | None = None) -> str:
        """Runs uv and returns its whole output. Raises UvFailed."""
        return self._build_as_before(lambda more: self._run(arguments, more), variables or {})

    def install(
        self,
        arguments: Sequence[str],
        progress: Progress,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """Runs ``uv pip install``, and reports how many of the packages are installed. Raises
        UvFailed.
        """
        command = [*_INSTALL, *arguments]
        self._build_as_before(
            lambda more: self._run_on_terminal(command, progress, more), variables or {}
        )

    def unpack(
        self, arguments: Sequence[str], progress: Progress, variables: Mapping[str, str]
    ) -> None:
        """Does what ``install`` does, for wheels, but only once: a second try would run installed
        code.

        Raises UvFailed.
        """
        self._run_on_terminal([*_INSTALL, "--no-build", *arguments], progress, variables)

    def ask(self, python: str, code: str) -> str:
        """Returns the output of ``python`` for ``code``, which imports nothing installed.

        Raises UvFailed.
        """
        argv = [python, "-I", "-S", "-c", code]
        return self._watch(argv, {}, os.pipe(), self._read_text)

    def compile(self, python: str, directory: str) -> None:
        """Compiles the modules in ``directory`` by a ``python`` that imports none of them.

        A file that is written for another version of Python stays as it is, and so does pip: it
        would take as long as the rest of a small runtime, and few programs use it.
        """
        options = ["-q", "-j", "0", "-x", _UNCOMPILED]
        command = [python, "-I", "-S", "-m", "compileall", *options, directory]
        with contextlib.suppress(UvFailed):
            self._watch(command, {}, os.pipe(), self._read_text)

    def _build_as_before(
        self, attempt: Callable[[Mapping[str, str]], str], given: Mapping[str, str]
    ) -> str:
        """Runs ``attempt``; if a build lacks a feature that setuptools has dropped, runs it again
        with an older setuptools.
        """
        try:
            return attempt(given)
        except UvFailed as failure:
            if _LOST_MODULE not in failure.output:
                raise
        with tempfile.TemporaryDirectory(dir=self._scratch) as directory:
            os.chmod(directory, _READABLE)  # by the user that builds have
            constraints = os.path.join(directory, "build-constraints.txt")
            with open(constraints, "w", encoding="utf-8") as file:
                file.write(_BEFORE_THE_LOSS)
            return attempt({**given, "UV_BUILD_CONSTRAINT": constraints})

    def _run(self, arguments: Sequence[str], variables: Mapping[str, str]) -> str:
        reading, writing = os.pipe()
        argv = [self.program, *arguments]
        return self._watch(argv, variables, (reading, writing), self._read_text)

    def _run_on_terminal(
        self, arguments: Sequence[str], progress: Progress, variables: Mapping[str, str]
    ) -> str:
        """Runs uv on a terminal of its own: only on a terminal does uv show its progress."""
        try:
            master, slave = pty.openpty()
        except OSError:  # without progress
            return self._run(arguments, variables)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, _ROWS_AND_COLUMNS)
        more = {**variables, "TERM": "xterm"}
        argv = [self.program, *arguments]
        return self._watch(argv, more, (master, slave), lambda end: self._follow(end, progress))

    def _watch(
        self,
        argv: list[str],
        variables: Mapping[str, str],
        ends: tuple[int, int],
        read: Callable[[int], str],
    ) -> str:
        """Runs ``argv`` and returns all that ``read`` gets from the first of ``ends``; the process
        has the second.
        """
        ours, theirs = ends
        interrupt = _DelayedInterrupt()
        try:
            process = self._start(argv, variables, theirs)
        except BaseException:
            os.close(ours)
            interrupt.deliver()
            raise
        finally:
            os.close(theirs)
        try:
            interrupt.deliver()
            output = read(ours)
        except BaseException:  # it must not go on to build what its caller clears away
            process.kill()
            process.wait()
            raise
        if process.wait() != 0:
            raise UvFailed(output)
        return output

    def _start(
        self, argv: list[str], variables: Mapping[str, str], output: int
    ) -> subprocess.Popen[bytes] | Build:
        """Starts the process. Builds in a process namespace inherit no lock: they end with this
        process.
        """
        environment = {**self._environment, **variables}
        own = self._entered
        if own is None or not own.namespaced:
            return subprocess.Popen(
                argv,
                env=environment,
                cwd="/",  # where no project's settings are found
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(self._held,) if self._held >= 0 else (),
                preexec_fn=None if own is None else own.enter,
            )
        try:
            return own.start(argv, environment, output)
        except SpawnFailed as error:
            raise PreparationError(f"{argv[0]} can't be started: {error}") from error

    def _follow(self, master: int, progress: Progress) -> str:
        """Reads the terminal to its end; returns its last words without the codes that move the
        cursor.
        """
        resolved = 0
        text = ""
        pending = b""
        for data in self._read(master):
            first, *others = re.split(rb"[\r\n]+", data)
            *lines, pending = pending[-_MOST_LINE_BYTES:] + first, *others
            for line in lines:
                words = _CONTROL.sub("", line.decode("utf-8", "replace"))
                match = _RESOLVED.search(words)
                if match:
                    resolved = int(match.group(1))
                match = _PREPARING.search(words)
                if match and int(match.group(2)):
                    ready, missing = int(match.group(1)), int(match.group(2))
                    total = max(resolved, missing)
                    progress(total - missing + ready, total)
                    continue
                match = _DONE.match(words.strip())
                if match:
                    progress(int(match.group(1)), int(match.group(1)))
                text = f"{text}{words.rstrip()}\n"[-_TAIL_CHARACTERS:]
        return text + pending.decode("utf-8", "replace")

    def _read_text(self, descriptor: int) -> str:
        """Returns the process's output. Raises PreparationError if it doesn't end, or is too
        much.
        """
        parts: list[bytes] = []
        size = 0
        for data in self._read(descriptor):
            parts.append(data)
            size += len(data)
            if size > _MOST_OUTPUT_BYTES:
                most = f"{_MOST_OUTPUT_BYTES >> 20} MiB"
                raise PreparationError(f"the build of a package prints more than {most}")
        return b"".join(parts).decode("utf-8", "replace")

    def _read(self, descriptor: int) -> Iterator[bytes]:
        """Yields the process's output. Raises PreparationError if the time is over."""
        with open(descriptor, "rb", buffering=0) as terminal:
            while self._wait(terminal.fileno()):
                try:
                    data = terminal.read(65536)
                except OSError:  # Linux says so when the last process has closed its side
                    return
                if not data:
                    return
                yield data
            raise PreparationError(
                f"the environment isn't ready after {self._limit_s:g} s (setting build_limit_s): "
                "a package's build doesn't end, or a process that it started keeps running"
            )

    def _wait(self, descriptor: int) -> bool:
        """Returns whether something arrives before the time is over."""
        if self._deadline is None:
            return True
        left = max(0.0, self._deadline - time.monotonic())
        return bool(select.select([descriptor], [], [], left)[0])


def translate_settings(host: Mapping[str, str]) -> dict[str, str]:
    """Returns the host's environment, in which pip's settings for indexes apply to uv too."""
    environment = {name: value for name, value in host.items() if name not in _UNWANTED}
    environment["NO_COLOR"] = "1"
    index = host.get("PIP_INDEX_URL")
    if index and "UV_DEFAULT_INDEX" not in host and "UV_INDEX_URL" not in host:
        environment["UV_DEFAULT_INDEX"] = index
    more = host.get("PIP_EXTRA_INDEX_URL", "").split()
    if more and "UV_INDEX" not in host and "UV_EXTRA_INDEX_URL" not in host:
        environment["UV_INDEX"] = " ".join(more)
        # As pip does: the best of all indexes, not the first that has the package.
        environment.setdefault("UV_INDEX_STRATEGY", "unsafe-best-match")
    if "UV_FIND_LINKS" not in host and host.get("PIP_FIND_LINKS"):
        environment["UV_FIND_LINKS"] = ",".join(host["PIP_FIND_LINKS"].split())
    return environment


_UNWANTED = frozenset(
    (
        *("VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT", "UV_PYTHON", "UV_NO_PROGRESS"),
        "UV_COMPILE_BYTECODE",
    )
)
