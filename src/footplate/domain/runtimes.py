"""Runtimes: Python versions with locked packages, under the names that jobs use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from footplate.domain.errors import InvalidArgument, NotFound, Violation
from footplate.domain.formatting import quoted
from footplate_algorithms.algorithms import ALGORITHMS

Variant = Literal["cpu", "gpu"]

_IMAGE = re.compile(
    r"(?:(?:us|europe|asia)-docker\.pkg\.dev/vertex-ai|gcr\.io/cloud-(?:aiplatform|ml-public))"
    r"/training/"
    r"(?P<image>[A-Za-z0-9._-]+)(?::[\w][\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?"
)
_IMAGE_NAME = re.compile(r"(?P<family>[a-z-]+)\.(?P<version>\d+-\d+)(?:\.py(?P<python>\d+))?")
_ALLOWED_IMAGES = "{us,europe,asia}-docker.pkg.dev/vertex-ai/training/NAME:TAG"
_VERSION = re.compile(r"\d+\.\d+")
_PREFIX = "us-docker.pkg.dev/vertex-ai/training/"
_NEAREST = 3
ML_IMAGES = "gcr.io/cloud-ml-public/training/"
"""Where AI Platform Training had its prebuilt images."""
REDUCERS = "reductionserver"
"""The image of reduction servers: nothing else runs in it."""


@dataclass(frozen=True)
class Slice:
    """A complete set of locked packages: a whole runtime, or a part that often is enough.

    A slice serves programs whose sources and requirements contain none of the words in ``unless``.
    A ``fallback`` serves only if the slice before it isn't available.
    """

    name: str
    lock_sha256: str
    unless: tuple[str, ...] = ()
    fallback: bool = False


@dataclass(frozen=True)
class Runtime:
    """A runtime's slices, from small to large; without ``gpu`` slices its programs use no GPU.

    ``machine_cuda`` is the version of CUDA that the ``gpu`` slices need from the machine; empty:
    they contain CUDA.
    """

    name: str
    python: str
    cpu: tuple[Slice, ...]
    gpu: tuple[Slice, ...] = ()
    machine_cuda: str = ""

    @property
    def variants(self) -> dict[Variant, tuple[Slice, ...]]:
        """Returns the sets of locked packages: under ``cpu`` those for hosts without GPUs, under
        ``gpu`` those for hosts with GPUs; ``gpu`` is missing if there are none.
        """
        return {"cpu": self.cpu, "gpu": self.gpu} if self.gpu else {"cpu": self.cpu}


@dataclass(frozen=True)
class Offer:
    """A runtime and the names by which jobs ask for it."""

    runtime: Runtime
    versions: tuple[str, ...]
    """Runtime versions, like ``2.21``."""
    images: tuple[str, ...]
    """Names of prebuilt images, like ``tf-cpu.2-21.py311``."""


@dataclass(frozen=True)
class Runtimes:
    """All runtimes of the catalogue; ``default`` is the version for jobs that don't name one."""

    offers: tuple[Offer, ...]
    default: str
    locks: Mapping[str, str] = field(repr=False)
    """Text by its SHA-256."""

    def resolve(self, requested: str, field: str) -> Runtime:
        """Finds the runtime that a job asks for.

        ``requested`` is ``version:2.21/3.11``, ``image:URI``, for reduction servers
        ``reducer:URI``, or for a built-in algorithm ``algorithm:NAME``. Of a version and its Python
        either may be empty; if both are, the default version is used.
        ``image@masterConfig.imageUri:URI`` says where in ``field`` the image is named.

        Raises:
            InvalidArgument: there is none; the violation names ``field`` and similar runtimes.
        """
        kind, _, name = requested.partition(":")
        kind, _, place = kind.partition("@")
        if kind == "image":
            return self.for_image(name, _inside(field, place or "executorImageUri"))
        if kind == "algorithm" and name in ALGORITHMS:
            return self.resolve(ALGORITHMS[name].runtime, field)
        if kind == "reducer":
            return self.for_reducers(_inside(field, "imageUri"))
        version, _, python = name.partition("/")
        return self.for_version(version, python, _inside(field, "runtimeVersion"))

    def find(self, text: str, field: str) -> Runtime:
        """Finds the runtime of a version such as 2.21, or of an image, even without its registry.

        Raises:
            InvalidArgument: there is none; the violation names ``field`` and what exists.
        """
        if _VERSION.fullmatch(text):
            return self.for_version(text, "", field)
        return self.for_image(text if "/" in text else f"{_PREFIX}{text}", field)

    def for_version(self, version: str, python: str, field: str) -> Runtime:
        """Finds the runtime of a version; without one, the first that has the Python version.

        Raises:
            InvalidArgument: there is none; the violation names ``field`` and what exists.
        """
        if python and not version:
            found = (o.runtime for o in self.offers if o.versions and o.runtime.python == python)
            runtime = next(found, None)
        else:
            runtime = self._by_version().get(version or self.default)
        if runtime is None or python not in ("", runtime.python):
            given = f"{version} with Python {python}".strip() if python else version
            raise _refuse(field, given, f"runtime versions {self._versions_near(version)}")
        return runtime

    def for_image(self, uri: str, field: str) -> Runtime:
        """Finds the runtime that stands for a prebuilt image; a CPU image never uses GPUs.

        Raises:
            InvalidArgument: there is none; the violation names ``field`` and similar images.
        """
        match = _IMAGE.fullmatch(uri)
        if match is None:
            raise _refuse(field, uri, f"a prebuilt training image: {_ALLOWED_IMAGES}")
        image = match["image"]
        for offer in self.offers:
            for name in offer.images:
                if image in (name, name.rpartition(".py")[0]) and name != REDUCERS:
                    cpu_only = "-cpu." in name
                    return _without_gpu(offer.runtime) if cpu_only else offer.runtime
        raise _refuse(field, uri, f"{_ALLOWED_IMAGES} where NAME is {self._images_near(image)}")

    def for_reducers(self, field: str) -> Runtime:
        """Returns the runtime of reduction servers. Raises InvalidArgument: there is none."""
        for offer in self.offers:
            if REDUCERS in offer.images:
                return offer.runtime
        raise _refuse(field, REDUCERS, "the catalogue's own runtimes, which have it")

    def lock_text(self, sha256: str) -> str:
        """Returns the pinned requirements of a slice, with hashes.

        Raises NotFound: the catalogue has no such lock.
        """
        try:
            return self.locks[sha256]
        except KeyError:
            raise NotFound(
                f"the catalogue has no list of pinned packages (lock) {sha256}"
            ) from None

    def _by_version(self) -> dict[str, Runtime]:
        return {version: offer.runtime for offer in self.offers for version in offer.versions}

    def _versions_near(self, version: str) -> str:
        known = [
            (version, f"{version} (Python {runtime.python})")
            for version, runtime in self._by_version().items()
        ]
        near = sorted(known, key=lambda entry: _distance(entry[0], version))
        return _listed(words for _, words in near[:_NEAREST])

    def _images_near(self, image: str) -> str:
        """Lists the most similar images of the same family, or else images of all families."""
        wanted = _family_and_version(image)
        names = [n for offer in self.offers for n in offer.images if n != REDUCERS]
        family = [name for name in names if _family_and_version(name)[0] == wanted[0]]
        if not family:
            return _listed(names)
        near = sorted(family, key=lambda name: _distance(_family_and_version(name)[1], wanted[1]))
        return _listed(near[:_NEAREST])


def is_prebuilt(uri: str) -> bool:
    """Returns whether an image is named like a prebuilt training image of Google's."""
    match = _IMAGE.fullmatch(uri)
    return match is not None and match["image"] != REDUCERS


def _inside(field: str, name: str) -> str:
    return f"{field}.{name}" if field else name


def _without_gpu(runtime: Runtime) -> Runtime:
    return Runtime(runtime.name, runtime.python, runtime.cpu)


def _refuse(field: str, given: str, allowed: str) -> InvalidArgument:
    description = f"{quoted(given)} given, which the catalogue doesn't have; allowed: {allowed}"
    return InvalidArgument.of((Violation(field, description),))


def _family_and_version(image: str) -> tuple[str, str]:
    """Splits an image's name into its family (without version and Python) and its version."""
    match = _IMAGE_NAME.match(image)
    return (match["family"], match["version"]) if match else (image, "")


def _distance(version: str, other: str) -> tuple[int, ...]:
    """Returns how far two versions such as 2.21 or 2-21 are apart; more different means larger."""
    mine, theirs = _numbers(version), _numbers(other)
    return tuple(abs(a - b) for a, b in zip(mine, theirs, strict=True))


def _numbers(version: str) -> tuple[int, int]:
    major, minor, *_ = [*(int(number) for number in re.findall(r"\d{1,9}", version)), 0, 0]
    return major, minor


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
