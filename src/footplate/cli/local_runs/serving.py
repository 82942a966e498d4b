"""The process of a private service.

It ends at the end of its standard input, which comes with the death of the process that started
it, too: then its job is cancelled, and its directory removed. Its one line on standard output is
a JSON object: where it answers, or why it doesn't.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from footplate.backends.local.directory_removal import empty
from footplate.cli.defaults import GPU_TYPE
from footplate.cli.environment_variables import forget
from footplate.client.service import Service
from footplate.domain.errors import ServiceError
from footplate.domain.sites import Mode
from footplate.server import end_left_behind, serve
from footplate.settings import EVERY_PROJECT, NONE, load_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.domain.sites import Site
    from footplate.settings import Settings

_WITH_GPUS = 4
"""Words on the command line, beside which one more asks for GPUs."""


def main(
    folder: Path, replicas: int | None = None, *, seen: Path | None = None, gpus: bool = False
) -> None:
    """Serves in ``folder``, or ends what a killed service left; then removes the folder."""
    forget(os.environ)
    token = secrets.token_urlsafe()
    try:
        if replicas is None:
            end_left_behind(private_settings(os.environ, folder, 1, token))
        else:
            settings = private_settings(os.environ, folder, replicas, token, gpus=gpus, seen=seen)
            _serve(settings)
    except ServiceError as error:
        _say(error=error.message)
    finally:
        empty(folder)
        folder.rmdir()


def private_settings(
    environ: Mapping[str, str],
    data_dir: Path,
    replicas: int,
    token: str,
    *,
    gpus: bool = False,
    seen: Path | None = None,
) -> Settings:
    """Returns the user's settings, without those that share, limit or measure something.

    Environments are cached where the user's service caches them. ``gpus`` makes this machine's
    GPUs, of whatever type, count as GPU_TYPE. ``seen`` is added to the ``tmp_paths``.

    Raises:
        InvalidArgument: a setting of the user is wrong.
    """
    own = load_settings(environ, {"host": "127.0.0.1", "port": 0, "max_replicas": replicas})
    return replace(
        own,
        data_dir=data_dir,
        cache_dir=own.cache,
        database_url=None,
        token=token,
        # The ports may be those of the user's service.
        grpc_port=NONE,
        proxy_port=NONE if own.proxy_port == NONE else 0,
        mode=Mode.EMULATE,
        # Unless they are asked for, they are the user's service's to hand out.
        gpus=own.gpus if gpus else "none",
        gpu_type=GPU_TYPE if gpus else None,
        quotas=(),
        tmp_paths=(*own.tmp_paths, *([seen] if seen else [])),
        job_dir_roots=(Path("/"),),  # the caller names the directory
        allow_root=(EVERY_PROJECT,),  # and runs a program of his own in a folder of his own
        reserve_mb=0,
    )


def _serve(settings: Settings) -> None:
    def ready(url: str, _: Site, _leader: str | None) -> None:
        _say(url=url, token=settings.token or "")
        threading.Thread(target=end, args=(url,), name="end", daemon=True).start()

    def end(url: str) -> None:
        sys.stdin.buffer.read()
        with Service(url, settings.token) as service:
            service.down()

    if serve(settings, on_ready=ready):  # a signal has ended it before its job
        end_left_behind(settings)


def _say(**message: str) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(
        Path(sys.argv[1]),
        *map(int, sys.argv[2:3]),
        seen=next((Path(path) for path in sys.argv[3:4] if path), None),
        gpus=len(sys.argv) > _WITH_GPUS,
    )
