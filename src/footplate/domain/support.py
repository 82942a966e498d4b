"""What the faces accept and this version can't run yet."""

from __future__ import annotations

from footplate.domain.jobs import ContainerProgram, JobSpec
from footplate.domain.reduction import has_reducers


def unsupported(spec: JobSpec, *, reduction: bool) -> str | None:
    """What of a valid job this version can't run, in a sentence; None: it runs all of it.

    ``reduction``: whether the service has the package footplate-reduction.
    """
    if has_reducers(spec) and not reduction:
        return (
            "the job is valid, but this server lacks the package footplate-reduction, which its "
            "reduction servers run; in the clone of Footplate run `pip install ./reduction` with "
            "the server's Python, and restart the server"
        )
    if any(isinstance(pool.program, ContainerProgram) for pool in spec.pools):
        return (
            "the job is valid, but this version of Footplate doesn't run custom containers yet; "
            "use a runtime version (ml) or a Python package with a prebuilt executor image "
            "(Vertex AI)"
        )
    return None
