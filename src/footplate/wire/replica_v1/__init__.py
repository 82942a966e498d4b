"""The replica API's JSON: tasks for supervisors, and their reports.

Reports come from whoever has a replica's token, which a program may get hold of: everything in
them is checked. What an honest program can print is never refused, for a supervisor sends its
reports until they are taken.
"""

from footplate.wire.replica_v1.fields import MAX_OPEN_PORTS, MAX_TEXT_LENGTH
from footplate.wire.replica_v1.records import (
    MAX_LINE_LENGTH,
    MAX_RECORDS,
    EventRecord,
    ExitRecord,
    LineRecord,
    MetricRecord,
    Record,
    StateRecord,
    TagsRecord,
    UsageRecord,
    decode_image,
    decode_reports,
    encode_answer,
)
from footplate.wire.replica_v1.task import (
    SLICE_VARIABLE,
    Allotment,
    BoundBucket,
    ContainerTask,
    Package,
    PythonTask,
    Start,
    Task,
    encode_preparation,
    encode_start,
    encode_task,
)

__all__ = [
    "MAX_LINE_LENGTH",
    "MAX_OPEN_PORTS",
    "MAX_RECORDS",
    "MAX_TEXT_LENGTH",
    "SLICE_VARIABLE",
    "Allotment",
    "BoundBucket",
    "ContainerTask",
    "EventRecord",
    "ExitRecord",
    "LineRecord",
    "MetricRecord",
    "Package",
    "PythonTask",
    "Record",
    "Start",
    "StateRecord",
    "TagsRecord",
    "Task",
    "UsageRecord",
    "decode_image",
    "decode_reports",
    "encode_answer",
    "encode_preparation",
    "encode_start",
    "encode_task",
]
