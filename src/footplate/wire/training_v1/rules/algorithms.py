"""Rules for jobs and tuning jobs of built-in algorithms."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from footplate.domain.algorithms import IMAGES, image_name
from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.formatting import nearest
from footplate.domain.names import GcsUri
from footplate.wire.json_text import describe
from footplate.wire.training_v1.enums import ParameterType, ScaleTier
from footplate.wire.training_v1.models import HyperparameterSpec, ParameterSpec, TrainingInput
from footplate.wire.training_v1.prebuilt_images import master_image
from footplate.wire.training_v1.roles import roles, staffed, tier_of
from footplate_algorithms.algorithms import ALGORITHMS, PATHS, Algorithm
from footplate_algorithms.arguments import Arguments, read_arguments
from footplate_algorithms.metric_names import reported
from footplate_algorithms.parameters import Kind, Parameter, Values

_SEARCH = "trainingInput.hyperparameters"
_DECIDE_METRICS = frozenset({"objective", "model_type", "eval_metric"})


def tuned_names(training: TrainingInput) -> tuple[str, ...]:
    """Returns the arguments that each trial gets from the search."""
    search = training.hyperparameters
    params = () if search is None else search.params or ()
    return tuple(each.parameter_name for each in params if each.parameter_name)


def check_tuned(
    search: HyperparameterSpec, algorithm: Algorithm, values: Values
) -> Iterator[Violation]:
    """Yields faults of a search over algorithm arguments; ``values`` are shared by trials."""
    params = search.params or ()
    if _DECIDE_METRICS.isdisjoint(each.parameter_name for each in params):
        yield from _check_tag(search, algorithm, values)
    for index, each in enumerate(params):
        if each.parameter_name:
            yield from _check_parameter(each, algorithm, f"{_SEARCH}.params[{index}]")


def _check_tag(
    search: HyperparameterSpec, algorithm: Algorithm, values: Values
) -> Iterator[Violation]:
    tag, field = search.hyperparameter_metric_tag, f"{_SEARCH}.hyperparameterMetricTag"
    allowed = ", ".join(reported(values))
    if not tag:
        if not search.resume_previous_job_id:
            said = (
                f"required: a metric that {algorithm.name} reports with these arguments, "
                f"one of {allowed}"
            )
            yield Violation(field, said)
    elif tag not in reported(values):
        said = (
            f"{describe(tag)} given; allowed: {allowed}, the metrics that "
            f"{algorithm.name} reports with these arguments"
        )
        yield Violation(field, said)


def _check_parameter(given: ParameterSpec, algorithm: Algorithm, field: str) -> Iterator[Violation]:
    name = given.parameter_name or ""
    parameter = algorithm.find(name)
    if parameter is None:
        names = [each.name for each in algorithm.parameters]
        said = f"{algorithm.name} has no argument --{name[:100]}; {nearest(name, names, 'of them')}"
        yield Violation(f"{field}.parameterName", said)
    elif parameter.kind is Kind.PATH:
        said = (
            f"{describe(name)} given, which names the training data, and all trials train on the "
            "same data; allowed: another argument"
        )
        yield Violation(f"{field}.parameterName", said)
    elif given.type is ParameterType.DOUBLE and parameter.kind is Kind.INTEGER:
        said = f"DOUBLE given; {name} takes whole numbers; allowed: INTEGER, DISCRETE"
        yield Violation(f"{field}.type", said)
    else:
        yield from _check_values(given, parameter, field)


def _check_values(given: ParameterSpec, parameter: Parameter, field: str) -> Iterator[Violation]:
    """Yields faults of bounds and values that the algorithm's argument doesn't accept."""
    for at, text in _texts(given):
        try:
            parameter.read(text)
        except ValueError as error:
            yield Violation(f"{field}.{at}", f"--{parameter.name}: {error}")


def _texts(given: ParameterSpec) -> Iterator[tuple[str, str]]:
    if given.type in (ParameterType.DOUBLE, ParameterType.INTEGER):
        yield "minValue", f"{given.min_value or 0.0:g}"
        yield "maxValue", f"{given.max_value or 0.0:g}"
    elif given.type is ParameterType.DISCRETE:
        for value in given.discrete_values or ():
            yield "discreteValues", f"{value:g}"
    elif given.type is ParameterType.CATEGORICAL:
        for text in given.categorical_values or ():
            yield "categoricalValues", text


_AT = "trainingInput"
_IMAGE = f"{_AT}.masterConfig.imageUri"
_ARGS = f"{_AT}.args"
_IMAGES_ONLY = "this algorithm reads images, but Footplate's built-in algorithms read only tables"
NOT_SERVED = {
    "image_classification": _IMAGES_ONLY,
    "image_object_detection": _IMAGES_ONLY,
    "tab_net": (
        "Footplate doesn't have this algorithm's network; wide_deep_learner_cpu "
        "trains on the same tables"
    ),
}
"""Why other algorithms of Google's aren't run."""


def check_algorithm(
    training: TrainingInput, catalogue: Catalogue, clouded: Callable[[str], bool]
) -> Iterator[Violation]:
    """Yields faults of a job with a built-in algorithm; nothing for other jobs."""
    name = image_name(master_image(training))
    if name is None:
        yield from _check_other_images(training)
        return
    algorithm = ALGORITHMS.get(name)
    if algorithm is None:
        yield Violation(_IMAGE, _refusal(name))
        return
    yield from _check_images(training, name)
    yield from _check_cluster(training, catalogue, algorithm)
    if not training.job_dir and not clouded(f"{_AT}.jobDir"):
        said = f"required by {name}: the directory for the model, such as gs://BUCKET/JOB"
        yield Violation(f"{_AT}.jobDir", said)
    if clouded(_ARGS):
        return
    read = read_arguments(algorithm, training.args or (), tuned_names(training))
    yield from _check_arguments(algorithm, read)
    if training.hyperparameters is not None:
        yield from check_tuned(training.hyperparameters, algorithm, read.values)


def _refusal(name: str) -> str:
    if name in NOT_SERVED:
        reason = f"Footplate has no {name}: {NOT_SERVED[name]}"
        return f"{reason}; train with a program of your own, or use {', '.join(ALGORITHMS)}"
    known = nearest(name, ALGORITHMS, "built-in algorithms")
    return f"{describe(name)} is not a built-in algorithm; {known}"


def _check_other_images(training: TrainingInput) -> Iterator[Violation]:
    for role in roles(training):
        if not role.primary and image_name(role.config.image_uri) is not None:
            given = f"{describe(role.config.image_uri)} given, a built-in algorithm"
            yield Violation(
                f"{role.config_field}.imageUri", f"{given}; allowed: the same image for the master"
            )


def _check_images(training: TrainingInput, name: str) -> Iterator[Violation]:
    """Yields faults of images and commands: replicas may run only the algorithm's image."""
    for role in roles(training):
        given = role.config.image_uri
        if given and image_name(given) != name:
            said = f"{describe(given)} given; allowed: {IMAGES}{name}, or none"
            yield Violation(f"{role.config_field}.imageUri", said)
        for field, value in (
            ("containerCommand", role.config.container_command),
            ("containerArgs", role.config.container_args),
        ):
            if value and not training.args:
                said = (
                    f"{describe(value)} given; the algorithm {name} takes its arguments "
                    f"only from {_ARGS}"
                )
                yield Violation(f"{role.config_field}.{field}", said)


def _check_cluster(
    training: TrainingInput, catalogue: Catalogue, algorithm: Algorithm
) -> Iterator[Violation]:
    takes = {"master", "worker"} if algorithm.distributed else {"master"}
    wrong = [each for each in staffed(training, catalogue) if each.role.name not in takes]
    if not wrong:
        return
    allowed = "a master and workers" if algorithm.distributed else "one replica, the master"
    way_out = "" if algorithm.distributed else "; xgboost_dist trains on several replicas"
    if tier_of(training) is not ScaleTier.CUSTOM:
        said = f"{tier_of(training).name} has {' and '.join(f'{e.role.name}s' for e in wrong)}"
        yield Violation(
            f"{_AT}.scaleTier", f"{said}; {algorithm.name} trains on {allowed}{way_out}"
        )
        return
    for each in wrong:
        said = f"{each.count} given; {algorithm.name} trains on {allowed}{way_out}"
        yield Violation(each.role.count_field, said)


def _check_arguments(algorithm: Algorithm, read: Arguments) -> Iterator[Violation]:
    names = {parameter.name: parameter for parameter in algorithm.parameters}
    for index, name in read.unknown:
        said = f"{algorithm.name} has no argument --{name[:100]}; "
        said += nearest(name, names, "arguments")
        yield Violation(f"{_ARGS}[{index}]", said)
    for problem in read.problems:
        field = _ARGS if problem.index is None else f"{_ARGS}[{problem.index}]"
        yield Violation(field, problem.message)
    for name in PATHS:
        if name in read.given:
            field = f"{_ARGS}[{read.places[name]}]"
            yield from _check_path(name, read.given.text(name), field)


def _check_path(name: str, path: str, field: str) -> Iterator[Violation]:
    if path.startswith("/"):
        return
    try:
        GcsUri.parse(path, field)
    except InvalidArgument as error:
        yield Violation(field, f"--{name}: {error.violations[0].description}")
