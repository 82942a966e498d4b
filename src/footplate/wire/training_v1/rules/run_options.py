"""Rules for output directory, time limits and service account."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from footplate.domain.errors import Violation
from footplate.wire.durations import check_limit
from footplate.wire.json_text import describe
from footplate.wire.reference_forms import ACCOUNT, KEY
from footplate.wire.uris import check_directory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.wire.training_v1.models import Scheduling, TrainingInput

MIN_WAIT_TIME_S = 1800
MAX_PRIORITY = 1000
_NETWORK = re.compile(r"projects/[^/\s]+/global/networks/[^/\s]+")
_AT = "trainingInput"


def check_surroundings(training: TrainingInput) -> Iterator[Violation]:
    if training.job_dir:
        yield from check_directory(training.job_dir, f"{_AT}.jobDir")
    if training.scheduling:
        yield from _check_scheduling(training.scheduling)
    if training.encryption_config:
        key = training.encryption_config.kms_key_name
        yield from KEY.check(key, f"{_AT}.encryptionConfig.kmsKeyName")
    yield from ACCOUNT.check(training.service_account, f"{_AT}.serviceAccount")
    if training.network and not _NETWORK.fullmatch(training.network):
        allowed = "projects/PROJECT_NUMBER/global/networks/NETWORK"
        given = describe(training.network)
        yield Violation(f"{_AT}.network", f"{given} given; allowed: {allowed}")


def _check_scheduling(scheduling: Scheduling) -> Iterator[Violation]:
    at = f"{_AT}.scheduling"
    if scheduling.max_running_time is not None:
        yield from check_limit(scheduling.max_running_time, f"{at}.maxRunningTime")
    if scheduling.max_wait_time is not None:
        yield from check_limit(scheduling.max_wait_time, f"{at}.maxWaitTime", MIN_WAIT_TIME_S)
    if scheduling.priority is not None and not 0 <= scheduling.priority <= MAX_PRIORITY:
        said = f"{scheduling.priority} given; allowed: 0 to {MAX_PRIORITY}"
        yield Violation(f"{at}.priority", said)
