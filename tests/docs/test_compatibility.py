"""The page of clients of other projects is made from the rows of their runs."""

from __future__ import annotations

from tools.compatibility import PAGE, names, read_client, read_rows, write_page


def test_the_page_is_made_from_the_rows() -> None:
    assert PAGE.read_text("utf-8") == write_page(read_rows())


def test_each_client_has_a_row_of_its_version_that_says_all_that_is_not_served() -> None:
    rows = read_rows()
    for name in names():
        client, row = read_client(name), rows[name]
        assert row.version == client.version
        assert set(row.failed) == set(client.not_served)
