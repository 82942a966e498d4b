"""Environments of runtimes, shared by all jobs: one for each lock and interpreter."""

from __future__ import annotations

import glob
import hashlib
import os
import re
from urllib.parse import quote

from footplate.replica.environment import user_site, uv_errors
from footplate.replica.environment.build_cache import BuildCache, CompleteBuild, make_key
from footplate.replica.environment.build_record import BuildRecord
from footplate.replica.environment.errors import PreparationError
from footplate.replica.environment.installation import install
from footplate.replica.environment.installed_distributions import add_stand_ins, find_site
from footplate.replica.environment.uv import UvFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from footplate.protocol.task import Slice
    from footplate.replica.environment.interpreters import Interpreter
    from footplate.replica.environment.progress_output import ProgressOutput
    from footplate.replica.environment.uv import Uv

    class Locks(Protocol):
        def fetch_lock(self, sha256: str, directory: str) -> str:
            """Returns the path of a lock file, which may be stored in ``directory``. Raises
            PreparationError.
            """


# Gives environments of runtimes pip, as Google's images have it.
#
# It is the one that Python itself brings for ``ensurepip``: no lock names it, and no index has to.

_HOOK = "footplate_user_site"
_PLACES = ("lib*/python{minor}/ensurepip/_bundled", "share/python-wheels")
"""Below the installation: of Python itself, of Debian's and Fedora's."""
_LOCKED = re.compile(r"^pip==", re.MULTILINE)


def find_pip(interpreter: Interpreter, lock: str) -> list[str]:
    """Returns pip's requirement with its hash; nothing if ``lock`` names pip, or the interpreter
    has no pip.
    """
    with open(lock, encoding="utf-8") as file:
        if _LOCKED.search(file.read()):
            return []
    prefix = glob.escape(os.path.dirname(os.path.dirname(interpreter.path)))
    minor = ".".join(interpreter.version.split(".")[:2])
    places = [os.path.join(prefix, place.format(minor=minor)) for place in _PLACES]
    found = [path for place in places for path in glob.glob(os.path.join(place, "pip-*.whl"))]
    if not found:
        return []
    newest = max(found, key=lambda path: [int(part) for part in re.findall(r"\d+", path)])
    with open(newest, "rb") as wheel:
        digest = hashlib.sha256(wheel.read()).hexdigest()
    return [f"pip @ file://{quote(newest)}#sha256={digest}"]


def read_hook() -> dict[str, str]:
    """Returns files for a directory of packages, by which Python finds what pip installs."""
    loader: Any = user_site.__loader__  # it may be the archive of the supervisor
    path = os.path.join(os.path.dirname(__file__), "user_site.py")
    return {
        f"{_HOOK}.py": str(loader.get_data(path), "utf-8"),
        f"{_HOOK}.pth": f"import {_HOOK}\n",
    }


_LAYOUT = "2"
_LOCAL_BUILD = re.compile(r"^[A-Za-z0-9._-]+==[^\s;]+\+", re.MULTILINE)
_TORCH_BACKEND = "UV_TORCH_BACKEND"
_DRY_RUN = ("pip", "install", "--dry-run", "--break-system-packages")  # that changes none


class _Unobtainable(Exception):
    """No index has a package of the lock; the message names it."""


class Base:
    """An environment that programs use, or on which layers are put."""

    def __init__(self, built: CompleteBuild, site: str, lock_sha256: str, note: str) -> None:
        self.use = built.use
        self.size_bytes = built.record.bytes or 0
        self.lock_sha256 = lock_sha256
        self.site = site
        self.bin = os.path.join(built.path, "bin")
        self.python = os.path.join(self.bin, "python")
        self.note = note


class BaseEnvironments:
    def __init__(
        self,
        cache: str,
        interpreter: Interpreter,
        uv: Uv,
        locks: Locks,
        teller: ProgressOutput,
        job: str = "",
    ) -> None:
        """Prepares the cache of base environments; ``job`` names the job of the replica that wants
        one, and is empty if no replica does.
        """
        root = os.path.join(cache, "runtimes")
        self._root = root
        self._folder = os.path.join(cache, "locks")
        self._builds = BuildCache(root, job, exposed=uv.exposed)
        self._interpreter = interpreter
        self._uv = uv
        self._locks = locks
        self._teller = teller

    @property
    def made(self) -> int:
        """The number of environments that were built here, rather than found."""
        return self._builds.made

    def find(self, piece: Slice) -> Base | None:
        """Returns the environment of a slice; None if it isn't there."""
        built = self._builds.hold(self._key(piece))
        return None if built is None else self._open(built, piece)

    def close(self) -> None:
        """Releases the environments in use; until then they are kept from removal."""
        self._builds.close()

    def get(self, runtime: str, choice: list[Slice]) -> Base:
        """Returns an environment with one of the sets of locked packages in ``choice``.

        It takes the first that is there already; otherwise it builds the first whose packages the
        indexes have.

        Raises:
            PreparationError: the indexes have those of none, or the build fails; saying why.
        """
        for piece in choice:
            base = self.find(piece)
            if base is not None:
                return base
        missing: list[str] = []
        for piece in choice:
            try:
                return self._get(runtime, piece)
            except _Unobtainable as error:
                missing.append(f"{piece.name}: {error}")
                self._teller.tell(f"runtime {runtime}: {error}")
        raise PreparationError(f"the server can't install runtime {runtime}: {'; '.join(missing)}")

    def _get(self, runtime: str, piece: Slice) -> Base:
        def make(path: str, lock: int) -> BuildRecord:
            return self._make(runtime, piece, path, self._uv.holding(lock))

        key, name = self._key(piece), f"the environment of runtime {runtime}"
        return self._open(self._builds.get(key, make, name, self._teller.tell), piece)

    def _key(self, piece: Slice) -> str:
        root = os.path.realpath(self._root)
        return make_key(_LAYOUT, root, piece.lock_sha256, self._interpreter.identity)

    def _open(self, built: CompleteBuild, piece: Slice) -> Base:
        note = ""
        if piece.fallback:
            note = (
                f"the service uses the larger {piece.name}, because no index has the build "
                "for the CPU; set UV_FIND_LINKS or UV_INDEX to one that has it"
            )
        site = find_site(built.path, self._interpreter)
        return Base(built, site, piece.lock_sha256, note)

    def _make(self, runtime: str, piece: Slice, path: str, uv: Uv) -> BuildRecord:
        lock = self._locks.fetch_lock(piece.lock_sha256, self._folder)
        try:
            self._install(runtime, path, lock, uv)
        except UvFailed as failure:
            raise PreparationError(
                f"runtime {runtime} can't be installed for Python {self._interpreter.version}: "
                f"{uv_errors.explain(failure.output)}"
            ) from failure
        add_stand_ins(find_site(path, self._interpreter))
        return BuildRecord(
            runtime=runtime,
            slice=piece.name,
            lock_sha256=piece.lock_sha256,
            python=self._interpreter.version,
        )

    def _install(self, runtime: str, path: str, lock: str, uv: Uv) -> None:
        arguments = ["--no-deps", "--require-hashes", "--requirement", lock]
        variables = find_index(lock, ["--python", self._interpreter.path, *arguments], uv)
        pip = find_pip(self._interpreter, lock)
        if not pip:
            self._teller.tell(
                f"runtime {runtime} has no pip, because {self._interpreter.path} has no pip"
            )
        install(
            *(uv, self._interpreter, path, [*arguments, *pip]),
            self._teller.count(f"runtime {runtime}"),
            variables=variables,
            files=read_hook(),
        )


def find_index(lock: str, arguments: list[str], uv: Uv) -> dict[str, str]:
    """Settings with which uv finds all that the lock names.

    Builds like 2.13.0+cpu are in few indexes: the host's own are asked first, then the one
    that uv knows for PyTorch.

    Raises:
        _Unobtainable: they are in none.
    """
    with open(lock, encoding="utf-8") as file:
        if _LOCAL_BUILD.search(file.read()) is None:
            return {}
    said = ""
    for variables in ({}, {_TORCH_BACKEND: "cpu"}):
        try:
            uv.isolated.run([*_DRY_RUN, *arguments], variables)
        except UvFailed as failure:
            said = said or failure.output
        else:
            return variables
    if not uv_errors.is_unavailable(said):
        raise UvFailed(said)
    raise _Unobtainable(f"this machine's package indexes don't have {uv_errors.find_missing(said)}")
