"""Measures this machine. Writes nothing but its cache."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from footplate.buckets.bindings import check_folders
from footplate.catalogue import load_catalogue
from footplate.cli.doctor import assessment
from footplate.cli.doctor.assessment import Finding, Verdict
from footplate.containers.discovery import find_engine
from footplate.containers.engine_api import Engine, EngineError
from footplate.domain.errors import InvalidArgument, ServiceError
from footplate.domain.sites.gpu_assignment import VISIBLE
from footplate.protocol.promised import Promised
from footplate.runtime_cache import Environments
from footplate.server.data_dir import DataDir
from footplate.server.gpus import Gpus
from footplate.server.isolation_probe import probe
from footplate.server.listener import listen
from footplate.server.remote_buckets import open_remotes
from footplate.server.wheels import reduction_wheel
from footplate.store.sql_engines import make_engine, parse_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from footplate.buckets.remote_objects import RemoteObjects
    from footplate.settings import Settings

DATABASE_TIMEOUT_S = 5.0


def examine(settings: Settings, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Yields a finding for each part as soon as it is known."""
    questions: dict[str, Callable[[], Finding]] = {
        "disk": lambda: _examine_disk(settings.data_dir),
        "isolation": lambda: assessment.judge_isolation(probe(settings), settings.isolation),
        "containers": lambda: _examine_engine(settings, environ),
        "gpus": lambda: _examine_gpus(settings, environ),
        "python": lambda: _examine_pythons(settings),
        "reduction": lambda: assessment.judge_reduction(installed=reduction_wheel() is not None),
        "port": lambda: _examine_port(settings),
        "database": lambda: _examine_database(settings),
    }
    if settings.buckets:
        questions["buckets"] = lambda: examine_buckets(settings)
    for part, question in questions.items():
        try:
            yield question()
        except ServiceError as error:
            yield Finding(part, Verdict.FAILED, error.message)
        except OSError as error:
            yield Finding(part, Verdict.FAILED, f"{error.filename}: {error.strerror}")


def _examine_engine(settings: Settings, environ: Mapping[str, str]) -> Finding:
    found = find_engine(settings.container_engine, environ)
    if found.socket is None:
        return assessment.judge_engine(found.problem, {}, {})
    try:
        engine = Engine(found.socket)
        info, version = engine.call("GET", "/info"), engine.call("GET", "/version")
    except (OSError, EngineError) as error:
        return assessment.judge_engine(str(error), {}, {})
    return assessment.judge_engine("", info, version)


def _examine_gpus(settings: Settings, environ: Mapping[str, str]) -> Finding:
    gpus = Gpus(load_catalogue(settings.catalogue), environ.get(VISIBLE))
    found = gpus.find(settings.gpus, settings.gpu_type)
    models = [gpu.model for gpu in found.gpus]
    return assessment.judge_gpus(models, found.notes, hidden=found.hidden)


def _examine_disk(path: Path) -> Finding:
    """Returns the finding on the disk; doesn't create the data directory."""
    existing = next(p for p in (path, *path.parents) if p.exists())
    problem = ""
    if not existing.is_dir():
        problem = f"{existing} is no directory"
    elif not os.access(existing, os.W_OK | os.X_OK):
        problem = f"this user may not write to {existing}"
    usage = shutil.disk_usage(existing)
    return assessment.judge_disk(str(path), usage.free, usage.total, problem)


def examine_buckets(settings: Settings) -> Finding:
    """Examines the buckets that are bound to storage outside the data directory.

    A missing folder keeps servers from starting; a remote store may be unavailable for a while.
    """
    try:
        check_folders(settings.buckets, settings.data_dir)
        remotes = open_remotes(settings.buckets)
    except InvalidArgument as error:
        return Finding("buckets", Verdict.FAILED, error.message)
    faults = [fault for fault in map(_find_fault, remotes.values()) if fault]
    if faults:
        return Finding("buckets", Verdict.LIMITED, "; ".join(faults))
    bound = [
        f"{binding.name} is {binding.target}{' (read-only)' if binding.read_only else ''}"
        for binding in settings.buckets
    ]
    return Finding("buckets", Verdict.OK, "; ".join(bound))


def _find_fault(remote: RemoteObjects) -> str:
    """Returns why the bucket can't be read now; '' if it can."""
    try:
        remote.scan(prefix="", delimiter="/", limit=1, start="", end="")
    except ServiceError as error:
        return error.message
    finally:
        remote.close()
    return ""


def _examine_pythons(settings: Settings) -> Finding:
    from uv import find_uv_bin

    try:
        # Nothing is built, so that no isolation need be tried.
        found = Environments(
            settings, Path(find_uv_bin()), promised=lambda: Promised("", (), {})
        ).interpreters()
    except FileNotFoundError as error:
        return assessment.judge_pythons({}, str(error))
    return assessment.judge_pythons(found, "")


def _examine_port(settings: Settings) -> Finding:
    announced = DataDir(settings.data_dir).announcement()
    if announced is not None and _lives(announced.pid):
        return assessment.judge_port(settings.host, settings.port, announced.url, "")
    problem = _why(lambda: listen(settings.host, settings.port).close())
    return assessment.judge_port(settings.host, settings.port, None, problem)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:  # kill() fails for no other reason than that there is none
        return False
    return True


def _examine_database(settings: Settings) -> Finding:
    """Examines the database: connects, but creates no table."""
    if settings.database_url is None:
        return assessment.judge_database("SQLite in the data directory", "", "")
    try:
        url = parse_url(settings.database)
        shown = url.render_as_string(hide_password=True)
        if url.get_backend_name() == "sqlite":
            return assessment.judge_database(shown, "", "")
        version = _ask_database(settings.database)
    except ServiceError as error:
        return assessment.judge_database("database_url", "", error.message)
    except Exception as error:
        return assessment.judge_database(shown, "", str(error).partition("\n")[0])
    return assessment.judge_database(shown, version, "")


def _ask_database(url: str) -> str:
    engine = make_engine(parse_url(url), DATABASE_TIMEOUT_S)
    try:
        with engine.connect() as connection:
            found = connection.dialect.server_version_info or ()
            return f"PostgreSQL {'.'.join(map(str, found))}"
    finally:
        engine.dispose()


def _why(act: Callable[[], None]) -> str:
    try:
        act()
    except ServiceError as error:
        return error.message
    return ""
