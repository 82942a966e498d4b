"""A program that tries to get more than is its own. Prints a JSON object: by attempt, what it got.

Empty: nothing. It runs in a job, in a ``setup.py``, as any user, with Python 3.7 or later and no
packages. Its one argument, or ``FACTS``, is a JSON object: ``data`` (the service's directory),
``secrets`` (files of the service, and of other jobs), ``environment`` (its own environment's
directory), ``buckets``, ``shared`` (files of the machine that every user may read) and ``alone``
(nobody else has its user).
"""

from __future__ import annotations

import ctypes
import functools
import glob
import json
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ATTEMPTS: dict[str, Callable[[dict[str, Any]], str]] = {}
PTRACE_ATTACH, PTRACE_DETACH = 16, 17
CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
MNT_DETACH = 2


def attempt(function: Callable[[dict[str, Any]], str]) -> Callable[[dict[str, Any]], str]:
    ATTEMPTS[function.__name__] = function
    return function


def libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def others(facts: dict[str, Any]) -> list[int]:
    """The numbers of the processes that aren't this program's own: neither its children, nor,
    for one whose user nobody else has, of its user.
    """
    own = {os.getpid()}
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    parents[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
                if facts.get("alone") and os.stat(f"/proc/{name}").st_uid == os.getuid():
                    own.add(int(name))
            except OSError:
                continue
    while True:
        more = {pid for pid, parent in parents.items() if parent in own} - own
        if not more:
            return sorted(set(parents) - own)
        own |= more


def create(path: str) -> str:
    with open(path, "x") as file:
        file.write("")
    os.unlink(path)
    return path


def first(tries: Callable[[str], object], paths: Iterable[str]) -> str:
    """The first path of which ``tries`` gives something."""
    for path in paths:
        try:
            got = tries(path)
        except OSError:
            continue
        if got:
            return f"{path}: {got}"[:200]
    return ""


def overwrite(path: str) -> str:
    """Opens it, and writes nothing."""
    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
    return "opened for writing"


def read(path: str) -> str:
    with open(path, "rb") as file:
        return repr(file.read(20))


@attempt
def write_into_system_directories(facts: dict[str, Any]) -> str:
    """But for the root itself, which is the program's own where it has a view."""
    places = ("/etc", "/usr", "/usr/bin", "/usr/local/bin", "/lib", "/opt", "/boot", "/var")
    return first(lambda place: create(os.path.join(place, "hostile")), places)


@attempt
def add_a_cron_file(facts: dict[str, Any]) -> str:
    places = ("/etc/cron.d", "/var/spool/cron", "/var/spool/cron/crontabs", "/etc/systemd/system")
    return first(lambda place: create(os.path.join(place, "hostile")), places)


@attempt
def read_the_shadow(facts: dict[str, Any]) -> str:
    return first(read, ["/etc/shadow", "/etc/gshadow"])


@attempt
def write_the_home_of_root(facts: dict[str, Any]) -> str:
    return create("/root/hostile")


@attempt
def be_root(facts: dict[str, Any]) -> str:
    if 0 in (os.getuid(), os.geteuid()):
        return "is root"
    os.setuid(0)
    return "became root"


@attempt
def change_groups(facts: dict[str, Any]) -> str:
    os.setgroups([0])
    return "is of root's group"


@attempt
def have_capabilities(facts: dict[str, Any]) -> str:
    with open("/proc/self/status", encoding="ascii") as file:
        found = [line.split() for line in file if line.startswith("Cap")]
    return ", ".join(f"{name} {bits}" for name, bits in found if int(bits, 16))


@attempt
def gain_privileges(facts: dict[str, Any]) -> str:
    with open("/proc/self/status") as file:
        return "" if "NoNewPrivs:\t1" in file.read() else "setuid programs work"


@attempt
def run_a_setuid_program(facts: dict[str, Any]) -> str:
    command = ["su", "root", "-c", "id -u"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
    return "su is root" if done.stdout.strip() == b"0" else ""


@attempt
def mount_a_file_system(facts: dict[str, Any]) -> str:
    with tempfile.TemporaryDirectory() as place:
        if libc().mount(b"tmpfs", place.encode(), b"tmpfs", 0, None):
            return ""
        libc().umount2(place.encode(), MNT_DETACH)
        return "mounted"


@attempt
def take_away_a_mount(facts: dict[str, Any]) -> str:
    """In a process that has mounts of its own, so that it harms nobody if it can."""
    return in_child(lambda: not libc().umount2(facts["data"].encode(), MNT_DETACH), "unmounted")


@attempt
def have_own_mounts(facts: dict[str, Any]) -> str:
    return in_child(lambda: not libc().unshare(CLONE_NEWNS), "made a mount namespace")


@attempt
def make_a_device(facts: dict[str, Any]) -> str:
    path = os.path.join(tempfile.gettempdir(), "device")
    os.mknod(path, 0o600 | stat.S_IFBLK, os.makedev(7, 0))
    os.unlink(path)
    return "made"


@attempt
def open_a_disk(facts: dict[str, Any]) -> str:
    paths = [path for path in glob.glob("/dev/*") if is_block_device(path)]
    return first(read, [*paths, "/dev/mem", "/dev/kmem", "/dev/port"])


@attempt
def set_the_core_pattern(facts: dict[str, Any]) -> str:
    return overwrite("/proc/sys/kernel/core_pattern")


@attempt
def command_the_kernel(facts: dict[str, Any]) -> str:
    paths = ["/proc/sysrq-trigger", "/sys/kernel/uevent_helper", "/sys/power/state"]
    return first(overwrite, [*paths, "/proc/sys/kernel/modprobe"])


@attempt
def leave_the_control_group(facts: dict[str, Any]) -> str:
    """Opens it only: whoever may open it may move there."""
    paths = glob.glob("/sys/fs/cgroup/cgroup.procs") + glob.glob("/sys/fs/cgroup/*/cgroup.procs")
    return first(overwrite, [*paths, *glob.glob("/sys/fs/cgroup/*/release_agent")])


@attempt
def look_through_proc(facts: dict[str, Any]) -> str:
    return first(os.listdir, [f"/proc/{pid}/root/" for pid in others(facts)])


@attempt
def read_environments(facts: dict[str, Any]) -> str:
    return first(read, [f"/proc/{pid}/environ" for pid in others(facts)])


@attempt
def read_memory(facts: dict[str, Any]) -> str:
    return first(overwrite, [f"/proc/{pid}/mem" for pid in others(facts)])


@attempt
def use_descriptors_of_others(facts: dict[str, Any]) -> str:
    """Their numbers may be seen; what they are of, and using them, not."""
    places = [f"/proc/{pid}/fd" for pid in others(facts)]
    return first(os.readlink, [path for place in places for path in glob.glob(f"{place}/*")])


@attempt
def trace_a_process(facts: dict[str, Any]) -> str:
    for pid in others(facts):
        traced = in_child(functools.partial(can_trace, pid), f"traced {pid}")
        if traced:
            return traced
    return ""


@attempt
def signal_a_process(facts: dict[str, Any]) -> str:
    """All but init of a process namespace, whom nobody in it can harm."""

    def signal(pid: str) -> str:
        os.kill(int(pid), 0)
        return "may be signalled"

    return first(signal, [str(pid) for pid in others(facts) if pid != 1])


@attempt
def have_leaked_descriptors(facts: dict[str, Any]) -> str:
    found = []
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # that of the listing itself
            path = os.readlink(f"/proc/self/fd/{name}")
            if int(name) > 2 and not path.startswith("/proc/"):
                found.append(path)
    return ", ".join(found)


@attempt
def read_the_secrets(facts: dict[str, Any]) -> str:
    return first(read, facts["secrets"])


@attempt
def list_the_service(facts: dict[str, Any]) -> str:
    """Its own working directory, the buckets and environments may be there."""
    return first(os.listdir, [f"{facts['data']}/logs", f"{facts['data']}/other"])


@attempt
def write_the_records_of_buckets(facts: dict[str, Any]) -> str:
    paths = [f"{facts['buckets']}/.footplate", "/gcs/.footplate"]
    return first(lambda path: create(f"{path}/hostile"), paths)


@attempt
def change_an_environment(facts: dict[str, Any]) -> str:
    """Other jobs use it."""
    places = [path for path, _, _ in os.walk(facts["environment"])]
    return first(lambda place: create(os.path.join(place, "hostile")), places)


@attempt
def link_to_secrets(facts: dict[str, Any]) -> str:
    """A hard link would keep, or open, what it leads to."""
    path = os.path.join(tempfile.gettempdir(), "link")

    def link(secret: str) -> str:
        os.link(secret, path)
        os.unlink(path)
        return "linked"

    return first(link, ["/etc/shadow", "/etc/passwd", *facts["secrets"]])


@attempt
def write_beside_the_working_directory(facts: dict[str, Any]) -> str:
    return create(os.path.join(os.path.dirname(os.getcwd()), "hostile"))


@attempt
def see_command_lines(facts: dict[str, Any]) -> str:
    """Init of a process namespace has none to hide."""
    return first(read, [f"/proc/{pid}/cmdline" for pid in others(facts) if pid != 1])


@attempt
def read_what_all_may_read(facts: dict[str, Any]) -> str:
    """In the directories of the machine that every user may write."""
    return first(read, facts.get("shared", []))


@attempt
def find_shared_memory(facts: dict[str, Any]) -> str:
    """System V's, and queues; the first line has the names of columns."""

    def look(path: str) -> str:
        with open(path) as file:
            return "; ".join(file.read().splitlines()[1:])

    found = first(look, [f"/proc/sysvipc/{kind}" for kind in ("shm", "sem", "msg")])
    return found or first(os.listdir, ["/dev/mqueue"])


@attempt
def dump_core(facts: dict[str, Any]) -> str:
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20))
    pid = os.fork()
    if pid == 0:
        os.kill(os.getpid(), signal.SIGQUIT)
        os._exit(0)
    return "dumped" if os.WCOREDUMP(os.waitpid(pid, 0)[1]) else ""


@attempt
def raise_its_limits(facts: dict[str, Any]) -> str:
    raised = []
    for name in ("RLIMIT_CORE", "RLIMIT_NPROC", "RLIMIT_NOFILE"):
        number = getattr(resource, name)
        soft, hard = resource.getrlimit(number)
        if hard == resource.RLIM_INFINITY:
            continue
        with suppress(OSError, ValueError):
            resource.setrlimit(number, (soft, hard + 1))
            raised.append(name)
    return ", ".join(raised)


@attempt
def raise_its_priority(facts: dict[str, Any]) -> str:
    return f"has priority {os.nice(-1)}"


@attempt
def be_spared_when_memory_runs_out(facts: dict[str, Any]) -> str:
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("-1000")
    return "is spared"


@attempt
def change_its_root(facts: dict[str, Any]) -> str:
    return in_child(lambda: not libc().chroot(b"/"), "changed it")


@attempt
def read_packets(facts: dict[str, Any]) -> str:
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()
    return "has a raw socket"


@attempt
def name_the_machine(facts: dict[str, Any]) -> str:
    socket.sethostname(socket.gethostname())
    return "named it"


@attempt
def use_a_container_engine(facts: dict[str, Any]) -> str:
    paths = ["/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock"]
    return first(connect, [*paths, *glob.glob("/run/user/*/podman/podman.sock")])


@attempt
def use_a_session_of_the_user(facts: dict[str, Any]) -> str:
    """It starts processes that no isolation holds."""
    paths = glob.glob("/run/user/*/bus") + glob.glob("/run/user/*/systemd/private")
    return first(connect, [*paths, "/run/systemd/private"])


@attempt
def uncover_secrets_in_a_user_namespace(facts: dict[str, Any]) -> str:
    """Where everybody may make one, in which he has all capabilities."""

    def look() -> bool:
        if libc().unshare(CLONE_NEWUSER | CLONE_NEWNS):
            return False
        for path in (facts["data"], "/dev/shm", "/tmp", "/proc"):
            libc().umount2(path.encode(), MNT_DETACH)
        return bool(first(read, [*facts["secrets"], *facts.get("shared", [])]))

    return in_child(look, "saw what was hidden")


@attempt
def link_its_files_to_secrets(facts: dict[str, Any]) -> str:
    """In its working directory, and in the place of the file for metrics, until it ends.

    What is read by these links, the test sees in the measurements.
    """
    program = os.getpid()
    if os.fork() == 0:
        try:
            metrics = os.environ.get("CLOUD_ML_HP_METRIC_FILE", "")
            swap_links([os.getcwd()], facts, lambda: os.getppid() == program, metrics)
        finally:
            os._exit(0)
    return ""


def swap_links(
    places: list[str], facts: dict[str, Any], go_on: Callable[[], bool], *files: str
) -> None:
    """``leak``, and ``files``, lead to a secret now and then, and ``folder`` to the service's
    directory. ``hard`` is a hard link to the secret, if there can be one.
    """
    secret = facts["secrets"][0]
    while go_on():
        for path in (*files, *(os.path.join(place, "leak") for place in places)):
            with suppress(OSError):
                with open(f"{path}.part", "w") as file:
                    file.write("own")
                os.replace(f"{path}.part", path)
            with suppress(OSError):
                os.symlink(secret, f"{path}.part")
                os.replace(f"{path}.part", path)
        for place in places:
            names = ("folder", "aside", "hard")
            folder, aside, hard = (os.path.join(place, name) for name in names)
            with suppress(OSError):
                os.link(secret, hard)
            with suppress(OSError):
                os.unlink(folder)
            with suppress(OSError):
                os.makedirs(aside, exist_ok=True)
                with open(os.path.join(aside, "secret"), "w") as file:
                    file.write("own")
                os.rename(aside, folder)
                os.rename(folder, aside)
            with suppress(OSError):
                os.symlink(facts["data"], folder)


def connect(path: str) -> str:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
    return "connected"


def is_block_device(path: str) -> bool:
    try:
        return stat.S_ISBLK(os.stat(path).st_mode)
    except OSError:
        return False


def can_trace(pid: int) -> bool:
    if libc().ptrace(PTRACE_ATTACH, pid, None, None):
        return False
    os.waitpid(pid, 0x40000000)  # __WALL
    libc().ptrace(PTRACE_DETACH, pid, None, None)
    return True


def in_child(act: Callable[[], bool], words: str) -> str:
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if act() else 1)
        finally:
            os._exit(1)
    return words if os.waitpid(pid, 0)[1] == 0 else ""


def run(facts: dict[str, Any]) -> dict[str, str]:
    got = {}
    for name, function in ATTEMPTS.items():
        try:
            got[name] = str(function(facts) or "")
        except (OSError, subprocess.SubprocessError):
            got[name] = ""
    return got


if __name__ == "__main__":
    print(json.dumps(run(json.loads(sys.argv[1] if sys.argv[1:] else os.environ["FACTS"]))))
