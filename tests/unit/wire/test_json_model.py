"""Messages: what is understood of a body, and all that its schema doesn't allow."""

import copy
from collections.abc import Mapping
from itertools import count
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from footplate.domain.errors import InvalidArgument, Violation
from footplate.wire.json_model import LONGEST_LIST, MAX_VIOLATIONS, JsonModel, refuse
from footplate.wire.json_text import JsonObject
from footplate.wire.scalars import Double, Flag, Int32, Text


class Wheel(JsonModel):
    WITHOUT_EFFECT: ClassVar[Mapping[str, str]] = {"tread_depth": "roads are dry"}
    REFUSED: ClassVar[Mapping[str, str]] = {"old_motor": "pull it by hand"}
    size_cm: Int32 | None = None
    spokes: list[Double] | None = None


class Cart(JsonModel):
    OUTPUT_ONLY: ClassVar[frozenset[str]] = frozenset({"made_at"})
    name: Text | None = None
    painted: Flag | None = None
    wheels: list[Wheel] | None = None
    spare_wheel: Wheel | None = None
    tags: list[Text] | None = None
    labels: dict[str, Text] | None = None


def wrong(body: JsonObject) -> dict[str, str]:
    return {v.field: v.description for v in Cart.understand(body).wrong}


def test_what_is_wrong_is_left_out_and_the_rest_understood() -> None:
    body: JsonObject = {
        "name": "hand",
        "painted": "yes",
        "spare_wheel": {"sizeCm": 4.5, "spokes": [1]},
        "labels": {"a": "b", "c": 5},
    }
    before = copy.deepcopy(body)
    understood = Cart.understand(body)
    assert understood.message.encode() == {
        "name": "hand",
        "spareWheel": {"spokes": [1.0]},
        "labels": {"a": "b"},
    }
    assert wrong(body) == {
        "painted": '"yes" given; allowed: true or false',
        "spareWheel.sizeCm": "4.5 given; allowed: an integer of 32 bits",
        "labels.c": '5 given; allowed: a string, such as "5"',
    }
    assert body == before


def test_the_items_behind_a_wrong_one_keep_their_numbers() -> None:
    understood = Cart.understand(
        {
            "wheels": [3, {"sizeCm": 2}, {"spokes": [1, None, "x", 4]}],
            "tags": ["a", 1, {}, "d"],
        }
    )
    message = understood.message
    assert [wheel.size_cm for wheel in message.wheels or ()] == [None, 2, None]
    assert (message.wheels or [Wheel()])[2].spokes == [1, 0, 0, 4]
    assert message.tags == ["a", "", "", "d"]
    assert [v.field for v in understood.wrong] == [
        "wheels[0]",
        "wheels[2].spokes[1]",
        "wheels[2].spokes[2]",
        "tags[1]",
        "tags[2]",
    ]
    assert understood.wrong[0].description == "3 given; allowed: an object"


def test_a_field_in_both_spellings() -> None:
    body: JsonObject = {"spare_wheel": {"sizeCm": 1, "size_cm": 1}}
    assert list(wrong(body)) == ["spareWheel.sizeCm"]
    assert "two spellings" in wrong(body)["spareWheel.sizeCm"]
    assert wrong({"size_cm": 1, "spareWheel": None, "spare_wheel": {}}) == {}


def test_unknown_fields_are_violations_unless_they_are_to_be_kept() -> None:
    body: JsonObject = {"nme": "x", "wheels": [{"sizes": 1}], "madeAt": {"what": "ever"}}
    assert Cart.understand(body, strict=False).violations == ()
    assert Cart.understand(body).violations == (
        Violation("nme", "unknown name; did you mean name?"),
        Violation("wheels[0].sizes", "unknown name; did you mean sizeCm?"),
    )


@pytest.mark.parametrize("name", ["old_motor", "oldMotor"])
def test_a_field_that_is_refused_comes_with_the_way_out(name: str) -> None:
    (refused,) = Cart.understand({"spareWheel": {name: {"hp": 1}}}).unknown
    assert refused == Violation(f"spareWheel.{name}", "not supported: pull it by hand")


@pytest.mark.parametrize("empty", [None, False, 0, "", [], {}])
def test_a_field_that_is_refused_may_be_empty(empty: JsonValue) -> None:
    assert Cart.understand({"spareWheel": {"oldMotor": empty}}).violations == ()


def test_a_field_without_effect_is_kept_as_it_is() -> None:
    understood = Cart.understand({"spareWheel": {"tread_depth": {"any_thing": 1}}})
    assert understood.violations == ()
    assert understood.message.encode() == {"spareWheel": {"treadDepth": {"any_thing": 1}}}


def test_output_only_fields_are_not_offered() -> None:
    (unknown,) = Cart.understand({"zzz": 1}).unknown
    assert "madeAt" not in unknown.description


def test_a_whole_message_is_one_without_violations() -> None:
    assert Cart.decode({"name": "hand"}).name == "hand"
    with pytest.raises(InvalidArgument, match=r"name: 5 given.*; tags: 6 given; allowed: a list"):
        Cart.decode({"name": 5, "tags": 6})


def found(*fields: str) -> tuple[Violation, ...]:
    return tuple(Violation(field, "by a rule") for field in fields)


@pytest.mark.parametrize(
    ("field", "told"),
    [
        ("wheels[1].sizeCm", False),  # at a wrong value
        ("wheels[1]", True),  # above it
        ("wheels", True),
        ("spareWheel.sizeCm", False),  # below it
        ("wheels[10].sizeCm", True),
        ("wheels[1].spokes", True),
        ("name", True),
        ("spareWheels", True),
    ],
)
def test_rules_are_silent_where_the_schema_has_spoken(field: str, *, told: bool) -> None:
    understood = Cart.understand({"wheels": [{}, {"sizeCm": "x"}], "spareWheel": 5})
    fields = [violation.field for violation in understood.with_rules(found(field))]
    assert fields == ["wheels[1].sizeCm", "spareWheel", *[field] * told]


def test_one_violation_for_each_field() -> None:
    understood = Cart.understand({"nme": "x"})
    together = understood.with_rules((*found("name", "tags"), Violation("name", "again")))
    assert [(v.field, v.description) for v in together] == [
        ("nme", "unknown name; did you mean name?"),
        ("name", "by a rule"),
        ("tags", "by a rule"),
    ]


def test_an_unknown_field_hides_no_rule_above_it() -> None:
    understood = Cart.understand({"spareWheel": {"x": 1}})
    assert [v.field for v in understood.with_rules(found("spareWheel"))] == [
        "spareWheel.x",
        "spareWheel",
    ]


def test_a_list_with_very_many_wrong_items_is_left_out() -> None:
    understood = Cart.understand({"name": "hand", "painted": 1, "tags": [1] * 1500 + ["a"]})
    assert understood.message.encode() == {"name": "hand"}
    assert [v.field for v in understood.wrong[:3]] == ["painted", "tags[0]", "tags[1]"]
    assert understood.wrong[-1].field == "tags"
    told = understood.with_rules(found("tags[1200]", "name"))
    assert len(told) == MAX_VIOLATIONS + 1
    assert "more violations" in told[-1].description


def test_a_list_that_would_take_long_is_not_looked_at() -> None:
    too_many: list[JsonValue] = ["x"] * (LONGEST_LIST + 1)
    assert wrong({"tags": too_many}) == {"tags": "100001 items given; allowed: at most 100000"}
    assert wrong({"tags": too_many[1:], "unknown": too_many}) == {}


def test_rules_are_heard_up_to_a_bound() -> None:
    for_ever = (Violation(f"tags[{number}]", "by a rule") for number in count())
    told = Cart.understand({}).with_rules(for_ever)
    assert len(told) == MAX_VIOLATIONS + 1
    assert told[-1] == Violation("request", "at least 950 more violations")


def test_of_very_many_unknown_fields_the_first_come_with_the_nearest() -> None:
    body: JsonObject = {f"nme{number}": 1 for number in range(200)}
    unknown = Cart.understand(body).unknown
    assert unknown[0].description.startswith("unknown name; ")
    assert unknown[-1] == Violation("nme199", "unknown name")


def test_very_many_violations_are_summed_up() -> None:
    refuse(())
    with pytest.raises(InvalidArgument) as refused:
        refuse(tuple(Violation(f"tags[{i}]", "x") for i in range(MAX_VIOLATIONS + 7)))
    assert len(refused.value.violations) == MAX_VIOLATIONS + 1
    assert refused.value.violations[-1] == Violation("request", "7 more violations")


FINITE = st.floats(allow_nan=False, allow_infinity=False)
SCALARS: st.SearchStrategy[JsonValue] = (
    st.none() | st.booleans() | st.integers() | FINITE | st.text(max_size=3)
)
NAMES = st.sampled_from(
    [
        "name",
        "painted",
        "wheels",
        "spareWheel",
        "spare_wheel",
        "tags",
        "labels",
        "sizeCm",
        "size_cm",
        "spokes",
        "made_at",
        "other",
        "__class__",
        "model_config",
    ]
)
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=6),
    max_leaves=30,
)


@given(st.dictionaries(NAMES, VALUES, max_size=8))
def test_something_is_understood_of_any_object(body: JsonObject) -> None:
    before = copy.deepcopy(body)
    understood = Cart.understand(body, strict=False)
    assert body == before
    again = Cart.understand(understood.message.encode(), strict=False)
    assert again.violations == ()
    assert again.message.encode() == understood.message.encode()
