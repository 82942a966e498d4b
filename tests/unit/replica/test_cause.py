"""The cause of a failure is found in what real programs print."""

from __future__ import annotations

import pytest

from footplate.replica.cause import CauseFinder

PLAIN = """\
Traceback (most recent call last):
  File "trainer/task.py", line 3, in <module>
    float("abc")
ValueError: could not convert string to float: 'abc'
"""
CHAINED = f"""\
{PLAIN}
During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "trainer/task.py", line 5, in <module>
    raise KeyError("b")
    ^^^^^^^^^^^^^^^^^^^
KeyError: 'b'
sys:1: ResourceWarning: unclosed file
"""
RANKED = "".join(f"[rank0]: {line}\n" for line in PLAIN.splitlines())
GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "x.py", line 1, in <module>
  |     raise ExceptionGroup("several", [ValueError(1)])
  | ExceptionGroup: several (1 sub-exception)
  +-+---------------- 1 ----------------
    | ValueError: 1
    +------------------------------------
"""
SYNTAX = """\
  File "trainer/task.py", line 1
    def f(
         ^
SyntaxError: '(' was never closed
"""
LOGGED = "ERROR:root:failed\n" + PLAIN + "INFO:root:shutting down\n\n"


@pytest.mark.parametrize(
    ("text", "exception", "cause"),
    [
        (PLAIN, "ValueError: could not convert string to float: 'abc'", None),
        (CHAINED, "KeyError: 'b'", None),
        (RANKED, "ValueError: could not convert string to float: 'abc'", None),
        (GROUP, "ExceptionGroup: several (1 sub-exception)", None),
        (LOGGED, "ValueError: could not convert string to float: 'abc'", None),
        (SYNTAX, "", "SyntaxError: '(' was never closed"),
        ("usage: task.py\ntask.py: error: no --x\n\n", "", "task.py: error: no --x"),
        ("/r/bin/python3.11: No module named a.b", "", "No module named a.b"),
        ("/r/bin/tool: No such thing", "", "/r/bin/tool: No such thing"),
        ("", "", ""),
    ],
)
def test_cause(text: str, exception: str, cause: str | None) -> None:
    finder = CauseFinder()
    for line in text.split("\n"):
        finder.see(line)
    assert finder.exception == exception
    assert finder.cause == (exception if cause is None else cause)


def test_memory_is_bounded() -> None:
    finder = CauseFinder()
    finder.see("Traceback (most recent call last):")
    finder.see("ValueError: " + "x" * 65536)
    assert len(finder.cause) == 1000
