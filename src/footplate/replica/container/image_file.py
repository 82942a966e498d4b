"""The image of a task as a file of the node, where Apptainer runs it: part of ``image``."""

from __future__ import annotations

import os

from footplate.containers.apptainer import Apptainer
from footplate.containers.discovery import NoEngine, ask_version, find_command
from footplate.containers.image_files import find_config, have_file
from footplate.replica.container.image import (
    UnusableImage,
    check_image,
    find_architecture,
    pin_image,
)
from footplate.replica.program_spec import require_container

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from footplate.protocol.task import Task
    from footplate.protocol.ticket import SupervisorTicket

FOLDER = "sif"
"""In the cache: the files of images."""


def prepare(task: Task, ticket: SupervisorTicket) -> dict[str, Any]:
    """Returns the image's file and configuration, and the node's command that runs it.

    Raises UnusableImage, ImageFailure, OSError.
    """
    program = require_container(task)
    try:
        path = find_command(ticket.container_engine, os.environ)
        command = Apptainer(path, ask_version(path))
    except NoEngine as error:
        raise UnusableImage(str(error)) from error
    directory, own = os.path.join(ticket.cache, FOLDER), find_architecture()
    name, first = program.image, False
    image = find_config(program.pinned or name, directory, own, os.environ)
    if not program.pinned:
        pinned, first = pin_image(ticket, name, image.reference)
        if pinned != image.reference:
            image = find_config(pinned, directory, own, os.environ)
    check_image(image.architecture, image.config, program, name)
    found = {
        "file": have_file(command, image, directory, os.environ),
        "config": image.config,
        "command": command.path,
        "version": command.version,
    }
    digest = image.reference.partition("@")[2]
    return {"image": found, "notes": [f"runs the image {name} as {digest}"] if first else []}
