"""Advice about code for older versions of NumPy or pandas."""

from __future__ import annotations

import re

from footplate.replica.diagnosis.installed_modules import InstalledModules
from footplate.replica.diagnosis.requirements import describe_requirement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from footplate.replica.diagnosis.replica_facts import ReplicaFacts

_FRAME = r"'(?:DataFrame|Series)' object has no attribute"
_ARGUMENT = r"got an unexpected keyword argument"
_BREAKS = (
    (
        "numpy",
        (1, 24),
        re.compile(
            r"module 'numpy' has no attribute '(?:float|int|bool|object|str|complex|long|unicode)'"
        ),
    ),
    (
        "numpy",
        (2, 0),
        re.compile(
            r"was removed in the NumPy 2\.0 release|compiled using NumPy 1\.x"
            r"|numpy\.dtype size changed|numpy\.core\.multiarray failed to import"
            r"|_ARRAY_API not found|Unable to avoid copy while creating an array"
            r"|module 'numpy' has no attribute '(?:product|cumproduct|in1d|trapz|row_stack|msort)'"
        ),
    ),
    (
        "pandas",
        (1, 0),
        re.compile(
            rf"{_FRAME} '(?:ix|as_matrix|get_value|set_value)'"
            r"|module 'pandas' has no attribute 'Panel'"
        ),
    ),
    (
        "pandas",
        (2, 0),
        re.compile(
            rf"{_FRAME} '(?:append|iteritems|mad|lookup|slice_shift)'"
            r"|(?:DataFrame\.(?:drop|dropna|set_index)|concat)\(\) takes .* positional argument"
            r"|module 'pandas' has no attribute '(?:Int64Index|UInt64Index|Float64Index)'"
            rf"|\w+\(\) {_ARGUMENT} '(?:error_bad_lines|warn_bad_lines|squeeze|line_terminator)'"
        ),
    ),
    (
        "pandas",
        (3, 0),
        re.compile(
            rf"{_FRAME} '(?:applymap|swapaxes|pad|backfill)'"
            rf"|fillna\(\) {_ARGUMENT} 'method'|groupby\(\) {_ARGUMENT} 'axis'"
            rf"|read_\w+\(\) {_ARGUMENT} '(?:delim_whitespace|date_parser|infer_datetime_format)'"
            r"|is no longer supported for offsets|Invalid frequency: [HTSLUN]\b"
            r"|Invalid value '.*' for dtype 'str'"
            r"|can't convert np\.ndarray of type numpy\.object_"
            r"|Failed to convert a NumPy array to a Tensor \(Unsupported object type"
        ),
    ),
)
"""Package, the version in which it broke, and what is said then."""


def advise_on_versions(cause: str, facts: ReplicaFacts) -> str:
    installed = InstalledModules(facts.sites)
    for package, since, pattern in _BREAKS:
        name, version = installed.version_of(package)
        if not pattern.search(cause) or _numbers(version) < since:
            continue
        limit = ".".join(str(number) for number in since if number or number is since[0])
        pin = describe_requirement(f"{package}<{limit}", facts)
        return (
            f"{name} {version} is installed ({installed.origin(name, facts.where)}), but the code "
            f"seems to be for {package} before {limit}: change it, set {pin}, or take an older "
            "runtime version"
        )
    return ""


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found.group(1)), int(found.group(2))) if found is not None else ()
