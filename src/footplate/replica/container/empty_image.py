"""An image without a file, by the digest of what it is: no other image can take its place."""

from __future__ import annotations

import hashlib
import json
import os

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from footplate.containers.engine_api import Engine

_TAG = "localhost/footplate-empty:latest"
"""A tag for those who list the engine's images."""
_LAYER = b"\0" * 1024
"""A tar archive of nothing."""
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def find_id() -> str:
    """Returns the id of the empty image for this machine's architecture."""
    return f"sha256:{hashlib.sha256(_config()).hexdigest()}"


def load(engine: Engine) -> None:
    """Loads the empty image into the engine, unless it is there. Raises EngineError, EngineGone."""
    config = _config()
    name = f"{hashlib.sha256(config).hexdigest()}.json"
    manifest = [{"Config": name, "RepoTags": [_TAG], "Layers": ["layer.tar"]}]
    files = {"manifest.json": json.dumps(manifest).encode(), name: config, "layer.tar": _LAYER}
    engine.load_image(_pack(files))


def _config() -> bytes:
    machine = os.uname().machine
    layer = f"sha256:{hashlib.sha256(_LAYER).hexdigest()}"
    config = {
        "architecture": _ARCHITECTURES.get(machine, machine),
        "config": {},
        "created": "1970-01-01T00:00:00Z",
        "history": [{"created": "1970-01-01T00:00:00Z"}],
        "os": "linux",
        "rootfs": {"type": "layers", "diff_ids": [layer]},
    }
    return json.dumps(config, sort_keys=True).encode()


def _pack(files: dict[str, bytes]) -> bytes:
    import io
    import tarfile  # few need it, and it costs memory

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return packed.getvalue()
