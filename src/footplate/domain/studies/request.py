"""A request to create a study, as an API parses it."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.domain.studies.study import StudyConfig


@dataclass(frozen=True)
class StudyRequest:
    """A request for a study; ``request`` is the accepted ``studySpec`` as canonical JSON, or the
    ``studyConfig`` of ml v1.
    """

    display_name: str
    config: StudyConfig
    request: str
    learns_from: tuple[str, ...] = ()
    """The ids of earlier studies of the same location, oldest first."""
    study_id: str = ""
    """The id that the client chooses, as in ml v1; empty: the service numbers the study."""
