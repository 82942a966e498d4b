"""Where a program of a built-in algorithm finds the buckets, and what messages call them."""

from __future__ import annotations

import pytest

from footplate_algorithms.folders import Folders

FOLDERS = Folders({"gs://b": "/data/b"})


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("gs://b/x.csv", "/data/b/x.csv"),
        ("gs://b", "/data/b"),
        ("gs://bb/x/*.csv", "/gcs/bb/x/*.csv"),
        ("/mine/x.csv", "/mine/x.csv"),
    ],
)
def test_a_path_opens_what_the_uri_names_and_is_shown_as_it(uri: str, path: str) -> None:
    assert FOLDERS.find(uri) == path
    assert FOLDERS.show(path) == uri
