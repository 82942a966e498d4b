"""A notebook's cells, with the magics of the extension; what they submit is awaited by ml v1."""

import os
import time

from google.cloud import storage
from googleapiclient import discovery
from IPython.core.interactiveshell import InteractiveShell

from example_results import example

os.environ["TMPDIR"] = os.getcwd()  # where the magics write packages, and leave them
PROJECT, REGION = os.environ["PROJECT"], os.environ["REGION"]
MODEL = """\
import argparse
LETTERS = "abc"
def count():
    return len(LETTERS)
"""
TRAIN = """\
import six
print("counted", count(), six.__version__)
assert count() == %d
"""


def end(job_id):
    """Return the job as it ended."""
    jobs = discovery.build("ml", "v1").projects().jobs()
    for _ in range(240):
        job = jobs.get(name="projects/%s/jobs/%s" % (PROJECT, job_id)).execute()
        if job["state"] in ("SUCCEEDED", "FAILED", "CANCELLED"):
            return job
        time.sleep(0.5)
    return job


def run(runtime, expected=3):
    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "cloudmlmagic.cloudmlmagic")  # by its whole name on Python 3
    line = "-projectId %s -bucket cells -region %s -scaleTier BASIC -runtimeVersion %s"
    settings = "{'install_requires': ['six']}"
    shell.run_cell_magic("ml_init", line % (PROJECT, REGION, runtime), settings)
    shell.run_cell_magic("ml_code", "", MODEL)
    shell.run_cell_magic("ml_run", "cloud", TRAIN % expected)
    job_id = shell.find_line_magic("ml_init").__self__.job_id
    time.sleep(1)  # a job's id is the second
    return end(job_id)


storage.Client(PROJECT).create_bucket("cells", location=REGION)
with example("cells that run as a job"):
    ended = run("2.21")
    assert ended["state"] == "SUCCEEDED", ended
with example("cells of which one fails"):
    ended = run("2.21", expected=4)
    assert ended["state"] == "FAILED", ended
    assert "AssertionError" in ended["errorMessage"], ended
