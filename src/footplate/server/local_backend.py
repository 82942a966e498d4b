"""Creates the local backend from the settings, with py-spy where it is installed."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import uv

from footplate.backends.local import LocalBackend
from footplate.backends.local.fork_server import make_fork_server
from footplate.protocol.promised import Promised
from footplate.server.credential_files import find_credential_files
from footplate.server.data_dir import DataDir
from footplate.server.program_users import resolve

if TYPE_CHECKING:
    from footplate.settings import Settings


def find_py_spy() -> Path | None:
    """Returns this installation's py-spy, or else the first in PATH; None if there is none."""
    own = sysconfig.get_path("scripts")
    found = shutil.which("py-spy", path=os.pathsep.join((own, os.environ.get("PATH", ""))))
    return None if found is None else Path(found).absolute()


def local_backend(
    settings: Settings,
    data_dir: DataDir,
    archive: Path,
    promised: Callable[[], Promised],
) -> LocalBackend:
    directories, files = find_credential_files(settings.buckets, os.environ, settings.regions)
    return LocalBackend(
        root=data_dir.replicas,
        archive=archive,
        python=Path(sys.executable),
        server_file=data_dir.server_file,
        cache=settings.cache,
        buckets=data_dir.buckets,
        uv=Path(uv.find_uv_bin()),
        py_spy=find_py_spy(),
        isolation=settings.isolation,
        promised=promised,
        program_users=resolve(settings.program_users),
        allow_root=settings.allow_root,
        pythons=settings.pythons,
        fetch_interpreters=settings.fetches_interpreters,
        service=data_dir.identity().id,
        private=(data_dir.root, *settings.bound_folders, *directories),
        blocked=files,
        tmp_paths=settings.tmp_paths,
        job_dir_roots=settings.job_dir_roots,
        spool_limit_bytes=settings.spool_limit_mb << 20,
        cache_limit_bytes=settings.cache_limit_bytes,
        build_limits=settings.build_limits,
        reserve=data_dir.reserve.path,
        fork_server=make_fork_server(Path(sys.executable), archive),
    )
