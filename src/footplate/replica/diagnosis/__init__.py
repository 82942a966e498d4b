"""What may be done about a failure: a sentence beside its cause, for those causes that are known.

Only replicas that have failed come here. What is looked at was written by users' programs: texts
are cut, and nothing is run or imported.
"""

from footplate.replica.diagnosis.advice import advise
from footplate.replica.diagnosis.facts import Facts

__all__ = ["Facts", "advise"]
