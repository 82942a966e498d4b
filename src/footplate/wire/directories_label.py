"""The label that says how a job's programs get their directories: as URIs or as paths.

It is stronger than the server's setting ``directories``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from footplate.domain.directory_form import DirectoryForm
from footplate.domain.errors import Violation
from footplate.domain.formatting import quoted

LABEL = "footplate-directories"
"""Its value is one of ``DirectoryForm``; it is stronger than the setting ``directories``."""
_VALUES = tuple(form.value for form in DirectoryForm)


def directory_form(labels: Mapping[str, str], default: DirectoryForm) -> DirectoryForm:
    """Returns the form that the label asks for, or the default; ``labels`` are valid already."""
    return DirectoryForm(labels[LABEL]) if LABEL in labels else default


def check_directory_form(labels: Mapping[str, str]) -> Iterator[Violation]:
    given = labels.get(LABEL)
    if given is not None and given not in _VALUES:
        allowed = f"allowed: {', '.join(_VALUES)}"
        yield Violation(f"labels.{LABEL}", f"{quoted(given)} given; {allowed}")
