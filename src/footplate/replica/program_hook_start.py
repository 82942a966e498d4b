"""Runs at the start of each Python program of a job, and loads the hook when it is needed.

The hook is ``program_hook``. Beside a program no compiled file can lie, so Python would compile the
whole hook at each start, which takes 4 ms. Most programs import none of the libraries that it waits
for.

The supervisor copies this file, as ``sitecustomize.py``, to where programs find it. It runs on any
Python from 3.6 on, whatever the program starts, and never breaks one.
"""

import os
import sys

TYPE_CHECKING = False  # typing would cost time
if TYPE_CHECKING:
    from typing import Any

HOOK, PRODUCTS = "footplate_program_hook", "footplate_google_products"
"""The modules ``program_hook`` and ``google_products``, as they lie beside this file."""
LIBRARIES = ("google", "grpc", "tensorflow")
"""Where the names of all modules begin for which the hook waits."""


class Waiting:
    """A finder to go first on ``sys.meta_path``, which passes imports of ``LIBRARIES`` to the hook.

    ``folder`` is where the hook lies.
    """

    def __init__(self, folder: str) -> None:
        # The module is part of the interpreter; `threading` would cost time.
        from _thread import allocate_lock

        self._folder = folder
        self._lock = allocate_lock()
        self._finder: "Any" = None

    def find_spec(self, name: str, path: "Any" = None, *more: "Any") -> "Any":
        if name.partition(".")[0] not in LIBRARIES:
            return None
        with self._lock:
            if self._finder is None:
                self._finder = self._load()
        return self._finder.find_spec(name, path, *more)

    def _load(self) -> "Any":
        hook, products = (load(self._folder, name) for name in (HOOK, PRODUCTS))
        return hook.make_finder(os.environ, products)


def load(folder: str, name: str) -> "Any":
    """Imports a module from ``folder``, which isn't on the path."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec: "Any" = spec_from_file_location(name, os.path.join(folder, name + ".py"))
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def chain(folder: str) -> None:
    """Takes ``folder`` off the path, and runs the sitecustomize that it hid, if there is one."""
    sys.path[:] = [entry for entry in sys.path if entry != folder]
    # Imported here: the supervisor, which reads the names above, does without.
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    from importlib.util import module_from_spec

    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


if __name__ == "sitecustomize":
    _folder = os.path.dirname(os.path.abspath(__file__))
    sys.meta_path.insert(0, Waiting(_folder))
    chain(_folder)
