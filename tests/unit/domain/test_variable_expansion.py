from footplate.domain.variable_expansion import expand


def test_refers_to_earlier_variables() -> None:
    given = (("REGION", "here"),)
    own = (("A", "1"), ("B", "$(A)/$(REGION)"), ("C", "$(LATER)"), ("LATER", "x"))

    assert dict(expand(given, own)) == {
        "REGION": "here",
        "A": "1",
        "B": "1/here",
        "C": "$(LATER)",
        "LATER": "x",
    }


def test_two_dollars_escape() -> None:
    assert expand((("A", "1"),), (("B", "$$(A)"), ("C", "$A $$A"))) == (
        ("A", "1"),
        ("B", "$(A)"),
        ("C", "$A $$A"),
    )


def test_expansion_is_not_expanded_again() -> None:
    assert dict(expand((), (("A", "$(B)"), ("B", "2"), ("C", "$(A)"))))["C"] == "$(B)"
