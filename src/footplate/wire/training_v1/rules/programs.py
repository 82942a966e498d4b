"""Rules for programs: packages in a runtime, or a container image."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import Violation
from footplate.wire.json_text import describe
from footplate.wire.shared_rules import check_words
from footplate.wire.training_v1.models import TrainingInput
from footplate.wire.training_v1.prebuilt_images import has_prebuilt_image, master_image
from footplate.wire.uris import check_module, check_packages

_AT = "trainingInput"
_VERSION = re.compile(r"[0-9]{1,9}\.[0-9]{1,9}")


def check_program(
    training: TrainingInput, catalogue: Catalogue, clouded: Callable[[str], bool]
) -> Iterator[Violation]:
    yield from _check_versions(training, catalogue)
    yield from check_words(training.args, f"{_AT}.args")
    in_container = master_image(training) and not has_prebuilt_image(training)
    if in_container or clouded(f"{_AT}.masterConfig.imageUri"):
        return
    yield from check_packages(training.package_uris, f"{_AT}.packageUris")
    yield from check_module(training.python_module, f"{_AT}.pythonModule")


def pythons(version: str, catalogue: Catalogue) -> tuple[str, ...]:
    """Returns the Python versions of a runtime version, or of all versions if it is empty.

    The result is empty if the catalogue doesn't have the version.
    """
    found = (
        offer.runtime.python
        for offer in catalogue.runtimes.offers
        if (version in offer.versions if version else offer.versions)
    )
    return tuple(dict.fromkeys(found))


def _check_versions(training: TrainingInput, catalogue: Catalogue) -> Iterator[Violation]:
    """Yields faults in the form of versions; a later check looks for the runtime."""
    runtime, python = training.runtime_version or "", training.python_version or ""
    wrong_form = False
    for name, version, example in (
        ("runtimeVersion", runtime, catalogue.runtimes.default or "2.21"),
        ("pythonVersion", python, "3.11"),
    ):
        field = f"{_AT}.{name}"
        if version and master_image(training):
            said = "given together with masterConfig.imageUri; allowed: one of the two"
            yield Violation(field, f"{describe(version)} {said}")
            wrong_form = True
        elif version and not _VERSION.fullmatch(version):
            said = f"allowed: a version, such as {example}"
            yield Violation(field, f"{describe(version)} given; {said}")
            wrong_form = True
    known = pythons(runtime, catalogue)
    if python and known and python not in known and not wrong_form:
        of = f" with runtimeVersion {runtime}" if runtime else ""
        said = f"{describe(python)} given; allowed{of}: {', '.join(known)}"
        yield Violation(f"{_AT}.pythonVersion", said)
