"""Change modules right after they are imported, and only if they are."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.abc import Loader
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

    Patch = Callable[[ModuleType], None]


class PatchingFinder:
    """Goes first on ``sys.meta_path``; lets the others find the module, and wraps its loader."""

    def __init__(self, patches: Sequence[tuple[str, Patch]]) -> None:
        self._patches = [(re.compile(pattern), patch) for pattern, patch in patches]

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith(("google", "grpc")):
            return None
        patches = [patch for pattern, patch in self._patches if pattern.fullmatch(name)]
        if not patches:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find and finder != self else None
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    loader: Any = PatchingLoader(spec.loader, patches)
                    spec.loader = loader
                return spec
        return None


class PatchingLoader:
    """Loads as the loader it stands for does, gives it its place back, then patches."""

    def __init__(self, loader: Loader, patches: Sequence[Patch]) -> None:
        self._loader = loader
        self._patches = patches

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        for patch in self._patches:
            patch(module)
