"""What a job's setup.py and program do with a runtime's environment, as in Google's images."""

from __future__ import annotations

from footplate.domain.job_states import State
from tests.e2e.service.conftest import Context

SETUP = """
import numpy, trainer
from setuptools import find_packages, setup
setup(name="trainer", version="0.1.0", packages=find_packages(), description=numpy.__version__)
"""
INSTALL = """
import importlib.util, subprocess, sys, zipfile
print(importlib.util.find_spec("gamma"))
info = "gamma-1.0.dist-info"
with zipfile.ZipFile("gamma-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("gamma.py", "version = '1.0'")
    wheel.writestr(info + "/METADATA", "Metadata-Version: 2.1\\nName: gamma\\nVersion: 1.0\\n")
    wheel.writestr(info + "/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\n"
                                    "Tag: py3-none-any\\n")
    wheel.writestr(info + "/RECORD", "")
pip = [sys.executable, "-m", "pip"]
subprocess.run([*pip, "install", "--quiet", "--no-index", "gamma-1.0-py3-none-any.whl"], check=True)
import gamma
print(gamma.version)
"""


def test_a_program_installs_for_itself_and_a_setup_imports_the_runtime(context: Context) -> None:
    """What the first program installs the second one doesn't find."""
    for _ in range(2):
        name = context.submit(INSTALL, setup=SETUP)
        job = context.wait_for(name)
        assert job.state is State.SUCCEEDED, (job.error_message, context.messages(name))
        assert context.messages(name) == ["None", "1.0"]
