"""How uv is run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from footplate.replica.environment.build_isolation import BuildIsolation
from footplate.replica.environment.uv import Uv
from footplate.replica.isolation.mount_namespace import MountNamespace


@pytest.mark.parametrize(
    ("uid", "has_view", "mode"), [(1000, False, "copy"), (1000, True, ""), (0, False, "")]
)
def test_environments_are_copies_where_programs_could_change_what_they_link_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uid: int, mode: str, *, has_view: bool
) -> None:
    program = tmp_path / "uv"
    program.write_text('#!/bin/sh\necho "$UV_LINK_MODE"\n')
    program.chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    isolation = BuildIsolation(str(tmp_path), None, namespaced=False)
    if has_view:
        isolation.view = MountNamespace(str(tmp_path), "", "", ())
    assert Uv(str(program), {}).secluding(isolation).run([]).strip() == mode
