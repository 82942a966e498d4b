"""Resolves the requirements of a layer without changing the runtime's framework."""

from __future__ import annotations

import os
import re

from footplate.replica.environment import uv_errors
from footplate.replica.environment.build_output import open_made
from footplate.replica.environment.errors import PreparationError
from footplate.replica.environment.install_plan import read_changes
from footplate.replica.environment.installed_distributions import find_installed, name_of, normalize
from footplate.replica.environment.uv import UvFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterable, Mapping, Sequence

    from footplate.replica.environment.base_environments import Base
    from footplate.replica.environment.install_plan import Change
    from footplate.replica.environment.packages import Wheel
    from footplate.replica.environment.uv import Uv


# Protects a runtime's framework from the user's requirements.
#
# A framework is replaced only where a package pins another version of it (``torch==2.4.1``). Then
# it brings its own dependencies; some don't name all limits of theirs, so these are here.

FRAMEWORKS = {"torch": "torch", "tensorflow": "tensorflow", "tensorflow-cpu": "tensorflow"}
"""Distributions, each with the module that it provides."""
TORCH_FAMILY = ("torch", "torchvision", "torchaudio")
"""They fit each other only in builds for the same CUDA version, or all for the CPU."""
_PIN = re.compile(r"[A-Za-z0-9._-]+(?:\[[^\]]*\])?\(?={2,3}([^,)]+)\)?")
"""A pinned requirement without spaces and markers."""
_ADDRESS = re.compile(r"[A-Za-z0-9._-]+(?:\[[^\]]*\])?\s*@")
_LIMITS = (
    ("tensorflow", (2, 12), "protobuf<3.21"),
    ("tensorflow", (2, 12), "numpy<1.24"),
    ("tensorflow", (2, 18), "numpy<2"),
    ("torch", (2, 3), "numpy<2"),
)
"""Module, the first version that has no such limit, and the limit."""


class Frameworks:
    """The versions of frameworks: ``installed`` are the runtime's packages, ``requirements`` those
    of the user's packages.
    """

    def __init__(self, installed: Mapping[str, str], requirements: Iterable[str]) -> None:
        self.installed = {name: v for name, v in installed.items() if name in FRAMEWORKS}
        self._pins = {
            normalize(name_of(text)): text for text in requirements if pinned_version(text)
        }

    @property
    def pinned(self) -> dict[str, str]:
        """The frameworks that the user's packages pin, each with the requirement."""
        return {name: text for name, text in self._pins.items() if name in FRAMEWORKS}

    def is_pinned(self, name: str) -> bool:
        """Returns whether the user's packages pin a framework to one version, or to a file."""
        return name in self._pins

    def keep_all(self) -> list[str]:
        """Returns requirements that keep all frameworks as they are."""
        return [f"{name}=={version}" for name, version in sorted(self.installed.items())]

    def keep_unpinned(self) -> list[str]:
        """Returns requirements that keep the frameworks that no package pins."""
        modules = {FRAMEWORKS[name] for name in self.pinned}
        return [line for line in self.keep_all() if FRAMEWORKS[name_of(line)] not in modules]

    def limits(self, *, pinned: bool) -> list[str]:
        """Returns the limits on other packages that the frameworks in use need, but don't
        declare.
        """
        versions = dict(self.installed)
        if pinned:
            modules = {FRAMEWORKS[name] for name in self.pinned}
            versions = {n: v for n, v in versions.items() if FRAMEWORKS[n] not in modules}
            versions.update((name, pinned_version(text)) for name, text in self.pinned.items())
        found = [
            limit
            for name, version in versions.items()
            for module, end, limit in _LIMITS
            if FRAMEWORKS[name] == module and (2,) <= _numbers(version) < end
        ]
        return list(dict.fromkeys(found))

    def find_replaced(self, changes: Sequence[Change]) -> list[tuple[Change, str]]:
        """Returns the changes that would replace a framework of the runtime, each with the
        runtime's version.
        """
        return [
            (change, self.installed[change.name])
            for change in changes
            if change.added and change.name in self.installed
        ]


def pinned_version(requirement: str) -> str:
    """Returns the one version that a requirement admits, or the address of a file; '' if it admits
    several.
    """
    match = _PIN.fullmatch("".join(requirement.partition(";")[0].split()))
    if match is not None:
        return match.group(1)
    return requirement if _ADDRESS.match(requirement) else ""


def find_mismatched(changes: Sequence[Change], build: str) -> list[Change]:
    """Returns PyTorch and its companions among ``changes`` that aren't for ``build``."""
    return [
        change
        for change in changes
        if change.added and change.name in TORCH_FAMILY and change.local_version != build
    ]


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found.group(1)), int(found.group(2))) if found is not None else ()


LIMIT_BYTES = 1_000_000_000
"""More than this is downloaded only for what a package pins."""
_NAMED = 3
_MAX_LOCK_BYTES = 16 << 20
_NAME = re.compile(r'^name = "([^"]+)"$', re.MULTILINE)
_WHEELS = re.compile(r"^wheels = \[(.*?)\]$", re.MULTILINE | re.DOTALL)
_SIZE = re.compile(r"\bsize = (\d+)")


def measure_downloads(
    requirements: Sequence[str], python: str, directory: str, uv: Uv, variables: Mapping[str, str]
) -> dict[str, int]:
    """Returns the bytes to download, by name, of those pinned requirements for which the index
    gives a size.
    """
    source = os.path.join(directory, "downloads.in")
    with open(source, "w", encoding="utf-8") as file:
        file.write("".join(f"{requirement}\n" for requirement in requirements))
    target = os.path.join(uv.find_output(directory), "pylock.downloads.toml")
    options = ["--quiet", "--no-deps", "--python", python, "--format", "pylock.toml"]
    try:
        command = ["pip", "compile", *options, "--output-file", target, source]
        uv.isolated.run(command, variables)
        top = os.path.dirname(directory)
        with open(open_made(top, os.path.relpath(target, top)), "rb") as file:
            text = file.read(_MAX_LOCK_BYTES)
        return read_sizes(text.decode("utf-8", "replace"))
    except (UvFailed, OSError):
        return {}  # only a message is lost; the installation reports the error


def read_sizes(text: str) -> dict[str, int]:
    """Returns the size of each package of a ``pylock.toml``: that of its largest wheel, else of its
    source.
    """
    sizes = {}
    for block in text.split("[[packages]]")[1:]:
        name = _NAME.search(block)
        wheels = _WHEELS.search(block)
        found = _SIZE.findall(wheels.group(1) if wheels is not None else block)
        if name is not None and found:
            sizes[normalize(name.group(1))] = max(map(int, found))
    return sizes


def describe_sizes(sizes: Mapping[str, int]) -> str:
    """Returns text like ``3.1 GB (torch 0.9 GB, nvidia-cudnn-cu13 0.7 GB and 20 others)``."""
    largest = sorted(sizes, key=lambda name: (-sizes[name], name))[:_NAMED]
    named = [f"{name} {_gigabytes(sizes[name])}" for name in largest]
    rest = len(sizes) - len(named)
    more = f" and {rest} other{'s' if rest > 1 else ''}" if rest else ""
    return f"{_gigabytes(sum(sizes.values()))} ({', '.join(named)}{more})"


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB"


_BACKEND = "UV_TORCH_BACKEND"
_NO_GPU_BUILD = 'tensorflow-gpu ; sys_platform == "never"\n'
_HOW_TO_PIN = "require {} in your package (or where your script lists requirements)"


class Resolution:
    """Changes to the base, and the settings with which uv finds them."""

    def __init__(
        self, changes: list[Change], variables: Mapping[str, str], notes: Sequence[str] = ()
    ) -> None:
        self.changes = changes
        self.variables = variables
        self.notes = list(notes)


class Planner:
    """The planner of the user's layer over a base environment. ``directory`` is for its own files;
    ``for_cpu`` says that the replica has no GPUs.
    """

    def __init__(
        self, uv: Uv, base: Base, wheels: Sequence[Wheel], directory: str, *, for_cpu: bool
    ) -> None:
        self._uv = uv
        self._base = base
        self._wheels = wheels
        self._directory = directory
        self._installed = find_installed(base.site)
        texts = [text for wheel in wheels for text in wheel.requirements]
        self._frameworks = Frameworks(self._installed, texts)
        torch = self._installed.get("torch", "")
        self._build = torch.partition("+")[2] if torch or not for_cpu else "cpu"
        self._archives = ", ".join(wheel.package.name for wheel in wheels)

    def solve(self, runtime: str) -> Resolution:
        """Returns what the base lacks, with its frameworks as they are but for those pinned.

        Raises:
            UvFailed: the requirements can't be had, whatever becomes of the frameworks.
            PreparationError: a framework would be replaced that no package pins, or one of its
                companions doesn't fit it.
        """
        solution = self._solve_around(runtime)
        mismatched = find_mismatched(solution.changes, self._build) if self._build else []
        return self._match(solution, mismatched, runtime) if mismatched else solution

    def check_downloads(self, solution: Resolution) -> str:
        """Returns what is to be said of a large download; '' if it isn't large.

        Raises:
            PreparationError: it is larger than what is downloaded without being pinned.
        """
        wanted = [change for change in solution.changes if change.added and not change.url]
        if not wanted:
            return ""
        texts = [change.requirement for change in wanted]
        python, variables = self._base.python, solution.variables
        sizes = measure_downloads(texts, python, self._directory, self._uv, variables)
        if sum(sizes.values()) <= LIMIT_BYTES:
            return ""
        unpinned = {name: v for name, v in sizes.items() if not self._frameworks.is_pinned(name)}
        asked = any(change.name in self._frameworks.pinned for change in wanted)
        if asked or sum(unpinned.values()) <= LIMIT_BYTES:
            return f"your packages: the service downloads {describe_sizes(sizes)}"
        heavy = next((change for change in wanted if change.name in FRAMEWORKS), None)
        largest = heavy or max(wanted, key=lambda change: unpinned.get(change.name, 0))
        raise PreparationError(
            f"{self._archives} needs a download of {describe_sizes(unpinned)}; above "
            f"{LIMIT_BYTES / 1e9:g} GB the service downloads only pinned requirements: "
            f"{_HOW_TO_PIN.format(largest.requirement)}, or take a runtime that has {largest.name}"
        )

    def _solve_around(self, runtime: str) -> Resolution:
        frameworks = self._frameworks
        kept = frameworks.keep_all()
        try:
            whole = [*kept, *frameworks.limits(pinned=False)]
            return Resolution(self._resolve(requirements=kept, constraints=whole), {})
        except UvFailed as failure:
            if not kept or not uv_errors.is_unavailable(failure.output):
                raise
            said = failure.output
        try:
            changes = self._resolve(constraints=kept)
        except UvFailed:
            return self._replace(said, runtime)
        words = ", ".join(kept).replace("==", " ")
        return Resolution(
            changes, {}, [f"your requirements don't fit those of {words} ({runtime})"]
        )

    def _replace(self, said: str, runtime: str) -> Resolution:
        """Returns a solution in which frameworks that a package pins replace the runtime's.

        Raises UvFailed, PreparationError.
        """
        frameworks = self._frameworks
        limits = frameworks.limits(pinned=True)
        try:
            if frameworks.pinned:
                constraints = [*frameworks.keep_unpinned(), *limits]
                return Resolution(self._resolve(constraints=constraints), {})
        except UvFailed as failure:
            said = failure.output
        changes = self._resolve()
        raise self._refuse(frameworks.find_replaced(changes), said, runtime)

    def _refuse(
        self, replaced: list[tuple[Change, str]], said: str, runtime: str
    ) -> PreparationError:
        """Returns the error for requirements that don't fit the frameworks; ``said`` is uv's
        message.
        """
        why = uv_errors.read_reason(said)
        if not replaced:
            return PreparationError(
                f"the requirements of {self._archives} contradict each other: {why}"
            )
        change, version = replaced[0]
        requirements = (text for wheel in self._wheels for text in wheel.requirements)
        blamed = next((text for text in requirements if name_of(text) == change.name), "")
        what = f"the requirement {blamed} of {self._archives}"
        if not blamed:
            what = f"a requirement of {self._archives} ({why})"
        return PreparationError(
            f"{what} doesn't fit {change.name} {version} of runtime {runtime}; only pinned "
            f"requirements replace frameworks: {_HOW_TO_PIN.format(change.requirement)}, let the "
            f"requirement fit {version}, or take another runtime"
        )

    def _match(self, solution: Resolution, mismatched: list[Change], runtime: str) -> Resolution:
        """Returns a solution with the same packages in the build that fits the frameworks; pinned
        ones may stay.

        Raises PreparationError.
        """
        pins = [f"{change.name}=={change.version.partition('+')[0]}" for change in mismatched]
        pins = [f"{pin}+{self._build}" for pin in pins]
        kept = self._frameworks.keep_unpinned()
        said = ""
        for constraints, variables in ((pins, {}), ([], {_BACKEND: self._build})):
            try:
                changes = self._resolve(constraints=[*kept, *constraints], variables=variables)
            except UvFailed as failure:
                said = failure.output
                continue
            if not find_mismatched(changes, self._build):
                return Resolution(changes, variables, solution.notes)
        if any(change.name == "torch" for change in mismatched):
            return solution  # whose size decides
        found = ", ".join(f"{change.name} {change.version}" for change in mismatched)
        reason = uv_errors.reason(said).partition(";")[0]
        raise PreparationError(
            f"{self._archives} requires {', '.join(c.name for c in mismatched)}, but the build "
            f"{found} doesn't work with torch {self._installed['torch']} of runtime {runtime}, and "
            f"this machine's package indexes don't have {', '.join(pins)} ({reason}). Start the "
            "service with UV_FIND_LINKS=FOLDER or UV_INDEX=ADDRESS of an index that has it"
        )

    def _resolve(
        self,
        *,
        requirements: Sequence[str] = (),
        constraints: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
    ) -> list[Change]:
        """Returns the changes with which uv satisfies the requirements. Raises UvFailed."""
        has_tensorflow = "tensorflow" in self._installed
        overrides = self._write("overrides.txt", _NO_GPU_BUILD if has_tensorflow else "")
        limits = self._write("constraints.txt", "".join(f"{line}\n" for line in constraints))
        options = ["--dry-run", "--python", self._base.python, "--override", overrides]
        paths = [*requirements, *(wheel.path for wheel in self._wheels)]
        command = ["pip", "install", *options, "--constraint", limits, *paths]
        return list(read_changes(self._uv.isolated.run(command, variables)))

    def _write(self, name: str, text: str) -> str:
        path = os.path.join(self._directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path
