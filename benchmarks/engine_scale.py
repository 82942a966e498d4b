"""What replicas on an engine cost the server, by their number: waiting, running, and gangs.

The server is real, and so are its calls of Slurm's commands, which here are scripts of a line. The
launchers and supervisors are simulated in one process, each with its own TLS connections, as many
as real ones have. ``engine_scale.py 1000``: jobs of one replica that run; ``--waiting``: they wait;
``--gang 128``: one job of as many replicas.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import ssl
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from desk import BUCKET, CACHE, create, upload

from footplate.client.service import Service
from footplate.testing.service import RunningService

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from footplate.domain.names import TrainingJobName

REGION = "europe-west4"
COMMANDS = {
    "sbatch": """\
id=$(date +%s%N)
for option; do case $option in --job-name=*) name=${option#--job-name=};; esac; done
cat > "$FOLDER/$id.part" && mv "$FOLDER/$id.part" "$FOLDER/$id.sh"
echo "$id|$STATE|Resources|$NODE|||$name" >> "$FOLDER/jobs"
echo "$id"
""",
    "squeue": 'cat "$FOLDER/jobs"\n',
    "scancel": "exit 0\n",
    "scontrol": "echo Slurmctld is UP\n",
    "sinfo": "echo slurm 22.05.8\n",
}
STEADY_S = 20.0
HOLD_S = 20.0
REPORT_S = 30.0
"""How often a supervisor that has nothing to say reports."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jobs", nargs="?", type=int, default=100)
    parser.add_argument("--waiting", action="store_true")
    parser.add_argument("--gang", type=int, default=1, metavar="REPLICAS")
    given = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), given.jobs if given.gang == 1 else 1, given.gang, given.waiting)


def measure(folder: Path, jobs: int, gang: int, waiting: bool) -> None:  # noqa: FBT001  as given
    make_commands(folder, waiting=waiting)
    data = folder / "data"
    data.mkdir()
    table = f'[[regions]]\nname = "{REGION}"\nbackend = "slurm"\nscratch = "{folder}/scratch"\n'
    (data / "footplate.toml").write_text(table + '[regions.machines]\n"*" = ""\n')
    os.environ["PATH"] = f"{folder}/bin:{os.environ['PATH']}"
    running = RunningService(data, CACHE, cluster_address="127.0.0.1:0")
    running.start()
    try:
        with Service(running.url) as client:
            client.storage.create_bucket("bench", BUCKET)
            server = Process(running.pid)
            asyncio.run(Simulation(folder, client, server, jobs, gang, waiting=waiting).run())
    finally:
        running.kill()  # its jobs end with the simulation


def make_commands(folder: Path, *, waiting: bool) -> None:
    (folder / "bin").mkdir()
    state, node = ("PENDING", "") if waiting else ("RUNNING", "n1")
    for name, body in COMMANDS.items():
        path = folder / "bin" / name
        path.write_text(f"#!/bin/sh\nFOLDER={folder} STATE={state} NODE={node}\n{body}")
        path.chmod(0o755)
    (folder / "jobs").touch()


@dataclass(frozen=True)
class Process:
    pid: int

    @property
    def cpu_s(self) -> float:
        """With the children that have ended: the commands of Slurm."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(int(each) for each in fields[11:15]) / os.sysconf("SC_CLK_TCK")

    @property
    def resident_mb(self) -> int:
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) // 1024


class Connection:
    """One kept HTTP/1.1 connection over TLS."""

    def __init__(self, url: str, context: ssl.SSLContext, token: str) -> None:
        self._host, _, port = url.removeprefix("https://").partition(":")
        self._port, self._context, self._token = int(port), context, token
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        if self._streams is None:
            opened = asyncio.open_connection(self._host, self._port, ssl=self._context)
            self._streams = await opened
        reader, writer = self._streams
        content = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Authorization: Bearer {self._token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(content)}\r\n\r\n"
        )
        writer.write(head.encode() + content)
        answer = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(answer.partition("content-length:")[2].split("\r\n")[0] or 0)
        text = await reader.readexactly(length)
        if answer.split()[1] != "200":
            raise OSError(f"{method} {path}: {answer.split()[1]} {text[:200]!r}")
        return json.loads(text)


class Simulation:
    def __init__(
        self, folder: Path, client: Service, server: Process, jobs: int, gang: int, *, waiting: bool
    ) -> None:
        self.folder, self.client, self.server = folder, client, server
        self.jobs, self.gang, self.waiting = jobs, gang, waiting
        self.running = self.calls = 0
        self.tasks: set[asyncio.Task[Any]] = set()
        self.context: ssl.SSLContext | None = None

    async def run(self) -> None:
        package = upload(self.client, "print('x')\n")
        machine = "n1-standard-4"
        custom = {"scaleTier": "CUSTOM", "masterType": machine, "workerType": machine}
        shape = {} if self.gang == 1 else {**custom, "workerCount": str(self.gang - 1)}
        if not self.waiting:
            self.spawn(self.find_scripts())
        before_s, began_s = self.server.cpu_s, time.monotonic()
        for _ in range(self.jobs):
            name = await asyncio.to_thread(create, self.client, package, region=REGION, **shape)
        while not self.are_there():
            await asyncio.sleep(0.1)
        used_s, took_s = self.server.cpu_s - before_s, time.monotonic() - began_s
        what = f"{self.jobs} jobs" if self.gang == 1 else f"a gang of {self.gang}"
        state = "wait" if self.waiting else "run"
        print(f"{what} {state} after {took_s:.1f} s; the server's CPU {used_s:.2f} s", flush=True)
        await asyncio.sleep(5.0)
        await self.rest(name)
        for task in self.tasks:
            task.cancel()

    def are_there(self) -> bool:
        if self.waiting:
            return len(list(self.folder.glob("*.sh"))) >= self.jobs
        return self.running >= self.jobs * self.gang

    async def rest(self, name: TrainingJobName) -> None:
        """Nothing happens; a client asks for a job now and then."""
        before_s, calls, began_s = self.server.cpu_s, self.calls, time.monotonic()
        took = []
        while time.monotonic() - began_s < STEADY_S:
            asked_s = time.perf_counter()
            await asyncio.to_thread(self.client.job, name)
            took.append(time.perf_counter() - asked_s)
            await asyncio.sleep(0.25)
        passed_s = time.monotonic() - began_s
        print(
            f"then {100 * (self.server.cpu_s - before_s) / passed_s:.1f} % of a core, "
            f"{self.server.resident_mb} MB, {(self.calls - calls) / passed_s:.0f} calls/s, "
            f"a request takes {1000 * statistics.median(took):.0f} ms "
            f"(the longest {1000 * max(took):.0f})",
            flush=True,
        )

    def spawn(self, life: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(life)
        self.tasks.add(task)
        task.add_done_callback(self.end)

    def end(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled() and task.exception() is not None:
            print("a simulated process failed:", repr(task.exception()), file=sys.stderr)

    async def find_scripts(self) -> None:
        """Do what nodes do: run each script that was submitted."""
        known: set[str] = set()
        while True:
            for path in self.folder.glob("*.sh"):
                if path.name not in known:
                    known.add(path.name)
                    self.run_script(path)
            await asyncio.sleep(0.05)

    def run_script(self, path: Path) -> None:
        lines = path.read_text().splitlines()
        call = next(line for line in lines if line.startswith("main(json.loads("))
        text = call.removeprefix("main(json.loads(").removesuffix("))")
        config = json.loads(eval(text, {"__builtins__": {}}))  # noqa: S307  a string literal
        if self.context is None:
            self.context = ssl.create_default_context(cadata=config["authority"])
        for each in config["replicas"]:
            self.spawn(self.launch(config["url"], each["token"], path.stem))

    def connect(self, url: str, token: str) -> Connection:
        assert self.context is not None
        return Connection(url, self.context, token)

    async def launch(self, url: str, token: str, job: str) -> None:
        """Do as ``footplate.replica.launcher.launch``."""
        connection = self.connect(url, token)
        report = {"incarnation": os.urandom(12).hex(), "job": job, "node": "n1", "restart": -1}
        report |= {"state": "IDLE", "reason": "", "ending": "", "stopping": False}
        hold_s = HOLD_S
        while True:
            said = {**report, "hold_s": hold_s}
            answer = await connection.ask("POST", "/replica/v1/launcher", said)
            self.calls += 1
            hold_s = HOLD_S
            if answer.get("leave"):
                return
            if answer.get("run"):
                report |= {"state": "LIVE", "restart": answer["run"]["restart"]}
                self.spawn(self.supervise(url, answer["run"]["ticket"]["token"]))
                hold_s = 0.0

    async def supervise(self, url: str, token: str) -> None:
        """Do as ``footplate.replica.run``."""
        connection, number = self.connect(url, token), 0

        async def report(*records: dict[str, Any]) -> None:
            nonlocal number
            made = []
            for each in records:
                number += 1
                made.append({"n": number, "t": time.time(), **each})
            await connection.ask("POST", "/replica/v1/reports", {"records": made})
            self.calls += 1

        await connection.ask("GET", "/replica/v1/task?url=http%3A%2F%2F127.0.0.1%3A1")
        await report({"k": "state", "phase": "PREPARING"})
        if self.gang > 1:
            port = 2222 + os.getpid() % 1000
            place = {"host": "127.0.0.1", "port": port, "open_ports": [port]}
            await report({"k": "state", "phase": "READY", **place})
            while "environment" not in await connection.ask("GET", "/replica/v1/start?hold=5"):
                await asyncio.sleep(0.1)
        await report(
            {"k": "state", "phase": "RUNNING"}, {"k": "line", "stream": "stdout", "m": "hello"}
        )
        self.running += 1
        self.spawn(self.await_orders(url, token))
        while True:
            await asyncio.sleep(REPORT_S)
            await report()

    async def await_orders(self, url: str, token: str) -> None:
        connection, cursor = self.connect(url, token), ""
        while True:
            after = f"?after={cursor}" if cursor else ""
            answer = await connection.ask("GET", f"/replica/v1/control-requests{after}")
            self.calls += 1
            cursor = answer.get("cursor", cursor)


if __name__ == "__main__":
    main()
