"""The levels of isolation: what each guarantees, and what it doesn't, in one row for each.

The table of ``docs/concepts/isolation.md``, ``footplate doctor`` and the jobs' ``ISOLATION`` events
are made from these rows.
"""

from __future__ import annotations


class Level:
    """A level of isolation. ``guaranteed`` and ``missing`` are clauses; ``missing`` is empty if
    nothing is missing. ``needs`` says what a machine must have for the level.
    """

    __slots__ = ("guaranteed", "missing", "name", "needs")

    def __init__(self, name: str, needs: str, guaranteed: str, missing: str = "") -> None:
        self.name = name
        self.needs = needs
        self.guaranteed = guaranteed
        self.missing = missing


NOT_GUARANTEED = "not guaranteed"
SEES_OWN = "the program sees only its own processes"
_SEES_OTHERS = "the program sees all processes, and can signal those of its user"
_UNLIMITED = "memory and CPU can't be limited"

CONTAINER = Level(
    "container",
    "a container engine, for jobs that name an image",
    f"the container engine kills the container's processes and removes its files; {SEES_OWN}",
    "the container has the machine's network",
)
CGROUP = Level(
    "cgroup",
    "a writable cgroup hierarchy; pid namespaces, so that the program sees only its own processes",
    f"the kernel kills all processes of the program by their control group; {SEES_OWN}",
)
NAMESPACE = Level(
    "namespace",
    "pid namespaces (root or user namespaces)",
    f"the kernel kills all processes of the program with their pid namespace; {SEES_OWN}",
    _UNLIMITED,
)
SUBREAPER = Level(
    "subreaper",
    "Linux",
    "all processes of the program are killed; if the supervisor was killed before, only processes "
    "that still have its variable in their environment",
    f"{_SEES_OTHERS}; {_UNLIMITED}",
)
BEST_EFFORT = Level(
    "best-effort",
    "POSIX",
    "the program's process group is killed",
    "processes that left the group may survive, and may call a service without a token; "
    f"{_SEES_OTHERS}; {_UNLIMITED}",
)
CONTAINMENTS = (CONTAINER, CGROUP, NAMESPACE, SUBREAPER, BEST_EFFORT)

OWN_USER = Level(
    "own user",
    "a service that root runs",
    "the program runs as a user that no other program has, without capabilities",
)
NAMED_USER = Level(
    "named user",
    "a service that root runs, with a name in `program_users`",
    "the program runs as the user that `program_users` names, without capabilities",
    "programs of this user can signal each other, and read each other's files if they see them",
)
SERVICE_USER = Level(
    "service's user",
    "a service that an ordinary user runs",
    "the program has the rights of the user who runs the service, and no setuid program adds any",
    "the program can read and write this user's files, also the home directory",
)
ROOT = Level(
    "root",
    "a service that root runs, with `allow_root` or one of the faults below",
    "",
    "the program is root on this machine: it can read and change everything",
)
USERS = (OWN_USER, NAMED_USER, SERVICE_USER, ROOT)

OWN_VIEW = Level(
    "own view",
    "mount namespaces (root or user namespaces)",
    "temporary directories, /dev/shm and System V's shared memory are the program's own; the "
    "service's files are hidden",
)
HOST_VIEW = Level(
    "host's view",
    "nothing",
    "the program has its own temporary directory, which TMPDIR names",
    "shared memory, /dev/shm and /tmp aren't private; the service's files aren't hidden",
)
VIEWS = (OWN_VIEW, HOST_VIEW)

LEVELS = (*CONTAINMENTS, *USERS, *VIEWS)


def find(name: str) -> Level | None:
    return next((level for level in LEVELS if level.name == name), None)


def describe(guaranteed: str, missing: str) -> str:
    """Returns one sentence on what is guaranteed and what is missing."""
    words = f"{NOT_GUARANTEED}: {missing}" if missing else ""
    return "; ".join(filter(None, [guaranteed, words]))


def make_table() -> str:
    """Returns the levels as a table in Markdown."""
    rows = ["| level | needs | guaranteed | not guaranteed |", "|---|---|---|---|"]
    rows += [
        f"| {level.name} | {level.needs} | {level.guaranteed or 'nothing'} | {level.missing} |"
        for level in LEVELS
    ]
    return "\n".join(row.replace("|  |", "| |") for row in rows)
