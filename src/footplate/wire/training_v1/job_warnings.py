"""Warnings about valid training jobs.

What follows from its machines alone (evaluators, trials for each parameter, names of this
service's own catalogue) isn't said here: that is the same for both faces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from pydantic.alias_generators import to_camel

from footplate.domain.algorithms import image_name
from footplate.domain.catalogue import Catalogue, Family
from footplate.wire.shared_rules import describe_account, parallel_warnings
from footplate.wire.training_v1.enums import ParameterType, ScaleTier
from footplate.wire.training_v1.models import HyperparameterSpec, ParameterSpec, TrainingInput
from footplate.wire.training_v1.prebuilt_images import has_prebuilt_image, master_image
from footplate.wire.training_v1.roles import Staffed, roles, staffed, tier_of
from footplate_algorithms.algorithms import ALGORITHMS
from footplate_algorithms.arguments import read_arguments

MAX_WARNINGS = 20
"""Of all parameters together."""
_AT = "trainingInput"
_PROJECT_ID = re.compile(r"projects/(?![0-9]+/)[^/\s]+/")
_DISTRIBUTED = (ScaleTier.STANDARD_1, ScaleTier.PREMIUM_1)
_WITHOUT_EFFECT = ("network", "encryption_config")
_IGNORED = {
    ParameterType.DOUBLE: ("categorical_values", "discrete_values"),
    ParameterType.INTEGER: ("categorical_values", "discrete_values"),
    ParameterType.CATEGORICAL: ("discrete_values", "scale_type"),
    ParameterType.DISCRETE: ("min_value", "max_value", "categorical_values"),
}
"""By the parameter's type, the fields that say nothing then."""


def warnings(training: TrainingInput, catalogue: Catalogue) -> Iterator[str]:
    """Yields sentences on behaviour of the job that its user may not expect."""
    yield from _idle_fields(training, catalogue)
    image, tier = master_image(training), tier_of(training)
    if tier in _DISTRIBUTED and not image:
        yield (
            f"{_AT}.scaleTier {tier.name} starts workers and parameter servers, but only "
            "TensorFlow programs and custom containers use them. With other programs these "
            "replicas are idle"
        )
    if training.use_chief_in_tf_config is not None and not image:
        yield f"{_AT}.useChiefInTfConfig has no effect: the job doesn't run a custom container"
    yield from _ignored_arguments(training)
    for name in ("package_uris", "python_module"):
        if image and not has_prebuilt_image(training) and getattr(training, name):
            yield (
                f"{_AT}.{_alias(name)} has no effect: the job runs the image of "
                "masterConfig.imageUri"
            )
    for name in _WITHOUT_EFFECT:
        if getattr(training, name):
            yield f"{_AT}.{_alias(name)} is accepted and has no effect here"
    if training.service_account:
        yield describe_account(f"{_AT}.serviceAccount")
    if training.hyperparameters is not None:
        yield from _search_warnings(training.hyperparameters)


def _ignored_arguments(training: TrainingInput) -> Iterator[str]:
    """Yields the arguments that a built-in algorithm ignores."""
    name = image_name(master_image(training)) or ""
    algorithm = ALGORITHMS.get(name)
    if algorithm is None:
        return
    for given in read_arguments(algorithm, training.args or ()).given:
        parameter = algorithm.find(given)
        if parameter is not None and not parameter.effect:
            yield f"{_AT}.args: --{given} is accepted and has no effect with XGBoost 3"


def _algorithm_parity(training: TrainingInput, catalogue: Catalogue) -> Iterator[str]:
    name = image_name(master_image(training))
    if name not in ALGORITHMS:
        return
    if ALGORITHMS[name].distributed and len(staffed(training, catalogue)) < 2:
        yield f"{name} trains on one replica; Google's service requires at least one worker"


def parity(training: TrainingInput, catalogue: Catalogue) -> Iterator[str]:
    """Yields the points in which Google's service would refuse the job, or treat it differently."""
    yield from _version_parity(training, catalogue)
    yield from _algorithm_parity(training, catalogue)
    if (training.job_dir or "").startswith("/"):
        yield f"{_AT}.jobDir is a path of this machine; Google's service takes only gs://"
    if _PROJECT_ID.match(training.network or ""):
        yield (
            f"{_AT}.network contains the id of the project; Google's service takes only "
            "the project's number"
        )
    for each in staffed(training, catalogue):
        config = each.role.config
        in_image = config.image_uri or master_image(training)
        if in_image and not config.tpu_tf_version and _has_tpu(each, catalogue):
            yield (
                f"{each.role.config_field}.tpuTfVersion isn't given; Google's service "
                "requires it for TPU workers that run a container image"
            )


def _version_parity(training: TrainingInput, catalogue: Catalogue) -> Iterator[str]:
    if master_image(training):
        return
    if not training.runtime_version:
        yield (
            f"{_AT}.runtimeVersion isn't given, so the job gets {_chosen(training, catalogue)}; "
            "Google's service requires a runtimeVersion and a pythonVersion"
        )
    elif not training.python_version:
        yield (
            f"{_AT}.pythonVersion isn't given, so the job gets the Python of the runtime "
            "version; Google's service requires a pythonVersion"
        )


def _chosen(training: TrainingInput, catalogue: Catalogue) -> str:
    """Describes the runtime of a job that names no version; see ``Runtimes.for_version``."""
    runtimes, python = catalogue.runtimes, training.python_version or ""
    versions = (v for o in runtimes.offers if o.runtime.python == python for v in o.versions)
    version = next(versions, runtimes.default) if python else runtimes.default
    return f"runtime {version}, the newest with Python {python}" if python else f"runtime {version}"


def _has_tpu(each: Staffed, catalogue: Catalogue) -> bool:
    kind = catalogue.machine_types.get(each.request.machine.machine_type)
    return kind is not None and kind.family is Family.TPU


def _idle_fields(training: TrainingInput, catalogue: Catalogue) -> Iterator[str]:
    """Yields fields without effect, because the job has no replicas of their role."""
    present = {each.role.name for each in staffed(training, catalogue)}
    for role in roles(training):
        if role.name in present:
            continue
        if role.machine_type:
            yield f"{role.type_field} has no effect: {_AT}.{role.name}Count is 0"
        if role.config.encode():
            yield f"{role.config_field} has no effect: the job has no such replicas"


def _search_warnings(search: HyperparameterSpec) -> Iterator[str]:
    at = f"{_AT}.hyperparameters"
    trials, parallel = search.max_trials or 1, search.max_parallel_trials or 1
    yield from parallel_warnings(f"{at}.maxParallelTrials", parallel, "maxTrials", trials)
    warnings = (
        warning
        for index, parameter in enumerate(search.params or ())
        for warning in _parameter_warnings(parameter, f"{at}.params[{index}]")
    )
    yield from islice(warnings, MAX_WARNINGS)


def _parameter_warnings(parameter: ParameterSpec, field: str) -> Iterator[str]:
    kind = parameter.type or ParameterType.PARAMETER_TYPE_UNSPECIFIED
    for name in _IGNORED.get(kind, ()):
        if getattr(parameter, name):
            yield f"{field}.{to_camel(name)} has no effect on a parameter of type {kind.name}"
    values = parameter.categorical_values or []
    if kind is ParameterType.CATEGORICAL and len(set(values)) < len(values):
        yield f"{field}.categoricalValues contains a value twice; the value counts once"
    bounds = parameter.min_value, parameter.max_value
    ranged = kind in (ParameterType.DOUBLE, ParameterType.INTEGER) and bounds != (None, None)
    if ranged and (bounds[0] or 0.0) == (bounds[1] or 0.0):
        yield f"{field}: minValue and maxValue are equal, so all trials get the same value"


def _alias(name: str) -> str:
    return TrainingInput.model_fields[name].alias or name
