"""The settings: one frozen dataclass, read once from the environment and a file.

Each field ``name`` is set, strongest first, by its command line option, by the environment
variable ``FOOTPLATE_NAME``, or by ``name = ...`` in ``footplate.toml`` in the data directory.
This module alone reads either.
"""

from __future__ import annotations

import math
import re
import sys
import tomllib
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footplate.backends.region_bindings import read_region_bindings
from footplate.backends.region_keys import LOCAL
from footplate.buckets.bindings import read_bindings
from footplate.domain.directory_form import DirectoryForm
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.formatting import nearest
from footplate.domain.price_table import read_prices
from footplate.domain.quota_tables import read_quotas
from footplate.domain.retention import read_keep_times
from footplate.domain.sites import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from enum import Enum

    from footplate.backends.region_bindings import RegionBinding
    from footplate.buckets.bindings import BucketBinding
    from footplate.domain.machine_hours import Prices
    from footplate.domain.quotas import Quota
    from footplate.domain.retention import KeepTimes

DEFAULT_PORT = 8470
USUAL_PORTS = {"grpc_port": 8473, "proxy_port": 8472}
AUTO, NONE = "auto", "none"
FILE_NAME = "footplate.toml"
PREFIX = "FOOTPLATE_"
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
ISOLATIONS = ("auto", "cgroup", "namespace", "subreaper", "best-effort")
LIMITS = ("auto", "on")
FETCHES = ("auto", "off")
EVERY_PROJECT = "*"
IMAGE_PULLS = ("missing", "always")
_USERS = re.compile(r"[0-9]+-[0-9]+|[A-Za-z_][A-Za-z0-9_.-]*")
_ADDRESS = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+)):([0-9]{1,5})")
_WILDCARDS = ("0.0.0.0", "::")  # noqa: S104 - refused
_REMOVED = {
    "network": "remove this setting: replicas share this machine's network, and each replica "
    "listens on the port that CLUSTER_SPEC names",
}
"""The way out, for settings of earlier versions."""
_ALIKE = 0.78
"""How like a setting a variable must be called; clients and programs have others of that prefix."""


def _by(read: Callable[[object], object]) -> dict[str, Callable[[object], object]]:
    """Returns a field's metadata, with the function that reads its value."""
    return {"read": read}


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("text")
    return value


def _path(value: object) -> Path:
    return Path(_text(value)).expanduser().absolute()


def _texts(value: object) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(p, str) for p in parts):
        raise ValueError("texts, separated by commas")
    return tuple(p.strip() for p in parts if p.strip())


def _networks(value: object) -> tuple[str, ...]:
    texts = _texts(value)
    try:
        return tuple(str(ip_network(text)) for text in texts)
    except ValueError:
        raise ValueError("addresses and networks (10.0.0.0/8), separated by commas") from None


def _users(value: object) -> str:
    text = _text(value)
    if not _USERS.fullmatch(text):
        raise ValueError("a range of user ids such as 1879048192-1879113727, or a user's name")
    return text


def _projects(value: object) -> tuple[str, ...]:
    """Returns the projects of a setting: a list, or all or none for true and false."""
    if value in (True, "true"):
        return (EVERY_PROJECT,)
    if value in (False, "false"):
        return ()
    return _texts(value)


def _pairs(value: object) -> tuple[tuple[str, str], ...]:
    pairs = tuple(part.partition("=") for part in _texts(value))
    if not all(name.strip() and project.strip() for name, _, project in pairs):
        raise ValueError("pairs of BUCKET=PROJECT, separated by commas")
    return tuple((name.strip(), project.strip()) for name, _, project in pairs)


def _paths(value: object) -> tuple[Path, ...]:
    parts = _texts(value)
    if not all(part.startswith(("/", "~/")) for part in parts):
        raise ValueError("absolute paths, separated by commas")
    return tuple(Path(part).expanduser() for part in parts)


def _whole(low: int, high: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        try:
            number = int(str(value))
        except ValueError:
            number = low - 1
        if not low <= number <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return number

    return read


def _port_or_word(value: object) -> int | str:
    if value in (AUTO, NONE):
        return str(value)
    try:
        return _whole(0, 65535)(value)
    except ValueError as error:
        raise ValueError(f"{AUTO}, {NONE}, or {error}") from None


def _address(value: object) -> tuple[str, int]:
    """Returns host and port of ``HOST:PORT``, or ``[HOST]:PORT`` for an address of IPv6."""
    found = _ADDRESS.fullmatch(value) if isinstance(value, str) else None
    if found is None or int(found[3]) > 65535 or (found[1] or found[2]) in _WILDCARDS:
        raise ValueError(
            "HOST:PORT, the address of this machine that the cluster's nodes reach, such as "
            "10.0.0.5:8474"
        )
    return found[1] or found[2], int(found[3])


def _seconds(value: object) -> float:
    return _number(value, 0, sys.float_info.max, "a number of seconds, 0 or more")


def _lease_seconds(value: object) -> float:
    return _number(value, 1, 3600, "a number of seconds from 1 to 3600")


def _number(value: object, low: float, high: float, allowed: str) -> float:
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if not low <= number <= high:
        raise ValueError(allowed)
    return number


def _one_of(allowed: tuple[str, ...]) -> Callable[[object], str]:
    def read(value: object) -> str:
        if value not in allowed:
            raise ValueError(", ".join(allowed))
        return str(value)

    return read


def _member(kind: type[Enum]) -> Callable[[object], Enum]:
    read = _one_of(tuple(member.value for member in kind))
    return lambda value: kind(read(value))


@dataclass(frozen=True)
class Settings:
    """The settings that ``docs/reference/settings.md`` describes, field by field."""

    data_dir: Path
    host: str = field(default="127.0.0.1", metadata=_by(_text))
    port: int = field(default=DEFAULT_PORT, metadata=_by(_whole(0, 65535)))
    grpc_port: int | str = field(default=AUTO, metadata=_by(_port_or_word))
    proxy_port: int | str = field(default=AUTO, metadata=_by(_port_or_word))
    cluster_address: tuple[str, int] | None = field(default=None, metadata=_by(_address))
    token: str | None = field(default=None, metadata=_by(_text))
    trusted_proxies: tuple[str, ...] = field(default=(), metadata=_by(_networks))
    max_connections: int = field(default=10_000, metadata=_by(_whole(16, 1_000_000)))
    database_url: str | None = field(default=None, metadata=_by(_text))
    cache_dir: Path | None = field(default=None, metadata=_by(_path))
    cache_limit_gb: int = field(default=50, metadata=_by(_whole(0, 1_000_000)))
    allowed_hosts: tuple[str, ...] = field(default=(), metadata=_by(_texts))
    directories: DirectoryForm = field(
        default=DirectoryForm.URIS, metadata=_by(_member(DirectoryForm))
    )
    job_dir_roots: tuple[Path, ...] = field(default=(), metadata=_by(_paths))
    tmp_paths: tuple[Path, ...] = field(default=(), metadata=_by(_paths))
    isolation: str = field(default="auto", metadata=_by(_one_of(ISOLATIONS)))
    program_users: str | None = field(default=None, metadata=_by(_users))
    allow_root: tuple[str, ...] = field(default=(), metadata=_by(_projects))
    api_access: tuple[str, ...] = field(default=(), metadata=_by(_projects))
    buckets: tuple[BucketBinding, ...] = field(default=(), metadata=_by(read_bindings))
    shared_buckets: tuple[str, ...] = field(default=(), metadata=_by(_projects))
    bucket_projects: tuple[tuple[str, str], ...] = field(default=(), metadata=_by(_pairs))
    container_engine: str | None = field(default=None, metadata=_by(_text))
    image_pull: str = field(default="missing", metadata=_by(_one_of(IMAGE_PULLS)))
    container_images: tuple[str, ...] = field(default=(), metadata=_by(_texts))
    regions: tuple[RegionBinding, ...] = field(default=(), metadata=_by(read_region_bindings))
    mode: Mode = field(default=Mode.EMULATE, metadata=_by(_member(Mode)))
    limits: str = field(default="auto", metadata=_by(_one_of(LIMITS)))
    max_replicas: int | None = field(default=None, metadata=_by(_whole(1, 100_000)))
    gpus: str = field(default="auto", metadata=_by(_text))
    gpu_type: str | None = field(default=None, metadata=_by(_text))
    catalogue: Path | None = field(default=None, metadata=_by(_path))
    quotas: tuple[Quota, ...] = field(default=(), metadata=_by(read_quotas))
    prices: Prices | None = field(default=None, metadata=_by(read_prices))
    patience_s: float = field(default=3600.0, metadata=_by(_seconds))
    pythons: tuple[str, ...] = field(default=(), metadata=_by(_texts))
    fetch_interpreters: str = field(default="auto", metadata=_by(_one_of(FETCHES)))
    spool_limit_mb: int = field(default=64, metadata=_by(_whole(1, 65536)))
    log_limit_mb: int = field(default=10_240, metadata=_by(_whole(0, 1 << 30)))
    keep_jobs: KeepTimes | None = field(
        default=None, metadata=_by(partial(read_keep_times, "keep_jobs"))
    )
    keep_logs: KeepTimes | None = field(
        default=None, metadata=_by(partial(read_keep_times, "keep_logs"))
    )
    build_limit_s: float = field(default=7200.0, metadata=_by(_seconds))
    build_memory_mb: int = field(default=8192, metadata=_by(_whole(0, 1 << 30)))
    reserve_mb: int = field(default=8, metadata=_by(_whole(0, 65536)))
    stop_grace_s: float = field(default=10.0, metadata=_by(_seconds))
    evaluator_grace_s: float = field(default=60.0, metadata=_by(_seconds))
    evaluator_limit_s: float = field(default=900.0, metadata=_by(_seconds))
    heartbeat_s: float = field(default=30.0, metadata=_by(_seconds))
    gathering_s: float = field(default=600.0, metadata=_by(_seconds))
    max_restarts: int = field(default=5, metadata=_by(_whole(0, 1000)))
    max_retries: int = field(default=3, metadata=_by(_whole(0, 1000)))
    usage_s: float = field(default=10.0, metadata=_by(_seconds))
    hang_s: float = field(default=600.0, metadata=_by(_seconds))
    hang_limit_s: float = field(default=0.0, metadata=_by(_seconds))
    lease_s: float = field(default=10.0, metadata=_by(_lease_seconds))

    @property
    def fetches_interpreters(self) -> bool:
        return self.fetch_interpreters == "auto"

    @property
    def database(self) -> str:
        """Returns the URL of the database, by default SQLite in the data directory."""
        return self.database_url or f"sqlite:///{self.data_dir / 'footplate.db'}"

    @property
    def bound_folders(self) -> tuple[Path, ...]:
        """Returns the folders outside the data directory that buckets are bound to."""
        folders = (binding.folder for binding in self.buckets)
        return tuple(folder for folder in folders if folder is not None)

    @property
    def cache(self) -> Path:
        """Returns the folder of cached environments; several services of one user may share it."""
        return self.cache_dir or self.data_dir / "cache"

    @property
    def build_limits(self) -> tuple[float, int]:
        """Returns a build's limits: seconds, and bytes of each process; 0 means none."""
        return self.build_limit_s, self.build_memory_mb << 20

    @property
    def cache_limit_bytes(self) -> int:
        """Returns the limit of the environments in the cache; 0 means none."""
        return self.cache_limit_gb * 10**9


def load_settings(
    environ: Mapping[str, str], options: Mapping[str, object] | None = None
) -> Settings:
    """Returns the settings in force; options that are None count as not given.

    Raises:
        InvalidArgument: settings are wrong; the message names each, its origin, and the allowed
            values.
    """
    given = {k: v for k, v in (options or {}).items() if v is not None}
    data_dir = Path(str(given.pop("data_dir", "") or _data_dir(environ))).expanduser().absolute()
    values: dict[str, Any] = {}
    violations: list[Violation] = []
    for origin, source in (
        (str(data_dir / FILE_NAME), _file(data_dir / FILE_NAME)),
        ("environment", _environment(environ)),
        ("option", given),
    ):
        for name, value in source.items():
            _take(name, value, origin, values, violations)
    settings = replace(Settings(data_dir), **values)
    violations.extend(_conflicts(settings))
    if violations:
        raise InvalidArgument.of(tuple(violations))
    return settings


def strays(environ: Mapping[str, str]) -> list[str]:
    """Returns a sentence on each variable that looks like a setting, but isn't one."""
    known = [field.name.upper() for field in fields(Settings)]
    given = {name: name.removeprefix(PREFIX) for name in environ if name.startswith(PREFIX)}
    found = sorted(name for name, rest in given.items() if rest not in known)
    near = ((name, get_close_matches(given[name], known, 1, _ALIKE)) for name in found)
    return [
        (
            f"the variable {name} is set, but Footplate has no such setting; did you mean "
            f"{PREFIX}{meant[0]}?"
        )
        for name, meant in near
        if meant
    ]


def _data_dir(environ: Mapping[str, str]) -> str:
    if chosen := environ.get(f"{PREFIX}DATA_DIR"):
        return chosen
    home = environ.get("XDG_DATA_HOME") or "~/.local/share"
    return f"{home}/footplate"


def _file(path: Path) -> dict[str, object]:
    try:
        text = path.read_text(encoding="utf-8")
        return dict(tomllib.loads(text))
    except FileNotFoundError:
        return {}
    except OSError as error:
        text = (
            f"'{path.parent}' given, but the file {path.name} in it can't be read: "
            f"{error.strerror}; choose another folder with --data-dir or {PREFIX}DATA_DIR"
        )
        raise InvalidArgument.of((Violation("data_dir", text),)) from None
    except ValueError as error:
        raise InvalidArgument.of((Violation(str(path), f"is not TOML: {error}"),)) from None


def _environment(environ: Mapping[str, str]) -> dict[str, object]:
    names = (*(each.name for each in fields(Settings) if each.name != "data_dir"), *_REMOVED)
    return {n: environ[PREFIX + n.upper()] for n in names if environ.get(PREFIX + n.upper())}


def _take(
    name: str,
    value: object,
    origin: str,
    values: dict[str, Any],
    violations: list[Violation],
) -> None:
    known = {setting.name: setting.metadata["read"] for setting in fields(Settings)[1:]}
    if name in _REMOVED:
        violations.append(
            Violation(name, f"{origin}: this setting no longer exists; {_REMOVED[name]}")
        )
        return
    if name not in known:
        hint = nearest(name, known, "settings")
        violations.append(Violation(name, f"{origin}: no such setting; {hint}"))
        return
    try:
        values[name] = known[name](value)
    except InvalidArgument as error:
        violations.extend(
            Violation(v.field, f"{origin}: {v.description}") for v in error.violations
        )
    except (TypeError, ValueError) as error:
        violations.append(Violation(name, f"{origin}: {value!r} given; allowed: {error}"))


def _conflicts(settings: Settings) -> Iterator[Violation]:
    if settings.host not in LOOPBACK and not settings.token:
        text = (
            f"{settings.host!r} given without a token, so anyone on the network could run "
            f"programs here; set {PREFIX}TOKEN, or listen on 127.0.0.1"
        )
        yield Violation("host", text)
    for index, region in enumerate(settings.regions):
        if region.backend != LOCAL and settings.cluster_address is None:
            text = (
                f"{region.backend!r} given without cluster_address, so the nodes can't reach "
                'this server; set cluster_address = "HOST:PORT" to the address where nodes reach '
                "this machine"
            )
            yield Violation(f"regions[{index}].backend", text)
