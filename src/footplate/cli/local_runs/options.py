"""The options of ``local-run`` and ``local train``."""

from __future__ import annotations

from dataclasses import dataclass

import click


@dataclass(frozen=True)
class LocalRun:
    """The options of ``local-run``. Raises click.UsageError unless they name one program."""

    executor_image_uri: str
    local_package_path: str
    script: str | None
    python_module: str | None
    requirements: list[str]
    extra_packages: list[str]
    extra_dirs: list[str]
    gpu: bool
    service_account_key_file: str | None
    """An absolute path."""
    output_image_uri: str | None

    def __post_init__(self) -> None:
        if (self.script is None) == (self.python_module is None):
            raise click.UsageError("give either --script or --python-module")
        if self.output_image_uri is not None and self.service_account_key_file is not None:
            raise click.UsageError(
                "--service-account-key-file can't be combined with --output-image-uri: a "
                "container can't see the file"
            )


@dataclass(frozen=True)
class LocalTrain:
    """The options of ``local train``; counts of None mean gcloud's defaults."""

    module_name: str
    package_path: str
    job_dir: str | None
    runtime_version: str | None
    python_version: str | None
    distributed: bool
    worker_count: int | None
    parameter_server_count: int | None
    evaluator_count: int | None
