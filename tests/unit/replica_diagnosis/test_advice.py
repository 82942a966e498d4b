"""What is said beside a cause: each is what a real program, or Python itself, printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from footplate.domain.errors import no_bucket
from footplate.protocol.task import PythonTask, Runtime, Task
from footplate.replica.diagnosis import ReplicaFacts, advise

TORCH_CPU = (
    "RuntimeError: [enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't "
    "allocate memory: you tried to allocate 140737488355328 bytes. "
    "Error code 12 (Cannot allocate memory)"
)
TF_CPU = (
    "tensorflow.python.framework.errors_impl.ResourceExhaustedError: {{function_node "
    "__wrapped__Fill_device_/job:localhost/replica:0/task:0/device:CPU:0}} OOM when allocating "
    "tensor with shape[16777216,1048576] and type float on "
    "/job:localhost/replica:0/task:0/device:CPU:0 by allocator mklcpu"
)
NUMPY = (
    "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 256. TiB for an array with "
    "shape (35184372088832,) and data type float64"
)
CUDA = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total "
    "capacity of 14.58 GiB of which 14.4 GiB is free."
)
SHM = (
    "RuntimeError: DataLoader worker (pid 1142) is killed by signal: Bus error. It is possible "
    "that dataloader's workers are out of shared memory. "
    "Please try to raise your shared memory limit."
)
HELD = "the program used at least 3.0 GiB; this machine has 4.0 GiB for all programs"


@pytest.fixture
def facts(tmp_path: Path) -> ReplicaFacts:
    """The user's layer with his package trainer, above a runtime."""
    layer, base = tmp_path / "layer", tmp_path / "base"
    sites = [root / "lib" / "python3.11" / "site-packages" for root in (layer, base)]
    for site, distributions, modules in (
        (sites[0], ["trainer-0.1"], ["trainer/__init__.py", "trainer/task.py", "trainer/model.py"]),
        (
            sites[1],
            ["tensorflow_cpu-2.21.0", "numpy-2.1.3", "keras-3.12.0", "wrapt-2.0"],
            ["tensorflow/__init__.py", "numpy/__init__.py", "numpy/fft.py", "six.py"],
        ),
    ):
        for name in distributions:
            (site / f"{name}.dist-info").mkdir(parents=True)
        for module in modules:
            (site / module).parent.mkdir(exist_ok=True)
            (site / module).touch()
    return ReplicaFacts(
        "2.21", "trainer.task", [str(layer), str(base)], HELD, {"/tmp": str(tmp_path / "tmp")}
    )


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        ("MemoryError", f"The program ran out of memory ({HELD}): use smaller batches"),
        (TORCH_CPU, f"The program ran out of memory ({HELD}): "),
        (TF_CPU, f"The program ran out of memory ({HELD}): "),
        (NUMPY, f"The program ran out of memory ({HELD}): "),
        ("std::bad_alloc: std::bad_alloc", f"The program ran out of memory ({HELD}): "),
        ("OSError: [Errno 12] Cannot allocate memory", f"The program ran out of memory ({HELD}): "),
        (CUDA, "The program ran out of GPU memory: "),
        (SHM, "The program ran out of shared memory (/dev/shm)"),
        (
            "RuntimeError: DataLoader worker (pid(s) 1142) exited unexpectedly",
            (
                f"A process of the program was killed, often because memory ran out ({HELD}): "
                "use smaller"
            ),
        ),
        (
            "ModuleNotFoundError: No module named 'transformers'",
            (
                "Runtime 2.21 has no transformers. It has keras 3.12.0, numpy 2.1.3 and 2 "
                "others. Set install_requires=['transformers'] in your setup.py, or take a "
                "runtime that has transformers"
            ),
        ),
        ("ModuleNotFoundError: No module named 'sklearn.svm'", "['scikit-learn'] in your setup.py"),
        (
            "ModuleNotFoundError: No module named 'nunpy'",
            "has no nunpy; did you mean numpy? It has",
        ),
        (
            "No module named trainer.tsak",
            "Your package trainer has model, task; did you mean trainer.task?",
        ),
        ("No module named trainer.run", "Your package trainer has model, task. Does `packages`"),
        (
            (
                "No module named trainer.__main__; 'trainer' is a package and cannot be directly "
                "executed"
            ),
            "trainer is a package: name the module to run in it",
        ),
        (
            "ImportError: cannot import name 'boolx' from 'numpy' (/e/numpy/__init__.py)",
            "numpy 2.1.3 is installed (runtime 2.21), but the code seems to be for another version",
        ),
        (
            (
                "AttributeError: module 'tensorflow' has no attribute 'Session'. Did you "
                "mean: 'version'?"
            ),
            "tensorflow-cpu 2.21.0 is installed (runtime 2.21)",
        ),
        ("ModuleNotFoundError: No module named 'numpy.char2'", "numpy 2.1.3 is installed"),
        (
            "ImportError: libGL.so.1: cannot open shared object file: No such file or directory",
            "libGL.so.1 is a library of the system, not a Python package",
        ),
        (
            "FileNotFoundError: [Errno 2] No such file or directory: 'gs://data/census/a.csv'",
            (
                "Open the file at /gcs/data/census/a.csv instead. Functions that open files take "
                "no gs:// address"
            ),
        ),
        (
            "RuntimeError: Parent directory gs://data/out does not exist.",
            (
                "Open the file at /gcs/data/out instead. Functions that open files take no gs:// "
                "address"
            ),
        ),
        (
            "PermissionError: [Errno 13] Permission denied: 'gs:'",
            "The job's label footplate-directories=paths",
        ),
        (
            (
                "tensorflow.python.framework.errors_impl.FailedPreconditionError: "
                "Error executing an HTTP request: libcurl code 6 meaning 'Could not resolve "
                "hostname' when reading metadata "
                "of gs://bkt/o"
            ),
            "Open the file at /gcs/bkt/o instead",
        ),
        (
            "PermissionError: [Errno 13] Permission denied: '/etc/x'",
            "run as the service's user",
        ),
        (
            "PermissionError: [Errno 13] Permission denied: '/opt/x'",
            "new directories in / and",
        ),
        (
            "FileNotFoundError: [Errno 2] No such file or directory: '/absent-app/config.json'",
            "/absent-app doesn't exist here. Put the files that your image has in it into your",
        ),
        ("FileNotFoundError: [Errno 2] No such file or directory: '/etc/absent/x'", ""),
        (
            (
                "subprocess.CalledProcessError: Command '['apt-get', 'install', 'x']' returned "
                "non-zero exit status 100."
            ),
            "Apt-get can't install packages of the system: programs and builds run on the machine",
        ),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'sudo'", "Sudo can't install"),
        ("/bin/sh: 1: yum: not found", "Yum can't install"),
        (
            "E: Could not open lock file /var/lib/dpkg/lock - open (13: Permission denied)",
            "Dpkg can't install packages of the system",
        ),
        ("KeyError: 'getpwuid(): uid not found: 1879048200'", "getpass.getuser() and"),
        (
            "ERROR: No matching distribution found for ours==1.0",
            (
                "If ours is in a private index, require it in your package: then the service "
                "installs it"
            ),
        ),
        (
            "OSError: [Errno 30] Read-only file system: '/d/secret'",
            "no files of the service",
        ),
        (
            "FileNotFoundError: [Errno 2] No such file or directory: 'gsutil'",
            "The command gsutil isn't installed on this machine. Open the bucket's files at /gcs/",
        ),
        ("/bin/sh: 1: gsutil: not found", "The command gsutil isn't installed on this machine."),
        (
            (
                "subprocess.CalledProcessError: Command 'gcloud storage cp a gs://b' returned "
                "non-zero exit status 127."
            ),
            "The command gcloud isn't installed on this machine.",
        ),
        (
            (
                "google.api_core.exceptions.RetryError: Timeout of 60.0s exceeded, last exception: "
                "503 DNS resolution failed for secretmanager.googleapis.com:443"
            ),
            (
                "Footplate has no Secret Manager (secretmanager.googleapis.com). Give the job "
                "the secret"
            ),
        ),
        ("OSError: [Errno 24] Too many open files: 'x'", "`ulimit -n`"),
        ("OSError: [Errno 28] No space left on device", "is full. Free some space there"),
        (
            "OSError: [Errno 28] No space left on device: '/tmp/a'",
            "The disk of /tmp/a (on the host /",
        ),
        ("ValueError: bad", ""),
        ("AttributeError: module 'trainer.model' has no attribute 'x'", ""),
        ("AttributeError: 'NoneType' object has no attribute 'x'", ""),
        ("", ""),
    ],
)
def test_advice(facts: ReplicaFacts, cause: str, words: str) -> None:
    assert words in advise(cause, facts)
    assert bool(words) == bool(advise(cause, facts))


SAMPLES = "cloud-samples-data"


@pytest.mark.parametrize(
    "cause",
    [
        (
            "google.api_core.exceptions.NotFound: 404 GET "
            "http://127.0.0.1:8470/programs/KEY/download/storage/v1/b/cloud-samples-data/o/"
            "a.csv?alt=media: "
            "there is no bucket 'cloud-samples-data' here; make it with `footplate storage "
            "buckets create"
        ),
        (
            "tensorflow.python.framework.errors_impl.NotFoundError: Error executing an HTTP "
            'request: HTTP response code 404 with body \'{"error":{"code":404}}\' when reading '
            "metadata of gs://cloud-samples-data/ai-platform/a.csv"
        ),
        "FileNotFoundError: cloud-samples-data/ai-platform/a.csv",
        "FileNotFoundError: b/cloud-samples-data/o",
        "FileNotFoundError: [Errno 2] No such file or directory: '/gcs/cloud-samples-data/a.csv'",
        "BucketNotFoundException: 404 gs://cloud-samples-data bucket does not exist.",
        "ERROR: (gcloud.storage.cp) gs://cloud-samples-data not found: 404.",
    ],
)
def test_a_bucket_of_the_cloud(tmp_path: Path, cause: str) -> None:
    (tmp_path / "stage").mkdir()
    task = Task(PythonTask("m", ("--data", f"gs://{SAMPLES}/ai-platform/a.csv")))
    advice = advise(cause, ReplicaFacts.of_task(task, places={"/gcs": str(tmp_path)}))
    assert advice.startswith(
        f"There is no bucket '{SAMPLES}' here, and programs don't reach Google's buckets."
    )
    assert f"create gs://{SAMPLES}`, and copy" in advice
    assert f"`--bind gs://{SAMPLES}`" in advice


@pytest.mark.parametrize(
    "cause",
    [
        "FileNotFoundError: stage/a.csv",
        "FileNotFoundError: cloud-samples-data/of/the/program.csv",
        "FileNotFoundError: [Errno 2] No such file or directory: '/gcs/stage/a.csv'",
        "FileNotFoundError: [Errno 2] No such file or directory: 'data/a.csv'",
        "ValueError: gs://cloud-samples-data/a.csv has no header",
    ],
)
def test_what_is_missing_in_a_bucket_is_no_missing_bucket(tmp_path: Path, cause: str) -> None:
    (tmp_path / "stage").mkdir()
    assert "no bucket" not in advise(cause, ReplicaFacts(places={"/gcs": str(tmp_path)}))


def test_where_buckets_are_not_seen_only_the_service_says_that_one_is_missing(
    tmp_path: Path,
) -> None:
    unseen = ReplicaFacts(places={"/gcs": str(tmp_path / "away")})
    assert "no bucket" not in advise("FileNotFoundError: cloud-samples-data/a.csv", unseen)
    said = no_bucket(SAMPLES).message
    assert "no bucket" in advise(f"google.api_core.exceptions.NotFound: 404 GET x: {said}", unseen)


def test_what_a_program_made_in_the_root_directory_is_there(tmp_path: Path) -> None:
    cause = "FileNotFoundError: [Errno 2] No such file or directory: '/absent-app/config.json'"
    facts = ReplicaFacts(places={"/": str(tmp_path)})
    assert advise(cause, facts).startswith("/absent-app doesn't exist here")
    (tmp_path / "absent-app").mkdir()
    assert advise(cause, facts) == ""


KERAS_3 = [
    "AttributeError: 'str' object has no attribute 'base_dtype'",
    "ValueError: Argument(s) not recognized: {'lr': 0.1}",
    "ValueError: Invalid filepath extension for saving. Please add either a `.keras` extension",
    "ValueError: The `save_format` argument is deprecated in Keras 3. Please remove this argument",
    "ValueError: The filename must end in `.weights.h5`. Received: filepath=/tmp/w.h5",
    "ValueError: The filepath provided must end in `.keras` (Keras model format). Received: x",
    "ValueError: File format not supported: filepath=/m. Keras 3 only supports V3 `.keras` files",
    "ImportError: `keras.optimizers.legacy` is not supported in Keras 3. When using `tf.keras`",
    "AttributeError: 'Sequential' object has no attribute 'fit_generator'",
    "AttributeError: 'SGD' object has no attribute 'lr'",
    "ValueError: A KerasTensor cannot be used as input to a TensorFlow function. A KerasTensor is",
    "TypeError: TensorFlowTrainer.fit() got an unexpected keyword argument 'workers'",
    "TypeError: ModelCheckpoint.__init__() got an unexpected keyword argument 'period'",
    "ValueError: Unrecognized keyword arguments passed to LSTM: {'batch_input_shape': (2, 2, 2)}",
    "AttributeError: module 'keras._tf_keras.keras.layers' has no attribute 'DenseFeatures'",
    "AttributeError: module 'tensorflow.keras' has no attribute 'experimental'",
    "ImportError: cannot import name 'DenseFeatures' from 'tensorflow.keras.layers' (/x)",
    "ModuleNotFoundError: No module named 'tensorflow.keras.experimental'",
    "TypeError: 'Dense' object is not iterable",
    "TypeError: 'Conv2D' object is not iterable",
    "TypeError: 'Sequential' object is not iterable",
    "ValueError: Attempt to convert a value (PerReplica:{ 0: <tf.Tensor: shape=(32, 1)>",
    (
        "TypeError: Cannot convert a value with an unsupported type "
        "(<class 'tensorflow.python.distribute.values.PerReplica'>) to a Tensor."
    ),
    "AttributeError: 'MultiWorkerMirroredStrategy' object has no attribute '_is_chief'",
]


@pytest.fixture
def keras_2(facts: ReplicaFacts) -> ReplicaFacts:
    """What TensorFlow brings of Keras 2 beside Keras 3."""
    keras = Path(facts.sites[1], "tf_keras/api/_v2/keras")
    (keras / "experimental").mkdir(parents=True)
    (keras / "layers").mkdir()
    line = "from tf_keras.src.feature_column.dense_features_v2 import DenseFeatures\n"
    (keras / "layers/__init__.py").write_text(line)
    return facts


@pytest.mark.parametrize("cause", KERAS_3)
def test_what_breaks_on_keras_3(keras_2: ReplicaFacts, cause: str) -> None:
    assert advise(cause, keras_2) == (
        "The code needs Keras 2, but runtime 2.21 has TensorFlow 2.21.0 with Keras 3.12.0: set "
        "os.environ['TF_USE_LEGACY_KERAS'] = '1' before the first import of TensorFlow, or take "
        "runtimeVersion 2.15"
    )
    keras_2.job = "projects/p/locations/us-central1/customJobs/7"
    assert advise(cause, keras_2).endswith(
        ": set TF_USE_LEGACY_KERAS=1 in the job's env, or take the image tf-cpu.2-15.py310 or "
        "tf-gpu.2-15.py310"
    )


PLACED = (
    "tensorflow.python.framework.errors_impl.InvalidArgumentError: Cannot assign a device for "
    "operation mul: node mul (defined at /x/ops.py:1748)  was explicitly assigned to /device:GPU:0 "
    "but available devices are [ /job:localhost/replica:0/task:0/device:CPU:0 ]. Make sure the "
    "device specification refers to a valid device."
)
SPECIFIED = (
    "InvalidArgumentError: Could not satisfy explicit device specification '/gpu:1' because no "
    "supported kernel for GPU devices is available."
)


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        (PLACED, "The code asks for /device:GPU:0, but this replica has no GPU. "),
        (PLACED, "in TensorFlow 1 tf.ConfigProto(allow_soft_placement=True)"),
        (SPECIFIED, "The code asks for /gpu:1, but"),
        ("RuntimeError: No CUDA GPUs are available", "if torch.cuda.is_available() else 'cpu'"),
        ("AssertionError: Torch not compiled with CUDA enabled", "torch.cuda.is_available()"),
    ],
)
def test_a_device_that_is_not_there(facts: ReplicaFacts, cause: str, words: str) -> None:
    assert words in advise(cause, facts)


@pytest.mark.parametrize("name", ["Config", "Dataset", "int"])
def test_keras_2_is_not_to_blame_for_other_things_that_are_no_lists(
    keras_2: ReplicaFacts, name: str
) -> None:
    assert "Keras 2" not in advise(f"TypeError: '{name}' object is not iterable", keras_2)


def test_keras_2_is_not_to_blame_for_what_it_lacks(keras_2: ReplicaFacts) -> None:
    missing = "AttributeError: module 'keras._tf_keras.keras.layers' has no attribute 'Dens'"
    assert "Keras 2" not in advise(missing, keras_2)
    keras_2.variables = ("TF_USE_LEGACY_KERAS",)
    assert "Keras 2" not in advise(KERAS_3[0], keras_2)
    (Path(keras_2.sites[1]) / "keras-3.12.0.dist-info").rmdir()
    assert "Keras 2" not in advise(KERAS_3[0], ReplicaFacts("2.15", "t", keras_2.environments))


def test_keras_by_itself_and_estimators(keras_2: ReplicaFacts) -> None:
    told = advise("ModuleNotFoundError: No module named 'keras.engine'", keras_2)
    assert "import Keras from tensorflow.keras, and set os.environ['TF_USE_LEGACY_KERAS']" in told
    for cause in (
        "AttributeError: module 'tensorflow' has no attribute 'estimator'",
        "AttributeError: module 'keras._tf_keras.keras' has no attribute 'estimator'",
        "AttributeError: module 'tensorflow._api.v2.compat.v1' has no attribute 'estimator'",
    ):
        assert advise(cause, keras_2).startswith(
            "Estimators (tf.estimator) ended with TensorFlow 2.15, and TF_USE_LEGACY_KERAS doesn't "
            "bring them back: take runtimeVersion 2.15 (TensorFlow 2.21.0 is of runtime 2.21)"
        )


def test_keras_that_the_user_brought(keras_2: ReplicaFacts) -> None:
    (Path(keras_2.sites[0]) / "keras-3.9.0.dist-info").mkdir()
    assert advise(KERAS_3[0], keras_2) == (
        "The code needs Keras 2, but your requirements installed Keras 3.9.0: set "
        "install_requires=['keras<3'] in your setup.py, or don't require Keras"
    )


OLD_CODE = [
    ("AttributeError: module 'numpy' has no attribute 'float'.", "numpy", "1.24"),
    ("AttributeError: `np.float_` was removed in the NumPy 2.0 release. Use", "numpy", "2"),
    ("ValueError: Unable to avoid copy while creating an array as requested.", "numpy", "2"),
    (
        "ImportError: A module that was compiled using NumPy 1.x cannot be run in NumPy 2.1.3",
        "numpy",
        "2",
    ),
    ("AttributeError: 'DataFrame' object has no attribute 'ix'", "pandas", "1"),
    ("AttributeError: 'DataFrame' object has no attribute 'append'", "pandas", "2"),
    ("TypeError: DataFrame.drop() takes from 1 to 2 positional arguments but", "pandas", "2"),
    ("TypeError: read_csv() got an unexpected keyword argument 'squeeze'", "pandas", "2"),
    ("AttributeError: 'DataFrame' object has no attribute 'applymap'", "pandas", "3"),
    ("TypeError: NDFrame.fillna() got an unexpected keyword argument 'method'", "pandas", "3"),
    ("TypeError: can't convert np.ndarray of type numpy.object_. The only", "pandas", "3"),
    (
        "ValueError: Failed to convert a NumPy array to a Tensor (Unsupported object type str).",
        "pandas",
        "3",
    ),
    ("TypeError: Invalid value '3' for dtype 'str'. Value should be a string", "pandas", "3"),
]


@pytest.mark.parametrize(("cause", "package", "limit"), OLD_CODE)
def test_code_for_an_earlier_numpy_or_pandas(
    facts: ReplicaFacts, cause: str, package: str, limit: str
) -> None:
    (Path(facts.sites[1]) / "pandas-3.1.1.dist-info").mkdir()
    version = {"numpy": "2.1.3", "pandas": "3.1.1"}[package]
    assert advise(cause, facts) == (
        f"{package} {version} is installed (runtime 2.21), but the code seems to be for {package} "
        f"before {limit}: change it, set install_requires=['{package}<{limit}'] in your setup.py, "
        "or take an older runtime version"
    )


def test_an_old_package_did_not_break_it(facts: ReplicaFacts) -> None:
    (Path(facts.sites[1]) / "pandas-2.3.0.dist-info").mkdir()
    assert advise("TypeError: can't convert np.ndarray of type numpy.object_.", facts) == ""


def test_what_the_users_requirements_brought_is_not_the_runtimes(facts: ReplicaFacts) -> None:
    (Path(facts.sites[0]) / "numpy-2.4.0.dist-info").mkdir()
    cause = "ImportError: cannot import name 'boolx' from 'numpy' (/e/numpy/__init__.py)"
    assert advise(cause, facts).startswith(
        "numpy 2.4.0 is installed (brought by your requirements), but the code seems to be for"
    )
    told = advise("ModuleNotFoundError: No module named 'transformers'", facts)
    assert "It has tensorflow-cpu 2.21.0, keras" not in told
    assert "Runtime 2.21 has no transformers. It has keras 3.12.0 and 2 others. " in told


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        (
            "model",
            ("model is trainer.model in your package: write `from trainer import model`, because"),
        ),
        ("model.layers", "write `from trainer.model import layers`, because Python 3 doesn't look"),
        ("blocks", "blocks is trainer.nets.blocks in your package: write `from trainer.nets imp"),
        ("nets", "nets is trainer.nets in your package: write `from trainer import nets`, because"),
    ],
)
def test_modules_are_not_looked_for_beside_the_importing_file(
    facts: ReplicaFacts, missing: str, words: str
) -> None:
    nets = Path(facts.sites[0]) / "trainer/nets"
    nets.mkdir()
    (nets / "blocks.py").touch()
    other = Path(facts.sites[0]) / "somebody/elses.py"
    other.parent.mkdir()
    other.touch()
    assert words in advise(f"ModuleNotFoundError: No module named '{missing}'", facts)
    assert "install_requires=['elses']" in advise("No module named 'elses'", facts)


def test_facts_of_a_task() -> None:
    task = Task(
        PythonTask("trainer.task"),
        runtime=Runtime("2.21", "3.11", {}),
        job="projects/p/locations/us-central1/customJobs/7",
        environment=(("A", "1"), ("TF_CONFIG", "{}")),
    )
    found = ReplicaFacts.of_task(task)
    assert (found.is_vertex, found.variables) == (True, ["A", "TF_CONFIG"])
    task.job = "projects/p/jobs/j"
    assert not ReplicaFacts.of_task(task).is_vertex


def test_a_package_that_is_missing_altogether_is_told_with_what_is_there(
    facts: ReplicaFacts,
) -> None:
    other = ReplicaFacts("2.21", "training.task", facts.environments)
    told = advise("No module named training.task", other)
    assert told.startswith(
        "Your packages don't have the module training: the packages have trainer. Is its name"
    )


def test_nothing_is_said_of_what_nobody_looked_into() -> None:
    assert advise("ModuleNotFoundError: No module named 'x'", ReplicaFacts()) == ""


@pytest.mark.parametrize(
    ("module", "way"),
    [
        ("trainer.task", "install_requires=['torch'] in your setup.py"),
        (
            "aiplatform_custom_trainer_script.task",
            "requirements=['torch'] where your script creates the job",
        ),
        (
            "footplate_local_code.task",
            "requirements=torch in --worker-pool-spec (local-run: --requirements=torch)",
        ),
    ],
)
def test_a_requirement_is_written_where_the_job_was_made(
    module: str, way: str, facts: ReplicaFacts
) -> None:
    told = advise("No module named 'torch'", ReplicaFacts("2.21", module, facts.environments))
    assert told.endswith(f" Set {way}, or take a runtime that has torch")
    another = advise(
        "cannot import name 'a' from 'numpy'", ReplicaFacts("2.21", module, facts.environments)
    )
    pinned = way.replace("torch", "numpy==...")
    assert another.endswith(f": set {pinned}, or take another runtime version")


def test_advice_has_bounds(facts: ReplicaFacts) -> None:
    name = "a" * 5000
    assert len(advise(f"No module named '{name}'", facts)) <= 1000


def test_what_the_service_worded_is_not_said_again(facts: ReplicaFacts) -> None:
    said = "Footplate has no BigQuery (bigquery.googleapis.com). Export the table into a bucket"
    assert advise(f"google.auth.exceptions.RefreshError: {said}", facts) == ""
