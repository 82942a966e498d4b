"""Faults as clouds cause them, done to replicas of a service on this machine."""

from footplate.testing.faults.fault import Fault
from footplate.testing.faults.injector import FaultInjector

__all__ = ["Fault", "FaultInjector"]
