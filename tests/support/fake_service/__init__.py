"""A server on loopback that answers as the service does, from memory, and records each request.

It runs nothing: a job stays in the state that the test gives it.
"""

from __future__ import annotations

from tests.support.fake_service.messages import TIME, Answer, Request, failure
from tests.support.fake_service.service import FakeService

__all__ = ["TIME", "Answer", "FakeService", "Request", "failure"]
