"""Whom TensorFlow trusts in programs."""

from __future__ import annotations

from pathlib import Path

from footplate.replica.tensorflow_storage import make_roots


def test_the_machines_authorities_are_trusted_besides(tmp_path: Path) -> None:
    machine = tmp_path / "machine.pem"
    machine.write_text("first")
    ((path, place),) = make_roots("second\n", str(tmp_path), str(machine))
    assert place == str(machine)
    with open(path) as file:
        assert file.read() == "first\nsecond\n"
    machine.write_text("third\n\n")
    make_roots("second\n", str(tmp_path), str(machine))
    assert Path(path).read_text() == "third\nsecond\n", "the machine's file has changed"
    assert make_roots("", str(tmp_path), str(machine)) == []
    assert make_roots("second", str(tmp_path), str(tmp_path / "none")) == []
