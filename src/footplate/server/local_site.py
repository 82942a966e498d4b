"""The capacity of this machine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from footplate.domain.sites import Site
from footplate.domain.sites.gpu_assignment import VISIBLE
from footplate.domain.sites.values import replicas_for
from footplate.server.api_callers import describe_callers
from footplate.server.gpus import Gpus
from footplate.server.machine import cpus, memory_bytes
from footplate.server.program_users import describe_power

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.domain.catalogue import Catalogue
    from footplate.settings import Settings

NAME = "this machine"


def local_site(
    settings: Settings, catalogue: Catalogue, environ: Mapping[str, str] = os.environ
) -> Site:
    """Measures this machine and finds its GPUs, which takes a moment if there are any.

    Of ``environ`` it uses only CUDA_VISIBLE_DEVICES, which may limit the service's GPUs.

    Raises:
        InvalidArgument: this machine can't fulfil a setting of GPUs; the message names it and the
            allowed values.
    """
    found = Gpus(catalogue, environ.get(VISIBLE)).find(settings.gpus, settings.gpu_type)
    memory = memory_bytes()
    return Site(
        name=NAME,
        mode=settings.mode,
        replicas=settings.max_replicas or replicas_for(memory),
        vcpus=cpus(),
        memory_mb=memory >> 20,
        gpus=found.gpus,
        hides_gpus=found.hidden,
        notes=(
            *found.notes,
            *describe_power(
                settings.allow_root, isolation=settings.isolation, users=settings.program_users
            ),
            *describe_callers(settings.token),
        ),
    )
