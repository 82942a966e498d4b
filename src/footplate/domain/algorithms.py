"""The built-in algorithms: their images and arguments.

Source: the pages on the built-in algorithms of AI Platform Training. The programs are those of the
package footplate_algorithms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from footplate.domain.jobs import JobSpec, PythonProgram, WorkerPool
from footplate.domain.names import GcsUri
from footplate_algorithms.algorithms import ALGORITHMS, Algorithm

RUNTIME = "algorithm:"
"""What the runtime of such a program begins with; the algorithm's name follows."""
IMAGES = "gcr.io/cloud-ml-algos/"
MODULE = "footplate_algorithms"
_SCHEME = "gs://"
_IMAGE = re.compile(
    rf"{re.escape(IMAGES)}(?P<name>[^/:@\s]+)(?::[\w][\w.-]{{0,127}})?(?:@sha256:[0-9a-f]{{64}})?"
)


def image_name(uri: str | None) -> str | None:
    """Returns the algorithm that an image is named after, known or not; None: no algorithm."""
    match = _IMAGE.fullmatch(uri or "")
    return match["name"] if match else None


def program(name: str, args: tuple[str, ...]) -> PythonProgram:
    """Returns the program that runs in place of the image."""
    return PythonProgram(f"{RUNTIME}{name}", (), MODULE, (name, *args))


def of_pool(pool: WorkerPool) -> Algorithm | None:
    """Returns the algorithm that the pool trains; None: its program is not an algorithm."""
    if isinstance(pool.program, PythonProgram):
        return of_program(pool.program)
    return None


def of_program(program: PythonProgram) -> Algorithm | None:
    if not program.runtime.startswith(RUNTIME):
        return None
    return ALGORITHMS.get(program.runtime.removeprefix(RUNTIME))


def arguments(
    spec: JobSpec, program: PythonProgram, find_folder: Callable[[str], str]
) -> tuple[str, ...]:
    """Returns the program's own arguments, and options with the folders of named buckets."""
    uris = [uri for uri in (*_uris(program.args), spec.job_dir or "") if uri.startswith(_SCHEME)]
    folders = {root: find_folder(root) for root in map(_root, uris)}
    found = [f"--folder={root}={folder}" for root, folder in folders.items() if folder != root]
    directory = () if spec.job_dir is None else ("--job-dir", spec.job_dir)
    return (*program.args, *found, *directory)


def model_path(job_dir: str) -> str:
    """Returns the directory of the trained model."""
    return f"{job_dir.rstrip('/')}/model/"


def _uris(args: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the gs:// paths among the arguments, with or without an option's name before them."""
    values = (text if text.startswith(_SCHEME) else text.partition("=")[2] for text in args)
    return tuple(value for value in values if value.startswith(_SCHEME))


def data_uris(program: PythonProgram) -> Iterator[tuple[int, str]]:
    """Yields the gs:// paths of an algorithm's data, each with its index in the job's arguments."""
    if of_program(program) is None:
        return
    for index, text in enumerate(program.args[1:]):
        for uri in _uris((text,)):
            yield index, uri


def _root(uri: str) -> str:
    return f"{_SCHEME}{GcsUri.parse(uri, 'args').bucket}"
