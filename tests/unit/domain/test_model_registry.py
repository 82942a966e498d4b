"""Versions and aliases of models."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.domain.errors import FailedPrecondition, InvalidArgument, NotFound
from footplate.domain.model_registry import (
    Change,
    add_version,
    delete_version,
    find_version,
    merge_aliases,
    patch_version,
)
from tests.support.jobs import CREATED
from tests.support.models import make_model

FIRST = make_model(aliases=("champion",))
SECOND = add_version(FIRST, replace(FIRST.versions[0], aliases=("champion",)))


def test_the_first_version_is_the_default_one() -> None:
    assert FIRST.default.number == 1
    assert FIRST.default.aliases == ("champion", "default")


def test_a_new_version_takes_its_aliases_from_the_others() -> None:
    assert [version.aliases for version in SECOND.versions] == [("default",), ("champion",)]
    assert find_version(SECOND, "champion").number == 2
    assert find_version(SECOND, "").number == find_version(SECOND, "1").number == 1
    assert SECOND.version == FIRST.version + 1
    with pytest.raises(NotFound, match="models/1@9"):
        find_version(SECOND, "9")


def test_aliases_are_added_and_removed() -> None:
    moved = merge_aliases(SECOND, "2", ["default", "-champion", "best"], CREATED)
    assert [version.aliases for version in moved.versions] == [(), ("default", "best")]
    with pytest.raises(InvalidArgument, match="default"):
        merge_aliases(SECOND, "1", ["-default"], CREATED)


def test_a_patch_sets_what_it_names() -> None:
    patched = patch_version(SECOND, "2", Change(description="d", labels=(("a", "b"),)), CREATED)
    version = find_version(patched, "2")
    assert (version.display_name, version.description) == ("a model", "d")
    assert version.labels == (("a", "b"),)
    assert find_version(patched, "1") == find_version(SECOND, "1")


def test_neither_the_only_nor_the_default_version_is_deleted() -> None:
    with pytest.raises(FailedPrecondition, match="delete the model"):
        delete_version(FIRST, "1", CREATED)
    with pytest.raises(FailedPrecondition, match="default"):
        delete_version(SECOND, "1", CREATED)
    left = delete_version(SECOND, "champion", CREATED)
    assert [version.number for version in left.versions] == [1]
    assert add_version(left, left.versions[0]).versions[-1].number == 3
