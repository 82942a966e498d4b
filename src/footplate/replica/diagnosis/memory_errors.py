"""Advice about out-of-memory errors."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from footplate.replica.diagnosis.replica_facts import ReplicaFacts

_GPU = re.compile(
    r"CUDA out of memory|CUDA error: out of memory|HIP out of memory|CUDA_ERROR_OUT_OF_MEMORY"
    r"|CUBLAS_STATUS_ALLOC_FAILED|cudaErrorMemoryAllocation"
    r"|(?:OOM when allocating|Out of memory while trying to allocate).*(?:GPU|device:GPU)"
)
_SHARED = re.compile(
    r"insufficient shared memory|out of shared memory|unable to (?:open|allocate) shared memory"
    r"|/dev/shm.*No space left|No space left.*/dev/shm|</torch_\d+"
)
_HOST = re.compile(
    r"the kernel killed [^;]*: out of memory"
    r"|^[\w.]*MemoryError\b|DefaultCPUAllocator: can't allocate memory|std::bad_alloc"
    r"|Cannot allocate memory|OOM when allocating|ResourceExhaustedError|RESOURCE_EXHAUSTED"
    r"|Out of memory while trying to allocate|\bUnable to allocate \S+ \w?i?B for an array"
    r"|^(?:fatal error: )?runtime: out of memory|memory allocation of \d+ bytes failed"
)
_WORKER = re.compile(
    r"DataLoader worker .*(?:Killed|exited unexpectedly)|process pool was terminated abruptly"
    r"|terminated by signal SIGKILL|died with <Signals\.SIGKILL: 9>|\(exitcode: -9\)"
)


def advise_on_memory(cause: str, facts: ReplicaFacts) -> str:
    if _GPU.search(cause):
        return (
            "The program ran out of GPU memory: use smaller batches, a smaller model, mixed "
            "precision, or an accelerator with more memory"
        )
    if _SHARED.search(cause):
        return (
            "The program ran out of shared memory (/dev/shm), through which data loader workers "
            "pass batches: use fewer workers (num_workers) or smaller batches"
        )
    if _HOST.search(cause):
        return f"The program ran out of memory{_held(facts)}: {REMEDIES}"
    if _WORKER.search(cause):
        return (
            "A process of the program was killed, often because memory ran out"
            f"{_held(facts)}: {REMEDIES}, or fewer workers"
        )
    return ""


REMEDIES = "use smaller batches, less data at once, or a machine type with more memory"


def _held(facts: ReplicaFacts) -> str:
    return f" ({facts.memory})" if facts.memory else ""
