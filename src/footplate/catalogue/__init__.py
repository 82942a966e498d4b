"""The built-in catalogue: machine types, accelerators, regions and runtimes.

Machine types, accelerators, regions and scale tiers are tables of TOML, which a file of the
operator's may add to or replace; runtimes come with their locked requirements.
"""

from footplate.catalogue.loading import load_catalogue
from footplate.catalogue.runtimes import load

__all__ = ["load", "load_catalogue"]
