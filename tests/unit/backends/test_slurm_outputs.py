"""What Slurm's commands print, as recorded of Slurm 22.05, and what is read of it."""

import math
from dataclasses import replace

import pytest

from footplate.backends.engine.engine import EngineJob, JobPhase, NodeState
from footplate.backends.slurm import outputs
from footplate.backends.slurm.nodes import see_state
from footplate.backends.slurm.outputs import JobEnd
from footplate.ports.backend import EndCause

QUEUE = """\
7|RUNNING|None|n1|||footplate-s-u-1.0
8|PENDING|Resources||||footplate-s-v-1.0
9|CANCELLED|None||||footplate-s-w-1.0
10|COMPLETING|None|n[1-2]|||a|strange|name
11|NODE_FAIL|NodeDown|n3|||footplate-s-x-1.0
"""
RECORD = (
    "JobId=12 JobName=footplate-s-u-1.0 UserId=root(0) GroupId=root(0) MCS_label=N/A "
    "Priority=0 Nice=0 Account=(null) QOS=(null) JobState=PENDING Reason=JobHeldUser "
    "Dependency=(null) NodeList=(null) NumNodes=1-1"
)


def test_jobs_of_a_queue() -> None:
    jobs = outputs.read_jobs(QUEUE).jobs
    assert [(job.id, job.phase, job.nodes) for job in jobs] == [
        ("7", JobPhase.RUNNING, "n1"),
        ("8", JobPhase.WAITING, ""),
        ("9", JobPhase.ENDED, ""),
        ("10", JobPhase.RUNNING, "n[1-2]"),
        ("11", JobPhase.ENDED, "n3"),
    ]
    assert jobs[1].reason == "waits for nodes that other jobs use now (job 8 in Slurm: Resources)"
    assert jobs[2].reason == "cancelled in Slurm (job 9)"
    assert [job.cause for job in jobs if job.cause is not EndCause.UNKNOWN] == [EndCause.CANCELLED]
    assert jobs[3].name == "a|strange|name"
    assert jobs[4].reason == "a node of the job failed (job 11 in Slurm: NODE_FAIL)"
    assert [job.lost for job in jobs] == [False, False, False, False, True]


def test_the_time_of_a_job_that_runs() -> None:
    """Of one that waits Slurm says what it expects."""
    times = "1795963502|1795967102"
    runs, waits, unknown = outputs.read_jobs(
        f"7|RUNNING|None|n1|{times}|a\n8|PENDING|Priority||{times}|b\n9|RUNNING|None|n1|N/A|N/A|c\n"
    ).jobs
    assert (runs.started_s, runs.ends_s) == (1795963502, 1795967102)
    assert (waits.ends_s, unknown.ends_s) == (0, 0)
    [unlimited] = outputs.read_jobs("7|RUNNING|None|n1|1795963502|NONE|a\n").jobs
    assert unlimited.ends_s == math.inf


@pytest.mark.parametrize(
    ("state", "cause", "words"),
    [
        ("TIMEOUT", EndCause.TIME_LIMIT, "at the time limit of --time or of its partition"),
        ("DEADLINE", EndCause.TIME_LIMIT, "at its --deadline"),
        ("PREEMPTED", EndCause.PREEMPTED, "gave the nodes of the job to another one"),
        ("OUT_OF_MEMORY", EndCause.OUT_OF_MEMORY, "more memory than Slurm gave it"),
        ("NODE_FAIL", EndCause.UNKNOWN, "a node of the job failed"),
        ("BOOT_FAIL", EndCause.UNKNOWN, "could not be started"),
        ("FAILED", EndCause.UNKNOWN, "the job failed"),
    ],
)
def test_ends_that_slurm_names(state: str, cause: EndCause, words: str) -> None:
    [job] = outputs.read_jobs(f"12|{state}|None|n1|||footplate-s-u-1.0\n").jobs
    assert (job.phase, job.cause) == (JobPhase.ENDED, cause)
    assert words in job.reason
    assert job.reason.endswith(f"(job 12 in Slurm: {state})")


@pytest.mark.parametrize("state", ["SUSPENDED", "STOPPED"])
def test_a_suspended_job_says_so(state: str) -> None:
    [job] = outputs.read_jobs(f"12|{state}|None|n1|||footplate-s-u-1.0\n").jobs
    assert (job.phase, job.suspended) == (JobPhase.RUNNING, True)
    assert job.reason == (
        f"Slurm has suspended the job: its programs stand still (job 12 in Slurm: {state})"
    )


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        ("footplate: no Python\n", "no Python"),
        ("footplate\n", ""),
        ("", ""),
        ("(null)\n", ""),
    ],
)
def test_last_words_stand_in_a_jobs_comment(comment: str, words: str) -> None:
    assert outputs.read_words(comment) == words


@pytest.mark.parametrize(
    "text", ["7|RUNNING|None|n1|||foot", "slurm_load_jobs error\n", "|a|b|c|d\n"]
)
def test_half_an_answer_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="squeue"):
        outputs.read_jobs(text)


def test_no_jobs() -> None:
    assert outputs.read_jobs("").jobs == ()


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("Resources", "waits for nodes that other jobs use now"),
        ("Priority", "waits behind jobs with a higher priority"),
        ("ReqNodeNotAvail, UnavailableNodes:n1", "waits for nodes that are down"),
        ("QOSMaxJobsPerUserLimit", "waits for a limit of its QOS"),
        ("AssocGrpCpuLimit", "waits for a limit of its QOS"),
        ("PartitionDown", "waits for its partition, which is down"),
        ("JobHeldUser", "a user holds the job (scontrol hold)"),
        ("SomethingOfALaterSlurm", "waits in Slurm's queue"),
        ("", "waits in Slurm's queue"),
    ],
)
def test_reasons_become_sentences(reason: str, words: str) -> None:
    assert outputs.explain(reason).startswith(words)


END = (
    "JobId=3 JobName=a JobState=FAILED Reason=NonZeroExitCode PreemptEligibleTime=2026-11-29T15:15 "
    "PreemptTime={at} SuspendTime=None WorkDir=/ Comment={comment} StdErr=/dev/null Power=\n"
)
TAKEN = "Slurm gave the nodes of the job to another one"
FAILED = EngineJob("3", "a", JobPhase.ENDED, "the job failed")


@pytest.mark.parametrize(
    ("at", "comment", "cause", "reason"),
    [
        ("None", "footplate", EndCause.UNKNOWN, "the job failed"),
        (
            "None",
            "footplate: no StdErr=x here",
            EndCause.UNKNOWN,
            "the job failed: no StdErr=x here",
        ),
        (
            "None",
            "footplate: no PreemptTime=2026-11-29T15:15:21 here",
            EndCause.UNKNOWN,
            "the job failed: no PreemptTime=2026-11-29T15:15:21 here",
        ),
        (
            "2026-11-29T15:15:21",
            "footplate: signal 15",
            EndCause.PREEMPTED,
            f"{TAKEN} (job 3 in Slurm, which asked it to end)",
        ),
    ],
)
def test_the_record_of_an_ended_job_explains_it(
    at: str, comment: str, cause: EndCause, reason: str
) -> None:
    """Slurm 22.05 says FAILED of a job that ends by itself within the grace of a preemption."""
    end = outputs.read_end(END.format(at=at, comment=comment))
    job = outputs.explain_end(FAILED, end)
    assert (job.cause, job.reason) == (cause, reason)
    assert outputs.read_end(RECORD) == JobEnd()


@pytest.mark.parametrize(
    ("said", "uid"), [("CANCELLED by 1000\n", 1000), ("CANCELLED\n", None), ("", None)]
)
def test_who_has_cancelled_a_job(said: str, uid: int | None) -> None:
    """As Slurm's manual of sacct has it."""
    assert outputs.read_canceller(said) == uid
    cancelled = outputs.explain_end(FAILED, JobEnd(user="ada"))
    assert cancelled.reason == "cancelled in Slurm by ada (job 3)"


def test_a_record_of_a_job() -> None:
    job = outputs.read_job_record(RECORD, 0)
    assert job is not None
    assert (job.id, job.name, job.phase, job.nodes) == (
        "12",
        "footplate-s-u-1.0",
        JobPhase.WAITING,
        "",
    )
    with pytest.raises(ValueError, match="UserId"):
        outputs.read_job_record("No jobs in the system", 0)


def test_a_job_of_another_user_has_the_number_of_one_of_ours() -> None:
    """As Slurm gives out numbers again."""
    assert outputs.read_job_record(RECORD, 1000) is None


def test_a_comment_says_nothing_of_its_jobs_state() -> None:
    """A program may change the comment of its own job."""
    job = outputs.read_job_record(f"{RECORD} Comment=JobState=COMPLETED NodeList=n1 StdErr=/x", 0)
    assert job == outputs.read_job_record(RECORD, 0)


def test_nodes_that_do_not_answer() -> None:
    text = "n1|idle\nn2|mixed*\nn3|down*\nn3|down*\nn4|drained\n"
    assert outputs.silent_nodes(text, "n[1-4]") == ("n2", "n3")


@pytest.mark.parametrize("text", ["", "n1|idle\nn1|idle\n", "n1|idle\nn2|dow"])
def test_a_node_of_which_nothing_is_said_counts_as_silent(text: str) -> None:
    assert "n2" in outputs.silent_nodes(text, "n[1-2]")


def test_nodes_in_words() -> None:
    text = "n1|idle|4|4000|(null)|c8,big\nn3|mixed|4|4000|gpu:2|(null)\n"
    assert outputs.describe_nodes(text) == (
        "n1: idle, 4 CPUs, 4000 MB, features c8,big",
        "n3: mixed, 4 CPUs, 4000 MB, GRES gpu:2",
    )


@pytest.mark.parametrize(
    ("error", "refused"),
    [
        ("sbatch: error: invalid partition specified: nowhere", True),
        ("Batch job submission failed: Invalid qos specification", True),
        ("Batch job submission failed: Requested node configuration is not available", True),
        ("Batch job submission failed: Unable to contact slurm controller", False),
        ("Batch job submission failed: Socket timed out on send/recv operation", False),
    ],
)
def test_what_is_refused_and_what_may_be_tried_again(error: str, refused: bool) -> None:  # noqa: FBT001
    assert outputs.is_refusal(error) is refused


def test_a_record_that_is_none_hides_no_other() -> None:
    """As of a job whose name has a line break."""
    found = outputs.read_jobs("7|RUNNING|None|n1|||one\nof two lines\n8|RUNNING|None|n1|||two\n")
    assert [job.id for job in found.jobs] == ["7", "8"]
    assert found.oddities == ("a job is left out: squeue says 'of two lines'",)


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("7|FAILED|BadConstraints||||a", True),
        ("7|FAILED|BadConstraints|n1|||a", False),  # it ran
        ("7|FAILED|NonZeroExitCode||||a", False),
        ("7|PENDING|BadConstraints||||a", False),
    ],
)
def test_a_job_that_slurm_refused_and_recorded_is_told_from_others(
    line: str,
    refused: bool,  # noqa: FBT001  a parameter
) -> None:
    (job,) = outputs.read_jobs(f"{line}\n").jobs
    assert job.refused is refused
    if refused:
        assert job.reason == (
            "asks for resources that no node has (Slurm refused job 7: BadConstraints)"
        )


def shown(name: str, state: str, moments: str = "", rest: str = "") -> str:
    """As ``scontrol show node --oneliner`` prints it, with SLURM_TIME_FORMAT=%s."""
    moments = moments or "BootTime=1795963502 SlurmdStartTime=1795965901"
    return (
        f"NodeName={name} Arch=x86_64 CoresPerSocket=1  CPUAlloc=0 CPUTot=64 CPULoad=10.62 "
        f"AvailableFeatures=kind-{name} Gres=(null) NodeAddr=127.0.0.1 NodeHostName=vm Port=14922 "
        "Version=22.05.8 OS=Linux 6.18.44 #1 SMP PREEMPT_DYNAMIC @0  RealMemory=64000 AllocMem=0 "
        f"Boards=1 State={state} ThreadsPerCore=1 Partitions=pool  {moments} "
        f"LastBusyTime=1795965901 CfgTRES=cpu=64,mem=62.50G,billing=64 AllocTRES= {rest}\n"
    )


def states(text: str) -> list[NodeState]:
    return [see_state(node) for node in outputs.read_nodes(text)]


def test_states_of_nodes() -> None:
    seen = states(
        shown("n1", "MIXED")
        + shown("n2", "IDLE+NOT_RESPONDING")
        + shown("n3", "DOWN*+CLOUD+POWERED_DOWN")
        + shown("n4", "IDLE+POWERING_DOWN", rest="Reason=x [root@1795965902] BootTime=9 State=DOWN")
        + "\n"
    )
    booted = NodeState("", booted_s=1795963502, daemon_started_s=1795965901)
    off = "is powered off in Slurm"
    assert seen == [
        replace(booted, name="n1"),
        replace(booted, name="n2", silent=True),
        replace(booted, name="n3", silent=True, off=off),
        replace(booted, name="n4"),
    ]


@pytest.mark.parametrize("state", ["IDLE+DRAIN", "DRAINED", "MIXED+DRAIN", "draining"])
def test_nodes_that_are_to_be_emptied(state: str) -> None:
    [seen] = states(shown("n1", state))
    assert seen.draining


@pytest.mark.parametrize(
    "moments",
    ["BootTime=2026-11-29T15:24:49 SlurmdStartTime=None", "BootTime=None SlurmdStartTime=None"],
)
def test_moments_in_another_form_are_unknown(moments: str) -> None:
    assert states(shown("n1", "IDLE", moments)) == [NodeState("n1")]


def test_half_a_node_is_none() -> None:
    assert states(shown("n1", "IDLE").rstrip("\n")) == []
    assert states("slurm_load_node error\n") == []
