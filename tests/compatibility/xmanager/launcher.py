"""A launch script in the steps of XManager's README, for `xmanager launch`."""

import asyncio
import itertools
import os
from pathlib import Path

from absl import app
from xmanager import xm, xm_local
from xmanager.cloud import vertex

from example_results import example

FOLDER = str(Path(__file__).parent / "cifar10")
REGISTRY = os.environ["REGISTRY"]


def place(name):
    return xm_local.Vertex.Spec(push_image_tag=REGISTRY + "/" + name)


async def run(experiment, job):
    """Add a job or a group of them, and wait until it has completed."""
    unit = await experiment.add(job)
    await unit.wait_until_complete()
    assert unit.get_status().is_completed, unit.get_status().message


async def launch(experiment):
    with example("package: xm.PythonContainer, xm.Dockerfile"):
        source = xm.PythonContainer(
            path=FOLDER,
            base_image="python:3.11",
            docker_instructions=["COPY cifar10/ cifar10", "WORKDIR cifar10"],
            entrypoint=xm.ModuleName("cifar10"),
        )
        [module, image] = experiment.package(
            [
                xm.Packageable(executable_spec=source, executor_spec=place("cifar10")),
                xm.dockerfile_container(
                    path=FOLDER,
                    dockerfile=FOLDER + "/Dockerfile",
                    executor_spec=place("printer"),
                ),
            ]
        )
    with example("package: xm.Container"):
        [built] = experiment.package(
            [
                xm.container(
                    image_path=image.image_path,
                    executor_spec=place("again"),
                    args={"batch_size": 1},
                )
            ]
        )
    with example("a job for each trial of a search space"):
        units = []
        for batch_size, rate in itertools.product([64, 1024], [0.1]):
            job = xm.Job(
                executable=module,
                executor=xm_local.Vertex(),
                args={"batch_size": batch_size, "learning_rate": rate},
            )
            units.append(await experiment.add(job))
        for unit in units:
            await unit.wait_until_complete()
            assert unit.get_status().is_completed
    with example("a job of an image that exists, with env_vars and requirements"):
        requirements = xm.JobRequirements(cpu=4, ram=15 * xm.GiB)
        job = xm.Job(
            executable=built,
            executor=xm_local.Vertex(requirements=requirements),
            env_vars={"NCCL_DEBUG": "INFO"},
        )
        await run(experiment, job)
    with example("xm.JobGroup: two jobs, scheduled simultaneously"):
        job = xm.Job(executable=module, executor=xm_local.Vertex(), args={"batch_size": 2})
        await run(experiment, xm.JobGroup(agent=job, observer=job))
    with example("a job that fails"):
        job = xm.Job(executable=module, executor=xm_local.Vertex(), args={"status": 3})
        unit = await experiment.add(job)
        try:
            await unit.wait_until_complete()
        except xm.ExperimentUnitFailedError as error:
            assert "exited with code 3" in str(error)
        assert unit.get_status().is_failed
    with example("work_unit.stop()"):
        job = xm.Job(executable=module, executor=xm_local.Vertex(), args={"sleep_s": 600})
        unit = await experiment.add(job)
        unit.stop()
        while unit.get_status().is_active:
            await asyncio.sleep(1)
        assert not unit.get_status().is_completed
    with example("xm_local.TensorboardCapability"):
        client = vertex.get_default_client()
        tensorboard = await client.get_or_create_tensorboard("cifar10")
        assert tensorboard == await client.get_or_create_tensorboard("cifar10")
        capability = xm_local.TensorboardCapability(
            name=tensorboard, base_output_directory="xmanager/output"
        )
        executor = xm_local.Vertex(tensorboard=capability)
        await run(experiment, xm.Job(executable=module, executor=executor))


@xm.run_in_asyncio_loop
async def main(_):
    async with xm_local.create_experiment(experiment_title="cifar10") as experiment:
        await launch(experiment)


if __name__ == "__main__":
    app.run(main)
