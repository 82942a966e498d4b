"""What the metadata server says of a replica's machine."""

from __future__ import annotations

import json

import pytest

from footplate.domain.instance_metadata import (
    Instance,
    as_json,
    as_text,
    describe,
    find,
    made_for,
)

INSTANCE = Instance("demo", "us-central1", "us-central1-b", "worker-1", "a-1.worker-1", "n1")
TREE = describe(INSTANCE)
ACCOUNT = "instance/service-accounts/program@footplate.invalid"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("project/project-id", "demo"),
        ("project/numeric-project-id", "0"),
        ("instance/zone", "projects/0/zones/us-central1-b"),
        ("instance/region", "projects/0/regions/us-central1"),
        ("instance/machine-type", "projects/0/machineTypes/n1"),
        ("instance/service-accounts/default/email", "program@footplate.invalid"),
        (f"{ACCOUNT}/scopes", "https://www.googleapis.com/auth/cloud-platform\n"),
        ("instance/service-accounts/", "default/\nprogram@footplate.invalid/\n"),
        ("instance/service-accounts/default/", "aliases\nemail\nidentity\nscopes\ntoken\n"),
        ("universe/universe-domain", "googleapis.com"),
        ("", "instance/\nproject/\nuniverse/\n"),
    ],
)
def test_text(path: str, text: str) -> None:
    found = find(TREE, path)
    assert found is not None
    assert as_text(found) == text


@pytest.mark.parametrize(
    "path", ["instance/gpu", "instance/zone/more", "instance/service-accounts/x"]
)
def test_what_is_not_there(path: str) -> None:
    assert find(TREE, path) is None


def test_json_has_names_in_camel_case_and_no_credentials() -> None:
    found = as_json(TREE)
    assert isinstance(found, dict)
    assert found["project"] == {"attributes": {}, "numericProjectId": 0, "projectId": "demo"}
    text = json.dumps(found)
    assert '"serviceAccounts": {"default": ' in text
    assert "token" not in text
    assert "identity" not in text


def test_an_instance_has_a_number_and_a_name_of_its_own() -> None:
    other = Instance("demo", "us-central1", "us-central1-b", "worker-1", "a-2.worker-1", "n1")
    assert INSTANCE.number != other.number
    assert INSTANCE.number < 1 << 63
    assert INSTANCE.name.startswith("worker-1-")
    assert len(Instance("p", "r", "z", "w" * 90, "s", "n1").name) <= 63


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("instance/service-accounts/default/token", "token"),
        (f"{ACCOUNT}/identity", "identity"),
        ("instance/service-accounts/default/email", ""),
        ("instance/token", ""),
        ("instance/service-accounts/a/b/token", ""),
    ],
)
def test_what_is_made_for_each_call(path: str, kind: str) -> None:
    assert made_for(path) == kind
