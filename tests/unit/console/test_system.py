"""What the page on the system makes of metrics."""

from __future__ import annotations

from footplate.console.system_view import Caller, Sample, read_callers, read_metrics

# ruff: noqa: E501 - lines of metrics
TEXT = """# HELP x y
process_cpu_seconds_total 3.5
footplate_requests_total{client="gcloud",route="/v1",status="200",transport="REST",verb="GET",version="1"} 3.0
footplate_requests_total{client="gcloud",route="/v1",status="404",transport="REST",verb="GET",version="1"} 2.0
footplate_requests_total{client="a\\"b}",route="/v1",status="200",transport="gRPC",verb="GET",version=""} 9.0
no line of these
"""


def test_callers_are_counted_and_those_who_call_most_come_first() -> None:
    samples = list(read_metrics(TEXT))
    assert samples[0] == Sample("process_cpu_seconds_total", {}, 3.5)
    assert read_callers(samples) == [
        Caller('a\\"b}', "", "gRPC", 9, 0),
        Caller("gcloud", "1", "REST", 5, 2),
    ]
