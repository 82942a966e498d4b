"""Stands in for PySocks where it isn't installed: httplib2 ignores proxies without it.

What httplib2 uses of it, and HTTP proxies alone.
"""

from __future__ import annotations

import base64
import socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

_MAX_HEAD_BYTES = 65536


class ProxyError(OSError):
    socket_err = None


class socksocket(socket.socket):  # noqa: N801 - PySocks's name
    _proxy: tuple[str, int, str | None, str | None] | None = None

    def setproxy(  # PySocks's own arguments
        self,
        proxy_type: int,  # noqa: ARG002 - httplib2 gives it
        addr: str,
        port: int,
        rdns: bool = True,  # noqa: ARG002, FBT001 - as above
        username: str | None = None,
        password: str | None = None,
        **_others: object,
    ) -> None:
        self._proxy = (addr, int(port), username, password)

    set_proxy = setproxy

    def connect(self, address: tuple[str, int]) -> None:  # type: ignore[override]  # of TCP alone
        """Return when the proxy has opened a tunnel. Raises ProxyError: it refuses."""
        if self._proxy is None:
            super().connect(address)
            return
        host, port, username, password = self._proxy
        super().connect((host, port))
        target = address[0] + ":" + str(address[1])
        lines = ["CONNECT " + target + " HTTP/1.1", "Host: " + target]
        if username:
            text = username + ":" + (password or "")
            encoded = base64.b64encode(text.encode()).decode()
            lines.append("Proxy-Authorization: Basic " + encoded)
        self.sendall("\r\n".join([*lines, "", ""]).encode())
        status = self._read_head().split("\r\n")[0]
        if status.split(" ")[1:2] != ["200"]:
            self.close()
            raise ProxyError("the proxy answers: " + status)

    def _read_head(self) -> str:
        """Byte by byte: what follows is for TLS."""
        head = bytearray()
        while not head.endswith(b"\r\n\r\n"):
            byte = self.recv(1)
            if not byte or len(head) > _MAX_HEAD_BYTES:
                raise ProxyError("the proxy closed the connection")
            head += byte
        return head.decode("latin-1")


def patch_httplib2(module: ModuleType, here: ModuleType) -> None:
    if getattr(module, "socks", None) is None:
        setattr(module, "socks", here)  # noqa: B010 - mypy knows no attributes of modules
