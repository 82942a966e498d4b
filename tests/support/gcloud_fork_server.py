"""A process that has imported what gcloud's commands need, and forks one for each request.

gcloud's own command starts it in place of its script, whose path is the first argument: so it has
the Python, and the variables, that gcloud has. Each process that is forked runs the script.
"""

from __future__ import annotations

import importlib
import os
import runpy
import sys
from contextlib import suppress
from pathlib import Path

PRELOADED = (
    "googlecloudsdk.api_lib.ai.custom_jobs.client",
    "googlecloudsdk.api_lib.ai.hp_tuning_jobs.client",
    "googlecloudsdk.api_lib.container.api_adapter",
    "googlecloudsdk.api_lib.logging.common",
    "googlecloudsdk.api_lib.storage.gcs_json.client",
    "googlecloudsdk.command_lib.ai.custom_jobs.flags",
    "googlecloudsdk.command_lib.ai.custom_jobs.validation",
    "googlecloudsdk.command_lib.ai.hp_tuning_jobs.flags",
    "googlecloudsdk.command_lib.ai.log_util",
    "googlecloudsdk.command_lib.concepts.concept_managers",
    "googlecloudsdk.command_lib.kms.resource_args",
    "googlecloudsdk.command_lib.logs.stream",
    "googlecloudsdk.command_lib.ml_engine.jobs_util",
    "googlecloudsdk.command_lib.storage.tasks.task_executor",
    "googlecloudsdk.core.credentials.transports",
    "googlecloudsdk.core.updater.update_manager",
    "googlecloudsdk.gcloud_main",
    "googlecloudsdk.generated_clients.apis.aiplatform.v1.aiplatform_v1_client",
    "googlecloudsdk.generated_clients.apis.aiplatform.v1.resources",
    "googlecloudsdk.generated_clients.apis.aiplatform.v1beta1.aiplatform_v1beta1_client",
    "googlecloudsdk.generated_clients.apis.aiplatform.v1beta1.resources",
    "googlecloudsdk.generated_clients.apis.cloudkms.v1.cloudkms_v1_client",
    "googlecloudsdk.generated_clients.apis.logging.v2.logging_v2_client",
    "googlecloudsdk.generated_clients.apis.ml.v1.ml_v1_client",
    "googlecloudsdk.generated_clients.apis.ml.v1.resources",
    "googlecloudsdk.generated_clients.apis.storage.v1.storage_v1_client",
    "boto3",
    "cloudsdk.google.protobuf.struct_pb2",
    "proto",
)
"""Most of what the commands of tests import. Where a version of gcloud lacks one, its commands
import what they need."""


def serve(script: Path) -> None:
    """Return in each process that is forked."""
    checkout = str(Path(__file__).parents[2])
    sys.path[0] = checkout  # the modules beside this file hide others of their names
    from tests.support.fork_server import serve_program

    sys.path[:1] = [str(script.parent / "third_party"), str(script.parent)]
    for name in PRELOADED:
        with suppress(ImportError):
            importlib.import_module(name)
    from googlecloudsdk.core import log  # type: ignore[import-not-found]  # in gcloud's folder
    from googlecloudsdk.core.configurations import named_configs  # type: ignore[import-not-found]
    from googlecloudsdk.core.console import console_attr  # type: ignore[import-not-found]

    own = ("CLOUDSDK_", "PYTHONIOENCODING")
    variables = {name: value for name, value in os.environ.items() if name.startswith(own)}
    del variables["CLOUDSDK_PYTHON_ARGS"]
    sys.argv = [str(script), *serve_program(variables)["words"]]
    named_configs.ActivePropertiesFile.Invalidate()  # the imports have read this process' settings
    console_attr.ResetConsoleAttr()
    log.Reset()


if __name__ == "__main__":
    program = Path(sys.argv[1])
    serve(program)
    del sys.path[:2]  # the script puts them there
    runpy.run_path(str(program), run_name="__main__")
