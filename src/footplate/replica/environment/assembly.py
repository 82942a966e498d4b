"""Assembles an environment: a runtime, and a layer of the user's packages above it."""

from __future__ import annotations

import os

from footplate.replica.environment.archive_inspection import inspect
from footplate.replica.environment.build_cache import BuildCache, CompleteBuild, make_key
from footplate.replica.environment.build_record import BuildRecord
from footplate.replica.environment.installed_distributions import can_build, name_of
from footplate.replica.environment.layers import Layers
from footplate.replica.environment.packages import is_legacy, make_wheel
from footplate.replica.environment.runtime_slices import Choice, Words, choose
from footplate.replica.prepared import Prepared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Sequence

    from footplate.protocol.task import Slice
    from footplate.replica.environment.base_environments import Base, BaseEnvironments
    from footplate.replica.environment.interpreters import Interpreter
    from footplate.replica.environment.layers import Plan
    from footplate.replica.environment.packages import Package, Wheel
    from footplate.replica.environment.progress_output import ProgressOutput
    from footplate.replica.environment.task import EnvironmentTask
    from footplate.replica.environment.uv import Uv

_LAYOUT = "3"


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
            return self._make_layer(path, self._uv.holding(lock), packages, words)

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

    def _make_layer(self, path: str, uv: Uv, packages: list[Package], words: Words) -> BuildRecord:
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
