"""Regions that are bound to backends, in the settings."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from footplate.backends.region_bindings import RegionBinding, check_names, read_region_bindings
from footplate.domain.errors import InvalidArgument
from footplate.settings import load_settings
from tests.support.catalogue import built_in

REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "regions.md"
WHOLE = """
cluster_address = "10.0.0.5:8474"
[[regions]]
name = "europe-west4"
backend = "slurm"
partition = "gpu"
account = "ads"
qos = "high"
scratch = "/scratch"
shared = "/shared/footplate"
containers = true
python = "/opt/python3.11/bin/python3"
lease_s = 60
max_replicas = 64
[regions.machines]
"n1-standard-8" = "--constraint='c8 & fast' --mem=20G"
"*" = ""
[regions.accelerators]
NVIDIA_TESLA_T4 = "gpu:t4"
[[regions]]
name = "us-central1"
backend = "local"
"""


def wrongs(*tables: object) -> list[tuple[str, str]]:
    with pytest.raises(InvalidArgument) as caught:
        read_region_bindings(list(tables))
    return [(v.field, v.description) for v in caught.value.violations]


def slurm(**keys: object) -> dict[str, object]:
    return {"name": "europe-west4", "backend": "slurm", **keys}


def test_a_file_binds_regions(tmp_path: Path) -> None:
    (tmp_path / "footplate.toml").write_text(WHOLE)

    bound, local = load_settings({}, {"data_dir": tmp_path}).regions

    assert bound == RegionBinding(
        "europe-west4",
        "slurm",
        "gpu",
        "ads",
        "high",
        "/scratch",
        "/shared/footplate",
        True,
        "/opt/python3.11/bin/python3",
        60,
        64,
        {"n1-standard-8": ("--constraint=c8 & fast", "--mem=20G"), "*": ()},
        {"NVIDIA_TESLA_T4": "gpu:t4"},
    )
    assert local == RegionBinding("us-central1", "local")
    check_names((bound, local), built_in())


def test_what_machine_types_stand_for() -> None:
    (any_machine,) = read_region_bindings([slurm()])
    (some,) = read_region_bindings([slurm(machines={"n1-standard-8": "-C c8"})])

    assert any_machine.machines == {}
    assert some.machines == {"n1-standard-8": ("-C", "c8")}


def test_an_engine_needs_an_address_for_its_nodes(tmp_path: Path) -> None:
    (tmp_path / "footplate.toml").write_text(WHOLE.partition("[[")[2].join(("[[", "")))

    with pytest.raises(InvalidArgument) as caught:
        load_settings({}, {"data_dir": tmp_path})

    (wrong,) = caught.value.violations
    assert wrong.field == "regions[0].backend"
    assert 'set cluster_address = "HOST:PORT"' in wrong.description


@pytest.mark.parametrize("value", [3, [3], {"name": "us-central1"}])
def test_regions_are_nothing_but_tables(value: object) -> None:
    with pytest.raises(TypeError, match=r"\[\[regions\]\] tables"):
        read_region_bindings(value)


def test_each_wrong_key_is_named_with_the_way_out() -> None:
    assert wrongs(
        {"backend": "slurm"},
        {"name": "us-east1"},
        {"name": "us-east4", "backend": "slrum"},
        {"name": "us-west1", "backend": "local", "partition": "gpu"},
        slurm(partitoin="gpu", files="synced"),
        slurm(name="us-west2", partition="a b", scratch="tmp", lease_s=1, max_replicas=True),
    ) == [
        ("regions[0].name", "required; allowed: a region of the catalogue"),
        ("regions[1].backend", "required; allowed: local, slurm, kubernetes, ray"),
        ("regions[2].backend", "'slrum' given; allowed: local, slurm, kubernetes, ray"),
        ("regions[3].partition", "'gpu' given; only regions with the backend slurm have this key"),
        ("regions[4].partitoin", "no such key; did you mean partition?"),
        ("regions[4].files", "'synced' given; allowed: shared and copied"),
        ("regions[5].partition", "'a b' given; allowed: a name"),
        ("regions[5].scratch", "'tmp' given; allowed: an absolute path"),
        ("regions[5].lease_s", "1 given; allowed: a number of seconds from 5 to 86400"),
        ("regions[5].max_replicas", "True given; allowed: a whole number from 1 to 100000"),
    ]


def test_each_wrong_mapping_is_named_with_the_way_out() -> None:
    machines = {"n1-standard-4": "c8", "n1-standard-8": "--constraint='c8", "n1-standard-16": 3}
    quoting = (
        "\"--constraint='c8\" given, which can't be split into words: No closing quotation; "
        "allowed: quotes in pairs"
    )
    options = 'options of sbatch such as "--constraint=c8", or "" for none'
    assert wrongs(
        slurm(machines=machines, accelerators={"NVIDIA_TESLA_T4": "", "NVIDIA_TESLA_K80": 3})
    ) == [
        ("regions[0].machines.n1-standard-4", f"'c8' given; allowed: {options}"),
        ("regions[0].machines.n1-standard-8", quoting),
        ("regions[0].machines.n1-standard-16", f"3 given; allowed: {options}"),
        *(
            (
                f"regions[0].accelerators.{name}",
                f"{value!r} given; allowed: the engine's name of the accelerator, such as gpu:t4",
            )
            for name, value in (("NVIDIA_TESLA_T4", ""), ("NVIDIA_TESLA_K80", 3))
        ),
    ]
    assert [field for field, _ in wrongs(slurm(machines={}, accelerators="gpu:t4"))] == [
        "regions[0].machines",
        "regions[0].accelerators",
    ]


def test_kubernetes_and_ray_have_keys_of_their_own() -> None:
    pods = {
        "name": "asia-east1",
        "backend": "kubernetes",
        "kubeconfig": "/etc/footplate/kubeconfig",
        "namespace": "training",
        "image": "example.com/python:3.11",
        "reserve": False,
        "machines": {"n1-standard-8": "pool=large zone=b"},
    }
    ray = {"name": "us-east1", "backend": "ray", "address": "http://127.0.0.1:8265"}
    kubernetes, cluster = read_region_bindings([pods, {**ray, "machines": {"*": "pool=1"}}])
    assert kubernetes.machines == {"n1-standard-8": ("pool=large", "zone=b")}
    assert (kubernetes.namespace, kubernetes.reserve, cluster.reserve) == ("training", False, True)
    assert cluster.machines == {"*": ("pool=1",)}

    url = "the URL of Ray's dashboard, such as http://10.0.0.7:8265"
    assert wrongs(
        {**pods, "machines": {"n1-standard-8": "--large"}, "partition": "gpu", "reserve": 1},
        {**ray, "address": "127.0.0.1:8265", "strategy": "SPLIT", "machines": {"*": "pool"}},
        {"name": "us-east4", "backend": "ray", "image": "python"},
    ) == [
        ("regions[0].reserve", "1 given; allowed: true or false"),
        (
            "regions[0].machines.n1-standard-8",
            '\'--large\' given; allowed: labels of nodes such as "pool=large", or "" for none',
        ),
        ("regions[0].partition", "'gpu' given; only regions with the backend slurm have this key"),
        ("regions[1].address", f"'127.0.0.1:8265' given; allowed: {url}"),
        (
            "regions[1].strategy",
            "'SPLIT' given; allowed: PACK, SPREAD, STRICT_PACK and STRICT_SPREAD",
        ),
        (
            "regions[1].machines.*",
            '\'pool\' given; allowed: resources such as "pool_large=1", or "" for none',
        ),
        ("regions[2].address", f"required; allowed: {url}"),
        (
            "regions[2].image",
            ("'python' given; only regions with the backend kubernetes have this key"),
        ),
    ]


def test_projects_have_namespaces_and_gangs_a_topology() -> None:
    pods = {"name": "asia-east1", "backend": "kubernetes"}
    zone, namespaces = "topology.kubernetes.io/zone", {"my-project": "team-a"}
    (made,) = read_region_bindings([{**pods, "namespaces": namespaces, "topology": zone}])
    assert (made.namespaces, made.topology, made.topology_mode) == (namespaces, zone, "preferred")
    label = "a label of nodes, such as topology.kubernetes.io/zone"
    rule = "a namespace of Kubernetes, such as team-a"
    assert wrongs(
        {**pods, "namespaces": {"a": "Team", "b": 3}, "topology": "a=b", "topology_mode": "may"},
        {**pods, "name": "us-east1", "namespaces": {}},
    ) == [
        ("regions[0].namespaces.a", f"'Team' given; allowed: {rule}"),
        ("regions[0].namespaces.b", f"3 given; allowed: {rule}"),
        ("regions[0].topology", f"'a=b' given; allowed: {label}"),
        ("regions[0].topology_mode", "'may' given; allowed: required and preferred"),
        (
            "regions[1].namespaces",
            '{} given; allowed: a table of projects such as "my-project" = "team-a"',
        ),
    ]
    text = f"'required' given without topology; allowed: only beside topology, such as {zone}"
    assert wrongs({**pods, "topology_mode": "required"}) == [("regions[0].topology_mode", text)]


def test_whether_nodes_run_containers() -> None:
    (yes,) = read_region_bindings([slurm(containers=True)])
    (named,) = read_region_bindings([slurm(containers="/run/podman/podman.sock")])
    assert (yes.containers, yes.container_engine) == (True, "")
    assert named.container_engine == "/run/podman/podman.sock"
    (command,) = read_region_bindings([slurm(containers="apptainer")])
    assert (command.containers, command.container_engine) == ("apptainer", "apptainer")
    allowed = "true, false, apptainer, or the path of the container engine's socket on the nodes"
    assert wrongs(slurm(containers="yes")) == [
        ("regions[0].containers", f"'yes' given; allowed: {allowed}")
    ]


def test_a_region_gives_variables_to_its_jobs() -> None:
    env = {"NCCL_SOCKET_IFNAME": "ib0", "SITE": ""}
    (bound,) = read_region_bindings([slurm(env=env, prologue="module load cuda\n")])
    assert (bound.env, bound.prologue) == (env, "module load cuda\n")

    rule = "a variable's name, but no FOOTPLATE_..., PYTHONHOME and PYTHONPATH"
    ray = {"name": "us-east1", "backend": "ray", "address": "http://127.0.0.1:8265"}
    assert wrongs(
        slurm(env={"A-B": "1", "FOOTPLATE_TOKEN": "x", "PYTHONPATH": "/x", "N": 1, "Z": "\0"}),
        slurm(name="us-west1", env={}, prologue=" "),
        {**ray, "env": "A=1", "prologue": "true"},
    ) == [
        ("regions[0].env", f"'A-B' given; allowed: {rule}"),
        ("regions[0].env", f"'FOOTPLATE_TOKEN' given; allowed: {rule}"),
        ("regions[0].env", f"'PYTHONPATH' given; allowed: {rule}"),
        ("regions[0].env.N", "1 given; allowed: a text"),
        ("regions[0].env.Z", "'\\x00' given; allowed: a text"),
        (
            "regions[1].env",
            '{} given; allowed: a table of variables such as NCCL_SOCKET_IFNAME = "ib0"',
        ),
        (
            "regions[1].prologue",
            "' ' given; allowed: lines of shell such as 'module load cuda'",
        ),
        (
            "regions[2].env",
            "'A=1' given; allowed: a table of variables such as NCCL_SOCKET_IFNAME = \"ib0\"",
        ),
        (
            "regions[2].prologue",
            "'true' given; only regions with the backend slurm have this key",
        ),
    ]


def test_projects_and_labels_choose_among_slurms_options() -> None:
    projects = {"atlas": {"account": "physics", "qos": "high"}}
    (bound,) = read_region_bindings([slurm(projects=projects, admit=["qos", "reservation"])])
    assert (bound.projects, bound.admit) == (projects, ("qos", "reservation"))

    names = "account, qos, reservation and licenses"
    table = f'a table for each project, with {names}, such as {{account = "physics"}}'
    assert wrongs(
        slurm(projects={"atlas": {"acount": "x", "qos": "a b"}}, admit=["partition", 3]),
        slurm(name="us-west1", projects={"atlas": "physics"}, admit="qos"),
        slurm(name="us-west2", projects={}),
    ) == [
        ("regions[0].projects.atlas.acount", f"no such key; allowed: {names}"),
        ("regions[0].projects.atlas.qos", "'a b' given; allowed: a name"),
        ("regions[0].admit", f"'partition' given; allowed: {names}"),
        ("regions[0].admit", f"3 given; allowed: {names}"),
        ("regions[1].projects", f"{{'atlas': 'physics'}} given; allowed: {table}"),
        ("regions[1].admit", f"'qos' given; allowed: a list with {names}"),
        ("regions[2].projects", f"{{}} given; allowed: {table}"),
    ]


def test_how_a_lost_node_is_told() -> None:
    (bound,) = read_region_bindings([slurm(fence="/usr/sbin/fence '--off now'", node_lost_s=40)])
    assert (bound.fence, bound.node_lost_s) == (("/usr/sbin/fence", "--off now"), 40)
    program = "an absolute path of a program, with arguments in shell quoting"
    for wrong in ("fence", "/usr/sbin/fence '--off", "", 3, ["/usr/sbin/fence"]):
        assert wrongs(slurm(fence=wrong)) == [
            ("regions[0].fence", f"{wrong!r} given; allowed: {program}")
        ]
    for late in (39, 86401, True, "60"):
        assert wrongs(slurm(node_lost_s=late, files="copied")) == [
            (
                "regions[0].node_lost_s",
                f"{late!r} given; allowed: a number of seconds from 40 to 86400",
            )
        ]


def test_a_shorter_time_than_the_lease_needs_proof_or_copies() -> None:
    """Else what was cut off could still write to the files that it shares."""
    given = "60 given, which is less than lease_s and 120 s"
    rest = 'less with fence, or with files = "copied"'
    assert wrongs(slurm(node_lost_s=60), slurm(name="us-east4", node_lost_s=60, lease_s=30)) == [
        ("regions[0].node_lost_s", f"{given}; allowed: 720 or more; {rest}"),
        ("regions[1].node_lost_s", f"{given}; allowed: 150 or more; {rest}"),
    ]
    read_region_bindings(
        [
            slurm(node_lost_s=60, files="copied"),
            slurm(name="us-east4", node_lost_s=60, fence="/usr/sbin/fence"),
            slurm(name="us-west1", node_lost_s=150, lease_s=30),
            slurm(name="us-west2", node_lost_s=3600),
        ]
    )


def test_slurmrestd_is_an_address_with_a_token_or_a_socket() -> None:
    address, token = "http://10.0.0.6:6820", "/etc/footplate/slurm.jwt"
    (by_url,) = read_region_bindings([slurm(slurmrestd=address, token_file=token, user="ml")])
    path = "unix:/run/slurmrestd/socket"
    (by_socket,) = read_region_bindings([slurm(slurmrestd=path, user="ml")])
    assert (by_url.slurmrestd, by_url.token_file, by_url.user) == (address, token, "ml")
    assert (by_socket.slurmrestd, by_socket.token_file, by_socket.user) == (path, None, "ml")

    rule = "a URL such as http://10.0.0.6:6820, or unix:/PATH of its socket"
    for wrong in ("10.0.0.6:6820", "http://ml@10.0.0.6", "http://host:port", "unix:socket", 3):
        assert wrongs(slurm(slurmrestd=wrong)) == [
            ("regions[0].slurmrestd", f"{wrong!r} given; allowed: {rule}")
        ]
    file = "required beside slurmrestd; allowed: the path of a file with a JWT of Slurm"
    user = "required beside slurmrestd; allowed: the user of Slurm that the token is for"
    assert wrongs(
        slurm(slurmrestd=address),
        slurm(name="us-west2", slurmrestd="unix:/run/socket"),
        slurm(name="us-west1", token_file=token),
        slurm(name="us-east4", machines={"n1-standard-8": "--switches=2"}),
    ) == [
        ("regions[0].token_file", file),
        ("regions[0].user", user),
        (
            "regions[1].user",
            (
                "required beside slurmrestd; allowed: the user of Slurm that slurmrestd at "
                "unix:/run/socket runs as: jobs of all others are left alone"
            ),
        ),
        ("regions[2].token_file", f"{token!r} given without slurmrestd"),
    ]


def test_options_that_slurmrestd_does_not_know_are_refused_at_the_start() -> None:
    machines = {"n1-standard-8": "--switches=2"}
    given = slurm(slurmrestd="unix:/run/socket", user="ml", machines=machines)
    ((field, said),) = wrongs(given)
    assert field == "regions[0].machines.n1-standard-8"
    assert said.startswith(
        "slurmrestd has no field for the option --switches=2; allowed: --account"
    )


def test_a_region_is_bound_once() -> None:
    assert wrongs(slurm(), {"name": "europe-west4", "backend": "local"}) == [
        (
            "regions[1].name",
            ("'europe-west4' given, which regions[0] names, too; allowed: each region once"),
        )
    ]


def test_the_example_of_the_reference_is_taken_and_each_key_is_documented(tmp_path: Path) -> None:
    text = REFERENCE.read_text("utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    (tmp_path / "footplate.toml").write_text(example)

    check_names(load_settings({}, {"data_dir": tmp_path}).regions, built_in())

    rows = "\n".join(line.split("|")[1] for line in text.splitlines() if line.startswith("|"))
    assert all(f"`{field.name}`" in rows for field in fields(RegionBinding))


def test_names_that_the_catalogue_does_not_have() -> None:
    bindings = read_region_bindings(
        [
            {"name": "europe-west44", "backend": "local"},
            slurm(machines={"n1-standard-3": ""}, accelerators={"T4": "gpu:t4"}),
        ]
    )

    with pytest.raises(InvalidArgument) as caught:
        check_names(bindings, built_in())

    assert [v.field for v in caught.value.violations] == [
        "regions[0].name",
        "regions[1].machines",
        "regions[1].accelerators",
    ]
    assert all("did you mean" in v.description for v in caught.value.violations)


@pytest.mark.parametrize(
    "address", ["http://me:word@10.0.0.7:8265", "http://10.0.0.7?a", "http:///"]
)
def test_the_address_of_a_dashboard_has_no_password(address: str) -> None:
    """Reasons that users see repeat it."""
    (wrong,) = wrongs({"name": "us-east1", "backend": "ray", "address": address})
    assert wrong[0] == "regions[0].address"
