"""Buckets against a dictionary: any order of operations, any names."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.domain.errors import InvalidArgument, NotFound
from footplate.ports.object_storage import Checksums, Draft
from footplate.server.clock import SystemClock
from tests.support.profiles import scaled

PARTS = st.sampled_from(["a", "b", "a.", "a-", "ab", "é", "\uffff", "🚂", " ", "..."]) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="/\0\n\r"), min_size=1, max_size=9
).filter(lambda part: part not in (".", ".."))
NAMES = st.builds(
    lambda parts, slash: "/".join(parts) + slash,
    st.lists(PARTS, min_size=1, max_size=4),
    st.sampled_from(["", "", "", "/"]),
)
CONTENTS = st.binary(max_size=20)


class BucketsMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.buckets = FolderBuckets(self.root, SystemClock())
        self.buckets.create_bucket("stage")
        self.model: dict[str, bytes] = {}
        self.generations: dict[str, int] = {}

    def teardown(self) -> None:
        self.buckets.close()
        shutil.rmtree(self.root)

    def clashes(self, name: str) -> bool:
        """Whether a folder can't hold it beside what is there."""
        path = name.removesuffix("/")
        upwards = {path[:place] for place, letter in enumerate(path) if letter == "/"}
        below = any(other.startswith(f"{path}/") for other in self.model)
        if name.endswith("/"):
            return bool((upwards | {path}) & self.model.keys())
        return bool(upwards & self.model.keys()) or below

    @rule(name=NAMES, content=CONTENTS, way=st.sampled_from(["write", "upload"]))
    def write(self, name: str, content: bytes, way: str) -> None:
        content = b"" if name.endswith("/") else content
        try:
            if way == "upload":
                upload_id = self.buckets.begin_upload(Draft("stage", name))
                self.buckets.append(upload_id, 0, [content])
                info = self.buckets.finish_upload(upload_id, Checksums())
            else:
                info = self.buckets.write("stage", name, [content])
        except InvalidArgument:
            assert self.clashes(name)
            return
        assert not self.clashes(name)
        assert info.generation > self.generations.get(name, 0)
        self.generations[name] = info.generation
        self.model[name] = content

    @rule(name=NAMES, content=CONTENTS)
    def program_writes(self, name: str, content: bytes) -> None:
        assume(not name.endswith("/") and not self.clashes(name))
        path = self.root / "stage" / name
        assume(not path.is_dir())
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        self.model[name] = content

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.model)) if self.model else NAMES)
        if name in self.model:
            self.buckets.delete("stage", name)
            del self.model[name]
            parent = (self.root / "stage" / name.rstrip("/")).parent
            held = f"{parent.relative_to(self.root / 'stage')}/"
            if parent != self.root / "stage":
                assert parent.exists() == any(other.startswith(held) for other in self.model)
        else:
            self.missing(name)

    @rule(name=NAMES)
    def look(self, name: str) -> None:
        if name not in self.model:
            self.missing(name)

    def missing(self, name: str) -> None:
        for request in (self.buckets.stat, self.buckets.delete):
            try:
                request("stage", name)
            except NotFound:
                continue
            raise AssertionError(f"{name!r} is there")

    @rule()
    def restart(self) -> None:
        self.buckets.close()
        self.buckets = FolderBuckets(self.root, SystemClock())

    @rule(
        prefix=st.sampled_from(["", "a", "a/", "a/b", "é/", "/"]) | NAMES,
        delimiter=st.sampled_from(["", "/", "a", "//", "b/"]),
        limit=st.integers(1, 4),
    )
    def list_in_pages(self, prefix: str, delimiter: str, limit: int) -> None:
        names: list[str] = []
        prefixes: list[str] = []
        token = None
        while True:
            page = self.buckets.list(
                "stage", prefix=prefix, delimiter=delimiter, limit=limit, token=token
            )
            assert len(page.objects) + len(page.prefixes) <= limit
            names += [info.name for info in page.objects]
            prefixes += page.prefixes
            token = page.next_token
            if token is None:
                break
        assert (names, prefixes) == self.expected(prefix, delimiter)

    def expected(self, prefix: str, delimiter: str) -> tuple[list[str], list[str]]:
        names, prefixes = [], set()
        for name in sorted(self.model, key=str.encode):
            if not name.startswith(prefix):
                continue
            end = name.find(delimiter, len(prefix)) if delimiter else -1
            if end < 0:
                names.append(name)
            else:
                prefixes.add(name[: end + len(delimiter)])
        return names, sorted(prefixes, key=str.encode)

    @invariant()
    def same(self) -> None:
        found = {}
        for info in self.buckets.list("stage").objects:
            with self.buckets.read("stage", info.name) as file:
                found[info.name] = file.read()
            assert info == self.buckets.stat("stage", info.name)
        assert found == self.model


TestBuckets = BucketsMachine.TestCase
TestBuckets.settings = settings(max_examples=scaled(40), stateful_step_count=15, deadline=None)
