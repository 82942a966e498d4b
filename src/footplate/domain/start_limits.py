"""Bounds of what a Linux program can be started with. Pure.

Source: execve(2) and Linux's ``fs/exec.c``: MAX_ARG_STRLEN holds for each argument and variable, a
quarter of the stack's soft limit (8 MiB on ordinary machines) for all of them together.
"""

from __future__ import annotations

from collections.abc import Iterator

from footplate.domain import program_arguments
from footplate.domain.jobs import Address, ContainerProgram, JobSpec, WorkerPool

MAX_WORD_BYTES = (128 << 10) - 1
"""Of an argument, and of a variable with its name and the ``=``."""
MAX_TOTAL_BYTES = (2 << 20) - (64 << 10)
"""Of all together; the rest is for what the service and the machine add."""
_POINTER_BYTES = 8
_MOST_ADDRESSES = 100_000
_LONGEST = Address("255.255.255.255", 65535, (65535,))


def fault(spec: JobSpec) -> str | None:
    """Returns why no replica of the job could start; None: all can.

    Single words of the user that are too long are refused elsewhere, at their place in the request.
    Addresses of replicas count with their greatest length.
    """
    if sum(pool.replica_count for pool in spec.pools) > _MOST_ADDRESSES:
        return None  # their number is refused already
    addresses = dict.fromkeys(spec.replica_names(), _LONGEST)
    for pool in spec.pools:
        if not pool.replica_count:
            continue
        own = program_arguments.variables(spec, pool.replica_names()[0], "", addresses, str)
        for name, value in own:
            size = _size(f"{name}={value}")
            if size > MAX_WORD_BYTES and name in ("TF_CONFIG", "CLUSTER_SPEC"):
                return (
                    f"the variable {name}, which has the addresses of {len(addresses):,} replicas "
                    f"and the job's arguments, would have {size:,} bytes. Linux allows "
                    f"{MAX_WORD_BYTES:,}: have fewer replicas or shorter arguments"
                )
        total = sum(_size(word) + 1 + _POINTER_BYTES for word in _words(pool, own))
        if total > MAX_TOTAL_BYTES:
            return (
                f"the arguments and variables of {pool.replica_names()[0]} have {total:,} bytes "
                f"together. Linux allows about {MAX_TOTAL_BYTES:,}: put them into a file in a "
                "bucket, and give its name"
            )
    return None


def _words(pool: WorkerPool, own: tuple[tuple[str, str], ...]) -> Iterator[str]:
    program = pool.program
    yield from (program.command or ()) if isinstance(program, ContainerProgram) else ()
    yield from program.args or ()
    yield from (
        f"{name}={value}" for name, value in {**dict(own), **dict(pool.environment)}.items()
    )


def _size(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))
