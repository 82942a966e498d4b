"""Formats log entries for Cloud Logging."""

from __future__ import annotations

import json
from urllib.parse import quote

from footplate.domain.log_lines import Entry, restart_of
from footplate.domain.names import JobName
from footplate.wire.json_text import JsonObject
from footplate.wire.timestamps import format_time

TRIAL_LABEL = "ml.googleapis.com/trial_id"
"""Where gcloud looks for the trial (``command_lib/ml_engine/log_utils.py`` of the SDK)."""


def encode_entry(entry: Entry, job: JobName) -> JsonObject:
    """Encodes an entry.

    ``timestamp`` is the time of arrival, because readers expect no entry with an earlier time than
    those they have seen. The time of printing is in the labels, beside the labels that a program
    gave to an entry that it wrote over the API. ``job`` is the job that was asked for: a tuning
    job, or the run of one of its trials.
    """
    line, timestamp = entry.line, format_time(entry.timestamp)
    extra: JsonObject = json.loads(line.extra) if line.extra else {}
    labels = extra.pop("labels", {})
    document: JsonObject = {
        "insertId": entry.insert_id,
        "logName": f"projects/{job.project}/logs/{quote(line.log or entry.replica, safe='')}",
        "timestamp": timestamp,
        "receiveTimestamp": timestamp,
        "severity": line.severity,
        "resource": {
            "type": "ml_job",
            "labels": {
                "project_id": job.project,
                "job_id": job.job_id,
                "task_name": entry.replica,
            },
        },
        "labels": {
            "attempt": str(entry.attempt),
            "restart": str(restart_of(line.sequence)),
            "sequence": str(line.sequence),
            "printed": format_time(line.time),
            **({TRIAL_LABEL: entry.trial} if entry.trial else {}),
            **(labels if isinstance(labels, dict) else {}),
        },
        **extra,
    }
    if line.payload:
        document["jsonPayload"] = json.loads(line.payload)
    else:
        document["textPayload"] = line.message
    return document
