"""What lines say and how grave they are."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.wire.log_severity import SEVERITIES, read_line


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("step 3: loss 0.1", None),
        ("", None),
        ("WARNING:root:low on memory", "WARNING"),
        ("ERROR:trainer.task:no such file", "ERROR"),
        ("INFO:tensorflow:Saving checkpoints", "INFO"),
        ("CRITICAL:root:over", "CRITICAL"),
        ("DEBUG:urllib3.connectionpool:Starting", "DEBUG"),
        ("[INFO] started", "INFO"),
        ("INFO - started", "INFO"),
        ("2026-01-02 03:04:05,678 - trainer.task - WARNING - slow", "WARNING"),
        ("2026-01-02 03:04:05,678 ERROR trainer: broken", "ERROR"),
        ("[2026-01-02 03:04:05] [INFO] epoch 1", "INFO"),
        ("2026-01-02T03:04:05.678Z DEBUG x", "DEBUG"),
        ("2026-01-02 03:04:05.678901: I tensorflow/core/platform/cpu.cc:182] fast", "INFO"),
        ("2026-01-02 03:04:05.678901: W external/local_tsl/tsl/x.cc:1] hm", "WARNING"),
        ("2026-01-02 03:04:05.678901: F tensorflow/x.cc:1] Check failed", "CRITICAL"),
        ("I0102 03:04:05.678901 139 task.py:12] Restoring", "INFO"),
        ("W0000 00:00:1700000000.123456    4711 gpu_device.cc:2344] no GPU", "WARNING"),
        ("E0102 03:04:05.678901 139 task.py:12] Broken", "ERROR"),
        ("/usr/lib/x.py:12: UserWarning: deprecated", "WARNING"),
        ("x.py:12: DeprecationWarning: deprecated", "WARNING"),
        ("INFORMATIVE text", None),
        ("Traceback (most recent call last):", None),
        ("ValueError: bad", None),
        ("I am no prefix", None),
    ],
)
def test_a_prefix_tells_the_severity_on_all_streams(text: str, severity: str | None) -> None:
    for stream, default in (("stdout", "INFO"), ("stderr", "ERROR"), ("progress", "INFO")):
        read = read_line(stream, text)
        assert (read.severity, read.message, read.payload) == (severity or default, text, "")


@pytest.mark.parametrize(
    ("fields", "severity"),
    [
        ({}, "INFO"),
        ({"severity": "warning"}, "WARNING"),
        ({"severity": "NOTICE", "level": "ERROR"}, "NOTICE"),
        ({"severity": "unheard of", "level": "WARN"}, "WARNING"),
        ({"levelname": "FATAL"}, "CRITICAL"),
        ({"level": 40}, "ERROR"),
        ({"levelno": 10}, "DEBUG"),
        ({"severity": 800}, "EMERGENCY"),
        ({"severity": 200}, "INFO"),
        ({"severity": True}, "INFO"),
        ({"severity": ["ERROR"]}, "INFO"),
        ({"level": -1}, "INFO"),
    ],
)
def test_a_structured_line_says_its_severity_itself(
    fields: dict[str, object], severity: str
) -> None:
    document = {"message": "ERROR: not a prefix\nünï", "time": "2026-01-02T03:04:05Z", **fields}
    read = read_line("stdout", f" {json.dumps(document)} ")
    assert (read.severity, read.message) == (severity, document["message"])
    assert json.loads(read.payload) == document


@pytest.mark.parametrize(
    "text",
    [
        '{"loss": 0.1}',
        '{"message": 3}',
        '{"message": "x"',
        '{"message": "x"}}',
        '{"message": "x", "loss": NaN}',
        '{"message": "x", "loss": 1e999}',
        '["message"]',
        "{}",
        r'{"message": "x", "a": ["\u0000"]}',
        '{"message": "x", "a": ' + "[" * 60 + "]" * 60 + "}",
        "{" * 60_000 + "}",
        '{"a":' * 60_000 + "1" + "}" * 60_000,
        '{"message": "x", "n": ' + "9" * 5000 + "}",
    ],
)
def test_what_is_not_structured_is_kept_as_the_text_it_is(text: str) -> None:
    read = read_line("stdout", text)
    assert (read.message, read.payload) == (text, "")


def test_json_without_message_may_still_say_its_severity() -> None:
    assert read_line("stdout", '{"loss": 0.1, "level": "warning"}').severity == "WARNING"


def test_halves_of_surrogate_pairs_are_replaced() -> None:
    read = read_line("stdout", r'{"message": "\ud800", "\udc00": "\ud83d\ude00"}')
    read.payload.encode()
    assert read.message == "\ufffd"
    assert "\U0001f600" in read.payload


@given(st.sampled_from(["stdout", "stderr", "other"]), st.text())
def test_any_text_is_read(stream: str, text: str) -> None:
    read = read_line(stream, text)
    assert read.severity in SEVERITIES
    read.message.encode()
    assert "\x00" not in read.message


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
keys = st.sampled_from(["message", "severity", "level", "levelname", "levelno", "time"])


@given(st.dictionaries(keys | st.text(), values))
def test_any_json_is_read(document: dict[str, object]) -> None:
    read = read_line("stderr", json.dumps(document))
    assert read.severity in SEVERITIES
    read.payload.encode()
    if read.payload:
        assert json.loads(read.payload)["message"] == read.message
