"""Advice about what a program finds in Google's images, and not on the machine of the service."""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from footplate.replica.diagnosis.replica_facts import ReplicaFacts

_INSTALLERS = r"(apt-get|apt|dpkg|yum|dnf|apk|sudo)"
_SYSTEM = re.compile(
    rf"Command '\W{{0,2}}(?:/[a-z/]{{1,30}}/)?{_INSTALLERS}\b"
    rf"|No such file or directory: '{_INSTALLERS}'"
    rf"|Permission denied: '{_INSTALLERS}'"
    rf"|\b{_INSTALLERS}: (?:command )?not found"
    r"|/var/(?:lib|cache)/(dpkg|apt|rpm|dnf|yum)\b.{0,200}(?:Permission denied|are you root)"
    r"|effective user id is not 0, is (sudo) installed"
)
_DEVICE = re.compile(
    r"(?:Cannot assign a device for operation|Could not satisfy explicit device specification"
    r"|unknown device|was explicitly assigned to)"
    r".{0,600}?(/(?:device:)?(?:GPU|gpu|XLA_GPU|TPU):\d+)",
    re.DOTALL,
)
_NO_CUDA = re.compile(
    r"No CUDA GPUs are available|Found no NVIDIA driver|Torch not compiled with CUDA enabled"
)
_NAMELESS = re.compile(r"getpwuid\(\): uid not found|cannot find name for user ID")
_NOT_FOUND = re.compile(r"No matching distribution found for ([\w.-]{1,100})")
_ABSENT = re.compile(r"No such file or directory: '(/[^/'\"]{1,100})/")


def advise_on_machine(cause: str, facts: ReplicaFacts) -> str:
    system = explain_installers(cause)
    if system:
        return system[0].upper() + system[1:]
    device = _DEVICE.search(cause)
    if device is not None:
        return (
            f"The code asks for {device.group(1)}, but this replica has no GPU. "
            "tf.config.set_soft_device_placement(True), or in TensorFlow 1 "
            "tf.ConfigProto(allow_soft_placement=True), lets TensorFlow compute on the CPU. "
            "Or choose the device by tf.config.list_physical_devices('GPU'), in TensorFlow 1 by "
            "tf.test.is_gpu_available(). Or run the job on a machine with GPUs"
        )
    if _NO_CUDA.search(cause):
        return (
            "The code asks for a GPU, but this replica has none. Write "
            "device = 'cuda' if torch.cuda.is_available() else 'cpu', or run the job on a machine "
            "with GPUs"
        )
    if _NAMELESS.search(cause):
        return (
            "The program's user has no name on this machine. HOME, USER and LOGNAME are set: use "
            "getpass.getuser() and os.path.expanduser('~'), which work"
        )
    missing = _NOT_FOUND.search(cause)
    if missing is not None:
        return (
            "pip in a program uses the service's package indexes, but without their passwords. If "
            f"{missing.group(1)} is in a private index, require it in your package: then the "
            "service installs it"
        )
    absent = _ABSENT.search(cause)
    top = absent.group(1) if absent is not None else ""
    roots = ("", facts.places.get("/", ""))
    if top and top != "/gcs" and not any(os.path.lexists(root + top) for root in roots):
        return (
            f"{top} doesn't exist here. Put the files that your image has in it into your "
            "package (package_data in setup.py, read by importlib.resources), or into a "
            f"bucket (/gcs/BUCKET/...). The program may make {top} itself"
        )
    return ""


def explain_installers(text: str) -> str:
    """Returns why packages of the system can't be installed; '' if nothing tried to."""
    found = _SYSTEM.search(text)
    if found is None:
        return ""
    name = next(group for group in found.groups() if group)
    return (
        f"{name} can't install packages of the system: programs and builds run on the machine of "
        "the service, without root's rights. Have them installed on this machine, run the job in "
        "a container image that has them, or require a wheel that brings what is missing"
    )
