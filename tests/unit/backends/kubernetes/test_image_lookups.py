"""A registry that is slow holds up its own job alone."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import pytest

from footplate.backends.engine.retries import LONGEST_RETRY_S
from footplate.backends.kubernetes.image_lookups import LONGEST_S, ImageLookups, SlowRegistry
from footplate.containers.registry import ImageConfig, UnknownImage
from tests.support.local_backend import wait_until

LIMIT_S = 60
CONFIG = ImageConfig("x@sha256:0", "amd64", {})


class Registry:
    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers = threading.Event()
        self.fault = ""

    def read(self, name: str, _logins: Mapping[str, tuple[str, str]]) -> ImageConfig:
        self.asked.append(name)
        assert self.answers.wait(LIMIT_S)
        if self.fault:
            raise UnknownImage(self.fault)
        return CONFIG


def test_an_answer_that_comes_at_once_is_given() -> None:
    registry = Registry()
    registry.answers.set()
    lookups = ImageLookups(registry.read, LIMIT_S)
    assert [lookups.find("a", {}), lookups.find("a", {})] == [CONFIG, CONFIG]
    assert registry.asked == ["a", "a"]  # a tag may have moved


def test_one_that_is_slow_is_asked_once() -> None:
    registry = Registry()
    lookups = ImageLookups(registry.read, 0.01)
    for name in ("a", "a", "b"):
        with pytest.raises(SlowRegistry, match=f"described the image {name} yet"):
            lookups.find(name, {})
    registry.answers.set()
    while True:
        try:
            assert lookups.find("a", {}) == CONFIG
        except SlowRegistry:
            continue
        break
    assert sorted(registry.asked) == ["a", "b"]


def test_a_lookup_that_got_no_thread_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry()
    registry.answers.set()
    lookups = ImageLookups(registry.read, LIMIT_S)

    def fail(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", fail)
        with pytest.raises(RuntimeError):
            lookups.find("a", {})
    assert lookups.find("a", {}) == CONFIG


def test_a_fault_is_said_and_asked_again() -> None:
    registry = Registry()
    registry.answers.set()
    registry.fault = "there is none"
    lookups = ImageLookups(registry.read, LIMIT_S)
    with pytest.raises(UnknownImage, match="there is none"):
        lookups.find("a", {})
    registry.fault = ""
    assert lookups.find("a", {}) == CONFIG


def ask_without_waiting(registry: Registry, lookups: ImageLookups) -> None:
    """The answer comes after the caller has gone."""
    with pytest.raises(SlowRegistry):
        lookups.find("a", {})
    registry.answers.set()
    wait_until(lambda: not any(t.name == "image-lookup" for t in threading.enumerate()))


def test_an_answer_that_nobody_fetched_is_not_given_later() -> None:
    registry, now_s = Registry(), [0.0]
    lookups = ImageLookups(registry.read, 0.01, lambda: now_s[0])
    ask_without_waiting(registry, lookups)
    now_s[0] = LONGEST_S
    lookups.find("b", {})
    registry.fault = "the tag is gone"
    with pytest.raises(UnknownImage, match="the tag is gone"):
        lookups.find("a", {})


def test_a_question_that_times_out_is_a_fault() -> None:
    def read(name: str, _logins: Mapping[str, tuple[str, str]]) -> ImageConfig:
        raise TimeoutError(name)

    with pytest.raises(TimeoutError, match="a"):
        ImageLookups(read, LIMIT_S).find("a", {})


def test_an_answer_is_for_those_with_the_same_logins() -> None:
    """Each project's namespace may have a Secret of its own."""
    registry, logins = Registry(), {"docker.io": ("ada", "secret")}
    lookups = ImageLookups(registry.read, 0.01)
    for each in (logins, {}):
        with pytest.raises(SlowRegistry):
            lookups.find("a", each)
    assert registry.asked == ["a", "a"]
    registry.answers.set()


def test_an_answer_is_kept_until_a_job_asks_again_that_was_often_refused() -> None:
    registry, now_s = Registry(), [0.0]
    lookups = ImageLookups(registry.read, 0.01, lambda: now_s[0])
    ask_without_waiting(registry, lookups)
    now_s[0] = LONGEST_RETRY_S + 10.0
    assert lookups.find("a", {}) == CONFIG
    assert registry.asked == ["a"]
