"""Explains uv's errors in one sentence."""

from __future__ import annotations

import errno
import re

from footplate.replica.diagnosis.machine_errors import explain_installers
from footplate.replica.failure_cause import CauseFinder

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Iterator, Sequence


_FETCH = re.compile(r"(?:Failed to fetch: |for url \()`?(?P<place>https?://[^\s`)]+)")
_UNREACHED = re.compile(
    r"(Connection refused|Connection reset|Name or service not known|Temporary failure in name"
    r" resolution|No address associated with hostname|Network is unreachable|No route to host"
    r"|operation timed out|[Tt]imed out"
    r"|HTTP status (?:client|server) error \([^)]{0,100}\))"
)
_CERTIFICATE = "invalid peer certificate"
_HASH = re.compile(r"Hash mismatch for `([^`]{1,300})`")
_GIT = "Git operation failed"
_FATAL = re.compile(r"fatal: ([^\n]+)")
_FULL = re.compile(r"No space left on device|os error 28")
_TOOLS = r"[\w+-]{0,60}(?:gcc|g\+\+|cc|clang|c\+\+|nvcc|gfortran|cmake|rustc|cargo)"
_NO_COMPILER = re.compile(
    rf"No such file or directory: '(?:[^\s']{{0,300}}/)?({_TOOLS})'"
    r"|unable to execute '([^']{1,300})'"
    rf"|command '({_TOOLS})' failed: No such"
    r"|can't find Rust compiler|CMake must be installed"
)
_HEADER = re.compile(
    r"fatal error: '?([\w./+-]{1,300}\.h(?:pp)?)'?(?:: No such file| file not found)"
)
_COMPILED = re.compile(r"^\S+:\d+(?::\d+)?: (?:fatal )?error: .+")


def recognise(output: str) -> str:
    """Returns the explanation of a known error; '' if uv's own message is better."""
    hashed = _HASH.search(output)
    if hashed is not None:
        return (
            f"hash mismatch: the package index has a file for {hashed.group(1)} whose hash isn't "
            "the pinned one. Either the index rebuilds packages, or somebody has changed the file"
        )
    if _FULL.search(output):
        return "the disk of the cache, or of uv's own cache, is full: free some space on it"
    git = _FATAL.search(output, output.find(_GIT)) if _GIT in output else None
    if git is not None:
        return f"git says: {_without_secrets(git.group(1).strip())}"
    if _CERTIFICATE in output:
        return _describe_distrust(output)
    return "" if "No solution found" in output else _describe_unreached(output)


def _describe_unreached(output: str) -> str:
    fetch, why = _FETCH.search(output), _UNREACHED.search(output)
    if fetch is None or why is None:
        return ""
    return (
        f"{_host(fetch.group('place'))} can't be reached ({why.group(1)}). To use another package "
        "index, start the service with UV_DEFAULT_INDEX or PIP_INDEX_URL. For wheels in a folder "
        "set UV_FIND_LINKS"
    )


def _describe_distrust(output: str) -> str:
    """Explains that a certificate isn't trusted; uv words this in several ways."""
    fetch, why = _FETCH.search(output), re.search(rf"{_CERTIFICATE}: ?([\w ]+)", output)
    where = _host(fetch.group("place")) if fetch else "the package index"
    return (
        f"the certificate of {where} isn't trusted ({why.group(1).strip() if why else 'invalid'}). "
        "If you use a proxy or an index with its own certificate, start the service with "
        "SSL_CERT_FILE=FILE, a file with the certificates to trust"
    )


def _host(place: str) -> str:
    scheme, _, rest = _without_secrets(place).partition("://")
    return f"{scheme}://{rest.partition('/')[0]}"


def _without_secrets(text: str) -> str:
    """Returns the text without secrets: addresses of private indexes contain a user's password."""
    return re.sub(r"://[^/@\s']*@", "://", text)


def summarise_build(said: Sequence[str]) -> str:
    """Returns the one line of a build's output that tells why it failed; '' if none is known."""
    text = "\n".join(said)
    system = explain_installers(text)
    if system:
        return system
    tool = _NO_COMPILER.search(text)
    if tool is not None:
        name = next((group for group in tool.groups() if group), "")
        what = f"a compiler ({name})" if name else f"a compiler ({tool.group().strip()})"
        return f"the package has to be compiled, but {what} isn't on the machine of the service"
    header = _HEADER.search(text)
    if header is not None:
        return (
            f"the package has to be compiled, but the header {header.group(1)} isn't on the "
            "machine of the service: a package of its system is missing"
        )
    compiled = next((line.strip() for line in said if _COMPILED.match(line.strip())), "")
    if compiled:
        return f"it doesn't compile: {compiled}"
    finder = CauseFinder()
    for line in said:
        finder.see(line)
    return finder.exception


_ERROR = re.compile("^\\s*(?:error:|\u00d7)")
_LEADER = re.compile("^\\s*(?:error:|cause:|[\u00d7\u2570\u251c\u2502\u2500\u25b6]+)\\s*")
_MISSING = (
    re.compile(r"no version of ([^\s,]+)"),
    re.compile(r"(?<![^\s,])([^\s,]+) has no (?:usable )?wheels"),
    re.compile(r"(?<![^\s,])([^\s,]+) was not found in"),
)
_FAILED_BUILD = re.compile(r"Failed to (?:build|download and build) `([^`]+)`")
_OUTPUT = re.compile(r"^\s*\[(?:stderr|stdout)\]\s*$")
_TRACEBACK = "Traceback (most recent call last):"
_PROGRESS = ("Building wheel...", "Building wheel from source distribution...")
_FRAME = " \u2502^~"
_PREAMBLE = re.compile(r"^No solution found when resolving dependencies:+ ")
_CONCLUSION = re.compile(
    r"(?: And because only \S{1,300} is available"
    r"(?: and you require [^,]{0,300}, we can conclude that|,)"
    r"|, we can conclude that) your requirements are unsatisfiable$"
)
_NO_SPACE = re.compile(r"No space left on device|Disk quota exceeded|\(os error (?:28|122)\)")
FULL = (
    "the disk is full; free some space, for instance with `footplate runtimes prune`, or put "
    "the cache elsewhere (setting cache_dir, or UV_CACHE_DIR for uv)"
)
_BUILD_LINES = 8
_WORDS_LENGTH = 1500


def find_missing(output: str) -> str:
    """Returns the requirement that can't be had or built, like ``numpy==1.10``; '' if the output
    doesn't name it.
    """
    failed = _FAILED_BUILD.search(output)
    if failed:
        return failed.group(1).replace("@", "==") if "://" not in failed.group(1) else ""
    for pattern in _MISSING:
        match = pattern.search(output)
        if match:
            return match.group(1).strip("`")
    return ""


def find_source(output: str) -> str:
    """Returns the address in a requirement that could not be fetched or built; '' if there is
    none.
    """
    failed = _FAILED_BUILD.search(output)
    return failed.group(1) if failed and "Failed to download and build" in failed.group(0) else ""


def is_unavailable(output: str) -> bool:
    """Returns whether the indexes lack a package, rather than being unreachable or failing."""
    return "No solution found" in output


def failed_to_build(output: str) -> bool:
    return _FAILED_BUILD.search(output) is not None


def reason(output: str) -> str:
    """Returns the reason of a failure: our explanation if the error is known, else uv's."""
    return recognise(output) or read_reason(output)


def read_reason(output: str) -> str:
    """Returns the reason that uv gives, without its hints about its own options."""
    clauses: list[str] = []
    keeping = False
    for line in output.splitlines():
        if _ERROR.match(line):
            clauses, keeping = [], True
        elif line.startswith("hint:") or _OUTPUT.match(line) or not line.strip():
            keeping = False
        if keeping and _LEADER.match(line):
            clauses.append(_LEADER.sub("", line).strip())
        elif keeping:
            clauses[-1] += f" {line.strip()}"
    words = ": ".join(clauses) or " ".join(output.split())[-_WORDS_LENGTH:]
    words = _CONCLUSION.sub("", _PREAMBLE.sub("", words.rstrip("."))).rstrip(".")
    return words if len(words) <= _WORDS_LENGTH else f"{words[:_WORDS_LENGTH]}..."


def is_full(output: str) -> bool:
    """Returns whether a disk was full: uv reports that in the system's words."""
    return _NO_SPACE.search(output) is not None


def explain_os_error(error: OSError) -> str:
    return FULL if error.errno in (errno.ENOSPC, errno.EDQUOT) else str(error)


def explain(output: str) -> str:
    """Returns why an installation failed; names the package to be built if its build failed."""
    if is_full(output):
        return FULL
    if failed_to_build(output):
        return f"{find_missing(output)} doesn't build: {explain_build(output)}"
    return reason(output)


def explain_build(output: str) -> str:
    """Returns why a build failed: the build's last words, unless uv itself found the fault."""
    why = reason(output)
    if "://" in find_source(output):  # it was never fetched
        return why
    return build_output(output) or why if "build backend" in why.lower() else why


def build_output(output: str) -> str:
    """Returns the last lines that the build itself printed, without the frames of tracebacks."""
    lines = output.splitlines()
    starts = [index for index, line in enumerate(lines) if _OUTPUT.match(line)]
    if starts:
        said = lines[starts[-1] + 1 :]
    else:
        errors = [i for i, line in enumerate(lines) if _ERROR.match(line)]
        said = lines[: errors[-1] if errors else len(lines)]  # builds print such lines, too
    hint = (i for i, line in enumerate(said) if line.startswith("hint:"))
    said = said[: next(hint, len(said))]
    known = summarise_build(said)
    if known:
        return known[:_WORDS_LENGTH]
    kept = [line.strip() for line in _without_noise(said) if line.strip(_FRAME)]
    return " | ".join(kept[-_BUILD_LINES:])[-_WORDS_LENGTH:]


def _without_noise(lines: list[str]) -> Iterator[str]:
    margin, in_traceback = 0, False
    for line in lines:
        if line.strip() in _PROGRESS:
            continue
        if line.strip() == _TRACEBACK:
            margin, in_traceback = line.index(_TRACEBACK), True
        elif not in_traceback or not line[margin : margin + 1].isspace():
            in_traceback = False
            yield line
