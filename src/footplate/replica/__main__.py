"""``python -I -S supervisor.pyz {run|environment|check-packages|image|sweep} HOME``,
``launch DIRECTORY``, ``{fetch|save|follow}-buckets HOME``, ``probe FACTS``,
``{stacks|shell} HOME REQUEST``, ``guard SOCKET CONTAINER``, or ``fork-server``.
"""

from __future__ import annotations

import sys

from footplate.replica.open_files import restore_limit

_USAGE = (
    "usage: supervisor.pyz {run|environment|check-packages|image|sweep} HOME, launch DIRECTORY, "
    "{fetch|save|follow}-buckets HOME, probe FACTS, "
    "{stacks|shell} HOME REQUEST, guard SOCKET CONTAINER, or fork-server"
)
_USAGE_CODE = 2


def main(arguments: list[str]) -> int:
    """Runs a command. Each command imports only what it needs: the supervisor, which lives long,
    must stay small.
    """
    restore_limit()
    if arguments[:1] == ["fork-server"]:
        from footplate.replica import fork_server

        return fork_server.main()
    if arguments[:1] == ["launch"] and len(arguments) > 1:
        from footplate.replica.launcher import parent

        return parent.main(arguments[1])
    if len(arguments) == 2:
        return _run(*arguments)
    if len(arguments) == 3:
        return _grant(*arguments)
    return _refuse()


def _run(command: str, subject: str) -> int:
    if command == "run":
        from footplate.replica import run

        return run.main(subject)
    if command == "sweep":
        from footplate.replica import cleanup

        return cleanup.main(subject)
    if command == "environment":
        from footplate.replica import environment

        return environment.main(subject)
    if command == "check-packages":
        from footplate.replica import environment

        return environment.check_packages(subject)
    if command == "image":
        from footplate.replica.container import image

        return image.main(subject)
    if command in ("fetch-buckets", "save-buckets", "follow-buckets"):
        from footplate.replica import bucket_copies

        return bucket_copies.main(command.partition("-")[0], subject)
    if command == "probe":
        from footplate.replica import probe

        return probe.main(subject)
    return _refuse()


def _grant(kind: str, home: str, control_request: str) -> int:
    if kind == "stacks":
        from footplate.replica import stacks

        return stacks.main(home, control_request)
    if kind == "shell":
        from footplate.replica import shell

        return shell.main(home, control_request)
    if kind == "guard":
        from footplate.replica.container import guard

        return guard.main(home, control_request)
    return _refuse()


def _refuse() -> int:
    print(_USAGE, file=sys.stderr)
    return _USAGE_CODE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
