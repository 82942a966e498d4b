"""Breaks the code in places chosen at random, and reports which tests find each break.

Each break changes one thing: a condition is negated or wrong, a call is left out, or a number is
off by one. It is applied to a git worktree of HEAD, never to this checkout, and tried on ever more
tests until one fails: those of its package (``near``), those of ``make quick`` (``quick``), and
what ``--command`` runs in that worktree (``command``). A test that fails has to fail again alone,
so that a busy machine finds nothing. Run ``make quick`` first: a red test finds every break.

Results are appended to a file of JSON lines. The same command goes on after an interruption, and
tries what survived on the tests that it hasn't met yet.

    python -m tools.mutants --seed 7 --list
    python -m tools.mutants --seed 7 --until near
    python -m tools.mutants --seed 7 --command "make test"
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support.durations import plain_name
from tools.code_breaks import Mutant, find_mutants

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = Path(__file__).parent.parent
PACKAGES = ("control", "store", "backends", "replica", "api", "domain", "logs", "buckets")
NEAR, QUICK, COMMAND = LEVELS = ("near", "quick", "command")
_NO_TESTS = 5
"""The exit status of pytest where it has found none."""
_EVENT_S = "60"
"""So long tests wait for an event, unless the environment says: many a break lets none come."""
_FIRST_PROCESS = 'echo 1000 > /proc/sys/kernel/ns_last_pid; "$@"; exit $?'
"""Reaps orphans, as pytest does not; ids above 1000 stand for no process of an inner namespace."""
_MAX_DOUBTS = 5
"""Tests of one level that fail, but not again alone, before the level counts as survived."""


class Outcome(NamedTuple):
    """``found_by``: a test, or why the tests could not end; empty: the break survived."""

    found_by: str
    doubtful: tuple[str, ...] = ()


def choose(found: Mapping[str, Sequence[Mutant]], count: int, seed: int) -> list[Mutant]:
    """Each package gives one, and of the others as many as its share of all places."""
    chance = random.Random(seed)  # noqa: S311 - nothing secret
    total = sum(map(len, found.values()))
    exact = {name: (count - len(found)) * len(places) / total for name, places in found.items()}
    shares = {name: 1 + int(share) for name, share in exact.items()}
    by_rest = sorted(found, key=lambda name: exact[name] % 1, reverse=True)
    for name in by_rest[: max(0, count - sum(shares.values()))]:
        shares[name] += 1
    chosen = [chance.sample(found[name], min(shares[name], len(found[name]))) for name in found]
    return [mutant for each in chosen for mutant in each][:count]


def near_tests(path: str, root: Path) -> list[str]:
    """Tests that name the module, then the others of the nearest folder of unit tests."""
    parts = Path(path).with_suffix("").parts[1:]
    module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    naming = re.compile(rf"\b{re.escape(module)}\b(?!\.)")
    units = root / "tests" / "unit"
    named = [
        each
        for each in sorted((root / "tests").rglob("test_*.py"))
        if naming.search(each.read_text(encoding="utf-8"))
    ]
    folders = [*(units.joinpath(*parts[1:n]) for n in (4, 3)), units / "_".join(parts[1:3])]
    folders.append(units / parts[1])
    nearest = next((each for each in folders if each.is_dir()), units)
    tests = dict.fromkeys((*named, *sorted(nearest.rglob("test_*.py"))))
    return [str(each.relative_to(root)) for each in tests]


def found_by(output: str) -> str:
    """The first test that failed in pytest's summary; else the last line of the output."""
    failed = re.search(
        r"^(?:FAILED|ERROR) ([^\s\[]+(?:\[.*?\])?\S*)(?: - .*)?$", output, re.MULTILINE
    )
    return (
        plain_name(failed[1])
        if failed
        else (output.strip().splitlines() or ["nothing was printed"])[-1]
    )


class Trials:
    """Tries breaks in ``tree``, a worktree with an environment of its own."""

    def __init__(self, tree: Path, workers: int, timeout_s: float, command: str) -> None:
        self._tree = tree
        self._timeout_s = timeout_s
        self._command = command
        python = str(tree / ".venv" / "bin" / "python")
        self._pytest = (python, "-m", "pytest", "-x", "-q", "--tb=no")
        self._many = (*self._pytest, "-n", str(workers), "--dist", "loadgroup", "-m", "not slow")

    def prepare(self, commit: str) -> None:
        """Make the worktree of ``commit``, with an environment."""
        if not self._tree.exists():
            _run("git", "-C", str(ROOT), "worktree", "add", "--detach", str(self._tree), commit)
        _run("git", "-C", str(self._tree), "checkout", "-q", "--force", "--detach", commit)
        _run("make", "-C", str(self._tree), ".venv/.synced")

    def try_level(self, mutant: Mutant, level: str) -> Outcome:
        with self._broken(mutant):
            if level == COMMAND:
                return Outcome(self._fails(("sh", "-c", self._command), "ci"))
            near = near_tests(mutant.path, self._tree)
            paths = near if level == NEAR else [f"--ignore={each}" for each in near]
            doubtful: list[str] = []
            while len(doubtful) < _MAX_DOUBTS:
                without = [f"--deselect={test}" for test in doubtful]
                found = self._fails((*self._many, *without, *paths))
                if not found or "::" not in found or self._fails((*self._pytest, found)):
                    return Outcome(found, tuple(doubtful))
                doubtful.append(found)
        return Outcome("", tuple(doubtful))

    def _fails(self, arguments: Sequence[str], profile: str = "quick") -> str:
        """What found the break; empty if all tests passed, or there was none."""
        with (
            tempfile.TemporaryFile() as output,
            subprocess.Popen(
                [*namespace(), *arguments],
                cwd=self._tree,
                env={"TEST_EVENT_S": _EVENT_S, **os.environ, "TEST_PROFILE": profile},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            ) as tests,
        ):
            try:
                tests.wait(self._timeout_s)
            except subprocess.TimeoutExpired:
                return f"ran for {self._timeout_s:.0f} s"
            finally:
                if tests.returncode is None:
                    os.killpg(tests.pid, signal.SIGKILL)
            if tests.returncode in (0, _NO_TESTS):
                return ""
            output.seek(0)
            return found_by(output.read().decode(errors="replace"))

    @contextmanager
    def _broken(self, mutant: Mutant) -> Iterator[None]:
        file = self._tree / mutant.path
        original = file.read_bytes()
        if original != (ROOT / mutant.path).read_bytes():
            raise SystemExit(f"{mutant.path} has changes that aren't committed")
        try:
            _write(file, mutant.apply(original))
            yield
        finally:
            _write(file, original)


def _write(file: Path, content: bytes) -> None:
    """Also removes its bytecode, which is told from new bytecode by whole seconds and the size."""
    file.write_bytes(content)
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
        compiled.unlink(missing_ok=True)


def namespace() -> tuple[str, ...]:
    """What ends all processes that tests of broken code leave, where this user may."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return ()
    unshare = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
    return (*unshare, "sh", "-c", _FIRST_PROCESS, "sh")


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


def head() -> str:
    command = ("git", "-C", str(ROOT), "rev-parse", "HEAD")
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def read_results(file: Path, commit: str) -> dict[str, dict[str, Any]]:
    """The last result of each break, by its place; what survived at other commits is left out."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    results = {result["place"]: result for result in map(json.loads, lines)}
    return {
        place: result
        for place, result in results.items()
        if result["found_by"] or result["commit"] == commit
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--seed", type=int, default=1, help="chooses the places (default: %(default)s)")
    add("--count", type=int, default=30, help="how many breaks (default: %(default)s)")
    add("--only", type=int, metavar="K", help="try the K-th of the list alone, and anew")
    add("--list", action="store_true", help="print the breaks, and run nothing")
    add("--until", choices=(NEAR, QUICK), default=QUICK, help="tests to end with, of those two")
    add("--command", default="", help="what else is run for each break that survived")
    add("--workers", type=int, default=2, help="of pytest (default: %(default)s; 0: none)")
    add("--timeout", type=float, default=1800.0, help="seconds for each run of tests")
    add("--tree", type=Path, default=ROOT / "build" / "mutants", help="the worktree: %(default)s")
    add("--results", type=Path, help="JSON lines (default: TREE-SEED.jsonl)")
    return parser


def _places(package: str) -> list[Mutant]:
    files = sorted((ROOT / "src" / "footplate" / package).rglob("*.py"))
    return [
        mutant
        for file in files
        for mutant in find_mutants(str(file.relative_to(ROOT)), file.read_bytes())
    ]


def main() -> int:
    options = _parser().parse_args()
    chosen = choose({name: _places(name) for name in PACKAGES}, options.count, options.seed)
    numbered = {k: mutant for k, mutant in enumerate(chosen, 1) if options.only in (None, k)}
    if options.list:
        sys.stdout.writelines(f"{number:3} {mutant}\n" for number, mutant in numbered.items())
        return 0
    tree, commit = options.tree.resolve(), head()
    file = options.results or tree.with_name(f"{tree.name}-{options.seed}.jsonl")
    known = {} if options.only else read_results(file, commit)
    levels = [*LEVELS[: LEVELS.index(options.until) + 1], *([COMMAND] if options.command else [])]
    trials = Trials(tree, options.workers, options.timeout, options.command)
    trials.prepare(commit)
    counts: Counter[str] = Counter()
    for number, mutant in numbered.items():
        new: dict[str, Any] = {
            "place": str(mutant),
            "found_by": "",
            "tried": [],
            "seconds": 0.0,
            "commit": commit,
        }
        result = known.get(str(mutant)) or new
        for level in levels:
            if not result["found_by"] and level not in result["tried"]:
                result |= _try(trials, mutant, level, result)
                with file.open("a", encoding="utf-8") as results:
                    results.write(f"{json.dumps(result)}\n")
        counts[result["tried"][-1] if result["found_by"] else "survived"] += 1
        sys.stdout.write(_row(number, mutant, result))
        sys.stdout.flush()
    sys.stdout.write(f"{', '.join(f'{count} {name}' for name, count in counts.items())}\n")
    return 0


def _try(trials: Trials, mutant: Mutant, level: str, result: Mapping[str, Any]) -> dict[str, Any]:
    started = time.monotonic()
    found, doubtful = trials.try_level(mutant, level)
    return {
        "found_by": found,
        "doubtful": doubtful,
        "tried": [*result["tried"], level],
        "seconds": round(result["seconds"] + time.monotonic() - started, 1),
    }


def _row(number: int, mutant: Mutant, result: Mapping[str, Any]) -> str:
    before, after = mutant.diff((ROOT / mutant.path).read_bytes())
    found = f"{result['tried'][-1]}: {result['found_by']}" if result["found_by"] else "SURVIVED"
    place = f"{mutant.path}:{mutant.line}"
    return f"{number:3} {place}  {result['seconds']} s  {found}\n    - {before}\n    + {after}\n"


if __name__ == "__main__":
    sys.exit(main())
