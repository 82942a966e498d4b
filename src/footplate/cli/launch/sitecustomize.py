"""Runs at the start of each Python program under ``footplate run``.

It must never leave a program unguarded: an error here ends the program. Only what any Python
can parse stands in this file, so that too old ones get to the sentence that says so.
"""

import importlib
import os
import sys

if sys.version_info < (3, 8):  # noqa: UP036 - whatever the user runs
    sys.stderr.write("footplate run: requires Python 3.8 or later, this is %s\n" % sys.version)  # noqa: UP031
    sys.stderr.flush()
    os._exit(1)

try:
    start = importlib.import_module("footplate_launch.startup")
    start.start(os.environ)
except BaseException as error:
    import traceback

    traceback.print_exc()
    sys.stderr.write("footplate run: could not guard this program: %s\n" % error)  # noqa: UP031
    sys.stderr.flush()
    os._exit(1)

start.chain(__file__.rpartition(os.sep)[0])
