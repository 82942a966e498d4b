"""The compiled library."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from footplate_reduction.native.library import LibraryError, load

if TYPE_CHECKING:
    from footplate_reduction.native.library import Library


@pytest.fixture(scope="session")
def library() -> Library:
    try:
        return load()
    except LibraryError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))
