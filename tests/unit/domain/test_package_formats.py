"""What is refused at submit, before anything is unpacked."""

from __future__ import annotations

import pytest

from footplate.domain.package_formats import HEAD_BYTES, is_module, refusal

TAR = bytes(257) + b"ustar" + bytes(250)


@pytest.mark.parametrize("name", ["t.tar.gz", "t.tgz", "t.tar.bz2", "t.tar", "t.zip", "t.whl"])
def test_suffixes_of_packages(name: str) -> None:
    assert refusal(name, b"...") is None
    assert refusal(name) is None


@pytest.mark.parametrize("head", [b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ\0", b"PK\x03\x04", TAR])
@pytest.mark.parametrize("name", ["trainer", "trainer.gz", "trainer-0.1.pkg"])
def test_the_content_decides_under_other_names(name: str, head: bytes) -> None:
    assert refusal(name, head[:HEAD_BYTES]) is None


@pytest.mark.parametrize("head", [b"PK\x03\x04", b"", None])
def test_eggs(head: bytes | None) -> None:
    assert "is an egg" in (refusal("trainer-0.1-py3.7.egg", head) or "")
    assert "sdist" in (refusal("trainer-0.1-py3.7.egg", head) or "")


@pytest.mark.parametrize(("name", "head"), [("t.rar", b"Rar!"), ("task.py", b"import"), ("t", b"")])
def test_what_pip_does_not_take(name: str, head: bytes) -> None:
    assert (refusal(name, head) or "").startswith("is not a package that pip can install; allowed:")


@pytest.mark.parametrize(
    "name", ["task", "trainer.task", "my-trainer.task-v2", "3d_net.train", "a.b-c.d", "größe.task"]
)
def test_modules_that_python_finds(name: str) -> None:
    assert is_module(name)


@pytest.mark.parametrize(
    "name", ["", ".", "trainer.", ".task", "a..b", "trainer/task.py", "-m", "a.-b", "a b", "a;b"]
)
def test_what_names_no_module(name: str) -> None:
    assert not is_module(name)
