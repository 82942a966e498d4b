"""The whole service without a machine: thousands of lives a minute, with every kind of death.

A `World` has a clock, a database, logs and an engine that outlive the service, and a service that
dies whenever its fuse says so. Supervisors report at least once, late and doubled, and may be
lost. `live` lets a world live as a seed decides, brings it to rest, and returns it to be
looked at.
"""

from tests.support.simulator.random_lives import live
from tests.support.simulator.world import World

__all__ = ["World", "live"]
