"""The layer of a user's packages and their requirements, above a runtime; its scripts, its lock."""

from __future__ import annotations

import os
import shutil

from footplate.replica.environment import uv_errors
from footplate.replica.environment.archive_inspection import inspect
from footplate.replica.environment.build_cache import BuildCache, CompleteBuild, make_key
from footplate.replica.environment.build_record import BuildRecord
from footplate.replica.environment.errors import PreparationError
from footplate.replica.environment.installation import install
from footplate.replica.environment.installed_distributions import (
    can_build,
    find_installed,
    find_site,
    name_of,
)
from footplate.replica.environment.layer_resolution import Planner
from footplate.replica.environment.packages import is_legacy, make_wheel
from footplate.replica.environment.runtime_slices import Choice, Words, choose
from footplate.replica.environment.uv import UvFailed
from footplate.replica.prepared import Prepared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Iterator, Sequence

    from footplate.protocol.task import Slice
    from footplate.replica.environment.base_environments import Base, BaseEnvironments
    from footplate.replica.environment.install_plan import Change
    from footplate.replica.environment.interpreters import Interpreter
    from footplate.replica.environment.layer_resolution import Resolution
    from footplate.replica.environment.packages import Package, Wheel
    from footplate.replica.environment.progress_output import ProgressOutput
    from footplate.replica.environment.task import EnvironmentTask
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
    # The kernel reads a limited part of this line, and splits it at blanks. So sh starts the
    # interpreter: what is a command for sh is a string literal for Python.
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


# Assembles an environment: a runtime, and a layer of the user's packages above it.

_LAYOUT = "3"
"""A part of every key: another value has all layers built anew, as their content is to change."""


class Assembly:
    """The making of a program's environment from its parts. ``slices`` are the slices of the task's
    runtime that this host can use.
    """

    def __init__(
        self,
        task: EnvironmentTask,
        slices: Sequence[Slice],
        interpreter: Interpreter,
        bases: BaseEnvironments,
        uv: Uv,
        teller: ProgressOutput,
    ) -> None:
        self._task = task
        self._slices = slices
        self._interpreter = interpreter
        self._bases = bases
        self._uv = uv
        self._teller = teller

    def assemble(self, packages: list[Package], builds: BuildCache) -> Prepared:
        """Returns the environment for the packages, which is made if the cache lacks it. Raises
        PreparationError.
        """
        words = self._find_words()
        if not packages:
            choice = choose(self._slices, words, self._task.forced_slice)
            base = self._get_base(choice)
            notes = tuple(self._describe(choice, base))
            return Prepared(base.python, (base.bin,), (base.use,), notes)
        return self._get_layer(packages, words, builds)

    def check(self, packages: list[Package], builds: BuildCache) -> list[str]:
        """Returns what would be installed beside the runtime; installs none of it.

        What is in the cache already is not resolved again.

        Raises PreparationError: as ``assemble``.
        """
        words = self._find_words()
        if builds.hold(self._make_key(packages, builds.root)) is not None:
            return []
        layers = Layers(self._task.runtime, self._interpreter, self._uv, self._teller)
        wheels = self._make_wheels(packages, words, self._uv)
        plan = self._plan(layers, wheels, words)[2]
        plan.planner.check_downloads(plan.solution)
        return [change.requirement for change in plan.additions]

    def _find_words(self) -> Words:
        words = Words(word for piece in self._slices for word in piece.unless)
        words.see(self._task.module, "the module to run")
        return words

    def _get_layer(self, packages: list[Package], words: Words, builds: BuildCache) -> Prepared:
        def make(path: str, lock: int) -> BuildRecord:
            uv = self._uv.holding(lock)
            layers = Layers(self._task.runtime, self._interpreter, uv, self._teller)
            wheels = self._make_wheels(packages, words, uv)
            choice, base, plan = self._plan(layers, wheels, words)
            layers.make(path, plan, base)
            return BuildRecord(
                base=base.lock_sha256,
                notes=(*self._describe(choice, base), *plan.notes),
                runtime=self._task.runtime,
                packages=tuple(package.name for package in packages),
            )

        key = self._make_key(packages, builds.root)
        built = builds.get(key, make, "the environment of your packages", self._teller.tell)
        base = self._reopen_base(built)
        layer_bin = os.path.join(built.path, "bin")
        python, bins = os.path.join(layer_bin, "python"), (layer_bin, base.bin)
        return Prepared(python, bins, (built.use, base.use), built.record.notes)

    def _make_key(self, packages: list[Package], root: str) -> str:
        """Returns the key of a layer, made from all that the layer depends on."""
        slices = [
            part for s in self._slices for part in (s.name, s.lock_sha256, *sorted(s.unless), "")
        ]
        given = [part for package in packages for part in (package.name, package.sha256)]
        place = os.path.realpath(root)
        task = (self._task.runtime, self._task.variant, self._task.forced_slice, self._task.module)
        return make_key(_LAYOUT, place, self._interpreter.identity, *task, *slices, *given)

    def _reopen_base(self, built: CompleteBuild) -> Base:
        """Returns the base below a layer; the base is made again if it was removed."""
        sha256 = built.record.base
        pieces = [piece for piece in self._slices if piece.lock_sha256 == sha256]
        return self._bases.get(self._task.runtime, pieces)

    def _make_wheels(self, packages: list[Package], words: Words, uv: Uv) -> list[Wheel]:
        for package in packages:
            self._look_into(package, words)
        base = self._find_build_base(packages, words)
        wheels = [self._make_wheel(package, uv, base) for package in packages]
        own = uv.find_installed_by_builds(self._interpreter)
        if own:
            self._teller.tell(
                f"your setup.py installs {', '.join(own)} by pip, but only for the build: the "
                "program gets only what install_requires names"
            )
        for wheel in wheels:
            for requirement in wheel.requirements:
                words.see_requirement(name_of(requirement), wheel.package.name)
        return wheels

    def _look_into(self, package: Package, words: Words) -> None:
        names: list[str] = []

        def read(name: str, stream: IO[bytes]) -> None:
            names.append(name)
            words.see_file(package.name, name, stream)

        inspect(package.path, package.name, read)
        package.legacy = is_legacy(names)

    def _find_build_base(self, packages: list[Package], words: Words) -> Base | None:
        """Returns the runtime to build packages without pyproject.toml, if it has setuptools."""
        if not any(package.legacy for package in packages):
            return None
        base = self._get_base(choose(self._slices, words, self._task.forced_slice))
        return base if can_build(base.site) else None

    def _make_wheel(self, package: Package, uv: Uv, base: Base | None) -> Wheel:
        if not package.path.endswith(".whl"):
            self._teller.tell(f"building {package.name}")
        return make_wheel(package, self._interpreter, uv, base if package.legacy else None)

    def _plan(self, layers: Layers, wheels: list[Wheel], words: Words) -> tuple[Choice, Base, Plan]:
        """Returns a plan for the smallest slice that also serves what the requirements came to."""
        choice = choose(self._slices, words, self._task.forced_slice)
        base = self._get_base(choice)
        directory = os.path.dirname(wheels[0].package.path)
        plan = layers.plan(wheels, base, directory, for_cpu=self._task.variant == "cpu")
        for change in plan.additions:
            words.see_requirement(change.name, "the requirements of your packages")
        again = choose(self._slices, words, self._task.forced_slice)
        if again.slice is choice.slice:
            return choice, base, plan
        return self._plan(layers, wheels, words)

    def _get_base(self, choice: Choice) -> Base:
        return self._bases.get(self._task.runtime, [choice.slice, *choice.fallbacks])

    def _describe(self, choice: Choice, base: Base) -> list[str]:
        if base.note:
            return [base.note]
        if not choice.reason:
            return []
        part = f"the {choice.slice.name} part of runtime {self._task.runtime}"
        return [f"installed {part}, because {choice.reason}"]
