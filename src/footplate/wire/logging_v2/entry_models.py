"""The entries of Cloud Logging, as callers write them."""

from types import MappingProxyType
from typing import Annotated

from pydantic import JsonValue, PlainValidator

from footplate.wire.json_model import JsonModel
from footplate.wire.json_text import describe
from footplate.wire.log_severity import SEVERITIES
from footplate.wire.scalars import Duration, Flag, Int32, Int64, Text, Timestamp


def _severity(value: object) -> str:
    """Reads a severity, by name or by number: 100 for each step."""
    if isinstance(value, str) and (value.upper() or SEVERITIES[0]) in SEVERITIES:
        return value.upper()
    if isinstance(value, int) and not isinstance(value, bool) and value in range(0, 900, 100):
        return SEVERITIES[value // 100]
    raise ValueError(f"{describe(value)} given; allowed: {', '.join(SEVERITIES)}")


Severity = Annotated[str, PlainValidator(_severity)]


class Resource(JsonModel):
    type: Text = ""
    labels: dict[str, Text] | None = None


class HttpRequest(JsonModel):
    request_method: Text = ""
    request_url: Text = ""
    request_size: Int64 = 0
    status: Int32 = 0
    response_size: Int64 = 0
    user_agent: Text = ""
    remote_ip: Text = ""
    server_ip: Text = ""
    referer: Text = ""
    latency: Duration | None = None
    cache_lookup: Flag = False
    cache_hit: Flag = False
    cache_validated_with_origin_server: Flag = False
    cache_fill_bytes: Int64 = 0
    protocol: Text = ""


class Operation(JsonModel):
    id: Text = ""
    producer: Text = ""
    first: Flag = False
    last: Flag = False


class SourceLocation(JsonModel):
    file: Text = ""
    line: Int64 = 0
    function: Text = ""


class WrittenEntry(JsonModel):
    """An entry; of its resource only the labels ``job_id`` and ``task_name`` are used."""

    OUTPUT_ONLY = frozenset(
        {
            *("apphub", "apphub_destination", "apphub_source", "error_groups", "metadata"),
            "receive_timestamp",
        }
    )
    WITHOUT_EFFECT = MappingProxyType(
        {"split": "the log keeps each part of a long entry as an entry"}
    )
    REFUSED = MappingProxyType(
        {"otel": "a job's log keeps only textPayload and jsonPayload; give jsonPayload"}
    )

    log_name: Text = ""
    resource: Resource | None = None
    timestamp: Timestamp | None = None
    severity: Severity = ""
    insert_id: Text = ""
    labels: dict[str, Text] | None = None
    text_payload: Text | None = None
    json_payload: dict[str, JsonValue] | None = None
    proto_payload: dict[str, JsonValue] | None = None
    http_request: HttpRequest | None = None
    operation: Operation | None = None
    source_location: SourceLocation | None = None
    trace: Text = ""
    span_id: Text = ""
    trace_sampled: Flag = False


class WriteEntriesRequest(JsonModel):
    """The request ``entries.write``; its other fields are defaults for entries that lack them."""

    log_name: Text = ""
    resource: Resource | None = None
    labels: dict[str, Text] | None = None
    entries: list[WrittenEntry] | None = None
    partial_success: Flag = False
    dry_run: Flag = False
