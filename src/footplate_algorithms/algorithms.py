"""The built-in algorithms and their arguments.

Sources: Google's reference pages of the built-in algorithms for the data arguments of XGBoost and
of the linear learner; jobs that were published for the others. What is left, most defaults and
ranges of ``BOOSTING`` and of the learners, is written from memory of those pages, the defaults of
XGBoost 0.81, and the components that followed on Vertex AI (docs/how-to/train-without-code.md).
"""

from __future__ import annotations

from dataclasses import dataclass

from footplate_algorithms.parameters import ANY, Kind, Parameter, Range

_FRACTION = Range(0, 1)
_SPLIT = Range(0, 0.4)
_POSITIVE = Range(0, low_open=True)
_NOT_NEGATIVE = Range(0)
_SHARE = Range(0, 1, low_open=True)
_DECAY = Range(0, 1, high_open=True)
_COUNT = Range(1)
TARGETS = {
    "reg:logistic": _FRACTION,
    "reg:gamma": _POSITIVE,
    "reg:tweedie": _NOT_NEGATIVE,
    "count:poisson": _NOT_NEGATIVE,
}
"""The range of the target, by the objective; it is any number with others."""
MAX_SPLIT_SUM = 0.4
"""Of ``validation_split`` and ``test_split`` together."""
OPTIMIZERS = ("adam", "ftrl", "sgd")


@dataclass(frozen=True)
class Algorithm:
    """A built-in algorithm.

    Finished jobs show ``framework``, ``runtime_version`` and ``python_version``. ``runtime`` is the
    runtime of its program, as jobs ask for it.
    """

    name: str
    framework: str
    runtime: str
    runtime_version: str
    parameters: tuple[Parameter, ...]
    distributed: bool = False
    python_version: str = "3.11"

    def find(self, name: str) -> Parameter | None:
        return next((each for each in self.parameters if each.name == name), None)


def _flag(name: str, *, default: bool = False) -> Parameter:
    return Parameter(name, Kind.FLAG, default)


def _integer(name: str, default: int | None, allowed: Range = _NOT_NEGATIVE) -> Parameter:
    return Parameter(name, Kind.INTEGER, default, allowed)


def _number(name: str, default: float, allowed: Range = _NOT_NEGATIVE) -> Parameter:
    return Parameter(name, Kind.NUMBER, default, allowed)


def _choice(name: str, default: str | None, *choices: str, required: bool = False) -> Parameter:
    return Parameter(name, Kind.TEXT, default, choices=choices, required=required)


def _ignored(name: str, kind: Kind, allowed: Range = ANY) -> Parameter:
    return Parameter(name, kind, range=allowed, effect=False)


TRAINING = Parameter("training_data_path", Kind.PATH, required=True)
VALIDATION = Parameter("validation_data_path", Kind.PATH)
TEST = Parameter("test_data_path", Kind.PATH)
PATHS = (TRAINING.name, VALIDATION.name, TEST.name)
_TABULAR = (
    _flag("preprocess"),
    TRAINING,
    VALIDATION,
    TEST,
    _number("validation_split", 0.2, _SPLIT),
    _number("test_split", 0.2, _SPLIT),
)
_OBJECTIVES = (
    "reg:linear",
    "reg:squarederror",
    "reg:logistic",
    "reg:gamma",
    "reg:tweedie",
    "count:poisson",
    "binary:logistic",
    "binary:logitraw",
    "multi:softmax",
    "multi:softprob",
)
BOOSTING = (
    _choice("objective", "reg:linear", *_OBJECTIVES),
    Parameter("eval_metric", Kind.TEXT),
    _choice("booster", "gbtree", "gbtree", "gblinear", "dart"),
    _integer("num_boost_round", 10, _COUNT),
    _integer("num_class", None, Range(2)),
    _integer("max_depth", 6),
    _number("eta", 0.3, _FRACTION),
    _number("gamma", 0),
    _number("min_child_weight", 1),
    _number("max_delta_step", 0),
    _number("subsample", 1, _SHARE),
    _number("colsample_bytree", 1, _SHARE),
    _number("colsample_bylevel", 1, _SHARE),
    _number("lambda", 1),
    _number("alpha", 0),
    _choice("tree_method", "auto", "auto", "exact", "approx", "hist"),
    _number("scale_pos_weight", 1),
    _choice("grow_policy", "depthwise", "depthwise", "lossguide"),
    _integer("max_leaves", 0),
    _integer("max_bin", 256, Range(2)),
    _choice("sample_type", "uniform", "uniform", "weighted"),
    _choice("normalize_type", "tree", "tree", "forest"),
    _number("rate_drop", 0, _FRACTION),
    _integer("one_drop", 0, _FRACTION),
    _number("skip_drop", 0, _FRACTION),
    _number("tweedie_variance_power", 1.5, Range(1, 2, low_open=True, high_open=True)),
    _number("base_score", 0.5, ANY),
    _integer("seed", 0),
    _ignored("sketch_eps", Kind.NUMBER, Range(0, 1, low_open=True, high_open=True)),
    _ignored("updater", Kind.TEXT),
    _ignored("refresh_leaf", Kind.INTEGER, _FRACTION),
    _ignored("process_type", Kind.TEXT),
    _ignored("predictor", Kind.TEXT),
)
_OPTIMIZER = (
    _choice("optimizer_type", "adam", *OPTIMIZERS),
    _number("l1_regularization_strength", 0),
    _number("l2_regularization_strength", 0),
    _number("l2_shrinkage_regularization_strength", 0),
    _number("beta_1", 0.9, _DECAY),
    _number("beta_2", 0.999, _DECAY),
)
_LEARNER = (
    _choice("model_type", None, "classification", "regression", required=True),
    _integer("max_steps", 1000, _COUNT),
    _integer("batch_size", 100, _COUNT),
    _number("learning_rate", 0.001, _POSITIVE),
    *_OPTIMIZER,
    _integer("eval_steps", 0),
    _integer("eval_frequency_secs", 600, _COUNT),
    _integer("seed", 1),
)
_DEEP = (
    Parameter("hidden_units", Kind.UNITS, (30, 30, 30)),
    _flag("use_wide"),
    _flag("embed_categories"),
    _number("dnn_dropout", 0, _DECAY),
    _number("dnn_learning_rate", 0.001, _POSITIVE),
    *(
        Parameter(f"dnn_{each.name}", each.kind, each.default, each.range, each.choices)
        for each in _OPTIMIZER
    ),
)
_IMAGES = "image:us-docker.pkg.dev/vertex-ai/training"
_CPU, _GPU = (f"{_IMAGES}/pytorch-{device}.2-13.py311" for device in ("cpu", "gpu"))
ALGORITHMS = {
    each.name: each
    for each in (
        Algorithm(
            "boosted_trees",
            "XGBOOST",
            f"{_IMAGES}/xgboost-cpu.3-2.py311",
            "2.21",
            (*_TABULAR, *BOOSTING),
        ),
        Algorithm(
            "xgboost_dist",
            "XGBOOST",
            "version:2.21/",
            "2.21",
            (
                TRAINING,
                VALIDATION,
                _integer("model_saving_period", None, _COUNT),
                *BOOSTING,
            ),
            distributed=True,
        ),
        *(
            Algorithm(f"{learner}_{device}", "PYTORCH", runtime, "2.13", parameters)
            for learner, parameters in (
                ("linear_learner", (*_TABULAR, *_LEARNER)),
                ("wide_deep_learner", (*_TABULAR, *_LEARNER, *_DEEP)),
            )
            for device, runtime in (("cpu", _CPU), ("gpu", _GPU))
        ),
    )
}
