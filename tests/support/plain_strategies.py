"""Hypothesis strategies for texts, times and numbers."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import strategies as st

any_text = st.text(st.characters(exclude_categories=()), max_size=12)
"""Also with NUL and halves of surrogate pairs."""

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
"""What any store keeps as it is."""

segments = st.text("abcXYZ019_-.", min_size=1, max_size=8)
times = st.datetimes(timezones=st.just(UTC), max_value=datetime(9999, 1, 1)).map(  # noqa: DTZ001
    lambda time: time.replace(fold=0)
)
counts = st.integers(0, 2**31 - 1)
seconds = st.floats(0, 1e9)
pairs = st.lists(st.tuples(any_text, any_text), max_size=3).map(tuple)
text_tuples = st.lists(any_text, max_size=3).map(tuple)
