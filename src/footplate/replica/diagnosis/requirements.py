"""The places where a job declares its requirements."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from footplate.replica.diagnosis.replica_facts import ReplicaFacts

_IN_SETUP = "install_requires=['{}'] in your setup.py"
_WITHOUT_SETUP = {
    "aiplatform_custom_trainer_script": "requirements=['{}'] where your script creates the job",
    "footplate_local_code": "requirements={} in --worker-pool-spec (local-run: --requirements={})",
}
"""The places by the package that the Vertex SDK, or our own commands, make of a script."""


def describe_requirement(requirement: str, facts: ReplicaFacts) -> str:
    """Returns a phrase that says where to put the requirement: not all packages have a setup.py of
    their own.
    """
    way = _WITHOUT_SETUP.get(facts.module.partition(".")[0], _IN_SETUP)
    return way.replace("{}", requirement)
