"""A Slurm of one node on this machine, as a peer: started from scripts, stopped by pid.

``FOOTPLATE_SLURM_RIG`` is the folder of ``conf.sh`` and ``up.sh``, which make its files below
``SLURM_HOME`` and start its daemons; it needs root, and Debian's slurm-wlm and munge.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
RIG = Path(os.environ.get("FOOTPLATE_SLURM_RIG") or ROOT.parent / "shared" / "rigs" / "slurm")
SLOTS = 16
POLL_S = 0.001


class Slurm:
    """``sbatch`` of scripts that run one command."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._environment = {**os.environ, "SLURM_CONF": str(home / "etc" / "slurm.conf")}
        self._number = 0

    def submit(self, *command: str) -> Path:
        """Returns the file that its output goes into, once it has been taken."""
        self._number += 1
        output = self._home / "out" / str(self._number)
        script = "#!/bin/sh\nexec " + " ".join(f"'{word}'" for word in command) + "\n"
        options = ("--parsable", f"--output={output}", "--mem=100", "--ntasks=1")
        self._run(("sbatch", *options), script)
        return output

    def busy(self) -> bool:
        return bool(self._run(("squeue", "-h", "-t", "PD,R,CG")).strip())

    def _run(self, command: tuple[str, ...], text: str = "") -> str:
        ended = subprocess.run(
            command,
            input=text,
            env=self._environment,
            cwd=self._home,
            check=True,
            capture_output=True,
            text=True,
        )
        return ended.stdout


def wait_for_line(path: Path) -> None:
    """Return once there is something in the file; as quick as a watcher could be."""
    while not (path.exists() and path.stat().st_size):
        time.sleep(POLL_S)


@contextmanager
def slurm() -> Iterator[Slurm | None]:
    """None: it isn't installed here, or there are no scripts that start it."""
    if shutil.which("sbatch") is None or not RIG.exists():
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        home = Path(folder)
        (home / "log").mkdir()
        (home / "out").mkdir()
        environment = {**os.environ, "SLURM_HOME": str(home), "N": "1"}
        try:
            _run_script("conf.sh", environment)
            config = home / "etc" / "slurm.conf"
            wide = f"CPUs={SLOTS} RealMemory={SLOTS * 1000}"
            config.write_text(config.read_text().replace("CPUs=4 RealMemory=4000", wide))
            _run_script("up.sh", environment)
            yield Slurm(home)
        finally:
            _stop(home)


def _run_script(name: str, environment: dict[str, str]) -> None:
    subprocess.run(
        ("bash", str(RIG / name)), env=environment, check=True, stdout=subprocess.DEVNULL
    )


def _stop(home: Path) -> None:
    for name in ("n1", "slurmctld", "munged"):
        file = home / f"pid.{name}"
        if file.exists():
            _end(int(file.read_text()))


def _end(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGTERM)
        while Path(f"/proc/{pid}").exists():
            time.sleep(0.01)
    except ProcessLookupError:
        return
