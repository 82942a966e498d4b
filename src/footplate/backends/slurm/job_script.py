"""Composes the job of an allocation: options of sbatch, and its script. Pure."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from footplate.backends.engine.engine import JobRequest, LauncherRequest
from footplate.backends.slurm import heterogeneous_jobs
from footplate.ports.engines import SLURM_LABELS
from footplate.protocol.launcher import TITLE_ROOM
from footplate.protocol.site_variables import PROLOGUE_VARIABLES, SITE_VARIABLES

ANY_MACHINE = "*"
CHOSEN = ("account", "qos", "reservation", "licenses")
"""The options that a project's table and labels may say."""
_GPU = "gpu"
_END = "END_OF_THE_LAUNCHER"
WORDS = "footplate: "
"""What the comment of a job begins with in which its script says why it failed: nodes need not
share a folder with the service, and each user may change the comment of an own job."""
_SAY = f"""say() {{
    WORDS=$(grep '[^[:space:]]' | tail -n 1 | tr -cd '[:print:]' | cut -c 1-480)
    [ -z "$WORDS" ] ||
        scontrol update "JobId=$SLURM_JOB_ID" "Comment={WORDS}$WORDS" >/dev/null 2>&1
    [ -n "$WORDS" ]
}}"""
_CONCLUDE = """\
[ "$CODE" = 0 ] && { rm -f "$LOG"; exit 0; }
# What srun says of a failed task says less than the task.
grep -v '^srun: ' "$LOG" | say || say <"$LOG"
exit "$CODE"
"""
BASH = "/bin/bash"
_PLACING = ("--gres", "--gpus", "--tres", "--nodes", "--ntasks-per", "--exclusive")
_PROBE_MINUTES = 1
_NAMES = r"sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p' | tr '\n' ' '"
"""Prints the names in lines such as ``NAME=VALUE``."""


@dataclass(frozen=True)
class RestServer:
    """A slurmrestd. ``url`` is for HTTP, or ``unix:/PATH``; ``user`` is the user of the jobs.

    ``token_file`` has a JWT of ``user``. It may be empty with a socket: slurmrestd then runs jobs
    as its own user, which is ``user``.
    """

    url: str
    user: str
    token_file: str = ""


@dataclass(frozen=True)
class SlurmSettings:
    """A region's settings for Slurm.

    ``options`` apply to all jobs; ``machines`` has further ones by machine type, or ``*`` for all
    others. ``accelerators`` has Slurm's names for them (``gpu:t4``). ``python`` is the interpreter
    on the nodes. ``commands`` is the directory of Slurm's commands (empty: the server's PATH), and
    ``environment`` their variables, such as SLURM_CONF. ``env`` are variables of jobs, and
    ``prologue`` is shell that runs before the launchers.
    """

    partition: str = ""
    account: str = ""
    qos: str = ""
    options: tuple[str, ...] = ()
    machines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    accelerators: Mapping[str, str] = field(default_factory=dict)
    python: str = "python3"
    scratch: str = ""
    commands: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 30.0
    """How long a command of Slurm's, or an answer of slurmrestd's, may take."""
    server: RestServer | None = None
    """None: Slurm's commands are used."""
    env: Mapping[str, str] = field(default_factory=dict)
    prologue: str = ""
    projects: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Options such as ``account`` of single projects, in place of the region's."""
    admit: tuple[str, ...] = ()
    """Options that a job's label may say, in place of its project's."""


def machine_options(settings: SlurmSettings, launchers: Sequence[LauncherRequest]) -> list[str]:
    """Returns the options of the launchers' machine types, which are those of one component."""
    return list(_mapped(settings, launchers[0]))


def _mapped(settings: SlurmSettings, launcher: LauncherRequest) -> tuple[str, ...]:
    machines = settings.machines
    return machines.get(launcher.machine_type, machines.get(ANY_MACHINE, ()))


def fault(settings: SlurmSettings, launchers: Sequence[LauncherRequest]) -> str | None:
    """Returns why the launchers can't be one job; None if they can.

    Replicas with different options are components of a job, which slurmrestd can't submit.
    """
    options = {_mapped(settings, each): each.machine_type for each in launchers}
    if len(options) > 1 and settings.server is not None:
        types = " and ".join(sorted(kind or "no machine type" for kind in options.values()))
        return (
            f"{types} map to different options of Slurm, and slurmrestd submits no job with "
            "several sets. Map them to the same options, give all replicas one machine type, or "
            "let the region use Slurm's commands"
        )
    return None


def split(
    settings: SlurmSettings, launchers: Sequence[LauncherRequest]
) -> list[tuple[LauncherRequest, ...]]:
    """Returns the launchers of each component: neighbours with the same options of Slurm."""
    return [tuple(each) for _, each in groupby(launchers, lambda one: _mapped(settings, one))]


def all_options(
    settings: SlurmSettings,
    request: JobRequest,
    choose_minutes: Callable[[JobRequest], int | None],
    *,
    by_task: bool,
) -> list[str]:
    """Returns the arguments of sbatch for a job with all its components.

    ``choose_minutes`` returns the limit of a component.
    """
    words: list[str] = []
    for launchers in split(settings, request.launchers):
        part = replace(request, launchers=launchers)
        options = submit_options(settings, part, choose_minutes(part), by_task=by_task)
        words += [*([":"] if words else []), *options]
    return words


def submit_options(
    settings: SlurmSettings,
    request: JobRequest,
    minutes: int | None = None,
    *,
    by_task: bool = False,
) -> list[str]:
    """Returns the arguments of sbatch for a job without components, and without secrets: all
    users of the machine see them.

    ``minutes`` are the job's limit, unless the region's options have another one. ``by_task``:
    Slurm can count GPUs for each task.
    """
    launchers = request.launchers
    count = len(launchers)
    cpus = max(each.vcpus for each in launchers)
    memory_mb = max(each.memory_mb for each in launchers)
    gpus = gpus_of_each(settings, launchers) if by_task else ""
    gres = "" if gpus else _gres(settings, launchers)
    options = [
        "--parsable",
        "--no-requeue",
        # A gang goes on without a lost node: its launchers on other nodes must not be ended.
        "--no-kill",
        # Nodes have limits of their own: those of the server are the server's.
        "--propagate=NONE",
        f"--job-name={request.name}",
        "--comment=footplate",
        f"--ntasks={count}",
        "--output=/dev/null",
        "--chdir=/",
    ]
    options += [f"--gpus-per-task={gpus}"] if gpus else []
    # A GRES is counted for each node: a replica with GPUs has a node's share for itself.
    options += [f"--nodes={count}", "--ntasks-per-node=1", f"--gres={gres}"] if gres else []
    options += [f"--cpus-per-task={cpus}"] if cpus else []
    options += [f"--time={minutes}"] if minutes else []
    theirs = [*settings.options, *machine_options(settings, launchers)]
    says_memory = any(option.startswith("--mem") for option in theirs)  # Slurm takes one only
    if memory_mb and cpus and not says_memory:
        options.append(f"--mem-per-cpu={-(-memory_mb // cpus)}")
    for name in ("partition", "account", "qos"):
        value = getattr(settings, name)
        options += [f"--{name}={value}"] if value else []
    chosen = chosen_options(settings, request.project, request.labels)
    return [*options, *theirs, *(f"--{name}={value}" for name, value in chosen.items())]


def chosen_options(
    settings: SlurmSettings, project: str, labels: Mapping[str, str]
) -> dict[str, str]:
    """Returns the options that the job's project and its admitted labels say, by their names."""
    said = {name: labels.get(f"{SLURM_LABELS}{name}", "") for name in settings.admit}
    return {**settings.projects.get(project, {}), **{n: v for n, v in said.items() if v}}


def node_options(settings: SlurmSettings, launcher: LauncherRequest) -> list[str]:
    """Returns the arguments of srun that run a short task on a node as jobs get them."""
    gres = _gres(settings, (launcher,))
    chosen = [
        f"--{name}={value}"
        for name in ("partition", "account", "qos")
        if (value := getattr(settings, name))
    ]
    own = ["--job-name=footplate-check", "--ntasks=1", "--chdir=/", "--input=all"]
    # Slurm doesn't notice when a srun that took too long is killed, and its node would stay taken.
    own += ["--propagate=NONE", f"--time={_PROBE_MINUTES}", *([f"--gres={gres}"] if gres else [])]
    return [*own, *chosen, *settings.options, *machine_options(settings, (launcher,))]


def node_script(settings: SlurmSettings, program: bytes) -> bytes:
    """Returns a script for bash that runs a Python program as the launchers of a job run."""
    lines = [*_site_lines(settings, "1>&2"), f"exec {_python(settings)} <<'{_END}'"]
    return "\n".join(lines).encode() + b"\n" + program + f"\n{_END}\n".encode()


def gpus_of_each(settings: SlurmSettings, launchers: Sequence[LauncherRequest]) -> str:
    """Returns the GPUs of each replica where several can share a node, such as ``t4:2``; else ''.

    Their tasks must be alike. Options of the region's that place tasks or GPUs themselves count
    more, and a container can't tell which of its node's GPUs are its task's.
    """
    theirs = (*settings.options, *machine_options(settings, launchers))
    if len(launchers) < 2 or any(each.image for each in launchers) or _places_gpus(theirs):
        return ""
    kinds = {_gres(settings, (each,)) for each in launchers}
    (kind, *others) = kinds
    name, _, rest = kind.partition(":")
    return "" if others or name != _GPU else rest


def _places_gpus(options: Sequence[str]) -> bool:
    names = [option.partition("=")[0] for option in options]
    # --mem is for a node, however many replicas that has.
    ours = (name == "--mem" or name.startswith(_PLACING) for name in names)
    return any(ours) or any(name[:2] in ("-N", "-G") for name in names)


def _gres(settings: SlurmSettings, launchers: Sequence[LauncherRequest]) -> str:
    """Returns the resources that each node needs so that any of the replicas can run there."""
    most: Counter[str] = Counter()
    for each in launchers:
        if each.accelerators:
            name = settings.accelerators.get(each.accelerator_type, _GPU)
            most[name] = max(most[name], each.accelerators)
    return ",".join(f"{name}:{count}" for name, count in most.items())


def script(settings: SlurmSettings, request: JobRequest) -> bytes:
    """Returns a script that runs a launcher for each task; a launcher's end ends no other.

    The launchers read their program from standard input, so that no command line shows a token.
    """
    scratch = shlex.quote(settings.scratch) if settings.scratch else '"/tmp/footplate-$(id -u)"'
    lines = [
        f"#!{BASH}" if settings.prologue else "#!/bin/sh",
        # Slurm starts it again after a lost node where it doesn't know --no-requeue.
        '[ "${SLURM_RESTART_COUNT:-0}" = 0 ] || exit 1',
        # slurmrestd gives a job no variables of its user.
        '[ -n "$HOME" ] || HOME=$(getent passwd "$(id -u)" | cut -d: -f6)',
        ': "${USER:=$(id -un)}" "${LOGNAME:=$USER}"; export HOME USER LOGNAME',
        _SAY,
        f"umask 077; SCRATCH={scratch}",
        # Anybody can make a directory below /tmp, with links in it.
        'PROBLEM=$(mkdir -p "$SCRATCH" 2>&1)',
        '{ [ -O "$SCRATCH" ] && [ ! -L "$SCRATCH" ]; } ||',
        '    PROBLEM=${PROBLEM:-"the folder $SCRATCH is another user\'s, or a link"}',
        '[ -n "$PROBLEM" ] || PROBLEM=$(mkdir -p "$SCRATCH/jobs" 2>&1)',
        '[ -z "$PROBLEM" ] || { echo "$SLURMD_NODENAME: $PROBLEM" | say; exit 1; }',
        'LOG="$SCRATCH/jobs/$SLURM_JOB_ID.log"',
        *(("trap 'say <\"$LOG\"' EXIT",) if settings.prologue else ()),
        *_site_lines(settings, '>"$LOG" 2>&1'),
        "trap - EXIT",
        # Slurm signals the script with all that it runs, and kills what outlives the script.
        "trap : TERM INT",
        *_step_lines(settings, request),
    ]
    return "\n".join([*lines, _CONCLUDE]).encode()


def _step_lines(settings: SlurmSettings, request: JobRequest) -> list[str]:
    """Returns lines that run the launchers, and leave their exit status in CODE.

    A single launcher runs in the script itself, on the first node, with all that the job was given:
    a step for it alone would cost as long as the launcher's own start.
    """
    program = request.program.decode()
    python = f"{_python(settings)} {shlex.quote(TITLE_ROOM)}"
    parts = [len(part) for part in split(settings, request.launchers)]
    srun = "srun --kill-on-bad-exit=0 --no-kill --wait=0 --propagate=NONE --export=ALL"
    if len(parts) > 1:
        return heterogeneous_jobs.step_lines(parts, srun, python, program, _END)
    # What sbatch took in the end: options of a machine type replace ours.
    per_task = "${SLURM_CPUS_PER_TASK:+--cpus-per-task=$SLURM_CPUS_PER_TASK}"
    step = "" if parts == [1] else f"{srun} --ntasks={parts[0]} {per_task} "
    return [f"{step}{python} >\"$LOG\" 2>&1 <<'{_END}'", program, _END, "CODE=$?"]


def _python(settings: SlurmSettings) -> str:
    """Returns the command that runs a program from its standard input."""
    return f"{shlex.quote(settings.python)} -I -S -"


def _site_lines(settings: SlurmSettings, sink: str) -> list[str]:
    """Returns lines that set the site's variables, and say which ones programs get.

    ``sink`` is where the prologue prints.
    """
    return [
        # That of Slurm's commands isn't for programs.
        'unset LC_ALL; export LANG="${LANG:-C.UTF-8}"',
        *(f"export {name}={shlex.quote(value)}" for name, value in settings.env.items()),
        f"export {SITE_VARIABLES}={shlex.quote(' '.join(settings.env))}",
        *(_prologue_lines(settings.prologue, sink) if settings.prologue else ()),
    ]


def _prologue_lines(prologue: str, sink: str) -> list[str]:
    """Returns lines that run the prologue, and name what it has set.

    As an argument of eval it can't break the rest of the script; its exit status counts.
    """
    return [
        "list_variables() { env -0 | tr '\\n\\0' ' \\n'; }",
        "BEFORE=$(list_variables)",
        f"eval {shlex.quote(prologue)} {sink}",
        'CODE=$?; set +eu; [ "$CODE" = 0 ] || exit "$CODE"',
        # Lines that were there before come twice and more.
        (
            f'export {PROLOGUE_VARIABLES}=$({{ printf \'%s\\n\' "$BEFORE" "$BEFORE"; '
            f"list_variables; }} | sort | uniq -u | {_NAMES})"
        ),
    ]
