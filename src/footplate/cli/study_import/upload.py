"""Creates an imported study in the service."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from footplate.cli.study_import.vizier_requests import study_spec, trial_request
from footplate.domain.errors import AlreadyExists, NotFound, ServiceError

if TYPE_CHECKING:
    from footplate.cli.study_import.finished_study import FinishedStudy
    from footplate.client.service import Service
    from footplate.domain.names import StudyName
    from footplate.wire.json_text import JsonObject


def send_study(
    service: Service, project: str, region: str, display_name: str, study: FinishedStudy
) -> tuple[StudyName, JsonObject]:
    """All of it or, where a trial is refused, nothing.

    Raises:
        AlreadyExists: there is a study of that name.
        ServiceError: what the service says of a trial that it refuses.
    """
    _check_new(service, project, region, display_name)
    name, resource = service.studies.create(project, region, display_name, study_spec(study))
    try:
        for trial in study.trials:
            service.studies.add_trial(name, trial_request(trial))
    except BaseException:
        with suppress(ServiceError):
            service.studies.delete(name)
        raise
    return name, resource


def _check_new(service: Service, project: str, region: str, display_name: str) -> None:
    """Else a file that is imported twice would become one study with all trials twice."""
    try:
        name = service.studies.lookup(project, region, display_name)
    except NotFound:
        return
    raise AlreadyExists(
        f"there is a study {display_name!r}: {name}; give another --display-name, or learn from "
        f"the one that there is: `hp-tuning-jobs create --learn-from={name.study_id}`"
    )
