"""Advice about import errors: what is missing, and how to install it."""

from __future__ import annotations

import re

from footplate.replica.diagnosis.installed_modules import InstalledModules
from footplate.replica.diagnosis.requirements import describe_requirement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from footplate.replica.diagnosis.replica_facts import ReplicaFacts

_MISSING = re.compile(r"No module named '?([\w.]+)'?")
_NAME = re.compile(
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
    for pattern, place in ((_NAME, 2), (_ATTRIBUTE, 1)):
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
