"""For tests: of trainers, by their users; and fakes, contracts and a simulator for our own.

Users of the service want ``running_service``, a service for a test, and ``FaultInjector``, which
does to its jobs what clouds do.
"""

from footplate.testing.faults import Fault, FaultInjector
from footplate.testing.service import RunningService, running_service

__all__ = ["Fault", "FaultInjector", "RunningService", "running_service"]
