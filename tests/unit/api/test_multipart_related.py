from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.api.storage_v1.multipart import MAX_LINES, RelatedParts
from footplate.domain.errors import InvalidArgument

TYPE = "multipart/related; boundary=b"
WHOLE = (
    b"--b\r\nContent-Type: application/json\r\n\r\n{}\r\n--b\r\nContent-Type: x/y\r\n\r\n1\r\n--b--"
)


def read(content_type: str, chunks: list[bytes]) -> tuple[bytes, str, bytes]:
    def arriving() -> Iterator[bytes]:
        yield from chunks

    parts = RelatedParts(content_type, arriving())
    return parts.description(), parts.media_type(), b"".join(parts.media())


def cut(body: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({place % len(body) for place in places} - {0})
    pieces = zip([0, *ends], [*ends, len(body)], strict=True)
    return [body[first:end] for first, end in pieces]


@given(
    media=st.binary(max_size=60)
    | st.lists(st.sampled_from([b"\r", b"\n", b"-", b"-b", b"--"])).map(b"".join),
    newline=st.sampled_from([b"\r\n", b"\n"]),
    boundary=st.sampled_from(["===b==", "'q u'", "x:y"]),
    tail=st.sampled_from([b"", b"\r\n", b"\nepilogue"]),
    places=st.lists(st.integers(0, 999)),
)
def test_any_bytes_come_through_in_any_pieces(
    media: bytes, newline: bytes, boundary: str, tail: bytes, places: list[int]
) -> None:
    dashes = b"--" + boundary.encode()
    lines = [dashes, b"Content-Type: application/json", b"", b'{"name": 1}', dashes]
    lines += [b"content-type: x/y", b"Content-Transfer-Encoding: binary", b"", media, dashes]
    body = newline.join(lines) + b"--" + tail
    found = read(f'multipart/related; charset=x; boundary="{boundary}"', cut(body, places))
    assert found == (b'{"name": 1}', "x/y", media)


def test_the_quotes_of_apitools_are_no_part_of_the_boundary() -> None:
    assert read("multipart/related; boundary='b'", [WHOLE]) == (b"{}", "x/y", b"1")


def test_an_empty_part_may_lack_its_end_of_line() -> None:
    body = b"--b\n\n--b\n\n--b--"
    assert read(TYPE, [body]) == (b"", "", b"")


@given(st.integers(0, len(WHOLE) - 1))
def test_a_body_that_is_not_whole_is_refused(length: int) -> None:
    with pytest.raises(InvalidArgument, match="not multipart/related"):
        read(TYPE, [WHOLE[:length]])


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("multipart/related", WHOLE),
        ("application/json", b"{}"),
        (TYPE, b"--c" + WHOLE[3:]),
        (TYPE, WHOLE[:-2] + b"\r\n\r\nthird\r\n--b--"),
        (TYPE, b"x" * 100_000),
        (TYPE, b"--b\r\n" + b"a: b\r\n" * 200 + b"\r\n"),
        (TYPE, b"--b\r\n\r\n" + b"{" * (2 << 20) + b"\r\n--b\r\n\r\n\r\n--b--"),
    ],
)
def test_what_is_not_of_this_form_is_refused(content_type: str, body: bytes) -> None:
    with pytest.raises(InvalidArgument):
        read(content_type, [body])


def test_blank_lines_before_the_first_boundary_are_few() -> None:
    assert read(TYPE, [b"\r\n" * 9 + WHOLE]) == (b"{}", "x/y", b"1")
    with pytest.raises(InvalidArgument, match="doesn't begin with the boundary"):
        read(TYPE, [b"\n" * MAX_LINES + WHOLE])
