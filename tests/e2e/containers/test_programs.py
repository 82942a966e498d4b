"""One container, by both APIs: what it is called with, and what it finds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from footplate.cli.packaging.image_build import make_context
from footplate.cli.packaging.local_code import LocalCode
from footplate.containers.images import build
from footplate.domain.job_states import State
from footplate.domain.names import GcsUri
from footplate.testing.faults import FaultInjector
from tests.e2e.containers.container_context import ContainerContext
from tests.support.engines import private_registry
from tests.support.engines.requirements import require_registry
from tests.support.trainers import pack

SHOW = "import json, sys; print(json.dumps(sys.argv[1:]))"


def test_a_custom_job_runs_an_image(each: ContainerContext) -> None:
    name = each.run_custom("python3", "-c", SHOW, args=["a b", "$HOME"])

    each.wait_for(name, State.SUCCEEDED)
    assert each.said(name) == ["a b", "$HOME"]


def test_a_training_job_runs_an_image(each: ContainerContext) -> None:
    name = each.submit(SHOW, "--first", "1")

    each.wait_for(name, State.SUCCEEDED)
    assert each.said(name) == ["--first", "1", "--job-dir", f"gs://stage/out/{name.job_id}"]


def test_lines_come_whole_and_in_order(each: ContainerContext) -> None:
    source = "for n in range(20000): print('line', n)"
    name = each.run_custom("python3", "-c", source)

    each.wait_for(name, State.SUCCEEDED)
    assert each.messages(name) == [f"line {n}" for n in range(20000)]


def test_a_failure_says_its_cause(each: ContainerContext) -> None:
    name = each.run_custom("python3", "-c", "raise ValueError('no rows')")

    job = each.wait_for(name, State.FAILED)
    assert "exited with code 1: ValueError: no rows" in job.error_message


def test_references_to_variables_are_expanded(shared: ContainerContext) -> None:
    env = [
        {"name": "FIRST", "value": "1"},
        {"name": "SECOND", "value": "$(FIRST)2 $$(FIRST) $(NOBODY)"},
    ]
    args = ["$(SECOND)", "$$(FIRST)", "$(NOBODY)", "$HOME"]
    name = shared.run_custom("python3", "-c", SHOW, args=args, env=env)

    shared.wait_for(name, State.SUCCEEDED)
    assert shared.said(name) == ["12 $(FIRST) $(NOBODY)", "$(FIRST)", "$(NOBODY)", "$HOME"]


FIND = """
import json, os, sys
print(json.dumps({
    "args": sys.argv[1:], "COLOUR": os.environ["COLOUR"], "cwd": os.getcwd(), "uid": os.getuid(),
    "home": os.path.expanduser("~"), "own": os.environ["OWN"],
}))
"""


def test_what_the_image_says_is_kept(shared: ContainerContext, finder: str) -> None:
    env = [{"name": "OWN", "value": "mine"}]
    name = shared.run_custom(image=finder, env=env)
    other = shared.run_custom(image=finder, args=["--given"], env=env)

    expected = {
        "args": ["--own"],
        "COLOUR": "blue",
        "cwd": "/home/trainer",
        "uid": 1000,
        "home": "/home/trainer",
        "own": "mine",
    }
    shared.wait_for(name, State.SUCCEEDED)
    assert shared.said(name) == expected
    shared.wait_for(other, State.SUCCEEDED)
    assert shared.said(other) == {**expected, "args": ["--given"]}


def test_an_ml_job_passes_its_args_to_the_images_entry_point(
    shared: ContainerContext, finder: str
) -> None:
    master = {"imageUri": finder, "containerCommand": None, "containerArgs": None}
    name = shared.submit(SHOW, masterConfig=master, args=["$(OWN)", "--x=1"])

    job = shared.wait_for(name, State.FAILED)
    assert "KeyError: 'OWN'" in job.error_message


@pytest.fixture(scope="module")
def finder(shared_service: ContainerContext) -> str:
    return shared_service.engine.derive(
        "trainers/finder:1",
        f"ENTRYPOINT {json.dumps(['python3', '-c', FIND])}",
        'CMD ["--own"]',
        "ENV COLOUR=blue",
        "WORKDIR /home/trainer",
        "USER trainer",
    )


PACKAGED = """
import os, pathlib, sys
print("runs as", os.getuid(), sys.argv[1:], flush=True)
(pathlib.Path("/gcs/stage/models")).mkdir(exist_ok=True)
pathlib.Path("/gcs/stage/models/model").write_text("weights")
pathlib.Path("here").write_text("its working directory is its own")
"""


BACKEND = """
import pathlib, zipfile
METADATA = ["Metadata-Version: 2.1", "Name: trainer", "Version: 0.1.0", ""]
WHEEL = ["Wheel-Version: 1.0", "Root-Is-Purelib: true", "Tag: py3-none-any", ""]

def build_wheel(directory, config_settings=None, metadata_directory=None):
    name, about = "trainer-0.1.0-py3-none-any.whl", "trainer-0.1.0.dist-info"
    with zipfile.ZipFile(f"{directory}/{name}", "w") as wheel:
        for file in ("trainer/__init__.py", "trainer/task.py"):
            wheel.writestr(file, pathlib.Path(file).read_text())
        wheel.writestr(f"{about}/METADATA", chr(10).join(METADATA))
        wheel.writestr(f"{about}/WHEEL", chr(10).join(WHEEL))
        wheel.writestr(f"{about}/RECORD", "")
    return name
"""
"""The image has no setuptools that could build one, and nothing is downloaded."""


def test_a_user_who_is_not_root_installs_a_package_and_writes_to_a_bucket(
    shared: ContainerContext,
) -> None:
    user = shared.engine.derive("trainers/user:1", "USER trainer", "WORKDIR /home/trainer")
    with shared.client() as client:
        package = GcsUri("stage", "trainer-0.1.0.tar.gz")
        files = {
            "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\n'
            'backend-path = ["."]\n',
            "backend.py": BACKEND,
            "trainer/__init__.py": "",
            "trainer/task.py": PACKAGED,
        }
        sent = pack({f"trainer-0.1.0/{path}": text for path, text in files.items()})
        client.storage.upload(package, sent)
    line = 'pip install --user /gcs/stage/trainer-0.1.0.tar.gz && python3 -m trainer.task "$@"'
    name = shared.run_custom("sh", "-c", line, "sh", image=user, args=["--epochs=2"])

    shared.wait_for(name, State.SUCCEEDED)
    assert shared.messages(name)[-1] == "runs as 1000 ['--epochs=2']"
    assert (shared.bucket / "models" / "model").read_text() == "weights"


def test_an_image_that_is_not_there(shared: ContainerContext, tmp_path: Path) -> None:
    require_registry()
    with private_registry(tmp_path / "registry") as registry:
        image = f"{registry.host}/nobody/built-this:1"
        name = shared.run_custom("true", image=image)
        message = shared.wait_for(name, State.FAILED).error_message
    assert message == (
        f"replica workerpool0-0 could not be prepared: {registry.host} has no image "
        "nobody/built-this:1; check the name, or push it first"
    )


def test_an_image_that_says_nothing_of_what_to_run(shared: ContainerContext) -> None:
    silent = shared.engine.derive("trainers/silent:1", "CMD []")
    name = shared.run_custom(image=silent)

    assert "has neither ENTRYPOINT nor CMD" in shared.wait_for(name, State.FAILED).error_message


def test_a_command_that_the_image_lacks(each: ContainerContext) -> None:
    name = each.run_custom("no-such-program", "x")

    message = each.wait_for(name, State.FAILED).error_message
    assert "no-such-program" in message
    assert "not found" in message


def test_replicas_started_later_run_the_image_that_was_first_found(
    shared: ContainerContext,
) -> None:
    """Though its tag names another one by then."""
    moving = shared.engine.derive("trainers/moving:1", "ENV VERSION=1")
    source = (
        "import os, signal, time\n"
        "print(os.environ['VERSION'], os.environ['FOOTPLATE_RESTART'], flush=True)\n"
        "while os.environ['FOOTPLATE_RESTART'] == '0': time.sleep(0.05)"
    )
    name = shared.run_custom("python3", "-c", source, image=moving)
    shared.until(lambda: shared.messages(name) == ["1 0"])
    shared.engine.derive(moving, "ENV VERSION=2")
    with FaultInjector(shared.service) as faults:
        faults.kill("workerpool0-0", job=str(name)).wait()

    shared.wait_for(name, State.SUCCEEDED)
    assert shared.messages(name) == ["1 0", "1 1"]
    later = shared.run_custom(
        "python3", "-c", "import os; print(os.environ['VERSION'])", image=moving
    )
    shared.wait_for(later, State.SUCCEEDED)
    assert shared.messages(later) == ["2"]


def test_an_image_that_is_built_of_local_code(each: ContainerContext, tmp_path: Path) -> None:
    (tmp_path / "task.py").write_text("import os, sys\nprint(sys.argv[1:], os.environ['HOME'])\n")
    context = make_context(LocalCode(tmp_path, script="task.py"), each.image)
    build(each.engine.socket, context, "trainers/built:1", lambda _: None)

    name = each.run_custom(image="trainers/built:1", args=["--epochs", "3"])

    each.wait_for(name, State.SUCCEEDED)
    assert each.messages(name) == ["['--epochs', '3'] /home"]
