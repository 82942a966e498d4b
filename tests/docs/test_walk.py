"""The walker fails where a page says what isn't so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.walk import walk

PAGE = """\
```python
# folder/code.py
print("made")
```

```console
$ name=world
$ python folder/code.py; \\
    printf 'between\\nhello   %s\\n' $name
made
hello wo...
$ false
$ echo $?
1
```

```sh
exit 7
```
"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return tmp_path / "page.md"


def test_a_page_that_is_true(page: Path, tmp_path: Path) -> None:
    page.write_text(PAGE)
    assert "between" in walk(page, tmp_path)


@pytest.mark.parametrize(
    ("true", "false", "said"),
    [
        ("hello wo...", "hello wa...", "was to print\nhello wa..."),
        ("made\nhello wo...", "hello wo...\nmade", "was to print\nmade"),
        ("echo $?", "true", "false\nended with 1"),
        ("made", "... made", "was to print"),
    ],
)
def test_a_page_that_is_not(page: Path, tmp_path: Path, true: str, false: str, said: str) -> None:
    page.write_text(PAGE.replace(f"{true}\n", f"{false}\n"))
    with pytest.raises(AssertionError, match="(?s)" + said.replace(".", r"\.").replace("$", r"\$")):
        walk(page, tmp_path)
