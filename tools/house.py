"""Counts lines, rooms and names of the code, and holds them to what was recorded last.

``make house`` prints the figures, and records lines that have become fewer. ``make check`` fails
where the lines have grown by more than a hundredth over the record: ``make house WHY="..."``
records the growth with its reason, in the commit that has it. It also fails where a docstring
begins with a word such as "What" or "Whether" in place of a verb or a noun, or where that of a
function or a class begins with a name in backticks.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ROOT = Path(__file__).parents[1]
RECORD = Path("tools", "house.toml")
SOURCES = (Path("src"), Path("reduction", "src"))
TESTS = (Path("tests"), Path("reduction", "tests"))
GROWTH = 0.01
SUBJECTS = {
    "trials": ("trial",),
    "experiments": ("experiment", "tracking", "metadata_v1"),
    "quotas": ("quota",),
    "usage": ("usage",),
}
"""What files and folders of a subject are named after."""
_NO_SUBJECT = re.compile(
    r"(What|Whether|Of|Where|Why|As|How|Who|When|Which|With|Without|For|By|To|In|From|Until)\b"
)
_REPLICA = Path("src", "footplate", "replica")


@dataclass(frozen=True)
class Module:
    path: Path
    name: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def package(self) -> str:
        return self.name if self.path.stem == "__init__" else self.name.rpartition(".")[0]


def find_modules(root: Path, folders: Iterable[Path]) -> list[Module]:
    """Returns the Python files below the folders, in the order of their paths."""
    found = []
    for folder in folders:
        for path in sorted((root / folder).rglob("*.py")):
            parts = list(path.relative_to(root / folder).with_suffix("").parts)
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found.append(Module(path.relative_to(root), name, path.read_text()))
    return found


def count_lines(modules: Iterable[Module]) -> int:
    return sum(module.text.count("\n") for module in modules)


def count_functions(modules: Iterable[Module]) -> int:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return sum(isinstance(node, kinds) for module in modules for node in ast.walk(module.tree))


def find_single_importers(modules: Sequence[Module]) -> dict[str, str]:
    """Returns each module that one other alone imports, which lies in the same folder, and that."""
    names = {module.name for module in modules}
    importers: dict[str, set[str]] = defaultdict(set)
    packages = {module.name: module.package for module in modules}
    for module in modules:
        for imported in _find_imports(module.tree):
            if imported in names and imported != module.name:
                importers[imported].add(module.name)
    return {
        name: only
        for name, (only, *others) in importers.items()
        if not others and packages[only] == packages[name] != name and only != packages[name]
    }


def _find_imports(tree: ast.Module) -> Iterator[str]:
    """Yields the names of modules, and of what is in them: the caller knows which are which."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def count_packages_of(words: Iterable[str], modules: Iterable[Module]) -> int:
    """Returns how many packages just below the top one have files or folders with such a word."""
    found = set()
    for module in modules:
        _, *inner = module.name.split(".")
        if len(inner) > 1 and any(word in part for word in words for part in inner):
            found.add(inner[0])
    return len(found)


def find_bare_docstrings(modules: Iterable[Module]) -> Iterator[str]:
    """Yields path and line of each docstring that begins with neither verb nor noun."""
    for module in modules:
        for node in _find_documented(module.tree):
            text = ast.get_docstring(node) or ""
            names_first = text.startswith("`") and not isinstance(node, ast.Module)
            if names_first or _NO_SUBJECT.match(text):
                yield f"{module.path}:{getattr(node, 'lineno', 1)}"


def _find_documented(
    node: ast.AST,
) -> Iterator[ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yields what may have a docstring. It looks into statements alone: most nodes are parts of
    expressions, and there are a million of them.
    """
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield node
    for field in ("body", "orelse", "handlers", "finalbody", "cases"):
        children = getattr(node, field, ())
        for child in children if isinstance(children, list) else ():
            yield from _find_documented(child)


def count_comments(modules: Iterable[Module]) -> int:
    """Returns the lines that hold a comment alone, but for those that tools read."""
    lines = (line.strip() for module in modules for line in module.text.splitlines())
    return sum(line.startswith("# ") and "noqa" not in line for line in lines)


def measure_lines(sources: Iterable[Module], tests: Iterable[Module]) -> dict[str, int]:
    return {"lines of src": count_lines(sources), "lines of tests": count_lines(tests)}


def measure(sources: Sequence[Module], tests: Iterable[Module]) -> dict[str, int]:
    own = [module for module in sources if module.name.startswith("footplate.")]
    untyped = (module.text for module in sources if module.path.is_relative_to(_REPLICA))
    figures = measure_lines(sources, tests) | {
        "files": len(sources),
        "functions": count_functions(sources),
        "modules with one importer in their own folder": len(find_single_importers(sources)),
        "dict[str, Any] in the supervisor": sum(text.count("dict[str, Any]") for text in untyped),
        "docstrings without a subject": sum(1 for _ in find_bare_docstrings(sources)),
        "lines of comments": count_comments(sources),
    }
    spans = {
        f"packages that {subject} span": count_packages_of(words, own)
        for subject, words in SUBJECTS.items()
    }
    return figures | spans


def find_growth(recorded: dict[str, int], figures: dict[str, int]) -> Iterator[str]:
    """Yields a sentence for each figure that has grown by more than it may."""
    for name, before in recorded.items():
        most = int(before * (1 + GROWTH))
        if figures[name] > most:
            yield (
                f"there are {figures[name]:,} {name}, and may be {most:,}: make them fewer, or "
                f'record why: make house WHY="..."'
            )


def find_faults(
    recorded: dict[str, int], figures: dict[str, int], sources: Iterable[Module]
) -> Iterator[str]:
    """Yields a sentence for each reason to fail ``make check``."""
    yield from find_growth(recorded, figures)
    for place in find_bare_docstrings(sources):
        yield f'{place}: the docstring has no subject: begin with a verb ("Returns") or a noun'


def read_record(path: Path) -> dict[str, int]:
    """Returns the figures recorded last, none if nothing is recorded."""
    entries = tomllib.loads(path.read_text()).get("recorded") if path.exists() else None
    return {f"lines of {part}": entries[-1][part] for part in ("src", "tests")} if entries else {}


def record(path: Path, figures: dict[str, int], why: str) -> None:
    text = why.replace("\\", "\\\\").replace('"', '\\"')
    lines = [f"{part} = {figures[f'lines of {part}']}" for part in ("src", "tests")]
    with path.open("a") as file:
        file.write("\n".join(["\n[[recorded]]", *lines, f'why = "{text}"', ""]))


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="print only what must change")
    parser.add_argument("--why", default="", help="record the figures with this reason")
    parser.add_argument("--list", choices=("importers", "docstrings"), help="name them one by one")
    options = parser.parse_args(arguments)
    sources, tests = find_modules(ROOT, SOURCES), find_modules(ROOT, TESTS)
    if options.list:
        _write(_name_each(options.list, sources))
        return 0
    recorded = read_record(ROOT / RECORD)
    if options.check:
        faults = list(find_faults(recorded, measure_lines(sources, tests), sources))
        _write(faults)
        return int(bool(faults))
    figures = measure(sources, tests)
    for name, figure in figures.items():
        before = f"   (recorded: {recorded[name]:,})" if name in recorded else ""
        _write([f"{figure:>9,}  {name}{before}"])
    fewest = {name: min(figures[name], before) for name, before in recorded.items()}
    if options.why:
        record(ROOT / RECORD, figures, options.why)
    elif fewest != recorded:  # what has grown beside it isn't allowed by that
        record(ROOT / RECORD, fewest, "fewer lines")
    return 0


def _name_each(kind: str, sources: Sequence[Module]) -> Iterable[str]:
    if kind == "docstrings":
        return find_bare_docstrings(sources)
    return (f"{name} <- {only}" for name, only in find_single_importers(sources).items())


def _write(lines: Iterable[str]) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
