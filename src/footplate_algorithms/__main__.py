"""``python -m footplate_algorithms ALGORITHM --job-dir DIR --name=value ...``

``--folder=gs://BUCKET=DIR`` says where a bucket lies; without it that is ``/gcs/BUCKET``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from footplate_algorithms.algorithms import ALGORITHMS, PATHS
from footplate_algorithms.arguments import read_arguments
from footplate_algorithms.errors import DataError
from footplate_algorithms.folders import Folders
from footplate_algorithms.outputs import JobDirectory
from footplate_algorithms.parameters import Values
from footplate_algorithms.reporting import say
from footplate_algorithms.tabular import Run, run

if TYPE_CHECKING:
    from collections.abc import Sequence

_OWN = ("--job-dir", "--folder")


class UsageError(Exception):
    """The arguments are wrong; the message says which, and what is allowed."""


def main(args: Sequence[str]) -> int:
    try:
        job = read_run(args)
        if job.algorithm.distributed:
            from footplate_algorithms import distributed  # needs xgboost

            distributed.run(job)
        else:
            run(job)
    except (DataError, UsageError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def read_run(args: Sequence[str]) -> Run:
    """Reads the arguments of a run. Raises UsageError."""
    own, left = _own_arguments(args[1:])
    algorithm = ALGORITHMS.get(args[0]) if args else None
    if algorithm is None or not own["--job-dir"]:
        raise UsageError(f"usage: ALGORITHM --job-dir DIR ...; ALGORITHM: {', '.join(ALGORITHMS)}")
    read = read_arguments(algorithm, left)
    wrong = [problem.message for problem in read.problems]
    wrong += [f"{algorithm.name} has no argument --{name}" for _, name in read.unknown]
    if wrong:
        raise UsageError("; ".join(wrong))
    folders = Folders(dict(text.partition("=")[::2] for text in own["--folder"]))
    paths = {n: folders.find(read.values.text(n)) for n in PATHS if n in read.values}
    uri = own["--job-dir"][-1]
    parameters = {parameter.name: parameter for parameter in ALGORITHMS[algorithm.name].parameters}
    for each in read.given:
        if not parameters[each].effect:
            say(f"--{each} has no effect with the versions of today")
    directory = JobDirectory(Path(folders.find(uri)), uri)
    return Run(algorithm, Values({**read.values, **paths}), directory, folders)


def _own_arguments(args: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Splits the arguments into the service's, each of which has a value, and the algorithm's."""
    own: dict[str, list[str]] = {name: [] for name in _OWN}
    left: list[str] = []
    index = 0
    while index < len(args):
        name, equals, value = args[index].partition("=")
        if name not in own:
            left.append(args[index])
        elif equals:
            own[name].append(value)
        elif index + 1 < len(args):
            index += 1
            own[name].append(args[index])
        index += 1
    return own, left


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
