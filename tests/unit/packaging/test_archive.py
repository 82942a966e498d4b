"""Archives are functions of the files in them."""

from __future__ import annotations

import io
import tarfile

from hypothesis import given
from hypothesis import strategies as st

from footplate.cli.packaging.archive import Archive, Source, normalise, write_tar_gz

NAMES = st.text("abcxyz_", min_size=1, max_size=8).map(lambda name: f"p-0.0.0/{name}.py")
FILES = st.dictionaries(NAMES, st.builds(Source, st.binary(max_size=50), st.booleans()))


@given(FILES)
def test_the_order_of_the_files_changes_nothing(files: dict[str, Source]) -> None:
    content = write_tar_gz(files)
    assert write_tar_gz(dict(reversed(files.items()))) == content
    assert Archive("p.tar.gz", content).members() == tuple(sorted(files))


@given(FILES, st.integers(0, 2_000_000_000), st.integers(0, 60_000))
def test_times_and_owners_are_forgotten(files: dict[str, Source], mtime: int, uid: int) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, source in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.uid = len(source.content), mtime, uid
            member.mode = 0o755 if source.executable else 0o600
            tar.addfile(member, io.BytesIO(source.content))
    assert normalise(buffer.getvalue()) == write_tar_gz(files)
