"""How containers end: by themselves, by request, by their limits; nothing is left of them."""

from __future__ import annotations

from pathlib import Path

from footplate.domain.job_states import State
from footplate.testing.service import running_service
from tests.e2e.containers.container_context import ContainerContext, Engine
from tests.e2e.service.conftest import CACHE
from tests.e2e.service.test_ends import FAMILY, check_silence


def test_exit_codes_and_signals(each: ContainerContext) -> None:
    ends = {
        "exit 3": "replica workerpool0-0 exited with code 3",
        "kill -SEGV $$": "killed by signal 11 (SIGSEGV)",
        "kill -ABRT $$; sleep 60": "killed by signal 6 (SIGABRT)",
    }
    # The first process of a process namespace gets no signal that it doesn't handle: a child does.
    names = {line: each.run_custom("sh", "-c", f"sh -c '{line}'; exit $?") for line in ends}
    for line, name in names.items():
        message = each.wait_for(name, State.FAILED).error_message
        assert ends[line].partition(" (")[0].split()[-1] in message, message


def test_the_stop_signal_of_the_image_comes_first_then_the_grace_period(
    shared: ContainerContext,
) -> None:
    image = shared.engine.derive("trainers/stopped:1", "STOPSIGNAL SIGUSR1")
    line = "trap 'echo asked; exit 0' USR1; echo up; while :; do sleep 0.05; done"
    name = shared.run_custom("sh", "-c", line, image=image)
    shared.until(lambda: shared.messages(name) == ["up"])
    with shared.client() as client:
        client.cancel(name)

    shared.wait_for(name, State.CANCELLED)
    assert shared.messages(name) == ["up", "asked"]


def test_cancel_takes_down_a_family_that_ignores_it_and_fills_tmp(shared: ContainerContext) -> None:
    filling = "\nwith open('/tmp/much', 'wb') as file: file.write(bytes(50_000_000))\n"
    hostile = FAMILY.replace('print("born"', f'{filling}print("born"', 1)
    name = shared.submit(hostile)
    shared.until(lambda: shared.messages(name) == ["born"])
    shared.until(lambda: all((shared.out(name) / f"beat{n}").exists() for n in range(3)))
    with shared.client() as client:
        client.cancel(name)

    assert shared.wait_for(name).state is State.CANCELLED
    check_silence(shared, name)


def test_the_running_time_limit(shared: ContainerContext) -> None:
    source = "import time\nprint('up', flush=True)\ntime.sleep(600)"
    name = shared.submit(source, scheduling={"maxRunningTime": "1s"})

    job = shared.wait_for(name, State.CANCELLED)
    assert "limit of its running time" in job.error_message
    assert shared.messages(name) == ["up"]


CATALOGUE = """
[machine_types.own-small]
family = "COMPUTE_ENGINE"
vcpus = 1
memory_gb = 0.5
"""


def test_more_memory_than_the_machine_type_has(podman: Engine, tmp_path: Path) -> None:
    (tmp_path / "catalogue.toml").write_text(CATALOGUE)
    settings = {"stop_grace_s": 1, "mode": "enforce", "catalogue": tmp_path / "catalogue.toml"}
    with running_service(
        tmp_path / "data", CACHE, container_engine=podman.socket, **settings
    ) as service:
        context = ContainerContext(service, podman)
        name = context.submit("x = bytearray(2_000_000_000)", masterType="own-small")
        message = context.wait_for(name, State.FAILED).error_message
        assert context.told(name, "LIMITS") == [
            (
                "at most 0.5 GB of memory and 1 vCPU, as own-small has; "
                "at most 1536 processes and 100 GB of disk (bootDiskSizeGb)"
            )
        ]
    assert message == (
        "replica master-replica-0 was killed because memory ran out: the kernel killed the "
        "program: out of memory; machine type own-small has 0.5 GB. Use smaller "
        "batches, less data at once, or a machine type with more memory"
    )
    context.check_nothing_is_left()
