"""The proxy's own answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.proxy.hosts import EXAMPLES, METADATA

if TYPE_CHECKING:
    from footplate.proxy.request_head import ProxyRequest

ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"
_TLS_PORT = 443


def refuse_host(request: ProxyRequest) -> bytes:
    """Makes the answer, with the way out in its first line: most clients show no other."""
    host = request.host
    if host in METADATA:
        return _answer(
            "404 Footplate has no metadata server",
            "Footplate has no metadata server: GOOGLE_APPLICATION_CREDENTIALS names the account, "
            "and GOOGLE_CLOUD_PROJECT the project.",
        )
    short = f"403 Footplate refuses {host}: --allow-host {host} opens it"
    served = ", ".join(f"{name}.googleapis.com" for name in EXAMPLES)
    return _answer(
        short,
        f"Footplate's proxy answers for {served} and a few more of Google's hosts, and reaches no "
        f"other host. {host}:{request.port} is refused, so that nothing gets to the real service "
        "or is billed there.\n\n"
        f"    footplate run --allow-host {host} -- CMD\n"
        f"    footplate env --allow-host {host}\n\n"
        "let programs reach it directly.",
    )


def refuse_port(request: ProxyRequest) -> bytes:
    text = (
        f"{request.host} is served at port {_TLS_PORT}, over TLS, and at http://{request.host}/; "
        f"the request asks for port {request.port}."
    )
    return _answer(f"403 Footplate refuses port {request.port} of {request.host}", text)


def refuse_program(reason: str) -> bytes:
    """Makes the answer to a program that shows its key and is refused."""
    return _answer(
        "403 Footplate refuses this program", f"The proxy refuses this program: {reason}."
    )


def refuse_head(reason: str) -> bytes:
    return _answer("400 Bad Request", f"The proxy refuses this request: {reason}.")


def ask_password() -> bytes:
    text = (
        "This server requires a token, and so does its proxy: as the password in its address, "
        "http://footplate:TOKEN@HOST:PORT. Set FOOTPLATE_TOKEN, and `footplate run` and "
        "`footplate env` write it there."
    )
    head = 'Proxy-Authenticate: Basic realm="footplate"\r\n'
    return _answer("407 The proxy requires the token of Footplate", text, head)


def _answer(status: str, text: str, headers: str = "") -> bytes:
    body = f"{text}\n".encode()
    head = (
        f"HTTP/1.1 {status}\r\n"
        f"Content-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n{headers}"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + body
