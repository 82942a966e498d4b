"""The keys of the tables ``[[regions]]``, by backend, with what each may have."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator

from footplate.backends.slurm import rest_settings
from footplate.backends.slurm.job_script import CHOSEN
from footplate.containers.discovery import COMMANDS
from footplate.domain.errors import Violation
from footplate.domain.formatting import joined, quoted

Check = Callable[[str, object], Iterator[Violation]]
"""Yields what is wrong with the value of a key, whose place it is given."""

LOCAL, SLURM, KUBERNETES, RAY = "local", "slurm", "kubernetes", "ray"
BACKENDS = (LOCAL, SLURM, KUBERNETES, RAY)
ANY_MACHINE = "*"
MAX_REPLICAS = 100_000
STRATEGIES = ("PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD")
SHARED, COPIED = "shared", "copied"
FILES = (SHARED, COPIED)
REQUIRED, PREFERRED = "required", "preferred"
TOPOLOGY_MODES = (REQUIRED, PREFERRED)
MAX_LEASE_S = 86_400
_NOT_OF_ENV = ("PYTHONHOME", "PYTHONPATH")
"""Variables that would keep the Python of an environment from finding its packages."""
MIN_LOST_S = 40
"""Launchers call every 20 s, and may find the server standing still for another 15."""
_URL = re.compile(r"https?://[^/\s?#@]+(?:/[^\s?#]*)?")
_LABEL = re.compile(r"[A-Za-z0-9._/-]+=[A-Za-z0-9._-]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LABEL_KEY = re.compile(
    r"([a-z0-9][a-z0-9.-]{0,252}/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
)
_NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_RESOURCE = re.compile(r"[A-Za-z0-9._:-]+=[0-9]+(?:\.[0-9]+)?")


def _rule(is_good: Callable[[object], bool], rule: str) -> Check:
    def check(place: str, value: object) -> Iterator[Violation]:
        if not is_good(value):
            yield Violation(place, f"{value!r} given; allowed: {rule}")

    return check


def _is_name(value: object) -> bool:
    """Returns whether the value can be used in an option as it is: one printable word."""
    return isinstance(value, str) and value.isprintable() and len(value.split()) == 1


def _is_path(value: object) -> bool:
    return isinstance(value, str) and value.isprintable() and value.startswith("/")


def _is_label_key(value: object) -> bool:
    return isinstance(value, str) and _LABEL_KEY.fullmatch(value) is not None


def _is_url(value: object) -> bool:
    return isinstance(value, str) and _URL.fullmatch(value) is not None


def _is_whole(value: object, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most


def _is_lease(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 5 <= value <= MAX_LEASE_S  # type: ignore[operator]  # it is a number


def _is_lost(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and MIN_LOST_S <= value <= MAX_LEASE_S  # type: ignore[operator]  # it is one


def _is_program(value: object) -> bool:
    """Returns whether the value is a path of a program, with arguments in shell quoting."""
    try:
        return _is_path(value) and bool(shlex.split(str(value)))
    except ValueError:
        return False


def _check_machines(rule: str, fits: Callable[[list[str]], bool]) -> Check:
    def check(place: str, value: object) -> Iterator[Violation]:
        if not isinstance(value, dict) or not value:
            text = f'{value!r} given; allowed: a table of machine types such as "n1-standard-8"'
            yield Violation(place, f"{text} = {rule}")
            return
        for name, options in value.items():
            try:
                words = shlex.split(options) if isinstance(options, str) else None
            except ValueError as error:
                text = (
                    f"{options!r} given, which can't be split into words: {error}; allowed: quotes "
                    "in pairs"
                )
                yield Violation(f"{place}.{name}", text)
                continue
            if words is None or not fits(words):
                text = f'{options!r} given; allowed: {rule}, or "" for none'
                yield Violation(f"{place}.{name}", text)

    return check


def _are_options(words: list[str]) -> bool:
    return not words or words[0].startswith("-")


def _are_labels(words: list[str]) -> bool:
    return all(_LABEL.fullmatch(word) for word in words)


def _are_resources(words: list[str]) -> bool:
    return all(_RESOURCE.fullmatch(word) for word in words)


def _check_accelerators(place: str, value: object) -> Iterator[Violation]:
    if not isinstance(value, dict) or not value:
        rule = 'a table of accelerators such as "NVIDIA_TESLA_T4" = "gpu:t4"'
        yield Violation(place, f"{value!r} given; allowed: {rule}")
        return
    for name, resource in value.items():
        if not _is_name(resource):
            rule = "the engine's name of the accelerator, such as gpu:t4"
            yield Violation(f"{place}.{name}", f"{resource!r} given; allowed: {rule}")


def _check_env(place: str, value: object) -> Iterator[Violation]:
    if not isinstance(value, dict) or not value:
        rule = 'a table of variables such as NCCL_SOCKET_IFNAME = "ib0"'
        yield Violation(place, f"{value!r} given; allowed: {rule}")
        return
    for name, text in value.items():
        if not _VARIABLE.fullmatch(name) or name.startswith("FOOTPLATE_") or name in _NOT_OF_ENV:
            rule = f"a variable's name, but no FOOTPLATE_..., {joined(_NOT_OF_ENV)}"
            yield Violation(place, f"{quoted(name)} given; allowed: {rule}")
        elif not isinstance(text, str) or "\0" in text:
            yield Violation(f"{place}.{name}", f"{text!r} given; allowed: a text")


def _check_projects(place: str, value: object) -> Iterator[Violation]:
    rule = f'a table for each project, with {joined(CHOSEN)}, such as {{account = "physics"}}'
    tables = value if isinstance(value, dict) else {}
    if not tables or not all(isinstance(table, dict) and table for table in tables.values()):
        yield Violation(place, f"{value!r} given; allowed: {rule}")
        return
    for project, table in tables.items():
        for name, word in table.items():
            if name not in CHOSEN:
                allowed = f"allowed: {joined(CHOSEN)}"
                yield Violation(f"{place}.{project}.{name}", f"no such key; {allowed}")
            elif not _is_name(word):
                yield Violation(f"{place}.{project}.{name}", f"{word!r} given; allowed: a name")


def _check_admit(place: str, value: object) -> Iterator[Violation]:
    if not isinstance(value, list):
        yield Violation(place, f"{value!r} given; allowed: a list with {joined(CHOSEN)}")
        return
    for name in value:
        if name not in CHOSEN:
            yield Violation(place, f"{name!r} given; allowed: {joined(CHOSEN)}")


def _check_namespaces(place: str, value: object) -> Iterator[Violation]:
    if not isinstance(value, dict) or not value:
        rule = 'a table of projects such as "my-project" = "team-a"'
        yield Violation(place, f"{value!r} given; allowed: {rule}")
        return
    for project, namespace in value.items():
        if not isinstance(namespace, str) or not _NAMESPACE.fullmatch(namespace):
            rule = "a namespace of Kubernetes, such as team-a"
            yield Violation(f"{place}.{project}", f"{namespace!r} given; allowed: {rule}")


_word, _path = _rule(_is_name, "a name"), _rule(_is_path, "an absolute path")
_NAME = {"name": _rule(_is_name, "a region of the catalogue")}
_NODES: dict[str, Check] = {
    "scratch": _path,
    "shared": _path,
    "files": _rule(lambda value: value in FILES, joined(FILES)),
    "python": _rule(_is_name, "a command, or the path of a program on the nodes"),
    "lease_s": _rule(_is_lease, f"a number of seconds from 5 to {MAX_LEASE_S}"),
    "node_lost_s": _rule(_is_lost, f"a number of seconds from {MIN_LOST_S} to {MAX_LEASE_S}"),
    "fence": _rule(_is_program, "an absolute path of a program, with arguments in shell quoting"),
    "max_replicas": _rule(
        lambda value: _is_whole(value, MAX_REPLICAS), f"a whole number from 1 to {MAX_REPLICAS}"
    ),
    "accelerators": _check_accelerators,
    "env": _check_env,
}
_containers = _rule(
    lambda value: isinstance(value, bool) or value in tuple(COMMANDS) or _is_path(value),
    f"true, false, {', '.join(COMMANDS)}, or the path of the container engine's socket on the "
    "nodes",
)
_reserve = _rule(lambda value: isinstance(value, bool), "true or false")
KEYS: dict[str, dict[str, Check]] = {
    LOCAL: _NAME,
    SLURM: {
        **_NAME,
        **_NODES,
        **dict.fromkeys(("partition", "account", "qos", "user"), _word),
        "slurmrestd": _rule(rest_settings.is_address, rest_settings.RULE),
        "token_file": _path,
        "containers": _containers,
        "keep_warm_s": _rule(_is_lease, f"a number of seconds from 5 to {MAX_LEASE_S}"),
        "projects": _check_projects,
        "admit": _check_admit,
        "prologue": _rule(
            lambda value: isinstance(value, str) and bool(value.strip()) and "\0" not in value,
            "lines of shell such as 'module load cuda'",
        ),
        "machines": _check_machines('options of sbatch such as "--constraint=c8"', _are_options),
    },
    KUBERNETES: {
        **_NAME,
        **_NODES,
        **dict.fromkeys(("kubeconfig", "pod_template"), _path),
        **dict.fromkeys(("context", "namespace", "image", "queue"), _word),
        "namespaces": _check_namespaces,
        "topology": _rule(_is_label_key, "a label of nodes, such as topology.kubernetes.io/zone"),
        "topology_mode": _rule(lambda value: value in TOPOLOGY_MODES, joined(TOPOLOGY_MODES)),
        "reserve": _reserve,
        "machines": _check_machines('labels of nodes such as "pool=large"', _are_labels),
    },
    RAY: {
        **_NAME,
        **_NODES,
        "address": _rule(_is_url, "the URL of Ray's dashboard, such as http://10.0.0.7:8265"),
        "token_file": _path,
        "containers": _containers,
        "strategy": _rule(lambda value: value in STRATEGIES, joined(STRATEGIES)),
        "reserve": _reserve,
        "machines": _check_machines('resources such as "pool_large=1"', _are_resources),
    },
}
_REGION = "a region of the catalogue"
NEEDED = {
    LOCAL: {"name": _REGION},
    SLURM: {"name": _REGION},
    KUBERNETES: {"name": _REGION},
    RAY: {"name": _REGION, "address": "the URL of Ray's dashboard, such as http://10.0.0.7:8265"},
}
