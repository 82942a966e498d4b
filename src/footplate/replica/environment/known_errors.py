"""Recognises known installation errors and explains them."""

from __future__ import annotations

import re

from footplate.replica.failure_cause import CauseFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Sequence

_FETCH = re.compile(r"(?:Failed to fetch: |for url \()`?(?P<place>https?://[^\s`)]+)")
_UNREACHED = re.compile(
    r"(Connection refused|Connection reset|Name or service not known|Temporary failure in name"
    r" resolution|No address associated with hostname|Network is unreachable|No route to host"
    r"|operation timed out|[Tt]imed out"
    r"|HTTP status (?:client|server) error \([^)]*\))"
)
_CERTIFICATE = "invalid peer certificate"
_HASH = re.compile(r"Hash mismatch for `([^`]+)`")
_GIT = re.compile(r"Git operation failed.*?fatal: ([^\n]+)", re.DOTALL)
_FULL = re.compile(r"No space left on device|os error 28")
_TOOLS = r"[\w+-]*(?:gcc|g\+\+|cc|clang|c\+\+|nvcc|gfortran|cmake|rustc|cargo)"
_NO_COMPILER = re.compile(
    rf"No such file or directory: '(?:\S*/)?({_TOOLS})'|unable to execute '([^']+)'"
    rf"|command '({_TOOLS})' failed: No such"
    r"|can't find Rust compiler|CMake must be installed"
)
_HEADER = re.compile(r"fatal error: '?([\w./+-]+\.h(?:pp)?)'?(?:: No such file| file not found)")
_COMPILED = re.compile(r"^\S+:\d+(?::\d+)?: (?:fatal )?error: .+")


def recognise(output: str) -> str:
    """The explanation of a known error; empty: uv's own message is better."""
    hashed = _HASH.search(output)
    if hashed is not None:
        return (
            f"hash mismatch: the index has another file for {hashed.group(1)} than the one whose "
            "hash is pinned: a mirror that rebuilds packages, or one that was tampered with"
        )
    if _FULL.search(output):
        return "the disk of the cache, or of uv's own one, is full: make room there"
    git = _GIT.search(output)
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
        f"{_host(fetch.group('place'))} can't be reached ({why.group(1)}); if this machine "
        "has another package index, name it in UV_DEFAULT_INDEX or PIP_INDEX_URL where the service "
        "starts, and wheels in a folder in UV_FIND_LINKS"
    )


def _describe_distrust(output: str) -> str:
    """The words of uv on it vary in all but these."""
    fetch, why = _FETCH.search(output), re.search(rf"{_CERTIFICATE}: ?([\w ]+)", output)
    where = _host(fetch.group("place")) if fetch else "the package index"
    return (
        f"the certificate of {where} isn't trusted ({why.group(1).strip() if why else 'invalid'}); "
        "if a proxy here signs what passes it, or the index is your own, start the service with "
        "SSL_CERT_FILE=FILE, the certificates of those to trust"
    )


def _host(place: str) -> str:
    scheme, _, rest = _without_secrets(place).partition("://")
    return f"{scheme}://{rest.partition('/')[0]}"


def _without_secrets(text: str) -> str:
    """Addresses of private indexes have a user's password in them."""
    return re.sub(r"://[^/@\s']*@", "://", text)


def summarise_build(said: Sequence[str]) -> str:
    """The one line of a build that tells why it failed; empty: there is none that is known."""
    text = "\n".join(said)
    tool = _NO_COMPILER.search(text)
    if tool is not None:
        name = next((group for group in tool.groups() if group), "")
        what = f"a compiler ({name})" if name else f"a compiler ({tool.group().strip()})"
        return f"it has to be compiled, and {what} isn't on the machine of the service"
    header = _HEADER.search(text)
    if header is not None:
        return (
            f"it has to be compiled, and the header {header.group(1)} isn't on the machine of the "
            "service: a package of its system is missing"
        )
    compiled = next((line.strip() for line in said if _COMPILED.match(line.strip())), "")
    if compiled:
        return f"it doesn't compile: {compiled}"
    finder = CauseFinder()
    for line in said:
        finder.see(line)
    return finder.exception
