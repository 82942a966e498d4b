"""``python -m footplate.container_engine pull``: runs a pull in a process that can be killed."""

from __future__ import annotations

import argparse
from pathlib import Path

from footplate.container_engine.engine_client import EngineFailure
from footplate.container_engine.progress_output import Reporter
from footplate.container_engine.pull import STALL_TIMEOUT_S, pull
from footplate.domain.image_reference import MalformedReference, parse_reference


def main() -> None:
    parser = argparse.ArgumentParser(prog="footplate.container_engine")
    commands = parser.add_subparsers(required=True)
    pulling = commands.add_parser("pull")
    pulling.add_argument("--socket", required=True)
    pulling.add_argument("--image", required=True)
    pulling.add_argument("--lock-dir", type=Path, required=True)
    pulling.add_argument("--silence-limit", type=float, default=STALL_TIMEOUT_S)
    given = parser.parse_args()
    report = Reporter()
    try:
        reference = parse_reference(given.image)
        pull(given.socket, reference, given.lock_dir, report, given.silence_limit)
    except MalformedReference as error:
        report.fail(f"'{given.image}' names no image: {error}")
    except EngineFailure as error:
        report.fail(str(error))


if __name__ == "__main__":
    main()
