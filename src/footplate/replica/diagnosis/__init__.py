"""Advice about failures whose cause is known.

Only replicas that have failed come here. What is looked at was written by users' programs: texts
are cut, and nothing is run or imported.
"""

from footplate.replica.diagnosis.advice import advise
from footplate.replica.diagnosis.replica_facts import ReplicaFacts

__all__ = ["ReplicaFacts", "advise"]
