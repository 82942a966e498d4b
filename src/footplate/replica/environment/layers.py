"""The layer of a user's packages and their requirements, above a runtime; its scripts, its lock."""

from __future__ import annotations

import os
import shutil

from footplate.replica.environment import uv_errors
from footplate.replica.environment.errors import PreparationError
from footplate.replica.environment.installation import install
from footplate.replica.environment.installed_distributions import (
    find_installed,
    find_site,
    name_of,
)
from footplate.replica.environment.layer_resolution import Planner
from footplate.replica.environment.uv import UvFailed

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Iterator

    from footplate.replica.environment.base_environments import Base
    from footplate.replica.environment.install_plan import Change
    from footplate.replica.environment.interpreters import Interpreter
    from footplate.replica.environment.layer_resolution import Resolution
    from footplate.replica.environment.packages import Wheel
    from footplate.replica.environment.progress_output import ProgressOutput
    from footplate.replica.environment.uv import Uv


_MAX_SHEBANG_BYTES = 127  # the shortest limit that is common: older Linux
_MAX_SCRIPT_BYTES = 1 << 20


def adopt_scripts(base_bin: str, layer_bin: str) -> None:
    """Gives ``layer_bin`` each script of ``base_bin`` that it lacks, for its own interpreter."""
    for name in sorted(os.listdir(base_bin)):
        source, target = os.path.join(base_bin, name), os.path.join(layer_bin, name)
        body = _read_body(source, base_bin)
        if body is None or os.path.lexists(target):
            continue
        with open(target, "wb") as file:
            file.write(format_header(os.path.join(layer_bin, "python")) + body)
        shutil.copymode(source, target)


def format_header(python: str) -> bytes:
    """Returns what a script begins with to be run by ``python``, however long its path is."""
    path = os.fsencode(python)
    if len(path) <= _MAX_SHEBANG_BYTES - 2 and b" " not in path:
        return b"#!" + path + b"\n"
    return b"#!/bin/sh\n'''exec' \"" + path + b'" "$0" "$@"\n' + b"' '''\n"


def _read_body(path: str, base_bin: str) -> bytes | None:
    """Returns a script without its header; None if the base's interpreter doesn't run it."""
    if os.path.islink(path) or not os.path.isfile(path):
        return None
    if os.path.getsize(path) > _MAX_SCRIPT_BYTES:
        return None
    with open(path, "rb") as file:
        content = file.read()
    interpreter = os.fsencode(os.path.join(base_bin, "python"))
    first, _, rest = content.partition(b"\n")
    if first.startswith(b"#!" + interpreter):
        return rest
    if first == b"#!/bin/sh" and rest.startswith(b"'''exec'") and interpreter in rest[:4096]:
        return rest.partition(b"\n")[2].partition(b"\n")[2]
    return None


_PATH_FILE = "zzz_footplate_runtime.pth"  # last, so that whatever is the user's comes before
_REMEDIES = "try another version of the package, or another runtime version"


class Plan:
    """The contents of a layer, with which and the base below the wheels have all they require.

    ``solution`` has the changes to the base; ``planner`` has found it.
    """

    def __init__(
        self, wheels: list[Wheel], planner: Planner, solution: Resolution, notes: list[str]
    ) -> None:
        self.wheels = wheels
        self.planner = planner
        self.solution = solution
        self.notes = notes

    @property
    def additions(self) -> list[Change]:
        """The packages to be installed beside the wheels themselves."""
        ours = {wheel.path for wheel in self.wheels}
        changes = self.solution.changes
        return [change for change in changes if change.added and change.path not in ours]


class Layers:
    def __init__(
        self, runtime: str, interpreter: Interpreter, uv: Uv, teller: ProgressOutput
    ) -> None:
        self._runtime = runtime
        self._interpreter = interpreter
        self._uv = uv
        self._teller = teller

    def plan(self, wheels: list[Wheel], base: Base, directory: str, *, for_cpu: bool) -> Plan:
        """Plans what the base lacks for these wheels; takes what it has, where that will do.

        Raises:
            PreparationError: naming the requirement that can't be had.
        """
        planner = Planner(self._uv, base, wheels, directory, for_cpu=for_cpu)
        try:
            solution = planner.solve(self._runtime)
        except UvFailed as failure:
            raise self._explain(failure.output, wheels) from failure
        has_tensorflow = "tensorflow" in find_installed(base.site)
        notes = list(self._describe_gpu_builds(wheels)) if has_tensorflow else []
        notes += [*self._describe_shadows(solution.changes), *solution.notes]
        return Plan(wheels, planner, solution, notes)

    def make(self, path: str, plan: Plan, base: Base) -> None:
        """Installs what is planned into a new environment at ``path``, above the base.

        Raises:
            PreparationError: naming the requirement that can't be installed, or is too large.
        """
        note = plan.planner.check_downloads(plan.solution)
        if note:
            self._teller.tell(note)
        requirements = [change.requirement for change in plan.additions]
        requirements += [wheel.path for wheel in plan.wheels]
        options = ["--no-deps", *requirements]
        progress = self._teller.count("your packages")
        # What a URL names must be found where it was resolved: in the view of builds.
        local = any(change.url for change in plan.additions)
        try:
            install(
                *(self._uv, self._interpreter, path, options, progress),
                variables=plan.solution.variables,
                isolated=local,
            )
        except UvFailed as failure:
            raise self._explain(failure.output, plan.wheels) from failure
        site = find_site(path, self._interpreter)
        with open(os.path.join(site, _PATH_FILE), "x", encoding="utf-8") as file:
            file.write(f"import site; site.addsitedir({base.site!r})\n")
        adopt_scripts(base.bin, os.path.join(path, "bin"))

    def _describe_gpu_builds(self, wheels: list[Wheel]) -> Iterator[str]:
        for wheel in wheels:
            for requirement in wheel.requirements:
                if name_of(requirement) == "tensorflow-gpu":
                    yield (
                        f"TensorFlow of runtime {self._runtime} satisfies the requirement "
                        f"{requirement} of {wheel.package.name}"
                    )

    def _describe_shadows(self, changes: list[Change]) -> Iterator[str]:
        hidden = {change.name: change.version for change in changes if not change.added}
        for change in changes:
            if change.added and change.name in hidden:
                yield (
                    f"{change.name} {change.version or change.url} from your requirements replaces "
                    f"version {hidden[change.name]} of runtime {self._runtime}"
                )

    def _explain(self, output: str, wheels: list[Wheel]) -> PreparationError:
        missing = uv_errors.find_missing(output)
        archives = ", ".join(wheel.package.name for wheel in wheels)
        name = name_of(missing)
        by = next((w.package.name for w in wheels if name in map(name_of, w.requirements)), "")
        what = f"the requirement {missing} of {by or archives}" if missing else ""
        python = f"Python {self._interpreter.version} (runtime {self._runtime})"
        reason = uv_errors.reason(output)
        if uv_errors.is_full(output):
            return PreparationError(
                f"the requirements of {archives} can't be installed: {uv_errors.FULL}"
            )
        if uv_errors.failed_to_build(output):
            return PreparationError(
                f"{what or archives} has no wheel for {python}, and its build fails: "
                f"{uv_errors.explain_build(output)}; {_REMEDIES}"
            )
        if uv_errors.is_unavailable(output):
            what = what or f"a requirement of {archives}"
            return PreparationError(f"{what} is not available for {python}: {reason}; {_REMEDIES}")
        return PreparationError(f"the requirements of {archives} can't be fetched: {reason}")
