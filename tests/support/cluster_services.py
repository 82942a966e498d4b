"""Service addresses and names in the Pods' network, in place of kube-proxy and of cluster DNS.

``python cluster_services.py KUBECONFIG HOSTS`` runs in the network of a node, to which all service
addresses are local. Connections to one go on to a Pod that is ready. dnsmasq reads ``HOSTS``.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kubernetes import client, config

DOMAIN = "svc.cluster.local"
EVERY_S = 0.3
BLOCK = 1 << 16


class Services:
    def __init__(self, kubeconfig: str, hosts: Path) -> None:
        config.load_kube_config(kubeconfig)
        self._core: Any = client.CoreV1Api()
        address = urlsplit(self._core.api_client.configuration.host)
        self._server = str(address.hostname), int(address.port or 443)
        self._hosts = hosts
        self._targets: dict[tuple[str, int], list[tuple[str, int]]] = {}
        self._listeners: dict[tuple[str, int], asyncio.Server] = {}

    async def run(self) -> None:
        while True:
            await self._look()
            await asyncio.sleep(EVERY_S)

    async def _look(self) -> None:
        services = await asyncio.to_thread(self._core.list_service_for_all_namespaces)
        endpoints = await asyncio.to_thread(self._core.list_endpoints_for_all_namespaces)
        found = {(e.metadata.namespace, e.metadata.name): e for e in endpoints.items}
        names: list[str] = []
        targets: dict[tuple[str, int], list[tuple[str, int]]] = {}
        for service in services.items:
            metadata, address = service.metadata, service.spec.cluster_ip
            full = f"{metadata.name}.{metadata.namespace}.{DOMAIN}"
            own = found.get((metadata.namespace, metadata.name))
            if address == "None":
                names += _headless(full, own)
                continue
            names.append(f"{address} {full}")
            for port in service.spec.ports:
                targets[address, port.port] = _ready(own, port.name)
            if full == f"kubernetes.default.{DOMAIN}":
                targets[address, 443] = [self._server]
        self._targets = targets
        self._write(names)
        for place in targets.keys() - self._listeners.keys():
            self._listeners[place] = await self._listen(place)
        for place in self._listeners.keys() - targets.keys():
            self._listeners.pop(place).close()

    def _write(self, names: list[str]) -> None:
        """dnsmasq takes up what is written, and forgets what isn't there any more when told to."""
        text = "".join(f"{line}\n" for line in sorted(names))
        if not self._hosts.exists() or self._hosts.read_text() != text:
            self._hosts.write_text(text)

    async def _listen(self, place: tuple[str, int]) -> asyncio.Server:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(OSError):
                for host, port in self._targets.get(place, ()):
                    other = await asyncio.open_connection(host, port)
                    await asyncio.gather(_copy(reader, other[1]), _copy(other[0], writer))
                    return
            writer.close()

        return await asyncio.start_server(serve, *place)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while block := await reader.read(BLOCK):
            writer.write(block)
            await writer.drain()
    writer.close()


def _ready(endpoints: Any, port: str | None) -> list[tuple[str, int]]:
    return [
        (address.ip, each.port)
        for subset in (endpoints and endpoints.subsets) or ()
        for each in subset.ports or ()
        if each.name == port
        for address in subset.addresses or ()
    ]


def _headless(name: str, endpoints: Any) -> list[str]:
    subsets = (endpoints and endpoints.subsets) or ()
    addresses = [address for subset in subsets for address in subset.addresses or ()]
    named = [f"{each.ip} {each.hostname}.{name}" for each in addresses if each.hostname]
    return [*(f"{each.ip} {name}" for each in addresses), *named]


if __name__ == "__main__":
    asyncio.run(Services(sys.argv[1], Path(sys.argv[2])).run())
