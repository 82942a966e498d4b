"""Long-running operations of VizierService, complete when returned.

None is kept: its id says what was answered and when, so that it is found again after any restart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from footplate.domain.names import StudyOperationName, TrialName
from footplate.domain.studies.records import StudyState
from footplate.domain.timestamps import from_micros, to_micros
from footplate.wire.json_text import JsonObject
from footplate.wire.timestamps import format_time

_TYPES = "type.googleapis.com/google.cloud.aiplatform"
_TIME = "([0-9]{1,17})"
_VERSION = "(v1|v1beta1)"
_NUMBER = "[1-9][0-9]{0,8}"
_RUN = f"{_NUMBER}(?:-{_NUMBER})?"
_SUGGESTION = re.compile(
    rf"suggest-{_VERSION}-{_TIME}-(ACTIVE|INACTIVE|COMPLETED)-(none|{_RUN}(?:_{_RUN})*)"
)
_CHECK = re.compile(rf"check-{_VERSION}-{_TIME}-(stop|go)")


@dataclass(frozen=True)
class SuggestionId:
    """The id of an operation that suggested trials.

    ``runs`` has the first and last numbers of successive trials.
    """

    version: str
    at: datetime
    state: StudyState
    runs: tuple[tuple[int, int], ...]

    @classmethod
    def of(
        cls, version: str, at: datetime, state: StudyState, numbers: Iterable[int]
    ) -> SuggestionId:
        return cls(version, at, state, tuple(_runs(sorted(numbers))))

    @classmethod
    def parse(cls, text: str) -> SuggestionId | None:
        """Reads an operation's id; None: the text isn't such an id."""
        match = _SUGGESTION.fullmatch(text)
        if match is None:
            return None
        runs = () if match[4] == "none" else tuple(_run(each) for each in match[4].split("_"))
        return cls(match[1], from_micros(int(match[2])), StudyState[match[3]], runs)

    def has(self, number: int) -> bool:
        """Returns whether the operation suggested the trial of this number."""
        return any(first <= number <= last for first, last in self.runs)

    def __str__(self) -> str:
        runs = (f"{a}-{b}" if a < b else str(a) for a, b in self.runs)
        numbers = "_".join(runs) or "none"
        return f"suggest-{self.version}-{to_micros(self.at)}-{self.state.name}-{numbers}"


@dataclass(frozen=True)
class CheckId:
    """The id of an operation that checked whether a trial should stop."""

    version: str
    at: datetime
    should_stop: bool

    @classmethod
    def parse(cls, text: str) -> CheckId | None:
        """Reads an operation's id; None: the text isn't such an id."""
        match = _CHECK.fullmatch(text)
        return match and cls(match[1], from_micros(int(match[2])), match[3] == "stop")

    def __str__(self) -> str:
        said = "stop" if self.should_stop else "go"
        return f"check-{self.version}-{to_micros(self.at)}-{said}"


def suggestion_json(
    name: StudyOperationName, of: SuggestionId, client_id: str, trials: Sequence[JsonObject]
) -> JsonObject:
    """Returns an operation that suggested trials.

    Clients parse it strictly: an additional field or an unknown type is an error to them.
    """
    time = format_time(of.at)
    metadata: JsonObject = {"genericMetadata": _generic(of.at)}
    if client_id:
        metadata["clientId"] = client_id
    response: JsonObject = {"studyState": of.state.name, "startTime": time, "endTime": time}
    if trials:
        response["trials"] = [*trials]
    return _done(name, of.version, "SuggestTrials", "SuggestTrialsMetadata", metadata, response)


def check_json(name: StudyOperationName, of: CheckId, trial: TrialName) -> JsonObject:
    """Returns an operation that checked a trial; Google's API misspells its metadata's type."""
    metadata: JsonObject = {
        "genericMetadata": _generic(of.at),
        "study": str(trial.study),
        "trial": str(trial),
    }
    response: JsonObject = {"shouldStop": of.should_stop}
    method = "CheckTrialEarlyStoppingState"
    return _done(name, of.version, method, f"{method}Metatdata", metadata, response)


def _done(
    name: StudyOperationName,
    version: str,
    method: str,
    metadata_type: str,
    metadata: JsonObject,
    response: JsonObject,
) -> JsonObject:
    types = f"{_TYPES}.{version}"
    return {
        "name": str(name),
        "metadata": {"@type": f"{types}.{metadata_type}", **metadata},
        "done": True,
        "response": {"@type": f"{types}.{method}Response", **response},
    }


def _generic(at: datetime) -> JsonObject:
    return {"createTime": format_time(at), "updateTime": format_time(at)}


def _runs(numbers: Sequence[int]) -> Iterable[tuple[int, int]]:
    """Yields the first and last number of each run of successive numbers; ``numbers`` increase."""
    for _, group in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        run = [number for _, number in group]
        yield run[0], run[-1]


def _run(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    return int(first), int(last or first)
