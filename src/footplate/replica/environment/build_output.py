"""Opens what builds have made, who may have put links to others' files in its place."""

from __future__ import annotations

import os

from footplate.safe_path import PLACE, NotRegular, directory, open_regular


def open_made(top: str, path: str) -> int:
    """Returns a descriptor of the file at ``path`` below ``top``.

    Raises:
        FileNotFoundError: there is none, or it has a second name, which may be another's file.
        NotADirectoryError: there is a link on the way.
        OSError: it can't be opened.
    """
    *parts, name = path.split(os.sep)
    with directory(top, parts, flags=PLACE) as parent:
        descriptor = open_regular(name, parent=parent)
    if os.fstat(descriptor).st_nlink != 1:
        os.close(descriptor)
        raise NotRegular(f"{path} is not an ordinary file, or has other links to it")
    return descriptor
