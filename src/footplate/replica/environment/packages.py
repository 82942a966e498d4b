"""The user's packages: downloads them and builds wheels."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
import zipfile

from footplate import safe_path
from footplate.replica.environment import uv_errors
from footplate.replica.environment.archive_formats import settle
from footplate.replica.environment.build_output import open_made
from footplate.replica.environment.errors import PreparationError
from footplate.replica.environment.installed_distributions import read_requirements
from footplate.replica.environment.uv import UvFailed
from footplate.replica.http_client import Refused, ServerUnavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Iterable, Protocol, Tuple, TypeVar

    from footplate.replica.environment.base_environments import Base
    from footplate.replica.environment.interpreters import Interpreter
    from footplate.replica.environment.progress_output import ProgressOutput
    from footplate.replica.environment.uv import Uv

    T = TypeVar("T")

    class Source(Protocol):
        """The source of a task's files; raises what Connection raises."""

        def get(self, path: str) -> bytes: ...
        def download(self, path: str, destination: str) -> None: ...

    Numbers = Tuple[int, ...]


# Compares a package's ``python_requires`` with a version of Python, as pip does.
#
# uv looks at lower bounds alone. pip, and so Google's service, refuses ``<3.9`` under Python 3.11.

_FIELD = re.compile(r"^requires-python:(.*)$", re.IGNORECASE | re.MULTILINE)
_CLAUSE = re.compile(r"(===?|~=|!=|<=?|>=?)\s*v?([0-9]{1,9}(?:\.[0-9]{1,9})*)(\.\*)?")


def read_required(metadata: str) -> str:
    """Returns the field Requires-Python of a METADATA text; '' if it has none."""
    found = _FIELD.search(metadata.partition("\n\n")[0])
    return found.group(1).strip() if found else ""


def admits(required: str, version: str) -> bool:
    """Returns whether a version like 3.11.7 satisfies all conditions of ``required``.

    Conditions in another form, of pre-releases, for example, count as satisfied.
    """
    numbers = _numbers(version)
    clauses = (_CLAUSE.fullmatch(clause.strip()) for clause in required.split(","))
    return all(
        _holds(found.group(1), _numbers(found.group(2)), numbers, prefix=bool(found.group(3)))
        for found in clauses
        if found is not None
    )


def _holds(operator: str, bound: Numbers, version: Numbers, *, prefix: bool) -> bool:
    if operator == "~=":
        return _pad(version) >= _pad(bound) and version[: len(bound) - 1] == bound[:-1]
    if operator in ("==", "===", "!="):
        same = version[: len(bound)] == bound if prefix else _pad(version) == _pad(bound)
        return same != (operator == "!=")
    low, high = _pad(bound), _pad(version)
    return {"<": high < low, "<=": high <= low, ">": high > low, ">=": high >= low}[operator]


def _numbers(version: str) -> Numbers:
    return tuple(int(number) for number in version.split("."))


def _pad(numbers: Numbers) -> Numbers:
    """Returns the numbers padded with zeros: 3.11 is 3.11.0."""
    return numbers + (0,) * (4 - len(numbers))


_RETRY_S = 0.5
_TOP_PARTS = 2
"""The most parts in names of files that lie in an archive itself, or in its one directory."""


class Package:
    """An archive on this machine; ``name`` is the name under which the user sent it."""

    def __init__(self, path: str, name: str, sha256: str) -> None:
        self.path = path
        self.name = name
        self.sha256 = sha256
        self.legacy = False
        """Whether it has no pyproject.toml: pip builds that in the environment it installs into."""


def is_legacy(names: Iterable[str]) -> bool:
    """Returns whether an archive with files of these names has setup.py and no pyproject.toml."""
    parts = [(name[2:] if name.startswith("./") else name).split("/") for name in names]
    tops = {(len(part), *part) for part in parts if len(part) <= _TOP_PARTS}
    setups = sorted(top for top in tops if top[-1] == "setup.py")
    return bool(setups) and (*setups[0][:-1], "pyproject.toml") not in tops


class Server:
    """The server as the source of packages. Requests wait for the server while it is away: its
    restart must not end a job.
    """

    def __init__(
        self,
        connection: Source,
        teller: ProgressOutput,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._connection = connection
        self._teller = teller
        self._sleep = sleep

    def fetch_lock(self, sha256: str, directory: str) -> str:
        """Returns the path of a lock, which is fetched once. Raises PreparationError."""
        path = os.path.join(directory, f"{sha256}.txt")
        if not os.path.exists(path):
            text = self._ask(lambda: self._connection.get(f"/replica/v1/locks/{sha256}"), "a lock")
            if hashlib.sha256(text).hexdigest() != sha256:
                raise PreparationError(
                    f"the server sent another list of pinned packages (lock) than {sha256}"
                )
            os.makedirs(directory, exist_ok=True)
            part = f"{path}.{os.getpid()}.part"
            with open(part, "wb") as file:
                file.write(text)
            os.replace(part, path)
        return path

    def fetch_packages(self, names: list[str], directory: str) -> list[Package]:
        """Fetches each package into a directory of its own, because names may repeat. Raises
        PreparationError.
        """
        return [self._fetch(index, name, directory) for index, name in enumerate(names)]

    def _fetch(self, index: int, name: str, directory: str) -> Package:
        if not name or name in (".", "..") or "/" in name or "\0" in name:
            raise PreparationError(
                f"{name!r} can't be the name of a package, because it isn't the name of a file"
            )
        own = os.path.join(directory, str(index))
        os.makedirs(own, exist_ok=True)
        download = os.path.join(own, "download")
        url = f"/replica/v1/packages/{index}"
        self._ask(lambda: self._connection.download(url, download), name)
        digest = _digest(download)
        return Package(settle(download, name), name, digest)

    def _ask(self, request: Callable[[], T], what: str) -> T:
        while True:
            try:
                return request()
            except ServerUnavailable:
                self._teller.tell("waiting for the server")
                self._sleep(_RETRY_S)
            except Refused as refusal:
                raise PreparationError(f"{what} can't be fetched: {refusal}") from refusal


class Wheel:
    """A package as a wheel, with its requirements."""

    def __init__(self, path: str, package: Package, python: str) -> None:
        """Reads the package's metadata; ``python`` is the version that will run the package. Raises
        PreparationError if the package doesn't admit it.
        """
        self.path = path
        self.package = package
        metadata = _read_metadata(path, package.name)
        self.requirements = list(read_requirements(metadata))
        required = read_required(metadata)
        if not admits(required, python):
            raise PreparationError(
                f"{package.name} requires Python {required} (python_requires), but the runtime has "
                f"{python}: use a runtime with this Python, or change python_requires"
            )


def make_wheel(
    package: Package, interpreter: Interpreter, uv: Uv, base: Base | None = None
) -> Wheel:
    """Returns the package itself if it is a wheel, else what its build makes, beside it.

    ``base``: whose modules the build may import; None: it has an environment of its own.

    Raises PreparationError: it doesn't build; with the last words of its build.
    """
    if package.path.endswith(".whl"):
        return Wheel(package.path, package, interpreter.version)
    beside = os.path.dirname(package.path)
    directory = os.path.join(uv.find_output(beside), f"wheel-{os.path.basename(beside)}")
    options = ["--wheel", "--python", interpreter.path, "--out-dir", directory]
    if base is not None:
        options = ["--wheel", "--no-build-isolation", "--python", base.python, *options[3:]]
    try:
        uv.isolated.run(["build", *options, package.path])
        wheel = _take_wheel(directory, beside)
    except UvFailed as failure:
        if uv_errors.is_full(failure.output):
            raise PreparationError(f"{package.name} can't be built: {uv_errors.FULL}") from failure
        said = uv_errors.explain_build(failure.output)
        raise PreparationError(
            f"the build of {package.name} for Python {interpreter.version} fails: "
            f"{said.replace(package.path, package.name)}"
        ) from failure
    except (FileNotFoundError, NotADirectoryError, StopIteration) as error:
        raise PreparationError(f"the build of {package.name} made no wheel") from error
    return Wheel(wheel, package, interpreter.version)


def _take_wheel(directory: str, beside: str) -> str:
    """Copies into ``beside`` the wheel that a build has left: builds can't change it any more.

    Raises OSError, StopIteration.
    """
    top = os.path.dirname(beside)
    relative = os.path.relpath(directory, top)
    with safe_path.directory(top, relative.split(os.sep)) as parent:
        name = next(name for name in os.listdir(parent) if name.endswith(".whl"))
    target = os.path.join(beside, name)
    _copy(open_made(top, os.path.join(relative, name)), target)
    return target


def _copy(source: int, target: str) -> None:
    with open(source, "rb") as made, open(target, "xb") as file:
        shutil.copyfileobj(made, file)


def _read_metadata(path: str, name: str) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.namelist():
                if member.count("/") == 1 and member.endswith(".dist-info/METADATA"):
                    text = archive.read(member).decode("utf-8", "replace")
                    return text.replace("\r\n", "\n")
    except (OSError, zipfile.BadZipFile, RuntimeError, ValueError) as error:
        raise PreparationError(f"{name} is not a wheel that can be read: {error}") from error
    raise PreparationError(f"{name} is not a wheel: it has no METADATA")


def _digest(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for chunk in iter(lambda: file.read(1 << 20), b""):
            digest.update(chunk)
    return digest.hexdigest()
