"""``supervisor.pyz image HOME``: pulls the image of a task and finds its digest.

All replicas, restarts and trials of a job run the same image: the first that has it tells the
server, which keeps the first answer for the job.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
import time

from footplate.containers.discovery import COMMANDS
from footplate.containers.engine_api import Engine, EngineError, EngineGone
from footplate.containers.images import ImageFailure, pull
from footplate.containers.leftovers import remove_leftovers
from footplate.containers.pull_progress import write_line
from footplate.domain.image_reference import parse_reference
from footplate.protocol.reports import FoundImage, PinnedImage
from footplate.replica.http_client import Connection, Refused, ServerUnavailable
from footplate.replica.program_spec import require_container
from footplate.replica.workdir import Home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from footplate.protocol.task import ContainerTask, Task
    from footplate.protocol.ticket import SupervisorTicket

POD_IMAGE = "FOOTPLATE_IMAGE"
"""The variable of a Pod whose image is the program."""
IMAGES_PATH = "/replica/v1/images"
ENGINE_LIMIT_S = 120.0
"""How long an engine is waited for that doesn't answer, and a server that is away."""
_POLL_INTERVAL_S = 1.0
_CONFLICT = 409
"""Others were faster in writing the job: to be asked again."""
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm", "i686": "386"}


class UnusableImage(Exception):
    """Error of an image that can't run here; the message says why, and what to do."""


def main(path: str) -> int:
    """Prints progress, and at last the image or the error, as JSON lines."""
    home = Home(path)
    task, ticket = home.read_task(), home.read_ticket()
    try:
        write_line(_answer(task, ticket))
    except (UnusableImage, ImageFailure, EngineError, EngineGone, OSError) as error:
        write_line({"error": str(error)})
        return 1
    return 0


def _answer(task: Task, ticket: SupervisorTicket) -> dict[str, Any]:
    """Returns the image of whatever runs images here. Raises as ``prepare`` does."""
    known = os.environ.get(POD_IMAGE)
    if known is not None:
        return agree(task, ticket, json.loads(known))
    if ticket.container_engine in COMMANDS:
        from footplate.replica.container import image_file  # which imports this module

        return image_file.prepare(task, ticket)
    return prepare(task, ticket)


def prepare(task: Task, ticket: SupervisorTicket) -> dict[str, Any]:
    """Returns the image to run, with the facts about it that the supervisor needs.

    Raises UnusableImage, ImageFailure, EngineError, EngineGone, OSError.
    """
    program = require_container(task)
    name, pinned = program.image, program.pinned
    engine = Engine(program.engine)
    about = _describe_engine(engine, limited=task.allotment is not None)
    if ticket.launchers:
        launchers = f"{ticket.launchers}{os.sep}"
        remove_leftovers(engine, ticket.service, lambda home: is_left(home, launchers))
    first = False
    if not pinned:
        always = program.pull == "always"
        own = refer(_have(engine, name, ticket, always=always), name)
        pinned, first = pin_image(ticket, name, own)
    found = _have(engine, pinned, ticket, always=False)
    config = found.get("Config") or {}
    check_image(str(found.get("Architecture") or ""), config, program, name)
    return {
        "image": {
            "reference": pinned,
            "engine": about["engine"],
            "user": str(config.get("User") or ""),
            "entrypoint": bool(config.get("Entrypoint")),
            "cmd": config.get("Cmd") or [],
            "python_path": _find_variable(config, "PYTHONPATH"),
            "faults": about["faults"],
        },
        "notes": [_describe(found, name)] if first else [],
    }


def is_left(home: str, launchers: str) -> bool:
    """Returns whether ``home`` is below ``launchers`` and has no supervisor any more."""
    if not home.startswith(launchers):
        return False
    try:
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(os.path.join(home, "lock"), flags)
    except FileNotFoundError:
        return True
    except OSError:  # it can't be known
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)  # several may ask at once
    except OSError:  # it can't be known
        return False
    finally:
        os.close(descriptor)
    return True


def agree(task: Task, ticket: SupervisorTicket, known: dict[str, Any]) -> dict[str, Any]:
    """Returns what ``prepare`` returns, for an image that runs already: the image of this Pod.
    Raises UnusableImage.
    """
    program, reference = require_container(task), str(known["reference"])
    name, pinned, notes = program.image, program.pinned, []
    image = {"RepoDigests": [reference], "Id": reference}
    check_image(str(known["architecture"]), known["config"], program, name)
    if not pinned:
        pinned, first = pin_image(ticket, name, reference)
        notes = [_describe(image, name)] if first else []
    if pinned != reference:  # it was pushed anew while the job started
        digest = reference.partition("@")[2]
        notes = [f"runs {name} as {digest}; other replicas run {pinned.partition('@')[2]}"]
    return {"image": {"reference": reference}, "notes": notes}


def _find_variable(config: dict[str, Any], name: str) -> str:
    pairs = (str(pair).partition("=") for pair in config.get("Env") or ())
    return {key: value for key, _, value in pairs}.get(name, "")


def refer(image: dict[str, Any], name: str) -> str:
    """Returns a name that stands for exactly this image for ever: repository and digest, or the id
    of an image built here, which has no digest.
    """
    repository = parse_reference(name).name
    for digest in image.get("RepoDigests") or ():
        if str(digest).rpartition("@")[0] in (repository, _familiar(repository)):
            return str(digest)
    image_id = str(image["Id"])
    return image_id if ":" in image_id else f"sha256:{image_id}"


def _is_local(image: dict[str, Any]) -> bool:
    """Returns whether the image was built here: it is in no registry, or has Podman's
    ``localhost/``.
    """
    digests = [str(digest) for digest in image.get("RepoDigests") or ()]
    return all(digest.startswith("localhost/") for digest in digests)


def _familiar(repository: str) -> str:
    """Returns the name of a repository in dockerd's short form for images of Docker Hub."""
    for prefix in ("docker.io/", "library/"):
        repository = repository[len(prefix) :] if repository.startswith(prefix) else repository
    return repository


def _describe_engine(engine: Engine, *, limited: bool) -> dict[str, Any]:
    """Returns the engine's description; waits for an engine that is about to come back. Raises
    EngineGone, EngineError.

    An engine is asked about limits only if ``limited``: Podman takes a second to answer.
    """
    end, reported = time.monotonic() + ENGINE_LIMIT_S, False
    while True:
        try:
            name = engine.identify()
            info = engine.call("GET", "/info") if limited else {}
        except EngineGone:
            if time.monotonic() >= end:
                raise
            if not reported:
                write_line(
                    {"m": f"waits for the container engine at {engine.path}, which doesn't answer"}
                )
            reported = True
            time.sleep(_POLL_INTERVAL_S)
        else:
            return {"engine": name, "faults": _find_faults(info)}


def _find_faults(info: dict[str, Any]) -> dict[str, str]:
    """Returns the reasons why the engine can't limit memory, CPU and processes; '' where it can."""
    cannot = "the container engine can't limit it"
    cpu = info.get("CpuCfsQuota", info.get("CPUCfsQuota", True))
    return {
        "memory": "" if info.get("MemoryLimit", True) else cannot,
        "CPU": "" if cpu else cannot,
        "processes": "" if info.get("PidsLimit", True) else cannot,
    }


def _have(engine: Engine, name: str, ticket: SupervisorTicket, *, always: bool) -> dict[str, Any]:
    """Returns the image; pulls it if the engine lacks it, or ``always``. Raises as ``prepare``."""
    found = engine.inspect_image(name)
    if found is not None and (not always or _is_local(found)):
        return found
    locks = os.path.join(ticket.cache, "images")
    pull(engine.path, name, locks, os.environ)
    found = engine.inspect_image(name) or found
    if found is None:
        raise UnusableImage(f"the engine pulled the image {name}, but doesn't have the image")
    return found


def pin_image(ticket: SupervisorTicket, name: str, reference: str) -> tuple[str, bool]:
    """Returns the image that the job's first replica chose for this name, and whether this replica
    is the first. Raises UnusableImage.
    """
    connection = Connection(ticket.server_file, ticket.token)
    end = time.monotonic() + ENGINE_LIMIT_S
    while True:
        try:
            found = FoundImage(name, reference).encode()
            pinned = PinnedImage.decode(connection.post(IMAGES_PATH, found))
        except (Refused, ServerUnavailable) as error:
            again = isinstance(error, ServerUnavailable) or error.status == _CONFLICT
            if not again or time.monotonic() >= end:
                raise UnusableImage(
                    f"the supervisor can't report the image to the server: {error}"
                ) from error
            time.sleep(_POLL_INTERVAL_S)
        else:
            return pinned.reference, pinned.first


def find_architecture() -> str:
    """Returns the name that images have for this machine's processors."""
    machine = platform.machine()
    return _ARCHITECTURES.get(machine, machine)


def check_image(
    architecture: str, config: dict[str, Any], program: ContainerTask, name: str
) -> None:
    """Checks that the image can run the program. ``architecture`` is that of the image, or empty.
    Raises UnusableImage.
    """
    own = find_architecture()
    if architecture not in ("", own):
        raise UnusableImage(
            f"the image {name} is for {architecture}, and this machine is {own}: "
            f"build it with `docker build --platform linux/{own}`"
        )
    words = program.command or config.get("Entrypoint")
    if not words and not (program.args or config.get("Cmd")):
        raise UnusableImage(
            f"the image {name} has neither ENTRYPOINT nor CMD, and the job gives no command: "
            "set `command` in its containerSpec, or ENTRYPOINT in the Dockerfile"
        )


def _describe(image: dict[str, Any], name: str) -> str:
    reference = refer(image, name)
    if "@" in reference:
        return f"runs the image {name} as {reference.partition('@')[2]}"
    made = str(image.get("Created") or "")[:19]
    return f"runs the image {name}, built {made} UTC, which is on this machine and in no registry"
