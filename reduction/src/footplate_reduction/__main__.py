"""The command ``footplate-reduction``."""

from __future__ import annotations

import argparse
import os
import platform
import sys

import numpy as np

from footplate_reduction import __version__
from footplate_reduction.native.library import LibraryError, load
from footplate_reduction.reducer.process import Reducer, raise_descriptor_limit
from footplate_reduction.settings import (
    DEFAULT_PORT,
    ReducerSettings,
    check_job,
    check_token,
    reducer_settings,
)

_REDUCER = """\
Adds the vectors that the workers of a job send, and sends the sum to all of them. It runs until
SIGTERM, and serves any number of groups of workers, one after the other or side by side.

Workers and reducers of a job share two variables of the environment:
  FOOTPLATE_REDUCTION_JOB     any name
  FOOTPLATE_REDUCTION_TOKEN   at least 16 characters that nobody else knows
Workers get the addresses of all reducers: FOOTPLATE_REDUCERS=host:port,host:port
What travels is not encrypted: use a network that you trust.
"""
_STATUS = """\
exit status: 0 stopped by a signal; 1 cannot listen; 2 invalid setting, or the C++ library was not
compiled; 3 no worker answers any more: it was cut off from the network
"""


def main(arguments: list[str] | None = None) -> int:
    parsed = _parser().parse_args(arguments)
    try:
        return int(parsed.run(parsed))
    except (LibraryError, ValueError) as error:
        sys.stderr.write(f"footplate-reduction: {error}\n")
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="footplate-reduction", description="All-reduce through reducers."
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_reducer(commands)
    info = commands.add_parser("info", help="print the installed version and what it adds with")
    info.set_defaults(run=_info)
    return parser


def _add_reducer(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    reducer = commands.add_parser(
        "reducer",
        help="serve as a reducer",
        description=_REDUCER,
        epilog=_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = reducer.add_argument
    add("--host", help="address to listen on (FOOTPLATE_REDUCTION_HOST; default: all interfaces)")
    add(
        "--port",
        type=int,
        help=f"port to listen on (FOOTPLATE_REDUCTION_PORT; {DEFAULT_PORT}); 0: any free port",
    )
    add(
        "--lanes",
        type=int,
        help="connections and threads for each worker (FOOTPLATE_REDUCTION_LANES; default: 1); "
        "take several for a network of more than 10 Gbit/s",
    )
    add("--job", help="name of the job (FOOTPLATE_REDUCTION_JOB)")
    add(
        "--stats",
        metavar="PATH",
        help="file for counters in JSON, replaced once a second (FOOTPLATE_REDUCTION_STATS)",
    )
    reducer.set_defaults(run=_reducer)


def _settings(parsed: argparse.Namespace) -> ReducerSettings:
    """Reads and checks the settings: arguments, which have precedence, and the environment."""
    environment = dict(os.environ)
    for name in ("host", "port", "lanes", "job", "stats"):
        given = getattr(parsed, name)
        if given is not None:
            environment["FOOTPLATE_REDUCTION_" + name.upper()] = str(given)
    settings = reducer_settings(environment)
    check_job(settings.job)
    check_token(settings.token)
    return settings


def _reducer(parsed: argparse.Namespace) -> int:
    settings = _settings(parsed)
    raise_descriptor_limit()
    try:
        reducer = Reducer(settings)
    except OSError as error:
        where = "{}:{}".format(settings.host or "*", settings.port)
        sys.stderr.write(f"footplate-reduction: can't listen on {where}: {error}\n")
        return 1
    return reducer.run()


def _info(_: argparse.Namespace) -> int:
    sys.stdout.write(
        f"footplate-reduction {__version__}\n"
        f"Python {platform.python_version()}, NumPy {np.__version__}\n"
    )
    sys.stdout.flush()  # before the error of a library that was not compiled
    sys.stdout.write(f"adds with {load().instruction_set()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
