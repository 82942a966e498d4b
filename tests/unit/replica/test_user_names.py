"""The name and the home of a program's user."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from footplate.replica.isolation.users import User
from footplate.replica.user_names import find_user, make_records, name_user

OWN = User(1879048200, 1879048193)
PASSWD = "root:x:0:0:root:/root:/bin/bash\nada:x:7:8::/home/ada:\n"


@pytest.mark.parametrize(
    ("uid", "found"), [(0, ("root", "/root")), (7, ("ada", "/home/ada")), (8, ("", ""))]
)
def test_a_user_is_found_by_number(uid: int, found: tuple[str, str]) -> None:
    assert find_user(f"{PASSWD}broken:x\n", uid) == found


def test_a_user_of_its_own_has_a_home_in_its_tmp() -> None:
    host = {"HOME": "/root", "USER": "root", "LOGNAME": "root"}
    named = {"HOME": "/t/home", "USER": "footplate", "LOGNAME": "footplate"}
    assert name_user(OWN, "/t", host) == named


@pytest.mark.parametrize(
    ("host", "name"),
    [({"USER": "eve"}, "ada"), ({}, "ada"), ({"HOME": "/nowhere", "LOGNAME": "eve"}, "ada")],
)
def test_the_services_user_has_one_name(host: dict[str, str], name: str, tmp_path: Path) -> None:
    """That of the machine; and its home, or else one in the program's tmp."""
    home = tmp_path / "ada"
    passwd = tmp_path / "passwd"
    passwd.write_text(f"ada:x:{os.geteuid()}:8::{home}:\n")
    named = name_user(None, str(tmp_path), host, str(passwd))
    assert named == {"HOME": str(tmp_path / "home"), "USER": name, "LOGNAME": name}
    home.mkdir()
    assert name_user(None, str(tmp_path), host, str(passwd))["HOME"] == str(home)
    other = {**host, "HOME": str(tmp_path)}
    assert name_user(None, str(tmp_path), other, str(passwd))["HOME"] == str(tmp_path)


@pytest.mark.parametrize(
    ("host", "name"), [({"USER": "eve"}, "eve"), ({"LOGNAME": "eve"}, "eve"), ({}, "footplate")]
)
def test_a_user_whom_the_machine_does_not_know(host: dict[str, str], name: str) -> None:
    assert name_user(None, "/t", host, "/nowhere")["USER"] == name


@pytest.mark.parametrize("user", [OWN, None])
def test_a_view_has_the_user_first(user: User | None, tmp_path: Path) -> None:
    """Also where another one has the name."""
    passwd, group = tmp_path / "etc-passwd", tmp_path / "etc-group"
    passwd.write_text("footplate:x:12345:8::/srv:\n")
    group.write_text("footplate:x:12345:\n")
    uid, gid = (os.geteuid(), os.getegid()) if user is None else (user.uid, user.gid)
    names = {"USER": "footplate", "HOME": "/t/home"}
    places = (str(passwd), str(group))
    found = make_records(user, names, str(tmp_path), places)
    assert [place for _, place in found] == list(places)
    lines = [Path(path).read_text().splitlines() for path, _ in found]
    assert lines == [
        [f"footplate:x:{uid}:{gid}::/t/home:/bin/sh", "footplate:x:12345:8::/srv:"],
        [f"footplate:x:{gid}:", "footplate:x:12345:"],
    ]


def test_a_user_whom_the_machine_knows_needs_no_record(tmp_path: Path) -> None:
    passwd = tmp_path / "passwd"
    passwd.write_text(f"ada:x:{os.geteuid()}:8::/home/ada:\n")
    assert make_records(None, {}, str(tmp_path), (str(passwd), "/etc/group")) == []
    assert make_records(OWN, {"USER": "a", "HOME": "/"}, str(tmp_path), ("/no", "/no")) == []
