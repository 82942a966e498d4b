"""The composition root: settings to adapters to loops to the app."""

from footplate.server.data_dir import DataDir
from footplate.server.serving import serve

__all__ = ["DataDir", "serve"]
