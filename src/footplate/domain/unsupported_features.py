"""Valid requests that this version cannot run."""

from __future__ import annotations

from footplate.domain.jobs import JobSpec
from footplate.domain.reduction import has_reducers


def unsupported(spec: JobSpec, *, reduction: bool) -> str | None:
    """Returns what this server can't run of a valid job, as a sentence; None: it can run the job.

    ``reduction`` says whether the server has the package footplate-reduction, with its C++ library.
    """
    if has_reducers(spec) and not reduction:
        return (
            "the job is valid, but this server lacks the package footplate-reduction, which the "
            "job's reduction servers run. Install a C++ compiler (g++), run `pip install "
            "./reduction` in the clone of Footplate with the server's Python, and restart the "
            "server"
        )
    return None
