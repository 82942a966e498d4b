"""The check for handlers that take any OSError for an answer."""

from __future__ import annotations

import pytest

from tools.check_errors import find_faults

FOUND = {
    "default": "try:\n    x()\nexcept OSError:\n    y = None\n",
    "one of several": "try:\n    x()\nexcept (OSError, ValueError):\n    y = None\n",
    "all": "try:\n    x()\nexcept Exception:\n    pass\n",
    "bare": "try:\n    x()\nexcept:\n    pass\n",
    "another error": "try:\n    x()\nexcept OSError as e:\n    raise NotFound from e\n",
    "by class": (
        "try:\n    x()\nexcept OSError as e:\n    if isinstance(e, PermissionError):\n"
        "        y = 1\n    raise FileNotFoundError('no file') from e\n"
    ),
    "suppressed": "with suppress(OSError):\n    x()\n",
    "for tools": "try:\n    x()\nexcept OSError:  # noqa: S110\n    pass\n",
}
LEFT = {
    "raised": "try:\n    x()\nexcept OSError:\n    y()\n    raise\n",
    "by number": "try:\n    x()\nexcept OSError as e:\n    y = e.errno == 2\n",
    "reported": "try:\n    x()\nexcept OSError as e:\n    raise Unavailable(f'no: {e}') from e\n",
    "logged": "try:\n    x()\nexcept OSError:\n    log.warning('no', exc_info=True)\n",
    "explained": "try:\n    x()\nexcept OSError:  # it is tried again\n    pass\n",
    "explained below": "try:\n    x()\nexcept OSError:\n    # it is tried again\n    pass\n",
    "suppressed, explained": "with suppress(OSError):  # it is tried again\n    x()\n",
    "absence": "try:\n    x()\nexcept (FileNotFoundError, NotADirectoryError):\n    pass\n",
}


@pytest.mark.parametrize("source", FOUND.values(), ids=FOUND)
def test_what_takes_any_error_for_an_answer_is_found(source: str) -> None:
    assert len(list(find_faults(source))) == 1


@pytest.mark.parametrize("source", LEFT.values(), ids=LEFT)
def test_what_raises_reports_or_explains_it_is_not(source: str) -> None:
    assert list(find_faults(source)) == []
