"""Names of images: what is read from them, and what is said of those that aren't."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.image_reference import ImageReference, MalformedReference, parse_reference

SHA = "sha256:" + "0123456789abcdef" * 4

components = st.from_regex(r"[a-z0-9]{1,8}(?:(?:\.|_|__|-{1,3})[a-z0-9]{1,8}){0,2}", fullmatch=True)
repositories = st.lists(components, min_size=1, max_size=4).map("/".join)
hosts = st.sampled_from(
    ["gcr.io", "us-docker.pkg.dev", "localhost", "127.0.0.1", "[::1]:5000", "a.B", "HUB", "x:1"]
)
registries = st.one_of(
    hosts, st.builds("{}:{}".format, st.sampled_from(["gcr.io", "a"]), st.integers(1, 65535))
)
tags = st.none() | st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,20}", fullmatch=True)
digests = st.none() | st.text("0123456789abcdef", min_size=64, max_size=64).map("sha256:{}".format)


@given(registries, repositories, tags, digests)
def test_parts_are_what_the_name_was_made_of(
    registry: str, repository: str, tag: str | None, digest: str | None
) -> None:
    text = f"{registry}/{repository}" + (f":{tag}" if tag else "")
    text += f"@{digest}" if digest else ""
    found = parse_reference(text)
    assert found == ImageReference(registry, repository, tag, digest)
    assert str(found) == text


@given(st.text(max_size=80) | st.from_regex(r"[a-zA-Z0-9:/@._-]{1,80}", fullmatch=True))
def test_any_text_is_a_reference_or_refused(text: str) -> None:
    try:
        found = parse_reference(text)
    except MalformedReference:
        return
    assert parse_reference(str(found)) == found
    assert not any(character.isspace() for character in text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("python", "docker.io/library/python"),
        ("my-trainer:dev", "docker.io/library/my-trainer:dev"),
        ("team/trainer", "docker.io/team/trainer"),
        ("docker.io/python:3", "docker.io/library/python:3"),
        ("index.docker.io/team/x", "docker.io/team/x"),
        ("localhost/trainer:1", "localhost/trainer:1"),
        ("localhost:5000/trainer", "localhost:5000/trainer"),
        ("gcr.io/p/i", "gcr.io/p/i"),
        (f"gcr.io/p/i:1@{SHA}", f"gcr.io/p/i:1@{SHA}"),
        ("us-docker.pkg.dev/vertex-ai/training/pytorch-gpu.2-1:latest",) * 2,
    ],
)
def test_names_without_a_registry_are_of_docker_hub(text: str, meant: str) -> None:
    assert str(parse_reference(text)) == meant


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is empty"),
        ("gcr.io/p /i", "it has a space"),
        ("https://gcr.io/p/i", "the image's name begins with https://; leave https:// out"),
        ("docker://x", "the image's name begins with docker://; leave docker:// out"),
        ("gcr.io/Team/i", "'Team' in the image's name has capital letters; use small letters"),
        ("gcr.io//i", "the image's name has two slashes together, or one at its end"),
        ("gcr.io/", "the image's name has two slashes together, or one at its end"),
        ("gcr.io/p/i:",
         ("the image's tag '' is malformed; allowed: letters, digits, '_', '.' and '-', at "
          "most 128, first neither '.' nor '-'")),
        ("gcr.io/p/-i",
         ("'-i' in the image's name is malformed; allowed: small letters and digits, with '.', "
          "'_', '__' or '-' between them")),
        ("gcr.io:x/i", "the image's registry 'gcr.io:x' is malformed; allowed: HOST or HOST:PORT"),
        ("i@sha256:12",
         ("the image's digest 'sha256:12' is malformed; allowed: sha256: and 64 hexadecimal "
          "digits")),
        (f"i@{SHA}0",
         ("the image's digest has 65 digits after sha256:; allowed: 64 of 0 to 9 and a to f")),
        ("0" * 64, "this is the id of an image; give the image's name, or tag the image first"),
        ("gcr.io/" + "a" * 250, "the image's name has 257 characters; allowed: at most 255"),
        ("gcr.io/ä",
         ("'ä' in the image's name is malformed; allowed: small letters and digits, with '.', "
          "'_', '__' or '-' between them")),
    ],
)  # fmt: skip
def test_a_refusal_names_what_is_wrong(text: str, said: str) -> None:
    with pytest.raises(MalformedReference) as refused:
        parse_reference(text)
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("text", "loopback"),
    [
        ("localhost:5000/x", True),
        ("127.0.0.1:5000/x", True),
        ("127.8.0.1/x", True),
        ("[::1]:5000/x", True),
        ("localhost.example/x", False),
        ("10.0.0.1:5000/x", False),
        ("x", False),
    ],
)
def test_registries_of_this_machine_are_told_from_others(text: str, loopback: bool) -> None:  # noqa: FBT001  parametrized
    assert parse_reference(text).on_loopback is loopback
