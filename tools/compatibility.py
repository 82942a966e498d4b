"""Run another project's client, unmodified, against a plain service: one by name, or all.

A folder of ``tests/compatibility`` describes a client: ``client.toml`` with its version, what it is
installed with and which of its examples aren't served, and ``examples.py``, which runs the examples
that the client's own releases hold. The run makes an environment for it, with the packages that the
index had on the day ``as_of``, starts a service with a new data directory, and runs the script
under ``footplate run``. ``--record`` writes the row into ``rows.json``, and from all rows
``docs/reference/compatibility.md``; ``--page`` writes only that. Needs a package index, and for
a client with a ``repository`` the repository: tests don't run those. Clients with ``images`` need
Debian's ``docker.io`` and ``docker-registry``, as root.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uv import find_uv_bin

from footplate.testing.service import FOOTPLATE, outside, running_service
from tests.support.engines import make_python_image, private_dockerd, private_registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).parent.parent
CLIENTS = ROOT / "tests" / "compatibility"
ROWS = CLIENTS / "rows.json"
PAGE = ROOT / "docs" / "reference" / "compatibility.md"
CACHE = ROOT / ".cache"
PROJECT, REGION = "demo", "us-central1"
LISTS = ("packages", "overrides", "sources", "npm", "command", "images")
INSTALL_S, RUN_S = 1200.0, 1800.0

HEAD = """\
# Clients of other projects

Made from runs of `python -m tools.compatibility`, which installs each client at the version named
here, unmodified, and runs the examples or tests of its own releases against a new service without
settings; where it has none that train here, a script of ours does what its documentation shows. CI
runs one of them with each commit, and all of them in the long run, but those marked "by hand":
their examples are in a repository, in no package. What each method of Google's APIs gets: [methods
and clients](clients.md).
"""


@dataclass(frozen=True)
class Client:
    """A client, as its ``client.toml`` describes it."""

    name: str
    title: str
    """What it is called, for readers."""
    version: str
    """Of the client itself; its packages name it."""
    as_of: str
    """A day: what packages need is taken as the index had it then."""
    runs: str
    """Which of its examples or tests run, in a line."""
    own_examples: bool = False
    """Whether they are its project's; else a script of ours does what its documentation shows."""
    python: str = "3.11"
    packages: tuple[str, ...] = ()
    """Requirements of pip."""
    overrides: tuple[str, ...] = ()
    """What is taken in place of what these require; with a marker that is never true, nothing."""
    sources: tuple[str, ...] = ()
    """Requirements whose source distributions are unpacked below ``$SOURCES``: examples that
    wheels lack."""
    npm: tuple[str, ...] = ()
    """Packages of npm, below ``$NODE_PATH``."""
    repository: str = ""
    """A repository of examples that no package holds, below ``$SOURCES``. CI doesn't run these."""
    revision: str = ""
    """A tag or a commit of it."""
    folder: str = ""
    """What is taken of it."""
    command: tuple[str, ...] = ("python", "examples.py")
    """What runs the examples, in a new folder with the files of the client's folder."""
    images: tuple[str, ...] = ()
    """Names of images, with a Python in them, that a container engine of its own has: then there is
    one, by ``$DOCKER_HOST``, and a registry at ``$REGISTRY``. Without them there is no engine."""
    environment: Mapping[str, str] = field(default_factory=dict)
    not_served: Mapping[str, str] = field(default_factory=dict)
    """By the name of an example why it can't pass here."""


@dataclass(frozen=True)
class Row:
    """What a run of a client showed."""

    version: str
    seen: str
    passed: tuple[str, ...]
    failed: Mapping[str, str]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(": ")[0])
    parser.add_argument("client", nargs="*", choices=[*names(), []], help="all, without one")
    parser.add_argument("--record", action="store_true", help="what was seen, and write the page")
    parser.add_argument("--page", action="store_true", help="write only the page, from the rows")
    parser.add_argument("--list", action="store_true", help="the clients, a line each")
    arguments = parser.parse_args()
    if arguments.list:
        sys.stdout.writelines(f"{name}\t{read_client(name).title}\n" for name in names())
        return 0
    # Ended by SIGTERM, too, it ends the service and the programs that it has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    faults = []
    for name in () if arguments.page else arguments.client or names():
        client = read_client(name)
        row = run_client(client)
        found = find_faults(client, row)
        sys.stdout.write(f"{name}: {len(row.passed)} passed, {len(row.failed)} not\n")
        faults += [f"{name}: {fault}" for fault in found]
        if arguments.record and not found:
            write_rows(read_rows() | {name: row})
    if arguments.record or arguments.page:
        PAGE.write_text(write_page(read_rows()), "utf-8")
    sys.stderr.writelines(f"{fault}\n" for fault in faults)
    return 1 if faults else 0


def names() -> list[str]:
    return sorted(path.parent.name for path in CLIENTS.glob("*/client.toml"))


def read_client(name: str) -> Client:
    document: dict[str, Any] = tomllib.loads((CLIENTS / name / "client.toml").read_text("utf-8"))
    document |= {key: tuple(document[key]) for key in LISTS if key in document}
    return Client(name, **document)


def run_client(client: Client) -> Row:
    """Run its examples against a service of their own. Raises if it can't be installed."""
    environment, path = install(client)
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary) / "work"
        shutil.copytree(CLIENTS / client.name, work)
        shutil.copy(CLIENTS / "example_results.py", work)
        results = Path(temporary) / "results.jsonl"
        results.touch()
        home, own_tmp = Path(temporary) / "home", Path(temporary) / "tmp"
        home.mkdir()
        own_tmp.mkdir()
        data = Path(temporary) / "data"
        with (
            container_engine(client, Path(temporary)) as containers,
            running_service(data, CACHE / "footplate", **containers.settings) as service,
        ):
            variables = service.environment(
                FOOTPLATE_PROJECT=PROJECT,
                PROJECT=PROJECT,
                REGION=REGION,
                URL=service.url,
                HOME=str(home),
                TMPDIR=str(own_tmp),  # some close the machine's to all other users
                RESULTS=str(results),
                **environment,
                **containers.variables,
                **client.environment,
            )
            variables["PATH"] = os.pathsep.join((*path, variables["PATH"]))
            command = (*FOOTPLATE, "run", "--", *client.command)
            with ending_with_children(command, work, variables) as process:
                process.wait(RUN_S)
        lines = [json.loads(line) for line in results.read_text("utf-8").splitlines()]
    seen = datetime.now(UTC).date().isoformat()
    failed = {line["example"]: line["failure"] for line in lines if line["failure"] is not None}
    passed = [line["example"] for line in lines if line["failure"] is None]
    if process.returncode:
        failed["the script itself"] = f"ended with {process.returncode}"
    return Row(client.version, seen, tuple(dict.fromkeys(passed)), failed)


@dataclass(frozen=True)
class Containers:
    """Settings of the service and variables of the client that name the engine, if there is one."""

    settings: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def container_engine(client: Client, folder: Path) -> Iterator[Containers]:
    if not client.images:
        yield Containers()
        return
    with (
        private_registry(folder / "registry") as registry,
        private_dockerd(folder / "engine") as engine,
    ):
        for image in client.images:
            make_python_image(engine.socket, image)
        yield Containers(
            {"container_engine": str(engine.socket)},
            {"DOCKER_HOST": engine.url, "REGISTRY": registry.host},
        )


@contextmanager
def ending_with_children(
    command: tuple[str, ...], folder: Path, variables: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """A process, of whose group nothing is left after the block."""
    process = subprocess.Popen(command, cwd=folder, env=variables, start_new_session=True)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait()


def install(client: Client) -> tuple[dict[str, str], list[str]]:
    """Return variables for, and folders of programs of, its environment, which is kept."""
    content = (CLIENTS / client.name / "client.toml").read_bytes()
    place = CACHE / "compatibility" / client.name
    place.mkdir(parents=True, exist_ok=True)
    mark, digest = place / "made-of", hashlib.sha256(content).hexdigest()
    with (place.with_suffix(".lock")).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not mark.exists() or mark.read_text() != digest:
            fill(client, place)
            mark.write_text(digest)
    variables = {"SOURCES": str(place / "sources")}
    if client.npm:
        variables["NODE_PATH"] = str(place / "node_modules")
    return variables, [str(place / "python" / "bin")]


def fill(client: Client, place: Path) -> None:
    shutil.rmtree(place)
    (place / "sources").mkdir(parents=True)
    environment, python = outside(os.environ), place / "python"

    def run(*command: object) -> None:
        subprocess.run(
            [str(word) for word in command],
            check=True, cwd=place, env=environment, timeout=INSTALL_S,
        )  # fmt: skip

    day = f"--exclude-newer={client.as_of}"
    run(find_uv_bin(), "venv", "-q", "--seed", f"--python={find_python(client.python)}", python)
    if client.packages:
        (place / "overrides").write_text("\n".join(client.overrides))
        options = ("-q", f"--python={python}", f"--overrides={place / 'overrides'}", day)
        run(find_uv_bin(), "pip", "install", *options, *client.packages)
    if client.npm:
        run("npm", "install", "--silent", f"--before={client.as_of}", *client.npm)
    for source in client.sources:
        download = ("download", "-q", "--no-deps", "--no-binary=:all:")
        run(python / "bin" / "python", "-m", "pip", *download, "-d", place / "archives", source)
    if client.repository:
        clone = ("git", "-C", place / "sources" / "repository")
        run("git", "init", "-q", clone[-1])
        run(*clone, "remote", "add", "origin", client.repository)
        run(*clone, "sparse-checkout", "set", client.folder)
        run(*clone, "fetch", "-q", "--depth=1", "--filter=blob:none", "origin", client.revision)
        run(*clone, "checkout", "-q", "FETCH_HEAD")
    for archive in sorted(place.glob("archives/*.tar.gz")):
        with tarfile.open(archive) as file:
            file.extractall(place / "sources", filter="data")


def find_python(version: str) -> str:
    """Return one of pyenv's, at whose shim uv would end its search; else what uv looks for."""
    found = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    return str(found[-1]) if found else version


def find_faults(client: Client, row: Row) -> list[str]:
    """Return what is other than ``client.toml`` says; a client without a passed example is one."""
    unexpected = [
        f"{example}: {failure}"
        for example, failure in row.failed.items()
        if example not in client.not_served
    ]
    stale = [
        f"{example}: not_served names it, but it "
        + ("passed" if example in row.passed else "is not run")
        for example in client.not_served
        if example not in row.failed
    ]
    return [*unexpected, *stale] if row.passed else ["no example passed", *unexpected, *stale]


def read_rows() -> dict[str, Row]:
    if not ROWS.exists():
        return {}
    rows: dict[str, Any] = json.loads(ROWS.read_text("utf-8"))
    return {name: Row(**{**row, "passed": tuple(row["passed"])}) for name, row in rows.items()}


def write_rows(rows: Mapping[str, Row]) -> None:
    document = {name: vars(rows[name]) for name in sorted(rows)}
    ROWS.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")


def write_page(rows: Mapping[str, Row]) -> str:
    """Return the page: a table of all clients, then the reasons, client by client."""
    clients = {name: read_client(name) for name in rows}
    columns = "| client | version | what ran | whose examples | passed | last seen |"
    lines = [HEAD, columns, "|---|---|---|---|---|---|"]
    reasons: list[str] = []
    for name in sorted(rows, key=lambda name: clients[name].title.lower()):
        client, row = clients[name], rows[name]
        total = len(row.passed) + len(row.failed)
        count = f"{len(row.passed)} of {total}"
        seen = f"{row.seen}, by hand" if client.repository else row.seen
        whose = "its own" if client.own_examples else "ours"
        cells = (client.title, row.version, client.runs, whose, count, seen)
        lines.append(f"| {' | '.join(cells)} |")
        if client.not_served:
            reasons += ["", f"## {client.title}", "", "| not served | why |", "|---|---|"]
            reasons += [f"| {each} | {why} |" for each, why in client.not_served.items()]
    return "\n".join([*lines, *reasons, ""])


if __name__ == "__main__":
    raise SystemExit(main())
