"""Import hooks that patch modules right after they are imported."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.abc import Loader
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

    Patch = Callable[[ModuleType], None]


class PatchingFinder:
    """Goes first on ``sys.meta_path``; lets the others find the module, and wraps its loader."""

    def __init__(self, find_patch: Callable[[str], Patch | None]) -> None:
        self._find_patch = find_patch

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        patch = self._find_patch(name) if name.startswith(("google", "grpc", "httplib2")) else None
        if patch is None:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find and finder != self else None
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    loader: Any = PatchingLoader(spec.loader, patch)
                    spec.loader = loader
                return spec
        return None


class PatchingLoader:
    """Loads as the loader it stands for does, gives it its place back, then patches."""

    def __init__(self, loader: Loader, patch: Patch) -> None:
        self._loader = loader
        self._patch = patch

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._patch(module)
