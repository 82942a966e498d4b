"""The proxy's own answers."""

from __future__ import annotations

from footplate.proxy.hosts import EXAMPLES, METADATA
from footplate.proxy.request_head import ProxyRequest

ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"
_TLS_PORT = 443


def refuse_host(request: ProxyRequest) -> bytes:
    """Returns the answer, with the remedy in its first line: most clients show no other."""
    host = request.host
    if host in METADATA:
        return _answer(
            "404 Footplate has no metadata server",
            "Footplate has no metadata server: programs find the account in "
            "GOOGLE_APPLICATION_CREDENTIALS, and the project in GOOGLE_CLOUD_PROJECT.",
        )
    short = f"403 Footplate refuses the host {host}: allow it with --allow-host {host}"
    served = ", ".join(f"{name}.googleapis.com" for name in EXAMPLES)
    return _answer(
        short,
        f"Footplate's proxy answers for {served} and a few more of Google's hosts. It refuses "
        f"{host}:{request.port}, so that no program reaches a real service that bills requests. "
        "To let programs reach this host directly:\n\n"
        f"    footplate run --allow-host {host} -- CMD\n"
        f"    footplate env --allow-host {host}",
    )


def refuse_port(request: ProxyRequest) -> bytes:
    text = (
        f"The proxy serves {request.host} at port {_TLS_PORT} (TLS) and at "
        f"http://{request.host}/. This request asks for port {request.port}."
    )
    return _answer(f"403 Footplate refuses port {request.port} of {request.host}", text)


def refuse_program(reason: str) -> bytes:
    """Returns the answer to a program that sent its key and is refused."""
    return _answer(
        "403 Footplate refuses this program", f"The proxy refuses this program: {reason}."
    )


def refuse_head(reason: str) -> bytes:
    return _answer("400 Bad Request", f"The proxy refuses this request: {reason}.")


def ask_password() -> bytes:
    text = (
        "This proxy requires the server's token as the password in its address: "
        "http://footplate:TOKEN@HOST:PORT. If FOOTPLATE_TOKEN is set, `footplate run` and "
        "`footplate env` put the token there."
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
