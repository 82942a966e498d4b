"""Walk through a page as its reader does: make its files, run its commands, see what they print.

- A block of code whose first line is a comment with a path is a file, made when its turn comes.
- A ``console`` block is typed, line by line, into one shell for the whole page: what begins with
  ``$ `` is a command, what follows is what it prints. Of that, each line must be printed, in this
  order; ``...`` stands for anything, and lines between may be missing.
- Each command must end with 0, unless the next one is ``echo $?``.
- ``footplate up`` runs on in the background until the end of the page; `VAR=... footplate up`, too.
- Blocks of other languages (``sh``, ``yaml`` without a path) are not run.
"""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from footplate.testing.service import outside
from tests.support.trees import paths_below

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache" / "footplate"
LIMIT_S = 600
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
PATH = re.compile(r"# (\S+\.\w+)")
UP = re.compile(r"(?:\w+=\S+ )*footplate up(?: |$)")


@dataclass(frozen=True)
class Step:
    """``script`` for the shell; ``shown`` of what it prints; may it end with another code?"""

    said: str
    script: str
    shown: tuple[str, ...] = ()
    may_fail: bool = False


def walk(page: Path, folder: Path, **variables: str) -> str:
    """Do what the page says, in ``folder``; all that was printed.

    ``variables`` are of the reader's environment. Services that it has started are ended, with
    their jobs.
    """
    return type_out(page.read_text("utf-8"), folder, **variables)


def type_out(text: str, folder: Path, **variables: str) -> str:
    """``walk`` for the text of a page."""
    environment = reader(folder, **variables)
    try:
        return run(text, folder, environment)
    finally:
        for told in [path for path in paths_below(folder) if path.name == "server.json"]:
            down = ("footplate", "down", "--yes", "--data-dir", str(told.parent))
            subprocess.run(down, env=environment, capture_output=True, check=False)


def run(text: str, folder: Path, environment: dict[str, str]) -> str:
    """``type_out`` in this environment; what it has started runs on."""
    steps = read(text)
    printed = _type(steps, folder, environment)
    assert len(printed) == len(steps), f"never came to: {steps[len(printed) :]}"
    differences = [_difference(step, output) for step, output in zip(steps, printed, strict=True)]
    assert not any(differences), "\n\n".join(filter(None, differences))
    return "".join(printed)


def reader(folder: Path, **variables: str) -> dict[str, str]:
    """The environment of somebody who has just installed Footplate; runtimes are kept."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    own = {
        "HOME": str(home),
        "PATH": path,
        "FOOTPLATE_PORT": "0",
        "FOOTPLATE_CACHE_DIR": str(CACHE),
        "XDG_DATA_HOME": str(home / "data"),
        **variables,
    }
    environment = outside(os.environ) | own
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # with it Google's SDK takes 10 s to import
    return environment


def read(text: str) -> list[Step]:
    steps: list[Step] = []
    for language, block in BLOCK.findall(text):
        path = PATH.match(block)
        if language == "console":
            steps += _commands(block)
        elif path is not None:
            steps.append(_file(path[1], block))
    return steps


def _file(path: str, content: str) -> Step:
    end = secrets.token_hex(8)
    folder = f"mkdir -p {Path(path).parent}"
    return Step(path, f"{folder}\ncat > {path} <<'{end}'\n{content}{end}")


def _commands(block: str) -> list[Step]:
    typed = block.replace("\\\n", " ")
    found = [part.split("\n") for part in re.split(r"^\$ ", typed, flags=re.MULTILINE)[1:]]
    said = [command for command, *_ in found]
    steps = []
    for (command, *shown), following in zip(found, [*said[1:], ""], strict=True):
        lines = tuple(line.strip() for line in shown if line.strip())
        script = _background(command) if UP.match(command) else command
        steps.append(Step(command, script, lines, following.startswith("echo $?")))
    return steps


def _background(command: str) -> str:
    """Returns when the service answers, or has ended."""
    return f"""\
: > "$HOME/up.log"
{command} >> "$HOME/up.log" 2>&1 & up=$!
until grep -q answers "$HOME/up.log" || ! kill -0 $up 2> /dev/null; do sleep 0.05; done
cat "$HOME/up.log"; kill -0 $up"""


def _type(steps: list[Step], folder: Path, environment: dict[str, str]) -> list[str]:
    """What each step has printed; the last one is the first that failed, if any did."""
    mark = secrets.token_hex(8)
    lines = ["exec 2>&1"]
    for step in steps:
        allowed = "true" if step.may_fail else "exit 99"
        lines += [step.script, f"_code=$?; printf '\\n{mark} %s\\n' $_code"]
        lines += [f"[ $_code = 0 ] || {allowed}", "(exit $_code)"]
    with subprocess.Popen(
        ("bash", "-c", "\n".join(lines)),
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    ) as shell:
        output, _ = shell.communicate(timeout=LIMIT_S)
    parts = re.split(rf"\n{mark} (\d+)\n", output)
    printed, codes = parts[0::2], parts[1::2]
    if shell.returncode == 99:
        step = steps[len(codes) - 1]
        raise AssertionError(f"{step.said}\nended with {codes[-1]}:\n{printed[len(codes) - 1]}")
    return printed[: len(codes)]


def _difference(step: Step, output: str) -> str:
    """What wasn't printed that was to be, if anything. Blanks are one as good as several."""
    lines = iter([" ".join(line.split()) for line in output.splitlines()])
    for wanted in step.shown:
        parts = (re.escape(part) for part in " ".join(wanted.split()).split("..."))
        pattern = re.compile(".*".join(parts))
        if not any(pattern.fullmatch(line) for line in lines):
            return f"{step.said}\nwas to print\n{wanted}\nand printed\n{output}"
    return ""
