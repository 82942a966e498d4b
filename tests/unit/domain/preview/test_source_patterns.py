"""What sources use of TensorFlow, in the spellings that trainers have, and in none of a text."""

from __future__ import annotations

import pytest

from footplate.domain.preview.source_patterns import Pattern, Use, find_patterns

TF = "import tensorflow as tf\n"
KERAS = "from tensorflow import keras\n"
LAYERS = "from tensorflow.keras import layers, models, Sequential\n"
STRATEGY = "tf.distribute.MultiWorkerMirroredStrategy()\ntf.keras\n"


def find(*texts: str) -> dict[Pattern, str]:
    sources = {f"trainer/m{number}.py": text for number, text in enumerate(texts)}
    return {use.pattern: use.place for use in find_patterns(sources)}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"{TF}tf.estimator.train_and_evaluate(a, b, c)\n", 2),
        (f"{TF}x = (tf\n     .estimator.RunConfig())\n", 2),
        (f"{TF}class Hook(tf.estimator.SessionRunHook): pass\n", 2),
        ("import tensorflow\n\ntensorflow.estimator.EvalSpec(f)\n", 3),
        ("import tensorflow.compat.v1 as tf1; tf1.estimator.Estimator(f)\n", 1),
        ("from tensorflow.compat import v1\n\ndef f():\n    return v1.estimator\n", 4),
        ("from tensorflow import estimator\n", 1),
        ("from tensorflow import (\n    data,\n    estimator as est,  # old\n)\n", 1),
        ("from tensorflow.estimator import *\n", 1),
        ("from tensorflow.python.estimator import run_config\n", 1),
        ("import tensorflow.estimator\n", 1),
        ("import tensorflow_estimator as e\n", 1),
        ("from tensorflow_estimator.python.estimator import model_fn\n", 1),
        ("try:\n  import os, tensorflow as tf\nexcept E: import t\ntf.estimator\n", 4),
        (f"if x: {TF}if y:\n\ttf.keras.estimator.model_to_estimator(m)\n", 3),
        (f"{TF}print 'Python 2'; tf.estimator.DNNClassifier(1)\n", 2),
        (f"{TF}x = tf . estimator \\\n  . Estimator\n", 2),
        (f"{TF}'it\\'s'; tf.estimator\n", 2),
    ],
)
def test_estimators(text: str, line: int) -> None:
    assert find("import os\n", text) == {Pattern.ESTIMATOR: f"trainer/m1.py:{line}"}


@pytest.mark.parametrize(
    "text",
    [
        f"{TF}# tf.estimator.Estimator()\n",
        f'{TF}"""Uses tf.estimator.\n\ntf.estimator.Estimator()\n"""\n',
        f"{TF}x = 'tf.estimator'; y = f\"{{tf.estimator}}\"\n",
        f"{TF}x = rb'\\'; tf.estimator'\n",
        f"{TF}self.tf.estimator\n",
        f"{TF}tf.estimators.x, tf.my.estimator\n",
        f"{TF}estimator = model.estimator()\nestimator.train_and_evaluate()\n",
        "from trainer import estimator\nestimator.train_and_evaluate()\n",
        "from sklearn.base import estimator\nimport estimator as tf\ntf.estimator\n",
        "from .tensorflow import estimator\n",
        "tf.estimator.Estimator()\n",
        f'{TF}x = """tf.estimator',
        "",
        "import\nfrom\nfrom x\nfrom . import (\nimport ,\nestimator",
    ],
)
def test_no_estimators(text: str) -> None:
    assert find(text) == {}


@pytest.mark.parametrize(
    "text",
    [
        f"{TF}{STRATEGY}",
        f"{TF}s = tf.distribute.experimental.MultiWorkerMirroredStrategy(c)\ntf.keras.Model\n",
        f"{KERAS}from tensorflow.distribute import MultiWorkerMirroredStrategy as Strategy\n",
        f"{KERAS}{TF}make = tf.distribute.experimental.CollectiveAllReduceStrategy\n",
    ],
)
def test_keras_in_a_strategy_for_several_machines(text: str) -> None:
    assert set(find(text)) == {Pattern.STRATEGY}


def test_keras_may_be_in_another_file() -> None:
    assert find(f"{TF}tf.distribute.MultiWorkerMirroredStrategy()\n", KERAS) == {
        Pattern.STRATEGY: "trainer/m0.py:2"
    }


@pytest.mark.parametrize(
    "texts",
    [
        (f"{TF}tf.distribute.MultiWorkerMirroredStrategy()\n",),
        (f"{TF}import tf_keras\ntf.distribute.MultiWorkerMirroredStrategy()\n",),
        (f"{TF}{STRATEGY}", "import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\n"),
        (f"{KERAS}class MultiWorkerMirroredStrategy: pass\nMultiWorkerMirroredStrategy()\n",),
        (f"{KERAS}{TF}tf.distribute.MirroredStrategy()  # not MultiWorkerMirroredStrategy\n",),
    ],
)
def test_no_keras_3_in_such_a_strategy(texts: tuple[str, ...]) -> None:
    assert find(*texts) == {}


def test_a_comment_sets_no_variable() -> None:
    assert set(find(f"{TF}{STRATEGY}# TF_USE_LEGACY_KERAS=1\n")) == {Pattern.STRATEGY}


@pytest.mark.parametrize(
    "text",
    [
        f"{TF}m = tf.keras.Sequential(\n    tf.keras.layers.Dense(1, input_dim=784))\n",
        f"{LAYERS}Sequential(layers=layers.Dense(1), name='m')\n",
        f"{LAYERS}models.Sequential(layers.Flatten())\n",
        "import keras\nfrom keras.layers import Dense as D\nkeras.models.Sequential(D(1))\n",
    ],
)
def test_a_layer_in_place_of_a_list(text: str) -> None:
    assert set(find(text)) == {Pattern.LONE_LAYER}


@pytest.mark.parametrize(
    "text",
    [
        f"{LAYERS}Sequential([layers.Dense(1)])\nSequential()\nSequential(layers)\nSequential\n",
        f"{LAYERS}Sequential(make(layers.Dense(1)))\nSequential(layers.Dense)\n",
        "from torch.nn import Sequential, Linear\nSequential(Linear(1, 1))\n",
        "import tf_keras\ntf_keras.Sequential(tf_keras.layers.Dense(1))\n",
        f"{LAYERS}e.setdefault('TF_USE_LEGACY_KERAS', '1')\nSequential(layers.Dense(1))\n",
    ],
)
def test_a_list_of_layers(text: str) -> None:
    assert find(text) == {}


@pytest.mark.parametrize(
    ("path", "text", "is_old"),
    [
        ("setup.py", "setup(install_requires=['tensorflow==2.15.1'])", True),
        ("setup.py", 'setup(install_requires=["tensorflow-cpu == 2.9", "numpy"])', True),
        ("trainer.egg-info/requires.txt", "tensorflow[and-cuda]==2.14.0\n", True),
        ("PKG-INFO", "Requires-Dist: tensorflow (==1.15.5)\n", True),
        ("trainer-1.dist-info/METADATA", "Requires-Dist: tensorflow===2.15.0\n", True),
        ("pyproject.toml", "dependencies = ['tensorflow==2.17.0']", False),
        ("setup.cfg", "install_requires = tensorflow>=2.11,<3", False),
        (
            "setup.py",
            "['tensorflow-datasets==1.2', 'tensorflow==2.151']",
            False,
        ),
        ("trainer/task.py", "'tensorflow==2.15.1'", False),
    ],
)
def test_a_tensorflow_of_its_own(path: str, text: str, *, is_old: bool) -> None:
    assert find_patterns({path: text}) == ((Use(Pattern.OLD_TENSORFLOW, path),) if is_old else ())


def test_each_pattern_is_said_once() -> None:
    text = f"{TF}tf.estimator.A\ntf.estimator.B\n{STRATEGY}"
    assert find(text, text) == {
        Pattern.ESTIMATOR: "trainer/m0.py:2",
        Pattern.STRATEGY: "trainer/m0.py:4",
    }


@pytest.mark.parametrize(
    "hostile",
    [
        'f"' + "{1}" * 60_000,
        '"""\\"' * 50_000,
        "import a,\\\n" * 20_000,
        "from a import (" + "b,\n" * 60_000,
        "a\n" * 100_000,
        "(" * 200_000,
        "a" + ".b" * 100_000,
        "- " * 100_000 + "1",
        "\x00\ud800\ufeff" * 50_000,
    ],
)
def test_hostile_texts_are_read_to_their_end(hostile: str) -> None:
    """Some overflow the stack of Python's parser; the last line is in no string, or in one."""
    found = find(f"{TF}tf.estimator.X\n{hostile}\n")
    assert found == {Pattern.ESTIMATOR: "trainer/m0.py:2"}


def test_of_very_much_code_the_first_million_characters_are_read() -> None:
    filler = "x = 1  # estimator\n" * 40_000
    estimator = f"{TF}tf.estimator.X\n"
    assert find(filler, filler, estimator) == {Pattern.ESTIMATOR: "trainer/m2.py:2"}
    assert find(filler, filler + estimator) == {}
