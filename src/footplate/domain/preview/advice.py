"""Advice about valid jobs. Pure.

Sources: the service's pages on hyperparameter tuning (ten trials for each parameter) and on
distributed training (parts and their machines).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from footplate.domain.catalogue import AcceleratorKind, Catalogue
from footplate.domain.cluster_roles import ClusterRole, role_of
from footplate.domain.cluster_spec import add_evaluator, lacks_evaluator
from footplate.domain.errors import InvalidArgument
from footplate.domain.formatting import shortened
from footplate.domain.jobs import ContainerProgram, JobSpec, PythonProgram, WorkerPool
from footplate.domain.machines import accelerators_of
from footplate.domain.preview.reducers import advise_reducers
from footplate.domain.sites import Mode, Site
from footplate.domain.sites.gpu_assignment import done_without
from footplate.domain.submission import Tuning

TRIALS_PER_PARAMETER = 10
_PREBUILT = re.compile(r"(?:/vertex-ai|/cloud-aiplatform)/training/[a-z-]+-(?P<variant>cpu|gpu)\.")


def advise(spec: JobSpec, catalogue: Catalogue, tuning: Tuning | None = None) -> tuple[str, ...]:
    """Returns the advice about a job, one sentence each; the job may also be invalid."""
    pools = [pool for pool in spec.pools if pool.replica_count > 0]
    return (
        *_trials(tuning),
        *(said for pool in pools for said in _accelerators(pool, catalogue)),
        *_evaluators(pools),
        *_evaluators_beside_a_master(spec, pools),
        *_no_evaluator(spec, tuning),
        *advise_reducers(pools, catalogue),
    )


def shortcomings(spec: JobSpec, catalogue: Catalogue, site: Site) -> tuple[str, ...]:
    """Returns what a valid job lacks on the site of its region, in sentences."""
    return (*_crowd(spec.pools, site), *done_without(spec, catalogue, site))


def _trials(tuning: Tuning | None) -> Iterator[str]:
    if tuning is None:
        return
    wanted, earlier = TRIALS_PER_PARAMETER * tuning.parameters, tuning.earlier_trials
    if tuning.max_trials + earlier < wanted:
        parameters = "1 parameter" if tuning.parameters == 1 else f"{tuning.parameters} parameters"
        trials = "1 trial is" if tuning.max_trials == 1 else f"{tuning.max_trials} trials are"
        if earlier:
            trials = f"{tuning.max_trials} new and {earlier} earlier trials are"
        yield (
            f"{trials} few for {parameters}: at least "
            f"{TRIALS_PER_PARAMETER} for each are recommended, {wanted} in all; with fewer the "
            "search may miss the best values"
        )


def _accelerators(pool: WorkerPool, catalogue: Catalogue) -> Iterator[str]:
    """Yields advice on GPUs that programs can't use, and on programs for GPUs without any."""
    gpu = _gpu(pool, catalogue)
    if gpu is None:
        if _variant(pool) == "gpu":
            yield (
                f"{pool.cluster_role} asks for no GPU, but its image is made for GPUs: the program "
                "runs on the CPU"
            )
        return
    part, have = role_of(pool), f"{pool.cluster_role}'s {gpu}"
    if part is ClusterRole.PARAMETER_SERVER:
        yield f"{have} would likely stand idle, because {part.value} seldom compute on GPUs"
    elif part is ClusterRole.REDUCER:
        yield f"{have} would stand idle, because {part.value} don't use GPUs"
    elif part is ClusterRole.EVALUATOR:
        yield (f"{have} would stand idle except while the evaluator evaluates a checkpoint")
    if _without_gpu(pool, catalogue):
        yield f"{have} would stand idle, because {_software(pool)} has no GPU support"
    cuda = _machine_cuda(pool, catalogue)
    if cuda:
        yield (
            f"{have} would stand idle unless the machine has CUDA {cuda} with cuDNN, which "
            f"{_software(pool)} "
            "looks for in the service's LD_LIBRARY_PATH. Runtime versions from 2.14 on bring "
            "CUDA with them"
        )


def _gpu(pool: WorkerPool, catalogue: Catalogue) -> str | None:
    """Returns the GPUs of each replica, as in ``4 NVIDIA_TESLA_T4``; None: no GPU."""
    name, count = accelerators_of(pool.machine, catalogue)
    known = catalogue.accelerators.get(name or "")
    if known is None or known.kind is not AcceleratorKind.GPU or count <= 0:
        return None
    return f"{count} {name}"


def _without_gpu(pool: WorkerPool, catalogue: Catalogue) -> bool:
    """Returns whether the program certainly can't use a GPU."""
    if isinstance(pool.program, ContainerProgram):
        return _variant(pool) == "cpu"
    if role_of(pool) is ClusterRole.REDUCER:
        return False  # said already, in other words
    try:
        runtime = catalogue.runtimes.resolve(pool.program.runtime, pool.field)
    except InvalidArgument:
        return False
    return "gpu" not in runtime.variants


def _machine_cuda(pool: WorkerPool, catalogue: Catalogue) -> str:
    """Returns the CUDA version that the pool's runtime needs from the machine; empty: none."""
    if isinstance(pool.program, ContainerProgram) or role_of(pool) is ClusterRole.REDUCER:
        return ""
    try:
        runtime = catalogue.runtimes.resolve(pool.program.runtime, pool.field)
    except InvalidArgument:
        return ""
    return runtime.machine_cuda if runtime.gpu else ""


def _variant(pool: WorkerPool) -> str | None:
    """Returns the variant in a prebuilt image's name, ``cpu`` or ``gpu``; None: neither."""
    match = _PREBUILT.search(_software(pool))
    return match["variant"] if match else None


def _software(pool: WorkerPool) -> str:
    program = pool.program
    if isinstance(program, PythonProgram):
        kind, _, name = program.runtime.partition(":")
        version = name.partition("/")[0]
        if kind == "algorithm":
            return f"the built-in algorithm {name}"
        name = name if kind.startswith("image") else f"runtime version {version or 'by default'}"
        return shortened(name)
    return shortened(program.image_uri)


def _evaluators(pools: Sequence[WorkerPool]) -> Iterator[str]:
    count = sum(pool.replica_count for pool in pools if role_of(pool) is ClusterRole.EVALUATOR)
    if count > 1:
        yield (
            f"the job has {count} evaluators, and TensorFlow expects one: each evaluator evaluates "
            "the same checkpoints"
        )


def _evaluators_beside_a_master(spec: JobSpec, pools: Sequence[WorkerPool]) -> Iterator[str]:
    """Yields a warning if evaluators are combined with a master, which TensorFlow doesn't support.

    Source: tf.estimator.RunConfig, "task_type `evaluator` is not supported".
    """
    evaluators = any(role_of(pool) is ClusterRole.EVALUATOR for pool in pools)
    if spec.chief_role != "master" or not evaluators:
        return
    way = "take runtimeVersion 2.1 or later"
    if isinstance(spec.primary.program, ContainerProgram):
        way = "set useChiefInTfConfig"
    yield (
        "the evaluator would fail: TF_CONFIG has a `master`, beside which TensorFlow's "
        "estimators refuse an evaluator. Leave the evaluator out, because a master evaluates "
        f"itself, or {way}"
    )


_TENSORFLOW = re.compile(r"(?:runtime version |/tf2?-[cg]pu\.)(\d{1,4})[.-](\d{1,4})")
_ESTIMATORS = (2, 1), (2, 15)
"""The versions of TensorFlow with estimators whose primary is a chief."""


def _no_evaluator(spec: JobSpec, tuning: Tuning | None) -> Iterator[str]:
    """Yields a warning if an Estimator has no evaluator; only for versions known to have them."""
    version = _TENSORFLOW.search(_software(spec.primary)) if spec.pools else None
    if version is None or not lacks_evaluator(spec):
        return
    if not _ESTIMATORS[0] <= (int(version[1]), int(version[2])) <= _ESTIMATORS[1]:
        return
    without = "no trial would report its metric" if tuning else "no evaluation would take place"
    yield (
        f"if the program calls tf.estimator.train_and_evaluate, {without}: beside a chief only an "
        f"evaluator evaluates; {add_evaluator(spec)}"
    )


def _crowd(pools: Sequence[WorkerPool], site: Site) -> Iterator[str]:
    """Yields a warning if a job has more replicas than an emulating machine runs at once."""
    replicas = sum(pool.replica_count for pool in pools)
    if site.mode is Mode.EMULATE and replicas > site.replicas and site.engine is None:
        yield (
            f"the job has {replicas} replicas, and this machine runs {site.replicas} at once: the "
            "job waits until nothing else runs, and may be short of memory"
        )
