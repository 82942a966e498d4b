"""Advice about trainers written for Keras 2 that run with Keras 3."""

from __future__ import annotations

import os
import re

from footplate.replica.diagnosis.installed_modules import InstalledModules
from footplate.replica.diagnosis.requirements import describe_requirement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from footplate.replica.diagnosis.replica_facts import ReplicaFacts

_VARIABLE = "TF_USE_LEGACY_KERAS"
_BROKEN = re.compile(
    r"has no attribute 'base_dtype'"
    r"|Argument\(s\) not recognized: \{'(?:lr|decay|epsilon|clipnorm)'"
    r"|Invalid filepath extension for saving|`save_format` argument is deprecated in Keras 3"
    r"|filename must end in `\.weights\.h5`|filepath provided must end in `\.(?:weights\.h5|keras)`"
    r"|Keras 3 only supports|not supported in Keras 3|A KerasTensor cannot be used as input to a"
    r"|ModelCheckpoint\.__init__\(\) got an unexpected keyword argument 'period'"
    r"|TensorBoard\.__init__\(\) got an unexpected keyword argument 'write_(?:grads|images)'"
    r"|\w*Trainer\.\w+\(\) got an unexpected keyword argument '(?:workers|use_multiprocessing"
    r"|max_queue_size|sample_weight_mode)'"
    r"|Unrecognized keyword arguments passed to \w+: \{.*'(?:batch_)?input_shape'"
    r"|`name` must be passed as a keyword argument\. Received: add_weight"
    r"|object has no attribute '(?:(?:fit|evaluate|predict)_generator|reset_states)'"
    r"|'(?:SGD|Adam\w*|RMSprop|Adagrad|Adadelta|Nadam|Ftrl)' object has no attribute 'lr'"
    # A layer where Keras 2 took it for a list of one; values of tf.distribute's strategies.
    r"|'(?:Dense|Flatten|Dropout|Embedding|Normalization|BatchNormalization|Input\w*|LSTM|GRU"
    r"|\w*Conv\w*|\w*Pool\w*|Functional|Sequential)' object is not iterable"
    r"|\((?:PerReplica|DistributedValues|DistributedVariable|MirroredVariable):?[ {]"
    r"|distribute\.values\.(?:PerReplica|\w*Variable)'>?\)? to a Tensor"
    r"|MultiWorkerMirroredStrategy|CollectiveAllReduceStrategy"
)
_ATTRIBUTE = re.compile(
    r"module '(?:keras\._tf_keras\.keras|tensorflow\.keras|keras)((?:\.\w+)*)' has no attribute"
    r" '(\w+)'"
)
_NAME = re.compile(
    r"cannot import name '(\w+)' from '(?:keras\._tf_keras\.keras|tensorflow\.keras)((?:\.\w+)*)'"
)
_SUBMODULE = re.compile(
    r"No module named '(?:tensorflow\.keras|keras\._tf_keras\.keras)\.([\w.]+)'"
)
_ESTIMATOR = re.compile(
    r"module 'tensorflow(?:\.[\w.]+)?' has no attribute 'estimator'"
    r"|module 'keras\._tf_keras\.keras' has no attribute 'estimator'"
    r"|No module named '(?:tensorflow_estimator|tensorflow\.(?:python\.)?estimator)"
)
_OWN = re.compile(r"No module named 'keras\.[\w.]+'|from 'keras\.[\w.]+'")


def advise_on_keras(cause: str, facts: ReplicaFacts) -> str:
    """Returns advice about errors of Keras 3; looks up whether Keras 2, which is there as
    ``tf_keras``, has the missing name.
    """
    installed = InstalledModules(facts.sites)
    tensorflow, keras = installed.version_of("tensorflow")[1], installed.version_of("keras")[1]
    if not tensorflow or not re.match(r"[3-9]\.", keras):
        return ""
    has = f"{facts.where} has TensorFlow {tensorflow} with Keras {keras}"
    if _ESTIMATOR.search(cause):
        return (
            "Estimators (tf.estimator) ended with TensorFlow 2.15, and TF_USE_LEGACY_KERAS doesn't "
            f"bring them back: take {_name_runtime('2.15', facts)} (TensorFlow {tensorflow} is "
            f"{installed.origin('tensorflow', 'of ' + facts.where)})"
        )
    if _VARIABLE in facts.variables:
        return ""
    is_broken = _BROKEN.search(cause) or _is_of_keras_2(cause, facts)
    if installed.is_own("keras") and (is_broken or _OWN.search(cause)):
        pin = "tensorflow==2.15.1" if installed.is_own("tensorflow") else "keras<3"
        return (
            f"The code needs Keras 2, but your requirements installed Keras {keras}: set "
            f"{describe_requirement(pin, facts)}, or don't require Keras"
        )
    if is_broken:
        return f"The code needs Keras 2, but {has}: {_ways_out(facts)}"
    if _OWN.search(cause):
        return (
            f"The code seems to be for Keras 2, but {has}: import Keras from tensorflow.keras, and "
            f"{_ways_out(facts)}"
        )
    return ""


def _ways_out(facts: ReplicaFacts) -> str:
    runtime = f"take {_name_runtime('2.15', facts)}"
    if facts.is_vertex:
        return f"set {_VARIABLE}=1 in the job's env, or {runtime}"
    return (
        f"set os.environ['{_VARIABLE}'] = '1' before the first import of TensorFlow, or {runtime}"
    )


def _name_runtime(version: str, facts: ReplicaFacts) -> str:
    if facts.is_vertex:
        dashed = version.replace(".", "-")
        return f"the image tf-cpu.{dashed}.py310 or tf-gpu.{dashed}.py310"
    return f"runtimeVersion {version}"


def _is_of_keras_2(cause: str, facts: ReplicaFacts) -> bool:
    attribute, name, submodule = (
        pattern.search(cause) for pattern in (_ATTRIBUTE, _NAME, _SUBMODULE)
    )
    if attribute is not None:
        return _has(facts, attribute.group(1), attribute.group(2))
    if name is not None:
        return _has(facts, name.group(2), name.group(1))
    if submodule is not None:
        parent, _, last = f".{submodule.group(1)}".rpartition(".")
        return _has(facts, parent, last)
    return False


def _has(facts: ReplicaFacts, module: str, name: str) -> bool:
    """Returns whether Keras 2's public ``keras.MODULE`` has ``name``; ``module`` is ``.MODULE``."""
    parts = module.strip(".").split(".") if module else []
    for site in facts.sites:
        place = os.path.join(site, "tf_keras", "api", "_v2", "keras", *parts)
        if os.path.isdir(os.path.join(place, name)):
            return True
        try:
            with open(os.path.join(place, "__init__.py"), encoding="utf-8") as file:
                if re.search(rf"\b{re.escape(name)}$", file.read(), re.MULTILINE):
                    return True
        except (OSError, UnicodeDecodeError):  # an advice less
            continue
    return False
