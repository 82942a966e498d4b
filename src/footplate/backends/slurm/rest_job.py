"""Composes the job of an allocation for slurmrestd, from options of sbatch. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from footplate.backends.engine.engine import JobRequest
from footplate.backends.slurm import job_script
from footplate.backends.slurm.job_script import SlurmSettings
from footplate.domain.formatting import joined

PARSED = 39
"""The version from which slurmrestd reads fields of Slurm's own job, not options of sbatch."""
_TRES_SLASH = 40
"""The version from which a GRES is written ``gres/gpu:2``."""
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_UNITS_MB = {"": 1.0, "K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0 * 1024}
_SHORT = {
    "-A": "account",
    "-C": "constraint",
    "-D": "chdir",
    "-H": "hold",
    "-L": "licenses",
    "-N": "nodes",
    "-c": "cpus-per-task",
    "-n": "ntasks",
    "-p": "partition",
    "-q": "qos",
    "-t": "time",
    "-w": "nodelist",
    "-x": "exclude",
}
_WORDS = {
    "account": "account",
    "chdir": "current_working_directory",
    "comment": "comment",
    "constraint": "constraints",
    "job-name": "name",
    "licenses": "licenses",
    "nodes": "nodes",
    "output": "standard_output",
    "partition": "partition",
    "prefer": "prefer",
    "qos": "qos",
    "reservation": "reservation",
    "wckey": "wckey",
}
_NUMBERS = {
    "cpus-per-task": "cpus_per_task",
    "nice": "nice",
    "ntasks": "tasks",
    "ntasks-per-core": "tasks_per_core",
    "ntasks-per-node": "tasks_per_node",
    "ntasks-per-socket": "tasks_per_socket",
    "sockets-per-node": "sockets_per_node",
    "threads-per-core": "threads_per_core",
}
_SWITCHES = ("exclusive", "hold", "no-kill", "no-requeue", "parsable", "propagate")
"""May stand without a value."""
_NOT_WORDS = ("time", "mem", "mem-per-cpu", "gres", "nodelist", "exclude", "priority")
OPTIONS = tuple(
    sorted({*_WORDS, *_NUMBERS, *_NOT_WORDS, "exclusive", "hold"} - {"job-name", "output", "chdir"})
)
"""The options of sbatch that regions can use."""


class OptionError(ValueError):
    """An option has no form in slurmrestd's API; the message is for administrators."""


def check_options(words: Iterable[str]) -> str | None:
    """Returns why a job can't have these options of sbatch; None if it can."""
    try:
        for version in (PARSED - 1, PARSED):
            _fields(_read_options(words), version, lenient=True)
    except OptionError as error:
        return str(error)
    return None


def compose(
    settings: SlurmSettings, request: JobRequest, version: int, minutes: int | None = None
) -> dict[str, Any]:
    """Returns the body of ``job/submit``. ``version`` is the API's last number: 39 for v0.0.39.

    Raises OptionError.
    """
    options = _read_options(job_script.submit_options(settings, request, minutes))
    job = _fields(options, version)
    environment = {"PATH": _PATH, **settings.environment}
    if "cpus_per_task" in job:  # sbatch says it to the script, slurmrestd doesn't
        environment["SLURM_CPUS_PER_TASK"] = str(job["cpus_per_task"])
    script = job_script.script(settings, request).decode()
    job |= {"standard_input": "/dev/null", "standard_error": "/dev/null"}
    if version < PARSED:
        return {"script": script, "job": {**job, "environment": environment}}
    listed = [f"{name}={text}" for name, text in environment.items()]
    return {"job": {**job, "environment": listed, "script": script}}


def wanted(settings: SlurmSettings, request: JobRequest) -> dict[str, str]:
    """Returns a job's options by their long names; the last one counts. Raises OptionError."""
    return _read_options(job_script.submit_options(settings, request))


def read_memory_mb(text: str) -> int:
    """Returns the MB in ``4G`` or ``4000``. Raises OptionError."""
    number, unit = text, ""
    if text and not text[-1].isdigit():
        number, unit = text[:-1], text[-1].upper()
    if not number.isdigit() or unit not in _UNITS_MB:
        raise OptionError(
            f"{text!r} is not an amount of memory; allowed: such as 4000, 4000M or 4G"
        )
    return max(1, round(int(number) * _UNITS_MB[unit])) if int(number) else 0


def _read_options(words: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word.startswith("--"):
            name, has_value, value = word[2:].partition("=")
        elif word[:2] in _SHORT:
            name, value = _SHORT[word[:2]], word[2:]
            has_value = value
        else:
            raise OptionError(_unknown(word))
        if name not in (*_WORDS, *_NUMBERS, *_NOT_WORDS, *_SWITCHES):
            raise OptionError(_unknown(word))
        if not has_value and name not in _SWITCHES:
            if not rest:
                raise OptionError(f"{word} has no value")
            value = rest.pop(0)
        if name.startswith("mem"):  # Slurm takes one only
            found = {key: text for key, text in found.items() if not key.startswith("mem")}
        found[name] = value
    return found


def _unknown(word: str) -> str:
    known = joined([f"--{name}" for name in OPTIONS])
    return f"slurmrestd has no field for the option {word}; allowed: {known}"


def _fields(
    options: Mapping[str, str], version: int, *, lenient: bool = False
) -> dict[str, object]:
    """Returns the options as fields of a job in the API's ``version``.

    ``lenient`` leaves out an option that only this version lacks.
    """
    made: dict[str, object] = {}
    for name, value in options.items():
        if name in _WORDS:
            made[_WORDS[name]] = value
        elif name in _NUMBERS:
            made[_NUMBERS[name]] = _whole(name, value)
        elif name in ("nodelist", "exclude") and version < PARSED:
            if not lenient:
                raise OptionError(f"--{name} needs slurmrestd v0.0.{PARSED}")
        else:
            made |= _MAKERS[name](name, value, version)
    return made


def _memory(name: str, value: str, version: int) -> dict[str, object]:
    field = "memory_per_node" if name == "mem" else "memory_per_cpu"
    return {field: _number(read_memory_mb(value), version)}


def _gres(name: str, value: str, version: int) -> dict[str, object]:
    if version < PARSED:
        return {name: value}
    mark = "/" if version >= _TRES_SLASH else ":"
    return {"tres_per_node": ",".join(f"gres{mark}{each}" for each in value.split(","))}


def _exclusive(name: str, value: str, version: int) -> dict[str, object]:
    if value not in ("", "user", "mcs"):
        raise OptionError(
            f"slurmrestd has no field for the option --exclusive={value}; allowed: user, mcs"
        )
    if version < PARSED:
        return {name: value or name}
    return {"shared": [value or "none"]}


def _time(name: str, value: str, version: int) -> dict[str, object]:  # noqa: ARG001  as all
    return {"time_limit": _number(_read_minutes(value), version)}


def _read_minutes(text: str) -> int:
    """Returns the minutes, rounded up, of one of Slurm's forms from ``M`` to ``D-H:M:S``."""
    days, dash, clock = text.rpartition("-")
    parts = clock.split(":")
    if not all(part.isdigit() for part in (*parts, days or "0")) or len(parts) > 3:
        raise OptionError(f"--time={text} is not a time; allowed: such as 60, 1:30:00 or 2-12")
    numbers = [int(part) for part in parts]
    if dash:
        hours, minutes, seconds = (*numbers, 0, 0)[:3]
    elif len(numbers) == 3:
        hours, minutes, seconds = numbers
    else:
        hours, (minutes, seconds) = 0, (*numbers, 0)[:2]
    return (int(days or 0) * 24 + hours) * 60 + minutes + (seconds > 0)


def _priority(name: str, value: str, version: int) -> dict[str, object]:
    return {name: _number(_whole(name, value), version)}


def _nodes(name: str, value: str, version: int) -> dict[str, object]:  # noqa: ARG001  as all
    return {"required_nodes" if name == "nodelist" else "excluded_nodes": value.split(",")}


def _no_kill(name: str, value: str, version: int) -> dict[str, object]:  # noqa: ARG001  as all
    return {"no_kill": "set"} if version < PARSED else {"kill_on_node_fail": False}


def _no_requeue(name: str, value: str, version: int) -> dict[str, object]:  # noqa: ARG001  as all
    """Returns a field that prevents a requeue; none before v0.0.39, where any value means true.

    There the script ends a second start.
    """
    return {} if version < PARSED else {"requeue": False}


def _propagate(name: str, value: str, version: int) -> dict[str, object]:  # noqa: ARG001  as all
    """Returns no field: slurmrestd passes on no limits."""
    if value != "NONE":
        raise OptionError(f"slurmrestd passes on no limits: --{name}={value} given; allowed: NONE")
    return {}


def _number(number: int, version: int) -> object:
    return number if version < PARSED else {"set": True, "infinite": False, "number": number}


def _whole(name: str, value: str) -> int:
    try:
        return int(value)
    except ValueError as error:
        raise OptionError(f"--{name}={value} is not a whole number") from error


_MAKERS: dict[str, Callable[[str, str, int], dict[str, object]]] = {
    "exclude": _nodes,
    "exclusive": _exclusive,
    "gres": _gres,
    "hold": lambda name, _value, _version: {name: True},
    "mem": _memory,
    "mem-per-cpu": _memory,
    "no-kill": _no_kill,
    "no-requeue": _no_requeue,
    "nodelist": _nodes,
    "parsable": lambda _name, _value, _version: {},
    "priority": _priority,
    "propagate": _propagate,
    "time": _time,
}
