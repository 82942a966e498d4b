"""A service of a test's own, and what its user does with it."""

from __future__ import annotations

import shlex
import subprocess
import sys
from os import PathLike
from typing import TYPE_CHECKING

from footplate.client.service import Service
from footplate.domain.errors import ServiceError
from footplate.testing.service import FOOTPLATE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from footplate.testing.service import RunningService

Word = str | PathLike[str]


class ProgramFailed(AssertionError):
    """A program that a test has run ended with another exit code than 0."""


class Workbench:
    """The value of the fixture ``footplate``; the test may stop and start its ``service``."""

    def __init__(self, service: RunningService) -> None:
        self.service = service

    @property
    def url(self) -> str:
        return self.service.url

    @property
    def env(self) -> dict[str, str]:
        """Returns an environment in which ``footplate`` commands find this service."""
        return self.service.environment()

    def client(self) -> Service:
        """Returns a typed client of the service; use it in a ``with`` block."""
        return Service(self.url, self.env.get("FOOTPLATE_TOKEN"))

    def make_bucket(self, name: str) -> Path:
        """Creates a bucket if it doesn't exist; returns the directory with its objects as files."""
        with self.client() as client:
            client.storage.create_bucket("demo", name)
        return self.service.data_dir / "buckets" / name

    def run(self, *words: Word, cwd: Path | None = None) -> str:
        """Runs a program, unchanged, under ``footplate run``; returns its output.

        ``python`` is the interpreter that runs the tests.

        Raises:
            ProgramFailed: the exit code isn't 0; the message has the whole output.
        """
        first = sys.executable if words[0] == "python" else words[0]
        return self._start(("run", "--", first, *words[1:]), words, cwd)

    def command(self, *words: Word, cwd: Path | None = None) -> str:
        """Runs ``footplate WORDS``; returns its output. Raises ProgramFailed."""
        return self._start(words, ("footplate", *words), cwd)

    def describe_failed_jobs(self) -> str:
        """Returns why jobs of the service failed, with their last lines and where to read more;
        '' if none did.
        """
        if not self.service.alive:
            return ""
        try:
            with self.client() as client:
                failed = client.failed_jobs()
        except ServiceError as error:
            return f"The service can't list the jobs that failed: {error.message}"
        if not failed:
            return ""
        flags = shlex.join([f"--data-dir={self.service.data_dir}"])
        texts = [job.describe(flags) for job in failed]
        later = (
            f"To see the jobs of this test in the console afterwards, run `footplate up {flags}`."
        )
        return "\n\n".join([*texts, later])

    def _start(self, words: Sequence[Word], said: Sequence[Word], cwd: Path | None) -> str:
        done = subprocess.run(
            (*FOOTPLATE, *words),
            env=self.env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode:
            shown = " ".join(str(word) for word in said)
            raise ProgramFailed(f"{shown} ended with {done.returncode}:\n{done.stdout}")
        return done.stdout
