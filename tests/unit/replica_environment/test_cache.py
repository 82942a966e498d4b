"""The cache of environments, beside processes that use it, and die."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from footplate.replica.cache_locks import Leases
from footplate.replica.environment.build_cache import BuildCache, make_key
from footplate.replica.environment.build_record import BuildRecord
from footplate.replica.environment.cache import Cache
from footplate.replica.environment.disk_usage import measure
from footplate.replica.environment.eviction import EvictionPolicy
from footplate.replica.kept_environments import keep
from footplate.server.leader_services import KeptInCache

ALL = EvictionPolicy(everything=True)
HOLDER = """
import sys
from footplate.replica.cache_locks import Leases
leases = Leases()
assert leases.take(sys.argv[1], sys.argv[2:])
print("held", flush=True)
sys.stdin.read()
"""
REMOVER = """
import sys, time
from footplate.replica.environment.cache_removal import set_aside
set_aside(sys.argv[1])
print("aside", flush=True)
time.sleep(600)
"""
BUILDER = """
import os, sys, time
from footplate.replica.environment.build_cache import BuildCache
def make(path, lock):
    os.mkdir(path)
    open(path + "/half", "w").close()
    print("begun", flush=True)
    time.sleep(600)
BuildCache(sys.argv[1]).get(sys.argv[2], make, "it", lambda _: None)
"""


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(str(tmp_path / "cache"))


def never(_: str) -> None:
    raise AssertionError("nobody else builds")


def build(cache: Cache, name: str, kind: str = "runtimes", size: int = 10_000) -> str:
    """The use of an environment that nobody holds."""
    builds = BuildCache(f"{cache.root}/{kind}")

    def make(path: str, _: int) -> BuildRecord:
        os.mkdir(path)  # noqa: PTH102
        with open(f"{path}/content", "wb") as file:
            file.write(bytes(size))
        return BuildRecord(runtime=name)

    try:
        return builds.get(make_key(name), make, name, never).use
    finally:
        builds.close()


def use_at(cache: Cache, use: str, when: float) -> None:
    os.utime(f"{cache.root}/{use}.lock", (when, when))


@contextmanager
def process(code: str, *args: str, says: str) -> Iterator[subprocess.Popen[str]]:
    """One that has said its word."""
    popen = subprocess.Popen(
        [sys.executable, "-c", code, *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert popen.stdout is not None
        assert popen.stdout.readline().strip() == says
        yield popen
    finally:
        popen.kill()
        popen.communicate()


def uses(cache: Cache) -> set[str]:
    return {f"{found.entry.kind}/{found.entry.key}" for found in cache.look()}


def test_it_tells_sizes_and_last_use(cache: Cache) -> None:
    use = build(cache, "a", size=50_000)
    use_at(cache, use, 1234.0)
    (found,) = cache.look()
    assert found.entry.used_at == 1234.0
    assert found.record.runtime == "a"
    assert 50_000 <= found.entry.size_bytes <= measure(f"{cache.root}/{use}")
    assert not found.entry.in_use
    assert not found.entry.useless


def test_the_least_recently_used_go_first(cache: Cache) -> None:
    made = [build(cache, name) for name in "abc"]
    for when, use in enumerate((made[1], made[2], made[0])):
        use_at(cache, use, 1000.0 + when)
    sizes = [found.entry.size_bytes for found in cache.look()]
    pruned = cache.prune(EvictionPolicy(below_bytes=sum(sizes) - 1))
    assert [found.path for found in pruned.removed] == [f"{cache.root}/{made[1]}"]
    assert pruned.freed_bytes == sizes[0]
    assert uses(cache) == {made[0], made[2]}


def test_what_a_persistent_resource_keeps_stays_until_it_is_released(cache: Cache) -> None:
    mine, both, nobodys = build(cache, "a"), build(cache, "b", "layers"), build(cache, "c")
    keep(cache.root, "0a1", [mine, both])
    keep(cache.root, "0a2", [both])
    keep(cache.root, "../a", [nobodys])
    cache.prune(EvictionPolicy(below_bytes=1))
    assert uses(cache) == {mine, both}
    environments = KeptInCache(Path(cache.root))
    environments.remove("0a1")
    assert uses(cache) == {both}
    environments.release("0a2")
    environments.release("0a2")
    cache.prune(EvictionPolicy(below_bytes=1))
    assert uses(cache) == set()


def test_a_reboot_leaves_what_is_in_use(cache: Cache) -> None:
    use = build(cache, "a")
    keep(cache.root, "0a1", [use])
    leases = Leases()
    assert leases.take(cache.root, [use])
    KeptInCache(Path(cache.root)).remove("0a1")
    leases.end()
    assert uses(cache) == {use}
    cache.prune(EvictionPolicy(below_bytes=1))
    assert uses(cache) == set()


def test_what_is_used_stays_until_its_user_dies(cache: Cache) -> None:
    base, layer, other = build(cache, "a"), build(cache, "l", "layers"), build(cache, "b")
    with process(HOLDER, cache.root, base, layer, says="held") as holder:
        assert {found.entry.key for found in cache.look() if found.entry.in_use} == {
            base.partition("/")[2],
            layer.partition("/")[2],
        }
        cache.prune(ALL)
        assert uses(cache) == {base, layer}
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    assert other not in uses(cache)
    cache.prune(ALL)
    assert uses(cache) == set()


def test_using_counts_as_use(cache: Cache) -> None:
    use = build(cache, "a")
    use_at(cache, use, 1000.0)
    before = time.time() - 10
    assert build(cache, "a") == use
    assert cache.look()[0].entry.used_at >= before
    use_at(cache, use, 1000.0)
    leases = Leases()
    assert leases.take(cache.root, [use])
    leases.end()
    assert cache.look()[0].entry.used_at >= before


def test_a_lease_on_what_was_removed_meanwhile(cache: Cache) -> None:
    use = build(cache, "a")
    cache.prune(ALL)
    leases = Leases()
    assert not leases.take(cache.root, [use])
    assert build(cache, "a") == use
    assert leases.take(cache.root, [use])
    leases.end()


def test_nobody_waits_for_a_builder_to_take_a_lease(cache: Cache) -> None:
    """A supervisor has but one thread."""
    key = make_key("a")
    with process(BUILDER, f"{cache.root}/runtimes", key, says="begun"):
        assert not Leases().take(cache.root, [f"runtimes/{key}"])


@pytest.mark.parametrize(
    "use", ["runtimes/../../x", "/etc/passwd", "", "runtimes/abc", f"locks/{'0' * 32}"]
)
def test_a_lease_is_on_environments_only(cache: Cache, use: str) -> None:
    build(cache, "a")
    with pytest.raises(ValueError, match="names no environment"):
        Leases().take(cache.root, [use])


def test_killed_while_it_builds(cache: Cache) -> None:
    key = make_key("a")
    with process(BUILDER, f"{cache.root}/runtimes", key, says="begun"):
        (found,) = cache.look()
        assert found.entry.in_use
        cache.prune(ALL)
        assert os.path.exists(f"{found.path}/half")  # noqa: PTH110
    (found,) = cache.look()
    assert found.entry.useless
    cache.prune(EvictionPolicy())
    assert cache.look() == []
    assert build(cache, "a") == f"runtimes/{key}"


def test_what_counts_as_finished_is_on_the_disk(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut leaves no marker beside files that were never written."""
    seen: list[list[str]] = []

    def sync() -> None:
        seen.append(os.listdir(f"{cache.root}/runtimes/{make_key('a')}"))  # noqa: PTH208  as all of this module does

    monkeypatch.setattr(os, "sync", sync)
    use = build(cache, "a")
    assert seen == [["content"]]
    assert os.path.exists(f"{cache.root}/{use}/complete.json")  # noqa: PTH110


def test_killed_while_it_removes(cache: Cache) -> None:
    use = build(cache, "a")
    path = f"{cache.root}/{use}"
    with process(REMOVER, path, says="aside"):
        pass
    assert cache.look() == []
    assert measure(f"{cache.root}/runtimes/.trash") >= 10_000
    assert build(cache, "a") == use
    cache.prune(EvictionPolicy())
    assert measure(f"{cache.root}/runtimes/.trash") == 0
    assert uses(cache) == {use}


def test_two_prune_at_once(cache: Cache) -> None:
    made = [build(cache, str(number)) for number in range(20)]
    code = (
        "import sys\n"
        "from footplate.replica.environment.cache import Cache\n"
        "from footplate.replica.environment.eviction import EvictionPolicy\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "print(len(Cache(sys.argv[1]).prune(EvictionPolicy(everything=True)).removed))\n"
    )
    with (
        process(code, cache.root, says="ready") as one,
        process(code, cache.root, says="ready") as two,
    ):
        outputs = [popen.communicate("\n")[0] for popen in (one, two)]
        assert [popen.returncode for popen in (one, two)] == [0, 0]
    assert sum(map(int, outputs)) >= len(made)
    assert cache.look() == []


def test_what_was_moved_here_is_useless(cache: Cache, tmp_path: Path) -> None:
    use = build(cache, "a")
    os.rename(cache.root, tmp_path / "elsewhere")  # noqa: PTH104
    moved = Cache(str(tmp_path / "elsewhere"))
    assert [found.entry.useless for found in moved.look()] == [True]
    assert BuildCache(f"{moved.root}/runtimes").hold(use.partition("/")[2]) is None
    assert build(moved, "a") == use
    assert [found.entry.useless for found in moved.look()] == [False]


@pytest.mark.parametrize("change", ["content", "name", "mode", "bytecode"])
def test_what_programs_could_change_is_compared_before_each_use(cache: Cache, change: str) -> None:
    key, root = make_key("a"), f"{cache.root}/runtimes"
    made: list[str] = []
    told: list[str] = []

    def make(path: str, _: int) -> BuildRecord:
        Path(path, "lib").mkdir(parents=True)
        Path(path, "lib", "json.py").write_text("good")
        made.append(path)
        return BuildRecord()

    def get() -> None:
        builds = BuildCache(root, exposed=True)
        assert builds.get(key, make, "it", told.append).path == f"{root}/{key}"
        assert builds.hold(key) is not None
        builds.close()

    get()
    get()
    assert (len(made), told) == (1, [])
    lib = Path(root, key, "lib")
    assert lib.stat().st_mode & 0o222 == 0
    lib.chmod(0o755)
    match change:
        case "content":
            file, times = lib / "json.py", (lib / "json.py").stat()
            file.write_text("evil")
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
        case "name":
            (Path(root, key) / "evil.pth").write_text("import evil")
        case "bytecode":
            (lib / "__pycache__").mkdir()
    assert BuildCache(root, exposed=True).hold(key) is None
    get()
    assert (len(made), told) == (
        2,
        ["it has changed since it was made: the service makes it again"],
    )
    assert [path.name for path in lib.iterdir()] == ["json.py"]
    assert (lib / "json.py").read_text() == "good"


def test_what_was_changed_is_made_anew_once_nobody_uses_it(cache: Cache) -> None:
    use = build(cache, "a")  # nothing was noted of it, so it counts as changed
    told: list[str] = []

    def make(path: str, _: int) -> BuildRecord:
        Path(path).mkdir()
        return BuildRecord()

    with process(HOLDER, cache.root, use, says="held") as holder:

        def tell(words: str) -> None:
            told.append(words)
            holder.kill()

        BuildCache(f"{cache.root}/runtimes", exposed=True).get(make_key("a"), make, "it", tell)
    assert told == [
        "it has changed since it was made: the service makes it again when no program uses it",
        "it has changed since it was made: the service makes it again",
    ]


def test_read_only_folders_go_too(cache: Cache) -> None:
    use = build(cache, "a")
    folder = f"{cache.root}/{use}/locked"
    os.makedirs(f"{folder}/below")  # noqa: PTH103
    os.chmod(folder, 0o500)  # noqa: PTH101
    cache.prune(ALL)
    assert measure(cache.root) < 100_000
    assert not os.listdir(f"{cache.root}/runtimes/.trash")  # noqa: PTH208


def test_strangers_in_the_cache_are_left_alone(cache: Cache, tmp_path: Path) -> None:
    build(cache, "a")
    (tmp_path / "cache" / "runtimes" / "notes").mkdir()
    (tmp_path / "cache" / "runtimes" / ("0" * 32)).symlink_to(tmp_path)
    cache.prune(ALL)
    assert (tmp_path / "cache" / "runtimes" / "notes").is_dir()
    assert tmp_path.is_dir()
    assert (tmp_path / "cache" / "runtimes" / ("0" * 32)).is_symlink()


def test_records_of_an_older_version_count_by_what_lies_there(cache: Cache) -> None:
    use = build(cache, "a")
    marker = f"{cache.root}/{use}/complete.json"
    with open(marker, "w", encoding="utf-8") as file:
        json.dump({"lock_sha256": "0"}, file)
    (found,) = cache.look()
    assert found.entry.size_bytes >= 10_000
    assert not found.entry.useless
