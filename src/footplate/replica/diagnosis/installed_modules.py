"""Lists the modules installed in an environment."""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator, Sequence

_DIST_INFO = re.compile(r"(.+)-([^-]+)\.dist-info")
_MODULE = re.compile(r"([A-Za-z_]\w*)(?:\.py|\.[\w-]*\.?so)?")
_MAIN = (
    *("tensorflow", "keras", "torch", "torchvision", "jax", "scikit-learn", "xgboost", "lightgbm"),
    *("numpy", "pandas", "scipy", "google-cloud-storage"),
)
_MOST = 6
_MOST_PACKAGES = 100
"""So many are looked into for a module."""
_BY_MODULE = {
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "faiss": "faiss-cpu",
    "fitz": "PyMuPDF",
    "git": "GitPython",
    "hypertune": "cloudml-hypertune",
    "PIL": "pillow",
    "pytorch_lightning": "pytorch-lightning",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "skopt": "scikit-optimize",
    "tensorflow_datasets": "tensorflow-datasets",
    "tensorflow_hub": "tensorflow-hub",
    "tensorflow_text": "tensorflow-text",
    "umap": "umap-learn",
    "yaml": "PyYAML",
}
"""Distributions whose names can't be told from those of their modules."""
_NOT_MODULES = ("__pycache__", "bin")


def _normalize(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


class InstalledModules:
    """The packages that are installed in ``sites``, directories of which the first is the user's
    own.
    """

    def __init__(self, sites: Sequence[str]) -> None:
        self.sites = sites
        self._own = _read_versions(self.own_site) if self.own_site else {}
        self._versions: dict[str, str] = {}
        for site in reversed(sites):
            self._versions.update(_read_versions(site))

    def distribution_of(self, module: str) -> str:
        """Returns the name to require for a module; the module's own name if no other is known."""
        return _BY_MODULE.get(module) or module.replace("_", "-")

    def version_of(self, module: str) -> tuple[str, str]:
        """Returns the distribution that has a module, and its version; empty if unknown."""
        for name in (module, _BY_MODULE.get(module, module)):
            normal = _normalize(name)
            for known in (normal, f"{normal}-cpu"):
                if known in self._versions:
                    return known, self._versions[known]
        return "", ""

    @property
    def own_site(self) -> str:
        """The folder with the user's packages and their dependencies; '' if there are none."""
        return self.sites[0] if len(self.sites) > 1 else ""

    def is_own(self, distribution: str) -> bool:
        """Returns whether the user's requirements brought the distribution."""
        return distribution in self._own

    def origin(self, distribution: str, runtime: str) -> str:
        return "brought by your requirements" if self.is_own(distribution) else runtime

    def package_with(self, module: str, root: str) -> str:
        """Returns the package that has this module, ``root`` or one below it; '' if none has."""
        packages = [root]
        for package in packages:
            names = self.modules(package) or []
            if module in names:
                return package
            below = (f"{package}.{name}" for name in names)
            packages += [name for name in below if self.is_package(name)]
            del packages[_MOST_PACKAGES:]
        return ""

    def is_package(self, name: str) -> bool:
        return any(os.path.isdir(os.path.join(site, *name.split("."))) for site in self.sites)

    def modules(self, package: str) -> list[str] | None:
        """Returns the names of modules in a package; None if there is no such package."""
        found: list[str] | None = None
        for site in self.sites:
            path = os.path.join(site, *package.split("."))
            if os.path.isdir(path):
                found = [*(found or []), *_list_modules(path)]
            elif os.path.exists(f"{path}.py"):
                found = found or []
        return None if found is None else sorted(dict.fromkeys(found))

    def own_modules(self) -> list[str]:
        """Returns what the user's packages consist of: what lies in the first site of several."""
        return sorted(_list_modules(self.sites[0])) if len(self.sites) > 1 else []

    def nearest(self, module: str) -> str:
        """Returns an existing module with nearly the same name."""
        return self.nearest_of(module, [n for site in self.sites for n in _list_modules(site)])

    def nearest_of(self, name: str, names: Sequence[str]) -> str:
        from difflib import get_close_matches

        near = get_close_matches(name, names, 1, 0.75)
        return near[0] if near and near[0] != name else ""

    def summary(self) -> str:
        """Returns the best-known packages of the runtime, with versions."""
        versions = {name: v for name, v in self._versions.items() if name not in self._own}
        main = [name for name in _MAIN if name in versions][:_MOST]
        named = [f"{name} {versions[name]}" for name in main]
        rest = len(versions) - len(main)
        if rest:
            named.append(f"{rest} other{'s' if rest > 1 else ''}" if main else f"{rest} packages")
        return (
            " and ".join([*([", ".join(named[:-1])] if named[1:] else []), *named[-1:]]) or "none"
        )


def _read_versions(site: str) -> dict[str, str]:
    matches = (_DIST_INFO.fullmatch(name) for name in _list(site))
    return {_normalize(match.group(1)): match.group(2) for match in matches if match}


def _list_modules(path: str) -> Iterator[str]:
    for name in _list(path):
        match = _MODULE.fullmatch(name)
        if match is None or name in _NOT_MODULES or match.group(1).startswith("_"):
            continue
        if name != match.group(1) or os.path.isdir(os.path.join(path, name)):
            yield match.group(1)


def _list(path: str) -> list[str]:
    try:
        return sorted(os.listdir(path))
    except OSError:  # an advice less
        return []
