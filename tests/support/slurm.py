"""A real Slurm on this machine: munged, slurmctld and three nodes, on free ports of loopback."""

from __future__ import annotations

import glob
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tests.support.machines import connected_machines, require_machines
from tests.support.ports import free_ports
from tests.support.requirements import describe_lack, require, require_packages
from tests.support.short_folder import short_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.machines import Machines

    Cluster = TypeVar("Cluster", bound="SlurmCluster")

NODES = ("n1", "n2", "n3")
PARTITION = "pool"
_START_S = 60.0
_END_S = 180.0
"""A node that came back a moment ago is late, on a busy machine more so."""
_NOBODY = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups")
"""slurmrestd doesn't run as root."""
_OPENAPI = "v0.0.38"
"""Without the accounting database it starts with this part alone."""
_DEVICES = ("/dev/null", "/dev/zero")
"""What takes the place of GPUs: Slurm only counts them here."""
_CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}({address})
SlurmctldPort={port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/sock
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdSpoolDir={folder}/spool/%n
StateSaveLocation={folder}/state
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
SlurmctldTimeout=30
SlurmdTimeout=20
InactiveLimit=0
KillWait=10
MinJobAge=600
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=1,sched_min_interval=0
AccountingStorageType=accounting_storage/none
DefMemPerCPU=100
GresTypes=gpu
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
SlurmdParameters=config_overrides
"""


_TOKENS = "AuthAltTypes=auth/jwt\nAuthAltParameters=jwt_key={folder}/jwt.key\n"
_PLUGINS = "/usr/lib/*/slurm-wlm/auth_jwt.so"


def has_tokens() -> bool:
    """Whether this machine's Slurm knows JWT."""
    return bool(glob.glob(_PLUGINS))  # noqa: PTH207  an absolute pattern


def require_slurmrestd() -> None:
    require_slurm()
    require_packages("slurmrestd", "slurmrestd", "slurm-wlm-jwt-plugin")


def require_slurm() -> None:
    require(describe_lack_of_slurm())


def describe_lack_of_slurm() -> str | None:
    return describe_lack("Slurm", "slurm-wlm", "munge", "util-linux", root=True)


class SlurmCluster:
    """Everything lies below ``folder``, whose path must be short: munge's socket is there."""

    address = "127.0.0.1"
    """Of the controller, as nodes and commands reach it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf")}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        self._configure()
        self._start_munge()
        self.start_controller()
        for node in NODES:
            self.start_node(node)
        _wait(lambda: self.command("sinfo", "-h", "-N", "-o", "%t").split() == ["idle"] * 3)

    def node_address(self, node: str) -> str:
        return self.address

    def _configure(self) -> None:
        for name in ("munge", "spool", "state", *(f"spool/{node}" for node in NODES)):
            (self.folder / name).mkdir()
        self.folder.chmod(0o755)
        first = free_ports(1 + len(NODES))
        host = socket.gethostname().partition(".")[0]
        template = _CONFIGURATION
        if has_tokens():
            template += _TOKENS
            (self.folder / "jwt.key").write_bytes(secrets.token_bytes(32))
            (self.folder / "jwt.key").chmod(0o600)
        lines = [template.format(host=host, address=self.address, port=first, folder=self.folder)]
        for port, node in enumerate(NODES, first + 1):
            gres = " Gres=gpu:2" if node == NODES[-1] else ""
            lines.append(
                f"NodeName={node} NodeHostname={host} NodeAddr={self.node_address(node)} "
                f"Port={port} CPUs=64 RealMemory=64000{gres} Feature=kind-{node} State=UNKNOWN\n"
            )
        lines.append(f"PartitionName={PARTITION} Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n")
        (self.folder / "slurm.conf").write_text("".join(lines))
        (self.folder / "gres.conf").write_text(
            "".join(f"NodeName={NODES[-1]} Name=gpu File={file}\n" for file in _DEVICES)
        )
        (self.folder / "cgroup.conf").write_text("CgroupAutomount=no\n")

    def _start_munge(self) -> None:
        munge = self.folder / "munge"
        (munge / "key").write_bytes(secrets.token_bytes(1024))
        (munge / "key").chmod(0o600)
        for path in (munge, munge / "key"):
            shutil.chown(path, "munge", "munge")
        munge.chmod(0o711)
        own = ("setpriv", "--reuid=munge", "--regid=munge", "--clear-groups")
        files = [
            f"--key-file={munge}/key",
            f"--socket={munge}/sock",
            f"--pid-file={munge}/pid",
            f"--log-file={munge}/log",
            f"--seed-file={munge}/seed",
        ]
        self._run("munged", *own, "munged", "-f", "-F", *files)
        _wait((munge / "sock").exists)

    def start_controller(self) -> None:
        self._run("slurmctld", "slurmctld", "-D")
        _wait(lambda: "UP" in self.command("scontrol", "ping"))

    def stop_controller(self) -> None:
        self._end("slurmctld", signal.SIGTERM)

    def start_node(self, node: str) -> None:
        self._run(f"slurmd.{node}", "slurmd", "-D", "-N", node)

    def wait_for_node(self, node: str) -> None:
        """Until Slurm would start jobs there."""
        usable = ("idle", "mixed", "allocated")
        _wait(lambda: self.command("sinfo", "-h", "-n", node, "-o", "%T").strip() in usable)

    def kill_node(self, node: str) -> None:
        """Its slurmd and the daemons of its job steps are gone at once; what they ran isn't."""
        self._end(f"slurmd.{node}", signal.SIGKILL)
        for pid in _processes_of("slurmstepd", str(self.folder / "spool" / node)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def start_rest(self, port: int) -> None:
        """A slurmrestd that takes tokens, at a port of loopback."""
        own = ("env", "SLURM_JWT=daemon", *_NOBODY, "slurmrestd", "-s", _OPENAPI)
        self._run("slurmrestd", *own, "-a", "rest_auth/jwt", f"127.0.0.1:{port}")
        _wait(lambda: _answers(port))

    def stop_rest(self) -> None:
        self._end("slurmrestd", signal.SIGTERM)

    def make_token(self, user: str, lifespan_s: int) -> str:
        given = self.command("scontrol", "token", f"username={user}", f"lifespan={lifespan_s}")
        return given.strip().partition("=")[2]

    @contextmanager
    def rest_socket(self) -> Iterator[Path]:
        """The socket of a slurmrestd that takes who may reach it for the user that it runs as."""
        folder = self.folder / "rest"
        folder.mkdir(exist_ok=True)
        shutil.chown(folder, "nobody", "nogroup")
        path = folder / "socket"
        own = (*_NOBODY, "slurmrestd", "-s", _OPENAPI)
        self._run("slurmrestd.socket", *own, "-a", "rest_auth/local", f"unix:{path}")
        try:
            _wait(path.exists)
            yield path
        finally:
            self._end("slurmrestd.socket", signal.SIGTERM)
            path.unlink(missing_ok=True)

    def command(self, *command: str) -> str:
        """What a command of Slurm's prints; nothing where that fails."""
        done = subprocess.run(
            command,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout

    def cancel_all(self) -> None:
        """End all jobs, and wait for it."""
        self.command("scancel", "-u", str(os.getuid()))
        _wait(lambda: not self.command("squeue", "-h", "-o", "%i").strip(), _END_S)

    def close(self) -> None:
        self.command("scancel", "-u", str(os.getuid()))
        with suppress(AssertionError):
            _wait(lambda: not self.command("squeue", "-h", "-o", "%i").strip(), 15.0)
        for name in reversed(list(self._processes)):
            self._end(name, signal.SIGTERM)

    @property
    def daemon_environment(self) -> dict[str, str]:
        path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
        return {**os.environ, **self.environment, "PATH": path}

    def _run(self, name: str, *command: str) -> None:
        with open(self.folder / f"{name}.out", "ab") as output:
            self._processes[name] = subprocess.Popen(
                command,
                env=self.daemon_environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd="/",
                start_new_session=True,
            )

    def _end(self, name: str, number: signal.Signals) -> None:
        process = self._processes.pop(name)
        process.send_signal(number)
        try:
            process.wait(20.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _processes_of(name: str, part: str) -> tuple[int, ...]:
    """Live processes of this name that have a file below ``part`` open, or name it."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with suppress(OSError):
            if (entry / "comm").read_text().strip() != name:
                continue
            links = [str(path.readlink()) for path in (entry / "fd").iterdir()]
            if any(link.startswith(part) for link in [*links, str((entry / "cwd").readlink())]):
                found.append(int(entry.name))
    return tuple(found)


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 5.0):
        return True
    return False


def _wait(condition: object, limit_s: float = _START_S) -> None:
    assert callable(condition)
    end_s = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end_s, "Slurm does not come up, or does not end its jobs"
        time.sleep(0.05)


class SlurmMachines(SlurmCluster):
    """Each node is a machine with an address of its own."""

    def __init__(self, folder: Path, machines: Machines) -> None:
        super().__init__(folder)
        self.machines = machines
        self.address = machines.here

    def node_address(self, node: str) -> str:
        return self.machines.address(node)

    def start_node(self, node: str) -> None:
        log = self.folder / f"slurmd.{node}.out"
        slurmd = ("slurmd", "-D", "-N", node)
        self.machines.start(node, *slurmd, environment=self.daemon_environment, log=log)

    def kill_node(self, node: str) -> None:
        """With all that runs there."""
        self.machines.kill(node)


@contextmanager
def running_slurm(folder: Path) -> Iterator[SlurmCluster]:
    with _running(SlurmCluster(folder)) as cluster:
        yield cluster


@contextmanager
def running_slurm_on_machines() -> Iterator[SlurmMachines]:
    require_slurm()
    require_machines()
    with (
        short_folder("slurm") as folder,
        connected_machines(*NODES, own_uptime=True) as machines,
        _running(SlurmMachines(folder, machines)) as found,
    ):
        yield found


@contextmanager
def _running(cluster: Cluster) -> Iterator[Cluster]:
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.close()
