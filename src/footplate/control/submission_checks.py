"""Checks a job at submission, before it is created."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial

from footplate.control import images, occupied_directories, preflight
from footplate.control.preflight import Staging
from footplate.control.regions import Regions
from footplate.control.replica_machines import machines_of
from footplate.control.resource_checks import (
    dataset_violations,
    model_violations,
    resource_violations,
    tensorboard_violations,
)
from footplate.control.tuning.resumed_searches import SearchResolver
from footplate.domain import start_limits
from footplate.domain.admission.claims import counts_of
from footplate.domain.bucket_sharing import EVERY
from footplate.domain.catalogue import Catalogue
from footplate.domain.containers import with_containers
from footplate.domain.datasets import Dataset
from footplate.domain.directory_form import DirectoryForm
from footplate.domain.errors import (
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    ResourceExhausted,
    ServiceError,
    Violation,
)
from footplate.domain.formatting import listed
from footplate.domain.jobs import JobSpec, PythonProgram, RestartBounds, WorkerPool
from footplate.domain.machines import accelerators_of, zones_for
from footplate.domain.model_registry import Model
from footplate.domain.names import DatasetName, GcsUri, ModelName, PersistentResourceName
from footplate.domain.persistent_resources import PersistentResource
from footplate.domain.preview.advice import advise
from footplate.domain.preview.keras_advice import advise_packages
from footplate.domain.preview.named_buckets import NamedBucket, advise_buckets
from footplate.domain.preview.source_patterns import Use
from footplate.domain.quotas import Quotas, exceeded
from footplate.domain.runtimes import Runtimes
from footplate.domain.sites import EngineMachines, Site, too_large
from footplate.domain.submission import Submission, Tuning
from footplate.domain.tracking.names import TrackingName
from footplate.domain.unsupported_features import unsupported
from footplate.ports.buckets import Buckets
from footplate.ports.container_engine import ContainerEngine
from footplate.wire.directories_label import check_directory_form, directory_form
from footplate.wire.json_model import MAX_VIOLATIONS, limited
from footplate.wire.trial_regions_label import LABEL

FindFault = Callable[[str], str | None]


# Checks that this machine has the Python interpreters of a job's runtimes, or can fetch them.


def interpreter_violations(
    spec: JobSpec, runtimes: Runtimes, find_fault: FindFault
) -> Iterator[Violation]:
    """Yields the pools whose Python can't run here.

    ``find_fault`` returns why programs of a Python version can't run; None: they can. Unknown
    runtimes are refused elsewhere.
    """
    programs = dict.fromkeys((pool.field, pool.program) for pool in spec.pools)
    for field, program in programs:
        if not isinstance(program, PythonProgram):
            continue
        try:
            runtime = runtimes.resolve(program.runtime, field)
        except InvalidArgument:
            continue
        fault = find_fault(runtime.python)
        if fault is not None:
            text = f"runtime {runtime.name} needs Python {runtime.python}: {fault}"
            yield Violation(f"{field}.{_place(program.runtime)}", text)


def _place(runtime: str) -> str:
    """Returns the request's field that names the program's runtime."""
    kind, _, name = runtime.partition(":")
    kind, _, place = kind.partition("@")
    if kind != "version":
        return place or ("executorImageUri" if kind == "image" else "imageUri")
    return "pythonVersion" if name.startswith("/") and name != "/" else "runtimeVersion"


@dataclass(frozen=True, eq=False)
class SubmissionChecks:
    """Checks submissions.

    ``quotas`` returns the quotas in force; ``bounds`` are the service's for restarts.
    ``reduction``: the package for reduction servers is installed. ``container_images`` has patterns
    of the prebuilt images that run as containers. ``path_fault`` returns why a job can't have a
    directory outside the buckets; None: it can. ``directories`` is the form in which programs get
    directories if no label says otherwise. ``resource`` finds persistent resources.
    ``python_fault`` returns why this machine can't run a version of Python; None: it can.
    ``shared_buckets`` has patterns of buckets that all projects may use. ``patterns`` finds what
    the package at a URI uses of TensorFlow.
    """

    buckets: Buckets
    catalogue: Catalogue
    regions: Regions
    quotas: Callable[[], Quotas]
    bounds: RestartBounds
    searches: SearchResolver
    engine: ContainerEngine
    _: KW_ONLY
    reduction: bool
    path_fault: Callable[[str], str | None] = preflight.no_paths
    container_images: Sequence[str] = ()
    directories: DirectoryForm = DirectoryForm.URIS
    shared_buckets: Sequence[str] = (EVERY,)
    resource: Callable[[PersistentResourceName], PersistentResource | None] = lambda _: None
    has_tensorboard: Callable[[TrackingName], bool] = lambda _: True
    python_fault: FindFault = lambda _: None
    find_model: Callable[[ModelName], Model | None] = lambda _: None
    find_dataset: Callable[[DatasetName], Dataset | None] = lambda _: None
    patterns: Callable[[str], Sequence[Use]] = lambda _: ()

    def spec(self, submission: Submission) -> JobSpec:
        """Returns the job spec of a submission without violations, within the service's bounds."""
        asked, request = self._with_containers(submission), submission.search
        search = None if request is None else self.searches.search(request)
        return replace(
            asked,
            scheduling=self.bounds.apply(asked.scheduling),
            directory_form=directory_form(dict(submission.labels), self.directories),
            search=search,
            pipeline=submission.pipeline,
        )

    def _with_containers(self, submission: Submission) -> JobSpec:
        return with_containers(submission.spec, self.container_images, self.catalogue.runtimes)

    def violations(
        self, submission: Submission, staging: Staging = preflight.NOTHING
    ) -> tuple[Violation, ...]:
        """Returns all violations: faults of the request, and names of things that don't exist.

        Each field has at most one: a faulty value is not looked up. If there are more violations
        than anyone can read, nothing is looked up.
        """
        if len(submission.violations) > MAX_VIOLATIONS:
            return submission.violations
        runtimes = self.catalogue.runtimes
        missing = preflight.violations(
            submission.spec, self.buckets, runtimes, staging, self.path_fault
        )
        request = submission.search
        search = () if request is None else self.searches.violations(request)
        beside = occupied_directories.trial_violations(
            submission, self.last_number(submission), self.buckets
        )
        places = _places(submission)
        engine = tuple(found for each in places for found in self._machine_violations(each))
        named = (
            *resource_violations(submission, self.resource, self.catalogue),
            *tensorboard_violations(submission, self.has_tensorboard),
            *model_violations(submission, self.find_model),
            *dataset_violations(submission, self.find_dataset),
            *self._place_violations(submission),
            *check_directory_form(dict(submission.labels)),
        )
        return limited(
            preflight.joined(submission.violations, missing, search, beside, engine, named)
        )

    def last_number(self, submission: Submission) -> int:
        """Returns the number of the last trial before this search; 0: its trials begin with 1."""
        request = submission.search
        return 0 if request is None else self.searches.last_number(request, submission.spec)

    def _machine_violations(self, submission: Submission) -> Iterator[Violation]:
        """Yields programs that the region's machines can't run; nodes aren't inspected."""
        site = self.regions.site(submission.spec.region)
        spec = self._with_containers(submission)
        yield from images.violations(spec, self.engine, site.engine)
        if site.engine is None:
            yield from interpreter_violations(spec, self.catalogue.runtimes, self.python_fault)

    def _place_violations(self, submission: Submission) -> Iterator[Violation]:
        for place in _places(submission):
            region, pools = place.spec.region, place.spec.pools
            site = self.regions.site(region)
            yield from mapping_violations(place, site, self.catalogue)
            yield from self.regions.label_violations(region, dict(submission.labels))
            if place is submission:
                continue  # its own rules look at the region that it says itself
            if not zones_for([pool.machine for pool in pools], region, self.catalogue):
                text = (
                    f"no zone of region {region} has all accelerators of this job; leave the zone "
                    "out"
                )
                yield Violation(f"labels.{LABEL}", text)

    def warnings(
        self, submission: Submission, staging: Staging = preflight.NOTHING
    ) -> tuple[str, ...]:
        """Returns advice on the job, each piece once, even if the job is refused."""
        if not submission.understood:
            return submission.warnings
        advice = advise(submission.spec, self.catalogue, self._tuning(submission))
        named = advise_buckets(
            submission.spec,
            submission.name.project,
            self._find_bucket,
            self.shared_buckets,
            staging.makes,
        )
        occupied = () if self.last_number(submission) else self._occupied(submission)
        code = advise_packages(
            submission.spec, partial(self._uses, staging), self.catalogue.runtimes
        )
        return tuple(dict.fromkeys((*submission.warnings, *advice, *named, *occupied, *code)))

    def _uses(self, staging: Staging, package: str) -> Sequence[Use]:
        try:
            is_staged = staging.has(GcsUri.parse(package, "packageUris"))
        except InvalidArgument:
            return ()
        return staging.uses if is_staged else self.patterns(package)

    def _occupied(self, submission: Submission) -> Iterator[str]:
        """Yields a warning if another job writes to the output directory.

        Trials whose numbers continue those of earlier ones have directories of their own, and
        aren't included.
        """
        find = self.searches.writing_to
        return occupied_directories.warn_of_owner(submission, find, self.buckets)

    def _find_bucket(self, name: str) -> NamedBucket | None:
        try:
            bucket = self.buckets.bucket(name)
        except (InvalidArgument, NotFound):
            return None
        return NamedBucket(bucket.location, bucket.project)

    def _tuning(self, submission: Submission) -> Tuning | None:
        request, tuning = submission.search, submission.tuning
        if request is None or tuning is None:
            return tuning
        return self.searches.tuning(request, tuning)

    def remarks(self, submission: Submission) -> tuple[str, ...]:
        """Returns warnings about a new job, and the main differences from Google's service.

        The validation of a job reports all differences.
        """
        return (*self.warnings(submission), *submission.parity)

    def refusal(
        self, submission: Submission, staging: Staging = preflight.NOTHING
    ) -> ServiceError | None:
        """Returns why the job is refused; None if it may be created.

        InvalidArgument has all its violations. Otherwise FailedPrecondition means that this version
        can't run the job or that the job can never fit, ResourceExhausted that its project's quota
        can never allow it.
        """
        violations = self.violations(submission, staging)
        if violations:
            return InvalidArgument.of(violations)
        missing = unsupported(submission.spec, reduction=self.reduction)
        if missing is not None:
            return FailedPrecondition(missing)
        said = start_limits.fault(submission.spec)
        if said is not None:
            return FailedPrecondition(f"this job can never start: {said}")
        if submission.spec.persistent_resource is not None:
            return None  # its machines are there, and count against the quota
        faults = (
            self._too_large(place) or self._engine_fault(place) or self._over_quota(place)
            for place in _places(submission)
        )
        return next((fault for fault in faults if fault is not None), None)

    def _too_large(self, submission: Submission) -> ServiceError | None:
        site = self.regions.site(submission.spec.region)
        said = too_large(submission.spec, site, self.catalogue)
        return FailedPrecondition(f"this job can never start here: {said}") if said else None

    def _engine_fault(self, submission: Submission) -> ServiceError | None:
        spec = submission.spec
        said = self.regions.fault(spec.region, machines_of(spec, self.catalogue))
        return (
            FailedPrecondition(f"this job can never start in region {spec.region}: {said}")
            if said
            else None
        )

    def _over_quota(self, submission: Submission) -> ServiceError | None:
        counts = counts_of(submission.spec, self.catalogue)
        project, region = submission.name.project, submission.spec.region
        sentences = exceeded(counts, project, region, self.quotas())
        return ResourceExhausted(f"the job {'; '.join(sentences)}") if sentences else None


def _places(submission: Submission) -> tuple[Submission, ...]:
    """Returns one submission for each region in which its jobs may run."""
    regions = () if submission.search is None else submission.search.regions
    spec = submission.spec
    places = tuple(replace(submission, spec=replace(spec, region=region)) for region in regions)
    return places or (submission,)


_POOLS = "workerPoolSpecs["
_ROLES = {
    "master": "master",
    "chief": "master",
    "worker": "worker",
    "ps": "parameterServer",
    "evaluator": "evaluator",
}
"""The prefix of a pool's fields in ml v1, by the pool's role."""


def mapping_violations(
    submission: Submission, site: Site, catalogue: Catalogue
) -> Iterator[Violation]:
    """Yields the machines that the job asks for and the engine has no name for.

    It yields nothing if the region isn't bound to an engine.
    """
    if site.engine is None or not submission.understood:
        return
    told: set[tuple[str, str]] = set()
    for pool in submission.spec.pools:
        for what, text in _unmapped(pool, submission.spec.region, site.engine, catalogue):
            field = _field(submission, pool, what)
            if (field, text) not in told:
                told.add((field, text))
                yield Violation(field, text)


def _unmapped(
    pool: WorkerPool, region: str, engine: EngineMachines, catalogue: Catalogue
) -> Iterator[tuple[str, str]]:
    machine = pool.machine.machine_type
    types = engine.machine_types
    known = machine in catalogue.machine_types
    if known and types is not None and machine not in types:
        yield "machineType", _say(machine, region, engine.title, types, "machines")
    accelerator, count = accelerators_of(pool.machine, catalogue)
    mapped = engine.accelerators
    if accelerator in catalogue.accelerators and count and accelerator not in mapped:
        text = _say(str(accelerator), region, engine.title, mapped, "accelerators")
        yield "acceleratorType", text


def _say(given: str, region: str, title: str, allowed: frozenset[str], table: str) -> str:
    return (
        f"{given!r} given, which region {region} on {title} doesn't offer; allowed: "
        f"{listed(sorted(allowed)) or 'none'}; "
        f"the operator can add it to the region's {table}"
    )


def _field(submission: Submission, pool: WorkerPool, what: str) -> str:
    """Returns the field of the request that asks for the machine."""
    before, in_pools, index = pool.field.partition(_POOLS)
    if in_pools:
        return f"{before}{_POOLS}{index.partition(']')[0]}].machineSpec.{what}"
    tier = json.loads(submission.request).get("trainingInput", {}).get("scaleTier", "CUSTOM")
    if tier != "CUSTOM":
        return f"{pool.field}.scaleTier"
    role = _ROLES.get(pool.cluster_role, "worker")
    if what == "machineType":
        return f"{pool.field}.{role}Type"
    return f"{pool.field}.{role}Config.acceleratorConfig.type"
