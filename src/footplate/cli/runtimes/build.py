"""``footplate runtimes build``."""

from __future__ import annotations

import click

from footplate.cli.runtimes.local_environments import data_dir_option, environments
from footplate.cli.runtimes.progress import shown
from footplate.cli.runtimes.size_values import size


@click.command("build")
@click.argument("name", metavar="RUNTIME")
@click.option("--gpu", is_flag=True, help="Build what replicas with GPUs use.")
@click.option(
    "--slice",
    "part",
    default="full",
    show_default=True,
    metavar="SLICE",
    help="A part of it, such as scikit-learn, which is enough for many programs.",
)
@data_dir_option
def command(name: str, part: str, data_dir: str | None, *, gpu: bool) -> None:
    """Build a runtime before a job needs it.

    RUNTIME is a runtime version or a prebuilt image. What is there already is not built again;
    if a job, or another server, builds the same now, that is waited for. Ctrl-C leaves nothing
    half-built.

    \b
    Examples:
      footplate runtimes build 2.11
      footplate runtimes build pytorch-gpu.2-4.py310 --gpu
    """
    there = environments(data_dir)
    with shown() as teller:
        runtime, size_bytes = there.build(name, gpu=gpu, part=part, teller=teller)
    held = f", {size(size_bytes)}" if size_bytes else ""
    click.echo(f"Runtime {runtime.name} (Python {runtime.python}) is built{held}.")
