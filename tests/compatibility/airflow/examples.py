"""Runs the provider's system tests for Vertex AI: each is a DAG, with a function that tests it."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from example_results import example

SOURCES = Path(os.environ["SOURCES"])
(PROVIDER,) = SOURCES.glob("apache_airflow_providers_google-*")
(COMMON,) = SOURCES.glob("apache_airflow_devel_common-*")
TESTS = PROVIDER / "tests" / "system" / "google" / "cloud" / "vertex_ai"
PREFIX = "example_vertex_ai_"
NAMES = sorted(path.stem.removeprefix(PREFIX) for path in TESTS.glob(f"{PREFIX}*.py"))
TOGETHER = 5
"""How many run at once: most of their time they wait for the next look at a job."""
TRAINER = Path("trainer") / "aiplatform_custom_trainer_script" / "task.py"
PREBUILT = "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-2:latest"
WITH_PREBUILT = " with a prebuilt image"
"""Ends the name of an example with a public image, in place of one of a project of its authors."""
RESOURCES = "airflow-system-tests-resources"
"""The bucket of the provider's own project, from which the tests copy their data."""


def main() -> None:
    """Run the tests in some Airflows at once; those of an Airflow one after the other."""
    if "AIRFLOW_HOME" in os.environ:
        for name in sys.argv[1:]:
            test(name)
        return
    make_resources()
    own_images = read_own_images()
    names = sys.argv[1:] or [*NAMES, *(name + WITH_PREBUILT for name in own_images)]
    groups = [names[start::TOGETHER] for start in range(min(TOGETHER, len(names)))]
    home = Path("airflow").resolve()
    subprocess.run(["airflow", "db", "migrate"], check=True, env=environment(home))
    running = []
    for number, group in enumerate(groups):
        own = home.with_name(f"airflow-{number}")
        (own / "dags").mkdir(parents=True)
        shutil.copy(home / "airflow.db", own)
        shutil.copytree(TESTS / "resources", own / "dags" / "resources")
        for name in group:
            original = name.removesuffix(WITH_PREBUILT)
            source = (TESTS / f"{PREFIX}{original}.py").read_text("utf-8")
            for old, new in own_images[original].items() if name != original else ():
                assert old in source, f"{original} has no {old}"
                source = source.replace(old, new)
            dag_file(own, name).write_text(source, "utf-8")
        command = [sys.executable, Path(__file__).resolve(), *group]
        with (own / "log").open("wb") as log:
            process = subprocess.Popen(
                command, cwd=own, env=environment(own), stdout=log, stderr=log
            )
        running.append((process, own / "log"))
    for process, log in running:
        process.wait()
        sys.stderr.write(log.read_text("utf-8", "replace"))


def read_own_images() -> dict[str, dict[str, str]]:
    """Return by example what names its image and command, with a public one and a program."""
    elsewhere = {'DAG_ID = "': 'DAG_ID = "prebuilt_'}
    train, trial = (
        repr(["python3", "-c", path.read_text()]) for path in (TRAINER, Path("trial.py"))
    )
    housing = "us-central1-docker.pkg.dev/airflow-system-tests-resources/system-tests/housing"
    horses = '"us-docker.pkg.dev/composer-256318/horse-human/horse-human-image:latest"'
    return {
        "custom_container": elsewhere | {housing: PREBUILT, '["python3", "task.py"]': train},
        "hyperparameter_tuning_job": elsewhere | {horses: f'"{PREBUILT}", "command": {trial}'},
    }


def environment(home: Path) -> dict[str, str]:
    """Return the variables of an Airflow, with those that the provider's README asks for."""
    return {
        **os.environ,
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW_CONN_GOOGLE_CLOUD_DEFAULT": "google-cloud-platform://",
        "PYTHONPATH": os.pathsep.join([os.environ["PYTHONPATH"], str(COMMON / "src")]),
        "SYSTEM_TESTS_GCP_PROJECT": os.environ["PROJECT"],
        "SYSTEM_TESTS_ENV_ID": home.name.replace("-", ""),
    }


def dag_file(home: Path, name: str) -> Path:
    return home / "dags" / f"{PREFIX}{name.replace(' ', '_')}.py"


def test(name: str) -> None:
    with example(name):
        module = runpy.run_path(str(dag_file(Path(os.environ["AIRFLOW_HOME"]), name)))
        try:
            module["test_run"]()
        except AssertionError as error:
            raise RuntimeError(f"failed: {failed_tasks(module['dag'].dag_id)}") from error


def failed_tasks(dag_id: str) -> str:
    from airflow.models.taskinstance import TaskInstance
    from airflow.utils.session import create_session

    with create_session() as session:
        found = session.query(TaskInstance).filter_by(dag_id=dag_id, state="failed")
        return ", ".join(sorted(each.task_id for each in found if each.task_id != "watcher"))


def make_resources() -> None:
    """Make small ones of the files that the provider's project has in its bucket."""
    from google.cloud import storage

    with tarfile.open("trainer.tar", "w") as archive:
        archive.add("trainer", "custom_trainer_script-0.1")
    housing, datasets = "vertex-ai/california-housing-data", "vertex-ai/datasets"
    image = f"{datasets}/flowers/1.jpg"
    table = "x,y\n" + "".join(f"{x},{2 * x + 1}\n" for x in range(100))
    sales = "".join(f"2026-01-{day},a,{day}\n" for day in range(10, 30))
    client = storage.Client(os.environ["PROJECT"])
    bucket = client.lookup_bucket(RESOURCES) or client.create_bucket(RESOURCES)
    for name, content in {
        f"{housing}/california_housing_training_script.py": TRAINER.read_bytes(),
        f"{housing}/custom_trainer_script-0.1.tar": Path("trainer.tar").read_bytes(),
        f"{housing}/california_housing_train.csv": table,
        f"{datasets}/tabular-dataset.csv": table,
        f"{datasets}/forecast-dataset.csv": f"date,store_name,sale_dollars\n{sales}",
        f"{datasets}/image-dataset-flowers.csv": f"gs://{RESOURCES}/{image},daisy\n",
        f"{datasets}/flowers-dataset.csv": f"gs://{RESOURCES}/{image},daisy\n",
        "automl/datasets/vision/obj_detection_short.csv": (
            f"TRAIN,gs://{RESOURCES}/{image},daisy,0.1,0.1,,,0.9,0.9,,\n"
        ),
        image: b"\xff\xd8\xff\xd9",
    }.items():
        bucket.blob(name).upload_from_string(content)


if __name__ == "__main__":
    main()
