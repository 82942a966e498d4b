import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.errors import InvalidArgument
from footplate.store.paging import Position
from tests.support.plain_strategies import texts

positions = st.builds(Position, st.integers(-(2**63) + 1, 2**63 - 1), texts)


@given(positions)
def test_a_key_leads_back_to_its_position(position: Position) -> None:
    assert Position.parse(position.key()) == position


@given(st.text() | st.binary().map(lambda raw: raw.decode("latin-1")))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Position.parse(text)
    assert [violation.field for violation in caught.value.violations] == ["pageToken"]
    assert caught.value.message.isascii()


def test_a_number_that_no_column_holds_is_refused() -> None:
    with pytest.raises(InvalidArgument):
        Position.parse(Position(2**63, "u").key())
