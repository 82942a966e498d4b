"""Chooses the advice for an error message."""

from __future__ import annotations

import os
import re

from footplate.domain.google_products import explain_host
from footplate.replica.diagnosis.installed_modules import InstalledModules
from footplate.replica.diagnosis.keras_errors import advise_on_keras
from footplate.replica.diagnosis.machine_errors import advise_on_machine
from footplate.replica.diagnosis.memory_errors import advise_on_memory
from footplate.replica.diagnosis.requirements import describe_requirement
from footplate.replica.lost_files import WAYS_OUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from footplate.replica.diagnosis.replica_facts import ReplicaFacts


# Advice about import errors: what is missing, and how to install it.

_MISSING = re.compile(r"No module named '?([\w.]+)'?")
_MODULE_NAME = re.compile(
    r"cannot import name '([^']+)' from (?:partially initialized module )?'([\w.]+)'"
)
_ATTRIBUTE = re.compile(r"module '([\w.]+)' has no attribute '([^']+)'")
_CIRCULAR = "most likely due to a circular import"
_LIBRARY = re.compile(r"ImportError: (lib[\w.+-]+\.so[\w.]*): cannot open shared object file")
_MAIN = re.compile(r"No module named ([\w.]+)\.__main__; '([\w.]+)' is a package")
_MOST_NAMES = 12


def advise_on_imports(cause: str, facts: ReplicaFacts) -> str:
    main = _MAIN.search(cause)
    if main is not None:
        return f"{main.group(2)} is a package: name the module to run in it"
    missing = _MISSING.search(cause)
    if missing is not None:
        return _advise_on_missing(missing.group(1), facts)
    library = _LIBRARY.search(cause)
    if library is not None:
        return (
            f"{library.group(1)} is a library of the system, not a Python package. This machine "
            "lacks the library, or the package that needs it was built for another version"
        )
    if _CIRCULAR in cause:
        return ""  # Python has said it
    for pattern, place in ((_MODULE_NAME, 2), (_ATTRIBUTE, 1)):
        found = pattern.search(cause)
        if found is not None:
            return _advise_on_version(found.group(place), facts)
    return ""


def _advise_on_missing(module: str, facts: ReplicaFacts) -> str:
    """Returns advice about a missing module, of the user's own package or of another."""
    installed = InstalledModules(facts.sites)
    top, _, rest = module.partition(".")
    known = installed.modules(top)
    if rest and known is not None:
        return _advise_on_submodule(module, installed, facts)
    if top == facts.module.partition(".")[0]:
        return _advise_on_own_package(top, installed)
    implicit = _advise_on_implicit_import(module, installed, facts)
    if implicit or not installed.sites:
        return implicit
    distribution = installed.distribution_of(top)
    near = installed.nearest(top)
    hint = f"; did you mean {near}?" if near else "."
    where = facts.where[0].upper() + facts.where[1:]
    return (
        f"{where} has no {top}{hint} It has {installed.summary()}. "
        f"Set {describe_requirement(distribution, facts)}, or take a runtime that has {top}"
    )


def _advise_on_implicit_import(
    module: str, installed: InstalledModules, facts: ReplicaFacts
) -> str:
    """Returns advice if the module lies in the user's own package, where Python 2 found it beside
    the importing file; else ''.
    """
    own, (top, *_) = facts.module.partition(".")[0], module.split(".")
    found = installed.package_with(top, own) if own else ""
    if not found:
        return ""
    parent, _, last = f"{found}.{module}".rpartition(".")
    return (
        f"{top} is {found}.{top} in your package: write `from {parent} import {last}`, "
        "because Python 3 doesn't look for modules beside the file that imports them"
    )


def _advise_on_submodule(module: str, installed: InstalledModules, facts: ReplicaFacts) -> str:
    package, _, last = module.rpartition(".")
    names = installed.modules(package)
    while names is None:
        package, _, last = package.rpartition(".")
        names = installed.modules(package)
    if package.partition(".")[0] != facts.module.partition(".")[0]:
        return _advise_on_version(package, facts)
    near = installed.nearest_of(last, names)
    meant = f"; did you mean {package}.{near}?" if near else ""
    listed = ", ".join(names[:_MOST_NAMES]) or "nothing"
    end = "" if meant else "."
    question = "Does `packages` in your setup.py list all its packages?"
    return f"Your package {package} has {listed}{meant}{end} {question}"


def _advise_on_own_package(top: str, installed: InstalledModules) -> str:
    own = ", ".join(installed.own_modules()[:_MOST_NAMES])
    has = f"the packages have {own}" if own else "the packages have no modules"
    return (
        f"Your packages don't have the module {top}: {has}. Is its name right, and does setup.py "
        "list it in `packages` (find_packages() takes directories with an __init__.py)?"
    )


def _advise_on_version(module: str, facts: ReplicaFacts) -> str:
    installed = InstalledModules(facts.sites)
    top = module.partition(".")[0]
    name, version = installed.version_of(top)
    if not version or top == facts.module.partition(".")[0]:
        return ""
    origin = installed.origin(name, facts.where)
    return (
        f"{name} {version} is installed ({origin}), but the code seems to be for another "
        f"version: set {describe_requirement(f'{name}==...', facts)}, or take another runtime "
        "version"
    )


_QUOTED = re.compile(r"""['"]([^'"]+)['"]\s*$""")
_FULL = re.compile(r"No space left on device|Disk quota exceeded|\[Errno (?:28|122)\]")
_DENIED = re.compile(r"Permission denied|PermissionError|Read-only file system|\[Errno 30\]")
_LOCAL_SCHEME = re.compile(r"(?:Permission denied|File exists|Not a directory).*'gs:/?'")
"""The error of what would make the folder ``gs:`` in the working directory."""
_SCHEME = re.compile(r"gs:/{1,2}([a-z0-9][\w.-]+)(/[^\s'\"),]*)?")
_NO_FILE = re.compile(
    r"FileNotFoundError|No such file|NotFoundError|scheme 'gs' not implemented|does not exist"
    r"|not implemented \(file|HTTP request|NotADirectoryError|OSError|DefaultCredentialsError"
    r"|PermissionError|Permission denied|Unable to (?:synchronously )?(?:open|create) file"
)
_REMOTE = re.compile(
    r"scheme 'gs' not implemented|not implemented \(file|HTTP request|DefaultCredentialsError"
    r"|errors_impl"
)
"""It took the address for what it is, and couldn't reach the bucket."""
_NO_TOOL = re.compile(
    r"No such file or directory: '(gsutil|gcloud)'|\b(gsutil|gcloud): (?:command )?not found"
    r"|Command '.*\b(gsutil|gcloud)\b.*returned non-zero exit status 127"
)
_TOO_MANY = re.compile(r"Too many open files|\[Errno 24\]")


def advise_on_files(cause: str, facts: ReplicaFacts) -> str:
    tool = _NO_TOOL.search(cause)
    if tool is not None:
        name = next(group for group in tool.groups() if group)
        return (
            f"The command {name} isn't installed on this machine. Open the bucket's files at "
            "/gcs/BUCKET/OBJECT, or use google-cloud-storage. `gcloud storage` and gsutil work "
            "where Google Cloud's command line tools are installed"
        )
    if _FULL.search(cause):
        return _advise_on_full_disk(cause, facts)
    address = _SCHEME.search(cause)
    if address is not None and _NO_FILE.search(cause):
        path = f"/gcs/{address.group(1)}{address.group(2) or ''}"
        if _REMOTE.search(cause):
            return f"Open the file at {path} instead: buckets are folders, here and on Vertex AI"
        return f"Open the file at {path} instead. {WAYS_OUT}"
    if _LOCAL_SCHEME.search(cause):
        return WAYS_OUT
    if _DENIED.search(cause):
        return (
            "Programs are root in Google's images; here they run as the service's user, or as "
            "their own user if the service runs as root. They can write the working directory, "
            "HOME, /tmp, new directories in / and buckets (/gcs/BUCKET), but no files of the "
            "service"
        )
    if _TOO_MANY.search(cause):
        return (
            "The program reached its limit of open files: close files, sockets and data loader "
            "workers. The program has the service's limit: raise it with `ulimit -n` before "
            "`footplate up`"
        )
    return ""


def _advise_on_full_disk(cause: str, facts: ReplicaFacts) -> str:
    named = _QUOTED.search(cause)
    path = named.group(1) if named is not None and named.group(1).startswith("/") else ""
    real = _existing(facts.real_path(path or "/tmp"))  # noqa: S108  as the program sees it
    try:
        disk = os.statvfs(real)
    except (OSError, ValueError):  # an advice without figures
        return "A disk is full: free some space on it, or let the program write less"
    free, size = disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize
    state = f"{_amount(free)} of {_amount(size)} are free now"
    return (
        f"The disk of {path or 'the working directory'} (on the host {real}: {state}) is "
        "full. Free some space there, let the program write less, or start the service with "
        "another --data-dir"
    )


def _existing(path: str) -> str:
    while path != os.path.dirname(path) and not os.path.exists(path):
        path = os.path.dirname(path)
    return path


def _amount(count: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


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


_NAME = r"([a-z0-9][a-z0-9._-]{1,220}[a-z0-9])"
_SAID = re.compile(rf"there is no bucket \\?['\"]{_NAME}\\?['\"] here")
"""The service's own answer, as the storage client and TensorFlow show it."""
_NAMED = re.compile(rf"(?:gs:/{{1,2}}|/gcs/|\bb/){_NAME}")
"""An address, a path, and an address of the JSON API."""
_OF_GCSFS = re.compile(rf"FileNotFoundError: {_NAME}/\S")
"""It leaves the scheme out, so that any relative path looks like it."""
_ABSENT = re.compile(
    r"\b404\b|not ?found|no such (?:file|bucket|object)|does not exist|doesn't exist", re.IGNORECASE
)


def advise_on_buckets(cause: str, facts: ReplicaFacts) -> str:
    said = _SAID.search(cause)
    name = said.group(1) if said is not None else _find_absent(cause, facts)
    if not name:
        return ""
    return (
        f"There is no bucket {name!r} here, and programs don't reach Google's buckets. Create it "
        f"with `footplate storage buckets create gs://{name}`, and copy what the program reads "
        f"into it. Add `--bind gs://{name}` to use the bucket of this name in the cloud"
    )


def _find_absent(cause: str, facts: ReplicaFacts) -> str:
    """Returns the bucket that a message names and that isn't among the program's; '' if there is
    none.

    Looks only where the supervisor sees the folders of buckets: there a missing folder means a
    missing bucket.
    """
    if _ABSENT.search(cause) is None or not os.path.isdir(facts.real_path("/gcs")):
        return ""
    names = [found.group(1) for found in _NAMED.finditer(cause)]
    bare = _OF_GCSFS.search(cause)
    if bare is not None and any(f"gs://{bare.group(1)}" in text for text in facts.texts):
        names.append(bare.group(1))
    return next((name for name in names if not os.path.isdir(facts.real_path(f"/gcs/{name}"))), "")


_HOST = re.compile(r"[a-z0-9-][a-z0-9.-]{0,100}\.(?:googleapis\.com|pkg\.dev|gcr\.io)\b")


def advise_on_google(cause: str, _facts: ReplicaFacts) -> str:
    """Returns advice about a host of Google that the cause names, unless this service worded the
    cause.
    """
    host = _HOST.search(cause)
    if host is None:
        return ""
    explained = explain_host(host.group()) or ""
    return "" if explained.partition(". ")[0] in cause else explained


_LONGEST = 1000
_KINDS = (
    *(advise_on_memory, advise_on_keras, advise_on_versions),
    *(advise_on_imports, advise_on_machine, advise_on_buckets, advise_on_files),
    advise_on_google,
)


def advise(cause: str, facts: ReplicaFacts) -> str:
    """Returns advice about ``cause`` in a sentence or two; '' if none is known."""
    cause = cause[:_LONGEST]
    for kind in _KINDS:
        advice = kind(cause, facts)
        if advice:
            return advice if len(advice) <= _LONGEST else f"{advice[: _LONGEST - 3]}..."
    return ""
