"""What the image is built from."""

from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_image_is_built_from_a_release_and_nothing_else() -> None:
    """An environment, a cache and a history of gigabytes stay out."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()

    assert [line for line in lines if line and not line.startswith("#")] == ["*", "!dist"]
