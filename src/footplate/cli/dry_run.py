"""``--dry-run``: prints the plan of a job and creates nothing."""

from __future__ import annotations

import shlex
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, NoReturn

import click
from click.core import ParameterSource

from footplate.cli.output_format import render
from footplate.cli.table import table
from footplate.cli.terminal_text import disarm
from footplate.domain.resources import say_amount

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from footplate.cli.output_format import Layout
    from footplate.wire.footplate_v1.package_checks import PackageCheck, PackageChecks
    from footplate.wire.footplate_v1.verdicts import Parity, Plan, Pool, Program, Verdict

_COLUMNS = {"VERDICT": "verdict", "GOOGLE_ACCEPTS": "parity.accepted"}


def finish(verdict: Verdict, layout: Layout, packages: PackageChecks | None = None) -> NoReturn:
    """Prints the verdict, and exits: with 0 if the job is accepted, with 1 if it is refused.

    ``packages`` has the results of checked packages; a failed one also means 1.
    """
    failing = packages is not None and any(each.error for each in packages.packages)
    if _asked_for_format():
        found = {} if packages is None else packages.encode()
        click.echo(render({**verdict.encode(), **found}, layout, _COLUMNS))
    else:
        _report(verdict, failing=failing)
        if packages is not None:
            click.echo(f"\n{disarm(report_packages(packages.packages))}")
    sys.exit(0 if verdict.accepted and not failing else 1)


def _report(verdict: Verdict, *, failing: bool) -> None:
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else UNLIMITED
    top, rest = headline(verdict, width), report(verdict, width)
    if failing:
        top = "FAILS: the service would accept the job, but can't install the job's packages."
    click.secho(disarm(top), fg="red" if failing else _colour(verdict))
    if not verdict.violations:
        click.echo()
    click.echo(disarm(rest))


def _colour(verdict: Verdict) -> str:
    """Returns the verdict's colour: green only for a job that would start now."""
    if not verdict.accepted:
        return "red"
    waits = verdict.queue is not None and not verdict.queue.starts_now
    return "yellow" if waits else "green"


def _asked_for_format() -> bool:
    """Returns whether the user chose a format; without one, a dry run prints its report."""
    source = click.get_current_context().get_parameter_source("layout")
    return source is ParameterSource.COMMANDLINE


UNLIMITED = 100_000
"""A width at which no line is broken: for what is no terminal."""

_HEADINGS = ("REPLICAS", "MACHINE", "VCPUS", "MEMORY", "ACCELERATORS", "DISK")
_PACKAGE_HEADINGS = ("PACKAGE", "ROLES", "RUNTIME", "RESULT")
_PARITY = {
    "YES": "Google's service would accept the job, by Google's documented rules.",
    "NO": "Google's service would refuse the job:",
    "UNKNOWN": "It isn't certain whether Google's service would accept the job:",
}


def headline(verdict: Verdict, width: int = UNLIMITED) -> str:
    """Returns the verdict, with its reason if that isn't about one field."""
    return _wrap(_headline(verdict), width, "", 0)


def _headline(verdict: Verdict) -> str:
    if verdict.violations:
        number = len(verdict.violations)
        return f"REJECTED: {number} {'field is' if number == 1 else 'fields are'} wrong."
    if verdict.refusal is not None:
        return f"REJECTED: {verdict.refusal}"
    if verdict.queue is None or verdict.queue.starts_now:
        return "ACCEPTED: the job would start now."
    return f"ACCEPTED: the job would not start now. {verdict.queue.text}"


def report(verdict: Verdict, width: int = UNLIMITED) -> str:
    """Returns the report without the headline, wrapped to ``width`` except in tables."""
    sections = [
        _items("", (f"{v.field}: {v.description}" for v in verdict.violations), width),
        _items("Warnings:", verdict.warnings, width),
        _parity(verdict.parity, width),
    ]
    if verdict.plan is not None:
        sections += _plan(verdict.plan, width)
    return "\n\n".join(section for section in sections if section)


def report_packages(checks: Sequence[PackageCheck]) -> str:
    """Returns a line for each package; an error that several share follows once, below them."""
    if not checks:
        return "Packages: the job has no packages."
    rows = [(c.package, ", ".join(c.roles), c.runtime, _package_result(c)) for c in checks]
    errors = dict.fromkeys(c.error for c in checks if c.error)
    listed = f"Packages:\n{table(_PACKAGE_HEADINGS, rows)}"
    return "\n\n".join([listed, *errors])


def _package_result(check: PackageCheck) -> str:
    if check.error:
        return "FAILED"
    return f"OK, installs {', '.join(check.added)}" if check.added else "OK"


def _items(heading: str, items: Iterable[str], width: int) -> str:
    """Returns the items as a list, each on a line with a dash."""
    lines = [_wrap(item, width, "- ") for item in items]
    return "\n".join([heading, *lines] if heading and lines else lines)


def _parity(parity: Parity, width: int) -> str:
    heading = _PARITY[parity.accepted]
    return _items(heading, parity.reasons, width) or heading


def _plan(plan: Plan, width: int) -> Iterator[str]:
    rows = [_row(pool) for pool in plan.pools]
    zone = f", zone {plan.zone}" if plan.zone else ""
    yield f"Plan for {plan.region}{zone}:\n{table(_HEADINGS, rows)}"
    yield "\n".join(_wrap(f"{name:<10}{text}", width, "", 10) for name, text in _facts(plan))
    steps = (f"{number}. {step}" for number, step in enumerate(plan.steps, 1))
    yield "\n".join(_wrap(step, width, "", 3) for step in steps)


def _row(pool: Pool) -> Sequence[str]:
    machine, names = pool.machine, pool.replicas
    last = f"..{len(names) - 1}" if len(names) > 1 else ""
    accelerator = (machine.accelerator or "").removeprefix("NVIDIA_")
    return (
        f"{names[0]}{last}",
        machine.machine_type,
        "?" if machine.vcpus is None else str(machine.vcpus),
        "?" if machine.memory_gb is None else f"{machine.memory_gb:g} GB",
        f"{machine.accelerator_count} {accelerator}" if accelerator else "-",
        f"{machine.boot_disk_size_gb} GB {machine.boot_disk_type}",
    )


def _facts(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yields what runs, in which software, with which variables; merges pools that run the same."""
    roles: dict[Program, list[str]] = {}
    for pool in plan.pools:
        roles.setdefault(pool.program, []).append(pool.role)
    for program, names in roles.items():
        only = f"  ({', '.join(names)})" if len(roles) > 1 else ""
        yield "Runs", f"{_command(program)}{only}"
        yield "In", _software(program)
        if program.packages:
            yield "With", ", ".join(program.packages)
    variables = dict.fromkeys(each.name for pool in plan.pools for each in pool.variables)
    yield "Sets", ", ".join(variables) or "nothing"
    if plan.limits:
        yield "Limits", plan.limits
    yield "Counts", ", ".join(say_amount(name, n) for name, n in plan.counts.items())


def _command(program: Program) -> str:
    if program.image is None:
        start = program.command or ("python", "-m", program.module or "")
        return shlex.join([*start, *(program.args or ())])
    command = "the image's command" if program.command is None else shlex.join(program.command)
    return f"{command} {shlex.join(program.args)}" if program.args else command


def _software(program: Program) -> str:
    if program.image is not None:
        return f"image {program.image}"
    python = f", Python {program.python}" if program.python else ""
    return f"runtime {program.runtime}{python}"


def _wrap(text: str, width: int, first: str, indent: int = 2) -> str:
    return textwrap.fill(
        text,
        width,
        initial_indent=first,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
