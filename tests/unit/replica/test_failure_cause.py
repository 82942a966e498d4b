"""The cause of a failure is found in what real programs print."""

from __future__ import annotations

import pytest

from footplate.replica.failure_cause import CauseFinder

STORAGE = f"""\
Traceback (most recent call last):
api.NotFound: 404 GET http://127.0.0.1:80/programs/a-1.chief-0.0.{"0f" * 32}/storage/v1/b/x
"""
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
RICH = """\
╭── Traceback (most recent call last) ──╮
│ /w/trainer/task.py:2 in <module>      │
│ ❱ 2 raise KeyError("lr")               │
╰──────────────────────────────────────╯
KeyError: 'lr'
"""
COLOURED = """\
Traceback (most recent call last):
  File \x1b[35m"<string>"\x1b[0m, line \x1b[35m1\x1b[0m, in \x1b[35m<module>\x1b[0m
\x1b[1;35mValueError\x1b[0m: \x1b[35mbad\x1b[0m\u202e
"""
SEVERAL_LINES = """\
Traceback (most recent call last):
  File "/s/torch/nn/modules/module.py", line 2638, in load_state_dict
    raise RuntimeError(
RuntimeError: Error(s) in loading state_dict for Linear:
\tMissing key(s) in state_dict: "weight", "bias".\x20
\tUnexpected key(s) in state_dict: "bad".\x20
"""
MISSING_KEYS = (
    "RuntimeError: Error(s) in loading state_dict for Linear: Missing key(s) in state_dict: "
    '"weight", "bias".'
)
TENSORFLOW = """\
Traceback (most recent call last):
  File "/s/tensorflow/python/framework/ops.py", line 6027, in raise_from_not_ok_status
    raise core._status_to_exception(e) from None  # pylint: disable=protected-access
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
tensorflow.python.framework.errors_impl.InvalidArgumentError: In[0]: [2,3], In[1]: [2,3] \
[Op:MatMul] name:\x20
"""
TORCHRUN = """\
Traceback (most recent call last):
  File "/w/child.py", line 1, in <module>
    raise ValueError("rank is bad")
ValueError: rank is bad
E1122 05:27:57.446000 1428 torch/distributed/elastic/api.py:1002] failed (exitcode: 1)
Traceback (most recent call last):
  File "/s/torch/distributed/launcher/api.py", line 383, in launch_agent
    raise ChildFailedError(
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\x20
============================================================
child.py FAILED
"""
LOADER = """\
Traceback (most recent call last):
  File "/s/torch/utils/data/dataloader.py", line 725, in __next__
    data = self._next_data()
ValueError: Caught ValueError in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "/w/dl.py", line 6, in __getitem__
    raise ValueError("bad item %d"%i)
ValueError: bad item 0

"""
HANDLED = PLAIN + "epoch\n" * 300 + "the data has no rows\n"
CPLUSPLUS = """\
terminate called after throwing an instance of 'std::runtime_error'
  what():  weights are broken
"""
RUST = """\
thread 'main' (381) panicked at panic.rs:1:85:
index out of bounds: the len is 0 but the index is 5
stack backtrace:
   0: __rustc::rust_begin_unwind
"""
GO = "panic: no weights\n\ngoroutine 1 [running]:\nmain.main()\n\t/w/main.go:4 +0x25\nexit status 2"
FAULTHANDLER = """\
Fatal Python error: Segmentation fault

Current thread 0x00007f818ce56b80 (most recent call first):
  File "/p/ctypes/__init__.py", line 519 in string_at
"""
LOGGED = "ERROR:root:failed\n" + PLAIN + "INFO:root:shutting down\n\n"

PIP = """\
  error: subprocess-exited-with-error

  \u00d7 Preparing metadata (pyproject.toml) did not run successfully.
  │ exit code: 1
  ╰─> [10 lines of output]
      creating '/tmp/pip-modern-metadata-cu07f345/broken-1.dist-info'
      error: invalid command 'bdist_wheel'
      [end of output]

  note: This error originates from a subprocess, and is likely not a problem with pip.
error: metadata-generation-failed

\u00d7 Encountered error while generating package metadata.
╰─> See above for output.

note: This is an issue with the package mentioned above, not pip.
hint: See above for details.
"""
PIP_MISSING = """\
ERROR: Could not find a version that satisfies the requirement nosuch (from versions: none)
ERROR: No matching distribution found for nosuch

[notice] A new release of pip is available: 23.2.1 -> 25.0
[notice] To update, run: pip install --upgrade pip
"""
PIP_STEP = """\
error: metadata-generation-failed

\u00d7 Encountered error while generating package metadata.
╰─> See above for output.
hint: See above for details.
"""
NUMPY = """\
Traceback (most recent call last):
  File "/s/numpy/core/__init__.py", line 24, in <module>
    from . import multiarray
ImportError: libopenblas.so.0: cannot open shared object file: No such file or directory

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/w/task.py", line 1, in <module>
    import numpy
  File "/s/numpy/core/__init__.py", line 50, in <module>
    raise ImportError(msg)
ImportError:\x20

IMPORTANT: PLEASE READ THIS FOR ADVICE ON HOW TO SOLVE THIS ISSUE!

Importing the numpy C-extensions failed. This error can happen for
many reasons, often due to issues with your setup or how NumPy was
installed.

    https://numpy.org/devdocs/user/troubleshooting-importerror.html

Please note and check the following:

  * The Python version is: Python3.9 from "/usr/bin/python"
  * The NumPy version is: "1.21.0"

Original error was: libopenblas.so.0: cannot open shared object file: No such file or directory

"""
NUMPY_WRAPPED = f"""{NUMPY}
The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/s/numpy/__init__.py", line 135, in <module>
    raise ImportError(msg) from e
ImportError: Error importing numpy: you should not try to import numpy from
        its source directory; please exit the numpy source tree, and relaunch
        your python interpreter from there.
"""
_NUMPY_CAUSE = (
    "ImportError: NumPy can't be imported: libopenblas.so.0: cannot open shared object file: "
    "No such file or directory"
)


@pytest.mark.parametrize(
    ("text", "exception", "cause"),
    [
        (PLAIN, "ValueError: could not convert string to float: 'abc'", None),
        (CHAINED, "KeyError: 'b'", None),
        (RANKED, "ValueError: could not convert string to float: 'abc'", None),
        (GROUP, "ExceptionGroup: several (1 sub-exception)", None),
        (LOGGED, "ValueError: could not convert string to float: 'abc'", None),
        (SYNTAX, "SyntaxError: '(' was never closed (at task.py:1)", None),
        ("usage: task.py\ntask.py: error: no --x\n\n", "", "task.py: error: no --x"),
        ("/r/bin/python3.11: No module named a.b", "", "No module named a.b"),
        ("/r/bin/tool: No such thing", "", "/r/bin/tool: No such thing"),
        (STORAGE, "api.NotFound: 404 GET http://127.0.0.1:80/programs/.../storage/v1/b/x", None),
        ("", "", ""),
        (RICH, "KeyError: 'lr'", None),
        (COLOURED, "ValueError: bad", None),
        (SEVERAL_LINES, MISSING_KEYS, None),
        (
            TENSORFLOW,
            (
                "tensorflow.python.framework.errors_impl.InvalidArgumentError: In[0]: [2,3], "
                "In[1]: [2,3]"
            ),
            None,
        ),
        (TORCHRUN, "ValueError: rank is bad", None),
        (LOADER, "ValueError: bad item 0", None),
        (HANDLED, "", "the data has no rows"),
        (PLAIN + "usage: x\ntask.py: error: no --x\n", None, "task.py: error: no --x"),
        (PIP, "", "error: invalid command 'bdist_wheel'"),
        (PIP_MISSING, "", "ERROR: No matching distribution found for nosuch"),
        (PIP_STEP, "", "error: metadata-generation-failed"),
        (f"{PIP}no data\n", "", "no data"),
        (NUMPY, _NUMPY_CAUSE, None),
        (NUMPY_WRAPPED, _NUMPY_CAUSE, None),
        (NUMPY_WRAPPED.replace("\n", "\n[rank0]: "), _NUMPY_CAUSE, None),
        (GO, "", "panic: no weights"),
        ("\x1b]0;title\x07\x1b[31mno\u200b data\x1b[0m\x08", "", "no data"),
        ("lines\r of \x9b2J progress", "", "lines of 2J progress"),
    ],
)
def test_cause(text: str, exception: str | None, cause: str | None) -> None:
    finder = CauseFinder()
    for line in text.split("\n"):
        finder.see(line)
    if exception is not None:
        assert finder.exception == exception
    assert finder.cause == (exception if cause is None else cause)


@pytest.mark.parametrize("place", range(5))
@pytest.mark.parametrize("stray", ["so far so good", "[1/2] Building a.o"])
def test_a_line_of_something_else_among_those_of_a_traceback(place: int, stray: str) -> None:
    lines = PLAIN.splitlines()
    finder = CauseFinder()
    for line in [*lines[:place], stray, *lines[place:]]:
        finder.see(line)
    assert finder.exception == "ValueError: could not convert string to float: 'abc'"


def test_memory_is_bounded() -> None:
    finder = CauseFinder()
    finder.see("Traceback (most recent call last):")
    finder.see("ValueError: " + "x" * 65536)
    assert len(finder.cause) == 1000


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (CPLUSPLUS, "std::runtime_error: weights are broken"),
        (RUST, "thread 'main' (381) panicked at panic.rs:1:85: index out of bounds: the len is 0"),
        (FAULTHANDLER, "Fatal Python error: Segmentation fault"),
        ("free(): double free detected in tcache 2\n", "free(): double free detected in tcache 2"),
        ("a: a.c:3: main: Assertion `0' failed.\n", "a: a.c:3: main: Assertion `0' failed."),
        (
            "F0000 00:00:1 a.cc:9] Check failed: n > 0 (0 vs. 0)\n",
            "F0000 00:00:1 a.cc:9] Check failed",
        ),
        (PLAIN + CPLUSPLUS, "std::runtime_error: weights are broken"),
        (CPLUSPLUS + PLAIN, "ValueError: could not convert string to float: 'abc'"),
        (PLAIN, "ValueError: could not convert string to float: 'abc'"),
        ("step 3 of 9\n", ""),
    ],
)
def test_what_a_program_said_before_it_ended_itself(text: str, fault: str) -> None:
    finder = CauseFinder()
    for line in text.split("\n"):
        finder.see(line)
    assert finder.fault.startswith(fault)
    assert bool(finder.fault) == bool(fault)


DEEP = """\
Traceback (most recent call last):
  File "<frozen runpy>", line 198, in _run_module_as_main
  File "/c/lib/python3.11/site-packages/trainer/task.py", line 9, in <module>
    main()
  File "/c/lib/python3.11/site-packages/trainer/data/__init__.py", line 2, in load
    pandas.read_csv(path)
  File "/b/lib/python3.11/site-packages/pandas/io/readers.py", line 1026, in read_csv
    return _read(filepath_or_buffer, kwds)
FileNotFoundError: data.csv
"""
IN_A_THREAD = """\
Exception in thread Thread-1 (run):
Traceback (most recent call last):
  File "/usr/lib/python3.11/threading.py", line 1045, in _bootstrap_inner
    self.run()
  File "/app/work.py", line 3, in run
ZeroDivisionError: division by zero
"""
ALL_THREADS = """\
Fatal Python error: Segmentation fault

Thread 0x00007f0 (most recent call first):
  File "/app/other.py", line 4 in wait

Current thread 0x00007f1 (most recent call first):
  File "/usr/lib/python3.11/ctypes/__init__.py", line 519 in string_at
  File "/app/task.py", line 2 in load
  File "/app/task.py", line 5 in <module>
"""


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (PLAIN, "task.py:3 in <module>"),
        (CHAINED, "task.py:5 in <module>"),
        (RANKED, "task.py:3 in <module>"),
        (RICH, "task.py:2 in <module>"),
        (COLOURED, "<string>:1 in <module>"),
        (GROUP, "x.py:1 in <module>"),
        (DEEP, "data/__init__.py:2 in load"),
        (DEEP.replace("/trainer/data/__init__.py", "/trainer.py"), "trainer.py:2 in load"),
        (DEEP.replace("/trainer/", "/torch/"), "readers.py:1026 in read_csv"),
        (IN_A_THREAD, "work.py:3 in run"),
        (ALL_THREADS, "task.py:2 in load"),
        (PLAIN + DEEP + "saved nothing\n", "data/__init__.py:2 in load"),
    ],
)
def test_a_cause_says_where_it_is_in_the_users_own_code(text: str, place: str) -> None:
    finder = CauseFinder("trainer")
    for line in text.split("\n"):
        finder.see(line)
    said = finder.fault
    assert said
    assert finder.locate(f"{said}; out of memory") == f"{said} (at {place}); out of memory"


@pytest.mark.parametrize(
    "text", [SYNTAX, HANDLED, PLAIN + "usage: x\ntask.py: error: no --x\n", PIP, GO, ""]
)
def test_a_cause_without_a_traceback_names_no_other_place(text: str) -> None:
    finder = CauseFinder("trainer")
    for line in text.split("\n"):
        finder.see(line)
    assert finder.locate(finder.cause) == finder.cause
