"""A program that leaves all that it can behind, and how that is found."""

from __future__ import annotations

import ctypes
import os
import secrets
import signal
from contextlib import suppress
from pathlib import Path

from tests.hostile.shared_files import WRITABLE
from tests.support.supervisor_process import find_living

LEAVE = """
import ctypes, os, signal, subprocess, sys, tempfile
word, key = sys.argv[1], int(sys.argv[2])
libc = ctypes.CDLL(None)
until_all_stay, not_yet = os.pipe()  # which exec closes
def stay(*preparations):
    if os.fork():
        return
    for prepare in preparations:
        prepare()
    os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", word])
def fork_again():
    os.setsid()
    if os.fork():
        os._exit(0)
def mount():
    if libc.unshare(0x10000000 | 0x00020000) == 0:  # in a user and a mount namespace of its own
        libc.mount(b"tmpfs", place.encode(), b"tmpfs", 0, None)
def ignore():
    for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
place = os.path.join(tempfile.gettempdir(), word + "-mount")
os.mkdir(place)
stay()
stay(os.setsid)
stay(fork_again)
stay(ignore, os.setsid)
stay(fork_again, ignore, os.environ.clear)
stay(fork_again, mount)
stopped = os.fork()
if stopped == 0:
    os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", word])
os.close(not_yet)
os.read(until_all_stay, 1)
os.kill(stopped, signal.SIGSTOP)
for directory in ("/dev/shm", "/var/tmp", "/run/lock"):
    if os.path.isdir(directory):
        open(os.path.join(directory, word), "w").close()
libc.shmget(key, 4096, 0o1600)
getattr(libc, "mq_open", lambda *_: 0)(b"/" + word.encode(), os.O_CREAT | os.O_RDWR, 0o600, None)
for command in (["at", "now + 1 minute"], ["batch"]):
    try:
        subprocess.run(command, input=f": {word}\\n".encode(), capture_output=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        pass
print("left", flush=True)
"""
SPOOLS = ("/var/spool/cron", "/var/spool/at", "/etc/cron.d")
_REMOVE = 0


class Trace:
    """By which what is left of a program is found, and removed."""

    def __init__(self) -> None:
        self.word = f"footplate-test-{secrets.token_hex(8)}"
        self.key = secrets.randbelow(1 << 30) + 1

    def find_processes(self) -> list[int]:
        left = find_living(self.word)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        return left

    def find_files(self) -> list[str]:
        """And a message queue."""
        left = [path for place in WRITABLE for path in Path(place).glob(f"{self.word}*")]
        for path in left:
            path.rmdir() if path.is_dir() else path.unlink()
        unlink = getattr(ctypes.CDLL(None), "mq_unlink", lambda _: -1)
        queues = ["a message queue"] if unlink(f"/{self.word}".encode()) == 0 else []
        return [*(str(path) for path in left), *queues]

    def find_segments(self) -> list[int]:
        """Of System V's shared memory."""
        try:
            lines = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
        except OSError:
            return []
        left = [int(line.split()[1]) for line in lines if int(line.split()[0]) == self.key]
        for segment in left:
            ctypes.CDLL(None).shmctl(segment, _REMOVE, None)
        return left

    def find_entries(self) -> list[str]:
        """What is to run later, and mounts."""
        files = [path for spool in SPOOLS for path in Path(spool).rglob("*") if path.is_file()]
        return [str(path) for path in (*files, Path("/proc/self/mountinfo")) if self._names(path)]

    def _names(self, path: Path) -> bool:
        with suppress(OSError):
            return self.word.encode() in path.read_bytes()
        return False
