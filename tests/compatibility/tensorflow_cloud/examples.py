"""Runs CloudTuner of tensorflow-cloud on a real model, and sends what its other parts send."""

import os
from pathlib import Path

import kerastuner
import numpy
import tensorflow as tf
import tensorflow_cloud as tfc
from example_results import example
from google.cloud import storage
from kerastuner.engine import hyperparameters
from tensorflow_cloud.core import deploy
from tensorflow_cloud.tuner import cloud_fit_client

PROJECT, REGION = os.environ["PROJECT"], os.environ["REGION"]
IMAGE = "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-17.py310:latest"
BUCKET = "tensorflow-cloud"

numpy.random.seed(1)
X = numpy.random.rand(64, 2)
Y = X.sum(axis=1)


def build(values):
    units, activation = values.get("units"), values.get("activation")
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(units, activation=activation, input_shape=(2,)),
            tf.keras.layers.Dense(1, use_bias=values.get("bias") == "True"),
        ]
    )
    model.compile(tf.keras.optimizers.SGD(values.get("rate")), loss="mse")
    return model


def make_tuner(study, values, max_trials=None):
    return tfc.CloudTuner(
        build,
        project_id=PROJECT,
        region=REGION,
        study_id=study,
        objective=kerastuner.Objective("val_loss", "min"),
        directory=study,
        hyperparameters=values,
        max_trials=max_trials,
    )


def search(tuner):
    tuner.search(X, Y, epochs=2, validation_split=0.25, verbose=0)
    trials = tuner.oracle.service.list_trials()
    assert {trial["state"] for trial in trials} == {"COMPLETED"}, trials
    return trials


def tune():
    wide = hyperparameters.HyperParameters()
    wide.Float("rate", 1e-4, 1e-1, sampling="log")
    wide.Int("units", 2, 8)
    wide.Choice("activation", ["relu", "tanh"])
    wide.Boolean("bias")
    with example("CloudTuner"):
        tuner = make_tuner("CloudTuner_wide", wide, max_trials=2)
        trials = search(tuner)
        values = [trial["finalMeasurement"]["metrics"][0]["value"] for trial in trials]
        assert len(values) == 2, values
        assert sorted(tuner.get_best_hyperparameters()[0].values) == sorted(wide.values)
        assert tuner.oracle.get_best_trials()[0].score == min(values)
    with example("CloudTuner, which goes on with a study"):
        assert len(search(make_tuner("CloudTuner_wide", wide, max_trials=3))) == 3

    small = hyperparameters.HyperParameters()
    small.Choice("rate", [0.01, 0.1])
    for name, value in (("units", 4), ("activation", "relu"), ("bias", True)):
        small.Fixed(name, value)
    with example("CloudTuner, which has tried every point"):
        assert len(search(make_tuner("CloudTuner_small", small))) == 2
    with example("CloudTuner, whose study is deleted"):
        service = tuner.oracle.service
        names = sorted(each["name"].rpartition("/")[2] for each in service.list_studies())
        assert names == ["CloudTuner_small", "CloudTuner_wide"], names
        service.delete_study()
        said = "a study was deleted twice"
        try:
            service.delete_study()
        except ValueError as error:
            said = str(error)
        assert "DeleteStudy failed. Study not found" in said, said


def train():
    """What is sent away: a script, or a model from memory."""
    Path("train.py").write_text("import tensorflow as tf\nprint(tf.__version__)\n")
    cpu = tfc.COMMON_MACHINE_CONFIGS["CPU"]
    for name, built in (
        ("run, by Docker", tfc.DockerConfig(parent_image=IMAGE)),
        (
            "run, by Cloud Build",
            tfc.DockerConfig(parent_image=IMAGE, image_build_bucket=BUCKET),
        ),
    ):
        with example(name):
            tfc.run(
                "train.py",
                docker_config=built,
                chief_config=cpu,
                job_labels={"team": "a"},
            )
    with example("deploy_job, which run sends"):
        deploy.deploy_job(IMAGE, cpu, 1, cpu, ["--epochs=1"], False, {"team": "a"})
    with example("cloud_fit"):
        values = hyperparameters.HyperParameters()
        values.values = {"units": 2, "activation": "relu", "rate": 0.1, "bias": "True"}
        cloud_fit_client.cloud_fit(
            build(values),
            f"gs://{BUCKET}/fit",
            region=REGION,
            project_id=PROJECT,
            image_uri=IMAGE,
            job_id="fit",
            x=X,
            y=Y,
            epochs=1,
        )


if __name__ == "__main__":
    storage.Client(PROJECT).create_bucket(BUCKET)
    tune()
    train()
