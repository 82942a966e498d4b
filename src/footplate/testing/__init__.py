"""Tools for tests of trainers: a service for a test, and faults as they happen in a cloud.

``running_service`` runs a service for the length of a block; ``FaultInjector`` kills and freezes
replicas of its jobs.
"""

from footplate.testing.faults import Fault, FaultInjector
from footplate.testing.service import RunningService, running_service

__all__ = ["Fault", "FaultInjector", "RunningService", "running_service"]
