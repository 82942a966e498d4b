"""Every route of every face, with a real store, real buckets and real logs behind it.

Whatever is sent: an answer in time, no 5xx, errors as Google's services say them, no file beside
the data directory read or changed, and nothing that the loops then choke on.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from tests.hostile.caller import Answer, Call
from tests.hostile.examples import BODIES, CONSOLE, examples, unversioned
from tests.hostile.hostile_service import Rig, open_house, routes_of
from tests.hostile.mutations import attacks
from tests.hostile.verdicts import check

FACES = {
    "training": ("/v1/projects/{project}/jobs", "/v1/projects/{project}/op", "/v1/projects/{p"),
    "vertex": (
        *("customJobs", "hyperparameterTuningJobs", "trainingPipelines"),
        "/models",
    ),
    "tracking": ("/datasets", "/metadataStores", "/tensorboards"),
    "vizier": ("/studies",),
    "storage": ("/storage/",),
    "logging": ("/v2/", "/logs"),
    "footplate": ("/footplate/",),
    "replica": ("/replica/", "/shell/"),
    "console": ("/console/", *CONSOLE),
    "others": ("",),
}
"""Parts of the paths of each; a route is of the first that fits."""
NUMBERS = count(100)


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    monkeypatch = pytest.MonkeyPatch()
    with open_house(tmp_path_factory.mktemp("rig"), monkeypatch) as rig:
        yield rig
    monkeypatch.undo()


def face_of(path: str) -> str:
    order = (
        *("vizier", "storage", "logging", "footplate", "replica"),
        *("tracking", "vertex", "training", "others"),
    )
    if path.startswith(FACES["console"]):
        return "console"
    return next(face for face in order if any(part in path for part in FACES[face]))


def routes(rig: Rig, face: str) -> list[tuple[str, str]]:
    found = [route for route in routes_of(rig.service) if face_of(route[1]) == face]
    return [route for route in found if route != ("POST", "/footplate/v1/down")]


def weight(method: str, path: str) -> int:
    """How often a route is tried: those with much to read in them most, twins of others less."""
    if path.startswith(("/v1beta1/", "/ui/")) or method == "HEAD":
        return 1
    return 12 if (method, unversioned(path)) in BODIES or "/upload/" in path else 3


def test_the_examples_are_of_routes_that_there_are(rig: Rig) -> None:
    """Else a route of another name would be tried with empty bodies alone."""
    there = {(method, unversioned(path)) for method, path in routes_of(rig.service)}
    assert there.issuperset(BODIES)


@pytest.mark.parametrize("face", FACES)
def test_honest_requests_are_understood(rig: Rig, face: str) -> None:
    """Or hostile ones made of them would be turned away at the first door."""
    for method, path in routes(rig, face):
        for call in examples(rig, method, path):
            answer = send(rig, method, path, call)
            understood = answer.status in (200, 204, 303, 308, 404, 409, 499, 501)
            reasons = (
                *(b"FAILED_PRECONDITION", b"is a tuning job", b"is not a tuning job"),
                b"trials: '' given",  # of a form, and bodies here are JSON
                b"Footplate has no IAM policies",  # IAM policies, which there aren't
                b"Footplate has no Pub/Sub",
                # The loops run: a job may be queued, started or ended by now.
                *(b"none of its programs runs", b"hasn't started yet", b"program has ended"),
            )
            refused = any(reason in answer.body for reason in reasons)
            assert understood or refused, (call, answer.body)
    assert rig.complaints.told == []


@pytest.mark.parametrize("face", FACES)
def test_hostile_requests_are_answered(rig: Rig, face: str) -> None:
    before = rig.outside()
    known = [each for each in routes(rig, face) for _ in range(weight(*each))]

    @settings(deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def attack(data: st.DataObject) -> None:
        method, path = data.draw(st.sampled_from(known))
        honest = data.draw(st.sampled_from(examples(rig, method, path)))
        answer = send(rig, method, path, data.draw(attacks(honest, rig.root)))
        event(f"{face} {answer.status}")
        assert rig.outside() == before
        assert rig.complaints.told == []

    attack()
    for call, answer in rig.tasks():
        check(call, answer)
        assert answer.status in (200, 400, 403), answer  # its bucket may be gone, or it is over


def send(rig: Rig, method: str, path: str, call: Call) -> Answer:
    """Each job gets an id of its own; what was deleted is made again."""
    body = call.body.replace(b"job_2", b"job_%d" % next(NUMBERS), 1)
    call = type(call)(call.method, call.target, call.query, call.headers, body, call.breaks_off)
    answer = rig.call(call)
    check(call, answer)
    rig.renew(method, path, answer)
    return answer
