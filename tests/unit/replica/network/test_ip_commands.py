from __future__ import annotations

import pytest

from footplate.replica.network.ip_commands import CommandFailed, NoCommand, run


def test_what_a_tool_says_and_what_it_is_told() -> None:
    assert run(["cat"], "words") == "words"


def test_a_failure_bears_the_tools_own_words() -> None:
    with pytest.raises(CommandFailed, match="no-such-file: No such file"):
        run(["cat", "no-such-file"])


def test_a_tool_that_is_not_there_is_named() -> None:
    with pytest.raises(NoCommand, match="there is no no-such-tool on this machine"):
        run(["no-such-tool"])
