"""What uv and compilers really print when something can't be installed, and what is made of it."""

from __future__ import annotations

import pytest

from footplate.replica.environment import uv_errors

REFUSED = """\
error: Request failed after 3 retries in 10.2s
  cause: Failed to fetch: http://me:secret@127.0.0.1:9/simple/numpy/
  cause: error sending request for url (http://127.0.0.1:9/simple/numpy/)
  cause: client error (Connect)
  cause: tcp connect error
  cause: Connection refused (os error 111)
"""
NO_NAME = REFUSED.replace("Connection refused", "Name or service not known")
DISTRUSTED = """\
error: Failed to build `a.tar.gz`
  cause: Failed to resolve requirements from `setup.py` build
  cause: No solution found when resolving: `setuptools>=40.8.0`
  cause: Failed to fetch: https://me:secret@index.example/simple/setuptools/
  cause: error sending request for url (https://me:secret@index.example/simple/setuptools/)
  cause: client error (Connect)
  cause: invalid peer certificate: UnknownIssuer
"""
HASH = """\
Resolved 1 package in 279ms
error: Failed to download `numpy==1.26.4`
  cause: Hash mismatch for `numpy==1.26.4`

         Expected:
           sha256:0000
"""
GIT = """\
error: Failed to download and build `x @ git+https://127.0.0.1:9/x.git`
  cause: Git operation failed
  cause: failed to clone into: /root/.cache/uv/git-v1/db/643f48818ad0f691
  cause: process didn't exit successfully: `/usr/bin/git fetch --force` (exit status: 128)
         --- stderr
         fatal: unable to access 'https://me:secret@127.0.0.1:9/x.git/': Failed to connect
"""
ENDS_OF_BUILDS = """\
error: Failed to build `/w/ext`
  cause: The build backend returned an error
  cause: Call to `setuptools.build_meta:__legacy__.build_wheel` failed (exit status: 1)

hint: Build failures usually indicate a problem with the package or the build environment
"""
SETUP = """\
Building wheel...
Traceback (most recent call last):
  File "<string>", line 14, in <module>
  File "/b/setuptools/build_meta.py", line 317, in run_setup
    exec(code, locals())  # noqa: S102 # exec is intentional here
    ^^^^^^^^^^^^^^^^^^^^
  File "<string>", line 2, in <module>
RuntimeError: needs CUDA_HOME to be set
"""
HEADER = """\
running build_ext
gcc -Wall -fPIC -c fast.c -o build/fast.o
fast.c:1:10: fatal error: no_such.h: No such file or directory
    1 | #include <no_such.h>
      |          ^~~~~~~~~~~
compilation terminated.
error: Command '['gcc', '-Wall', '-c', 'fast.c']' returned non-zero exit status 1.
"""
NO_COMPILER = """\
building 'ext.fast' extension
gcc -Wall -fPIC -c fast.c -o build/fast.o
error: [Errno 2] No such file or directory: 'gcc'
"""
WRONG_CODE = """\
gcc -Wall -fPIC -c fast.c -o build/fast.o
fast.c:3:5: error: unknown type name 'flaot'
error: command '/usr/bin/gcc' failed with exit code 1
"""


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (REFUSED, "http://127.0.0.1:9 can't be reached (Connection refused). To use another"),
        (NO_NAME, "http://127.0.0.1:9 can't be reached (Name or service not known). To use"),
        (
            DISTRUSTED,
            (
                "the certificate of https://index.example isn't trusted (UnknownIssuer). If you "
                "use a proxy"
            ),
        ),
        (HASH, "hash mismatch: the package index has a file for numpy==1.26.4 whose hash"),
        (GIT, "git says: unable to access 'https://127.0.0.1:9/x.git/': Failed to connect"),
        ("error: x\n  cause: No space left on device (os error 28)\n", "the disk of the cache"),
    ],
)
def test_known_troubles_are_said_in_own_words(output: str, words: str) -> None:
    assert uv_errors.reason(output).startswith(words)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (SETUP, "RuntimeError: needs CUDA_HOME to be set"),
        (
            HEADER,
            (
                "the package has to be compiled, but the header no_such.h isn't on the machine "
                "of the service: a package of its system is missing"
            ),
        ),
        (
            NO_COMPILER,
            (
                "the package has to be compiled, but a compiler (gcc) isn't on the machine of "
                "the service"
            ),
        ),
        (WRONG_CODE, "it doesn't compile: fast.c:3:5: error: unknown type name 'flaot'"),
    ],
)
def test_of_a_build_the_one_line_is_told_that_says_why(said: str, words: str) -> None:
    assert uv_errors.explain_build(said + ENDS_OF_BUILDS) == words
