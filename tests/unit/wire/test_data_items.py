"""Lines of import files, and filters of data items."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.data_splits import SETS
from footplate.wire.vertex_v1.data_filters import check_data_filter, read_data_filters
from footplate.wire.vertex_v1.data_items import WrongItem, read_item, read_rows

USE = "aiplatform.googleapis.com/ml_use"
LINE = b'{"textContent": "a",  "dataItemResourceLabels": {"k": "v"}}'


def rows(format_name: str, *rows: str, **more: str) -> list[dict[str, Any]]:
    made = read_rows(f"{format_name}_io_format_1.0.0", [row.split(",") for row in rows], more)
    return [json.loads(item.line) for item in made]


def test_a_json_line_stays_as_it_is() -> None:
    item = read_item(LINE, {})
    assert (item.line, item.labels) == (LINE + b"\n", {"k": "v"})


def test_labels_of_the_import_are_added_but_replace_none() -> None:
    item = read_item(LINE, {"k": "other", "team": "a"})
    assert item.labels == {"k": "v", "team": "a"}
    assert json.loads(item.line)["dataItemResourceLabels"] == item.labels


@pytest.mark.parametrize("line", [b"{", b"[]", b'"\xff"', b"[" * 100_000, b"1" * 5000])
def test_what_is_no_object_is_refused(line: bytes) -> None:
    with pytest.raises(WrongItem):
        read_item(line, {})


@given(st.binary(max_size=50))
def test_no_line_is_another_error(line: bytes) -> None:
    for text in (line, b'{"dataItemResourceLabels": %s}' % line):
        try:
            read_item(text, {"a": "b"})
        except WrongItem:
            continue


def test_rows_of_images() -> None:
    assert rows("image_classification_single_label", "test,gs://b/1.jpg,daisy", team="a") == [
        {
            "imageGcsUri": "gs://b/1.jpg",
            "classificationAnnotation": {"displayName": "daisy"},
            "dataItemResourceLabels": {"team": "a", USE: "test"},
        }
    ]
    assert rows("image_classification_multi_label", "gs://b/1.jpg,daisy,rose") == [
        {
            "imageGcsUri": "gs://b/1.jpg",
            "classificationAnnotations": [{"displayName": "daisy"}, {"displayName": "rose"}],
        }
    ]


def test_neighbouring_boxes_of_an_image_are_one_item() -> None:
    box = "gs://b/1.jpg,cat,0.1,0.2,,,0.3,0.4,,"
    found = rows("image_bounding_box", f"TRAIN,{box}", f"TRAIN,{box}", "UNASSIGNED,gs://b/2.jpg,")
    annotation = {"displayName": "cat", "xMin": 0.1, "yMin": 0.2, "xMax": 0.3, "yMax": 0.4}
    assert found == [
        {
            "imageGcsUri": "gs://b/1.jpg",
            "boundingBoxAnnotations": [annotation, annotation],
            "dataItemResourceLabels": {USE: "training"},
        },
        {"imageGcsUri": "gs://b/2.jpg", "boundingBoxAnnotations": []},
    ]


def test_rows_of_texts() -> None:
    assert rows("text_classification_single_label", "so good,praise", "gs://b/t.txt,") == [
        {"textContent": "so good", "classificationAnnotation": {"displayName": "praise"}},
        {"textGcsUri": "gs://b/t.txt"},
    ]
    assert rows("text_sentiment", "fine,2,4") == [
        {"textContent": "fine", "sentimentAnnotation": {"sentiment": 2, "sentimentMax": 4}}
    ]


@pytest.mark.parametrize(
    ("format_name", "row", "said"),
    [
        ("image_classification_single_label", "gs://b/1.jpg,a,b", "2 labels, and the schema"),
        ("image_bounding_box", "gs://b/1.jpg,cat,0.1", "LABEL,X_MIN,Y_MIN,,,X_MAX,Y_MAX,,"),
        ("text_sentiment", "fine,good,4", "no whole number"),
        ("video_classification", "gs://b/1.mp4,cat,0,1", "have to be JSON Lines"),
    ],
)
def test_wrong_rows_say_what_is_allowed(format_name: str, row: str, said: str) -> None:
    with pytest.raises(WrongItem, match=said):
        rows(format_name, row)


def test_the_first_filter_that_matches_decides() -> None:
    select = read_data_filters(
        [f"labels.{USE}=training", f'labels.{USE}="validation" OR labels.k:*', "-"]
    )
    assert select({USE: "training", "k": "x"}) is SETS[0]
    assert select({"k": "x"}) is SETS[1]
    assert select({USE: "test"}) is None


@pytest.mark.parametrize(
    "text", ["name=a", "labels.k", "labels.=a", "labels.k>1", "labels.k=(", "a b"]
)
def test_what_is_no_filter_is_refused(text: str) -> None:
    assert check_data_filter(text)
    assert not check_data_filter(f"labels.{USE}!=test AND NOT labels.a=b")
    assert not check_data_filter("-")
