"""What the faces accept and this version can't run yet."""

from __future__ import annotations

from footplate.domain.jobs import ContainerProgram, JobSpec
from footplate.domain.reduction import has_reducers


def unsupported(spec: JobSpec, *, reduction: bool) -> str | None:
    """What of a valid job this version can't run, in a sentence; None: it runs all of it.

    ``reduction``: whether footplate-reduction is installed beside the service.
    """
    if has_reducers(spec) and not reduction:
        return (
            "the job is valid, but this server lacks the package footplate-reduction, which its "
            "reduction servers run; install it where the server runs, and start that again"
        )
    if any(isinstance(pool.program, ContainerProgram) for pool in spec.pools):
        return (
            "the job is valid, but this version of Footplate doesn't run custom containers yet; "
            "use a runtime version (ml) or a Python package with a prebuilt executor image "
            "(Vertex AI)"
        )
    return None
