"""The figures of the house, and the ratchet on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import house

FILES = {
    "src/footplate/__init__.py": "",
    "src/footplate/trials/__init__.py": '"""Trials."""\n',
    "src/footplate/trials/page.py": (
        '"""Shows pages."""\nfrom footplate.trials import row\n\n\nclass Page:\n'
        '    def show(self) -> None:\n        """Whether it shows."""\n'
    ),
    "src/footplate/trials/row.py": "# Why it is so.\nx = 1  # beside\n",
    "src/footplate/store/trial_rows.py": "import footplate.trials.page\n",
    "src/footplate/replica/run.py": "x: dict[str, Any]\ny: dict[str, Any]\n",
    "tests/test_page.py": "def test_page() -> None: ...\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_what_is_counted(root: Path) -> None:
    sources, tests = (house.find_modules(root, each) for each in (house.SOURCES, house.TESTS))
    figures = house.measure(sources, tests)
    assert figures["lines of src"] == 13
    assert figures["lines of tests"] == 1
    assert figures["files"] == 6
    assert figures["functions"] == 1
    assert figures["dict[str, Any] in the supervisor"] == 2
    assert figures["docstrings without a subject"] == 1
    assert figures["lines of comments"] == 1
    assert figures["packages that trials span"] == 2


def test_a_module_that_a_neighbour_alone_imports(root: Path) -> None:
    modules = house.find_modules(root, house.SOURCES)
    assert house.find_single_importers(modules) == {"footplate.trials.row": "footplate.trials.page"}


def test_growth_is_refused_until_it_is_recorded(root: Path) -> None:
    path = root / "house.toml"
    assert not house.read_record(path)
    figures = {"lines of src": 1000, "lines of tests": 10}
    house.record(path, figures, 'more "of" it')
    recorded = house.read_record(path)
    assert recorded == figures
    assert not list(house.find_growth(recorded, figures | {"lines of src": 1010}))
    (excess,) = house.find_growth(recorded, figures | {"lines of src": 1011})
    assert "1,011 lines of src, and may be 1,010" in excess
    house.record(path, figures | {"lines of src": 1011}, "a reason")
    assert not list(house.find_growth(house.read_record(path), figures | {"lines of src": 1011}))


def test_a_docstring_without_a_subject_is_named(root: Path) -> None:
    modules = house.find_modules(root, house.SOURCES)
    (fault,) = house.find_faults({}, {}, modules)
    assert fault.startswith("src/footplate/trials/page.py:6: the docstring has no subject")


def test_a_name_in_backticks_is_no_subject_of_a_function(tmp_path: Path) -> None:
    path = tmp_path / "src" / "rows.py"
    path.parent.mkdir()
    text = '"""``rows`` of a list."""\n\n\ndef cut(x: int) -> int:\n    """``x``: the length."""\n'
    path.write_text(text)
    modules = house.find_modules(tmp_path, house.SOURCES)
    assert list(house.find_bare_docstrings(modules)) == ["src/rows.py:4"]
