"""Labels: what they may look like."""

from footplate.wire.shared_rules import MAX_LABELS, check_labels

RULE = "at most 64 lowercase letters, digits, underscores and dashes"


def wrong(labels: dict[str, str]) -> dict[str, str]:
    found = list(check_labels(labels))
    assert len({violation.field for violation in found}) == len(found)
    return {violation.field: violation.description for violation in found}


def test_letters_of_any_script_that_arent_capitals() -> None:
    assert wrong({"team-1_a": "", "größe": "名前", "x" * 64: "y" * 64}) == {}
    assert wrong({"team": "A"}) == {"labels.team": f'"A" given; allowed: {RULE}'}
    assert wrong({"team": "y" * 65})["labels.team"].endswith(RULE)


def test_wrong_keys_are_told_together() -> None:
    assert wrong({"A": "b", "": "c", "a b": "D", "x": "Y"}) == {
        "labels": f'key "A", "", "a b" given; allowed: {RULE}, at least one',
        "labels.x": f'"Y" given; allowed: {RULE}',
    }


def test_not_too_many() -> None:
    many = {f"k{number}": "" for number in range(MAX_LABELS)}
    assert wrong(many) == {}
    assert wrong({**many, "K": ""}) == {
        "labels": (f'65 given; allowed: 64; key "K" given; allowed: {RULE}, at least one')
    }
