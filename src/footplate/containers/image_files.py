"""Images as files of a node, for commands that run images without an engine.

A file is named by the image's digest. It comes into its place as a whole, so that a file that is
there is complete.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from contextlib import suppress

from footplate.containers.apptainer import Apptainer
from footplate.containers.credentials import UnreadableCredentials, find_credentials
from footplate.containers.images import FULL, MISSING, ImageFailure, alone, explain
from footplate.containers.pull_progress import Reporter
from footplate.containers.registry import ImageConfig, UnknownImage, read_image
from footplate.domain.image_reference import MalformedReference, parse_reference

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Mapping

    from footplate.containers.credentials import Credentials
    from footplate.domain.image_reference import ImageReference

PULL_LIMIT_S = 7200.0
"""How long the download and the conversion of an image may take."""
_STEP = re.compile(r"INFO:\s+(Fetching|Extracting|Creating)\b", re.ASCII)
_NOISE = re.compile(r"^(?:\x1b\[\d+m)?(?:FATAL|ERROR)\s*:\s*")


def find_config(
    name: str, directory: str, architecture: str, environment: Mapping[str, str]
) -> ImageConfig:
    """Returns the configuration of an image, from ``directory`` if its digest is given and its file
    is there, else from its registry. Raises ImageFailure.
    """
    reference = _parse(name)
    if reference.digest:
        known = _read(_place(directory, reference.digest, "json"))
        if known is not None:
            return known
    credentials = _find_credentials(reference, environment)
    logins = {} if credentials.login is None else {reference.registry: credentials.login}
    remedy = f"run `docker login {reference.registry}` as the service's user on the node"
    refused = f"user {credentials.user} ({credentials.config}) may not pull it"
    try:
        return read_image(
            name, logins, architecture=architecture, remedies=(remedy, f"{refused}; {remedy}")
        )
    except UnknownImage as error:
        raise ImageFailure(str(error)) from error


def have_file(
    command: Apptainer, image: ImageConfig, directory: str, environment: Mapping[str, str]
) -> str:
    """Returns the path of the image's file in ``directory``; makes the file if it isn't there.
    Raises ImageFailure, OSError.
    """
    reference, report = _parse(image.reference), Reporter()
    place = _place(directory, reference.digest or "", "sif")
    os.makedirs(directory, mode=0o700, exist_ok=True)
    with alone(reference, directory, report):
        if not os.path.exists(place):
            _make(command, image, place, environment, report)
    with suppress(OSError):  # administrators delete by age what no job has used
        os.utime(place)
    return place


def _make(
    command: Apptainer,
    image: ImageConfig,
    place: str,
    environment: Mapping[str, str],
    report: Reporter,
) -> None:
    """Makes the image's file, and one with its configuration. Raises ImageFailure, OSError."""
    reference, directory = _parse(image.reference), os.path.dirname(place)
    credentials = _find_credentials(reference, environment)
    # With a name that the next pull finds: one that is killed leaves what it has unpacked.
    tmp = os.path.join(directory, f"{hashlib.sha256(str(reference).encode()).hexdigest()[:32]}.tmp")
    part = os.path.join(tmp, "image.sif")
    shutil.rmtree(tmp, ignore_errors=True)
    os.makedirs(tmp, mode=0o700, exist_ok=True)
    own = command.compose_pull_environment(
        tmp, credentials.login, environment, plain_http=image.plain_http
    )
    report.say(f"pulls {reference}", at_once=True)
    try:
        fault = _pull(command.compose_pull(reference, part), own, reference, report)
        if fault:
            raise ImageFailure(_explain(fault, reference, credentials, directory))
        _write(_place(directory, reference.digest or "", "json"), image)
        os.replace(part, place)
    finally:
        shutil.rmtree(tmp, ignore_errors=True)


def _pull(
    argv: list[str], environment: Mapping[str, str], reference: ImageReference, report: Reporter
) -> str:
    """Runs a pull and reports its steps; returns why it failed, or ''. Raises OSError."""
    process = subprocess.Popen(
        argv,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    timer = threading.Timer(PULL_LIMIT_S, process.send_signal, (signal.SIGTERM,))
    timer.daemon = True
    timer.start()
    began_s, said = time.monotonic(), ""
    with process:
        for line in process.stderr or ():
            text = line.decode("utf-8", "replace").strip()
            step = _STEP.match(text)
            if step:
                report.say(f"pulls {reference}: {step[1].lower()}", at_once=True)
            said = text or said
    timer.cancel()
    if time.monotonic() - began_s >= PULL_LIMIT_S:
        said = f"it took longer than {PULL_LIMIT_S:g} s"
    return (_NOISE.sub("", said) or "no reason given") if process.returncode else ""


def _explain(
    fault: str, reference: ImageReference, credentials: Credentials, directory: str
) -> str:
    """Returns why an image, which its registry has, didn't become a file in ``directory``."""
    lowered = fault.lower()
    if any(words in lowered for words in FULL):
        return f"{directory} has no space for the image {reference}; free some, or move the cache"
    if any(words in lowered for words in MISSING):
        return f"the image {reference} can't be converted: {fault}"
    return explain(fault, reference, credentials)


def _parse(name: str) -> ImageReference:
    """Returns the parts of an image's name. Raises ImageFailure."""
    try:
        return parse_reference(name)
    except MalformedReference as error:
        raise ImageFailure(f"'{name}' names no image: {error}") from error


def _find_credentials(reference: ImageReference, environment: Mapping[str, str]) -> Credentials:
    """Returns the node's login for the registry. Raises ImageFailure."""
    try:
        return find_credentials(reference.registry, environment)
    except UnreadableCredentials as error:
        raise ImageFailure(str(error)) from error


def _place(directory: str, digest: str, kind: str) -> str:
    return os.path.join(directory, f"{digest.replace(':', '-')}.{kind}")


def _read(path: str) -> ImageConfig | None:
    """Returns a configuration that ``_write`` kept; None without one."""
    try:
        with open(path, encoding="utf-8") as file:
            return ImageConfig(**json.load(file))
    except (OSError, ValueError, TypeError):  # the registry says it
        return None


def _write(path: str, image: ImageConfig) -> None:
    """Keeps an image's configuration. Raises OSError."""
    part = f"{path}.{os.getpid()}.part"
    with open(part, "w", encoding="utf-8") as file:
        json.dump(vars(image), file)
    os.replace(part, path)
