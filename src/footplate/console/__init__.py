"""The console: pages of the service for a browser.

It knows of the service only what the HTTP operations say, which it calls with the rights of
the page's reader.
"""

from footplate.console.routes import ConsoleParts, console_routes
from footplate.console.unknown_addresses import UnknownAddresses

__all__ = ["ConsoleParts", "UnknownAddresses", "console_routes"]
