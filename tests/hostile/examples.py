"""Honest requests, one or more for each route: what hostile ones are made of."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.hostile import dataset_examples, tracking_examples
from tests.hostile.caller import Call
from tests.hostile.hostile_service import (
    BUCKET,
    CONFIG,
    JSON,
    MODEL,
    PIPELINE,
    PROJECT,
    REPLICA,
    RESOURCE,
    TRAINING,
    here,
)
from tests.unit.wire.vertex_v1_bodies import body, machine, pool, search, tuning

if TYPE_CHECKING:
    from tests.hostile.caller import Headers
    from tests.hostile.hostile_service import Rig

_FIELD = re.compile(r"\{([a-zA-Z0-9]+)(?::path)?\}")
FULL_TRAINING: dict[str, Any] = {
    "jobId": "job_2",
    "labels": {"team": "ads"},
    "trainingInput": {
        **TRAINING["trainingInput"],
        "scaleTier": "CUSTOM",
        "masterType": "n1-standard-8",
        "masterConfig": {"acceleratorConfig": {"count": "1", "type": "NVIDIA_TESLA_T4"}},
        "workerType": "n1-standard-8",
        "workerCount": "2",
        "workerConfig": {"diskConfig": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100}},
        "evaluatorType": "n1-standard-4",
        "evaluatorCount": 1,
        "args": ["--rate", "0.1"],
        "jobDir": f"gs://{BUCKET}/out",
        "scheduling": {"maxRunningTime": "3600s", "maxWaitTime": "3600s", "priority": 5},
        "useChiefInTfConfig": True,
        "enableWebAccess": True,
        "hyperparameters": {
            "goal": "MAXIMIZE",
            "hyperparameterMetricTag": "accuracy",
            "maxTrials": 4,
            "maxParallelTrials": 2,
            "maxFailedTrials": 1,
            "enableTrialEarlyStopping": True,
            "algorithm": "RANDOM_SEARCH",
            "params": [
                {"parameterName": "rate", "type": "DOUBLE", "minValue": 0.001, "maxValue": 0.1},
                {"parameterName": "size", "type": "INTEGER", "minValue": 1, "maxValue": 9},
                {"parameterName": "c", "type": "CATEGORICAL", "categoricalValues": ["a", "b"]},
                {"parameterName": "d", "type": "DISCRETE", "discreteValues": [1, 2]},
            ],
        },
    },
}
STUDY: dict[str, Any] = {
    "displayName": "s2",
    "studySpec": {
        "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
        "parameters": [
            {"parameterId": "x", "integerValueSpec": {"minValue": "1", "maxValue": "4"}},
            {
                "parameterId": "y",
                "doubleValueSpec": {"minValue": 0.1, "maxValue": 1},
                "scaleType": "UNIT_LOG_SCALE",
            },
        ],
        "algorithm": "RANDOM_SEARCH",
        "medianAutomatedStoppingSpec": {},
    },
}
MEASUREMENT: dict[str, Any] = {
    "stepCount": "1",
    "elapsedDuration": "2s",
    "metrics": [{"metricId": "loss", "value": 0.5}],
}
MEASURED: dict[str, Any] = {
    "stepCount": "1",
    "elapsedTime": {"seconds": 2},
    "metrics": [{"metric": "loss", "value": 0.5}],
}
_MOMENT = 1_790_000_000.5
REPORT: dict[str, Any] = {
    "records": [
        {"n": 1, "t": _MOMENT, "k": "state", "phase": "RUNNING"},
        {"n": 2, "t": _MOMENT, "k": "line", "stream": "stdout", "m": '{"severity": "INFO"}'},
        {"n": 3, "t": _MOMENT, "k": "event", "kind": "NOTE", "m": "text"},
        {"n": 4, "t": _MOMENT, "k": "usage", "s": 1.5, "quiet_s": 0.5, "cpu_s": 1, "processes": 2},
        {
            "n": 5,
            "t": _MOMENT,
            "k": "metric",
            "tag": "loss",
            "step": 1,
            "value": 1.5,
            "source": ".",
        },
        {"n": 6, "t": _MOMENT, "k": "tags", "tags": ["a", "b"]},
        {"n": 7, "t": _MOMENT, "k": "exit", "kind": "EXITED", "code": 1, "cause": "it failed"},
    ]
}
ENTRIES: dict[str, Any] = {
    "resourceNames": [f"projects/{PROJECT}"],
    "filter": 'resource.type="ml_job" AND resource.labels.job_id="job_1" AND severity>=INFO '
    'AND (textPayload:"hello" OR NOT timestamp<"2026-01-01T00:00:00Z") AND NOT "a word" '
    'AND jsonPayload.step=(1 OR 2) AND labels.k!~"^(a|b)+[0-9]{2,3}$" OR log_id("python")',
    "orderBy": "timestamp desc",
    "pageSize": 10,
}
WRITTEN: dict[str, Any] = {
    "logName": f"projects/{PROJECT}/logs/python",
    "resource": {"type": "ml_job", "labels": {"job_id": "job_1", "task_name": REPLICA}},
    "labels": {"k": "v"},
    "entries": [
        {
            "severity": "WARNING",
            "jsonPayload": {"message": "hm", "step": 3},
            "timestamp": "2026-01-01T00:00:00.5Z",
            "insertId": "1",
            "httpRequest": {"status": 200, "latency": "1.5s"},
            "sourceLocation": {"file": "task.py", "line": "12"},
        },
        {"textPayload": "text", "severity": 300},
    ],
    "partialSuccess": True,
}
CUSTOM: dict[str, Any] = {
    **body(
        machine(acceleratorType="NVIDIA_TESLA_T4", acceleratorCount=1),
        pool(replicaCount="2", diskSpec={"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100}),
        scheduling={"timeout": "3600s", "restartJobOnWorkerRestart": True, "maxWaitDuration": "0s"},
        baseOutputDirectory={"outputUriPrefix": "gs://b/out"},
        enableWebAccess=True,
        serviceAccount="me@demo.iam.gserviceaccount.com",
    ),
    "labels": {"team": "ads"},
}
CONDITIONAL: dict[str, Any] = {
    "parameterId": "kind",
    "categoricalValueSpec": {"values": ["a", "b"]},
    "conditionalParameterSpecs": [
        {
            "parameterSpec": {
                "parameterId": "depth",
                "integerValueSpec": {"minValue": 1, "maxValue": 5},
            },
            "parentCategoricalValues": {"values": ["a"]},
        }
    ],
}
SEARCH: dict[str, Any] = search(
    CONDITIONAL,
    {"parameterId": "d", "discreteValueSpec": {"values": [1, 2]}},
    {
        "parameterId": "x",
        "doubleValueSpec": {"minValue": 0.1, "maxValue": 1},
        "scaleType": "UNIT_REVERSE_LOG_SCALE",
    },
    algorithm="RANDOM_SEARCH",
    measurementSelectionType="BEST_MEASUREMENT",
    decayCurveStoppingSpec={"useElapsedDuration": True},
    studyStoppingConfig={"maxNumTrials": 5},
)
LABELS = {"labels": {"a": "b"}}

_DATA: dict[str, Any] = {"gcsDestination": {"outputUriPrefix": f"gs://{BUCKET}/data/"}}
_MODELS = "projects/{project}/locations/{location}/models"
_RESOURCES = "projects/{project}/locations/{location}/persistentResources"
_TRIALS = "projects/{project}/locations/{location}/studies/{study}/trials"
BODIES: dict[tuple[str, str], list[object]] = {
    ("POST", "projects/{project}/jobs"): [TRAINING, FULL_TRAINING],
    ("PATCH", "projects/{project}/jobs/{job}"): [LABELS],
    ("PATCH", "projects/{project}/jobs/{job_id}"): [{**LABELS, "note": "good"}],
    **{
        ("PATCH", f"projects/{{project}}/locations/{{location}}/{kind}/{{job_id}}"): [LABELS]
        for kind in ("customJobs", "hyperparameterTuningJobs", "trainingPipelines")
    },
    ("POST", "projects/{project}/jobs/{job}:setIamPolicy"): [{"policy": {}}],
    ("POST", "projects/{project}/jobs/{job}:testIamPermissions"): [{"permissions": ["a"]}],
    ("POST", "projects/{project}/jobs:validate"): [TRAINING, FULL_TRAINING],
    ("POST", "projects/{project}/jobs:checkPackages"): [{"job": TRAINING}],
    ("POST", "projects/{project}/locations/{location}/customJobs"): [here(body()), here(CUSTOM)],
    ("POST", "projects/{project}/locations/{location}/customJobs:validate"): [
        here(body()),
        here(CUSTOM),
    ],
    ("POST", "projects/{project}/locations/{location}/customJobs:checkPackages"): [
        {"job": here(body())}
    ],
    ("POST", "projects/{project}/locations/{location}/hyperparameterTuningJobs"): [
        here(tuning()),
        here(SEARCH),
    ],
    ("POST", "projects/{project}/locations/{location}/trainingPipelines:validate"): [
        here(PIPELINE)
    ],
    ("POST", "projects/{project}/locations/{location}/trainingPipelines:checkPackages"): [
        {"job": here(PIPELINE)}
    ],
    ("POST", "projects/{project}/locations/{location}/hyperparameterTuningJobs:validate"): [
        here(tuning()),
        here(SEARCH),
    ],
    ("POST", "projects/{project}/locations/{location}/hyperparameterTuningJobs:checkPackages"): [
        {"job": here(tuning())}
    ],
    ("POST", "projects/{project}/locations/{location}/trainingPipelines"): [
        here(PIPELINE),
        here({**PIPELINE, "inputDataConfig": _DATA, "labels": {"a": "b"}}),
    ],
    ("POST", f"{_MODELS}:upload"): [{"model": MODEL}],
    ("PATCH", f"{_MODELS}/{{model}}"): [{"description": "d"}],
    ("POST", f"{_MODELS}/{{model}}:mergeVersionAliases"): [{"versionAliases": ["best"]}],
    ("POST", f"{_MODELS}/{{model}}:export"): [
        {"outputConfig": {"artifactDestination": {"outputUriPrefix": f"gs://{BUCKET}/x"}}}
    ],
    ("POST", _RESOURCES): [RESOURCE, {**RESOURCE, "displayName": "d", **LABELS}],
    ("PATCH", f"{_RESOURCES}/{{persistentResource}}"): [LABELS],
    ("POST", "projects/{project}/locations/{location}/studies"): [STUDY],
    ("POST", "projects/{project}/locations/{location}/studies:lookup"): [{"displayName": "s"}],
    ("POST", f"{_TRIALS}:suggest"): [{"suggestionCount": 1, "clientId": "c"}],
    ("POST", _TRIALS): [
        {
            "parameters": [
                {"parameterId": "lr", "value": 0.01},
                {"parameterId": "layers", "value": 2},
            ]
        },
        {
            "parameters": [
                {"parameterId": "lr", "value": 0.01},
                {"parameterId": "layers", "value": 2},
            ],
            "finalMeasurement": MEASUREMENT,
            "measurements": [MEASUREMENT],
            "state": "SUCCEEDED",
            "clientId": "c",
        },
    ],
    ("POST", f"{_TRIALS}/{{trial}}:addTrialMeasurement"): [{"measurement": MEASUREMENT}],
    ("POST", f"{_TRIALS}/{{trial}}:complete"): [
        {"finalMeasurement": MEASUREMENT},
        {"trialInfeasible": True, "infeasibleReason": "no"},
    ],
    ("POST", f"{_TRIALS}/{{trial}}:addMeasurement"): [{"measurement": MEASURED}],
    ("PATCH", "projects/{project}/locations/{region}/quota"): [
        {"limits": {"vcpus": 64_000, "NVIDIA_TESLA_T4": None}}
    ],
    ("POST", "restarts"): [{"names": ["projects/demo/jobs/census_1"]}],
    ("POST", "{name:path}:stacks"): [{"replicas": [REPLICA]}],
    ("POST", "/v2/entries:list"): [ENTRIES],
    ("POST", "/v2/entries:write"): [WRITTEN],
    ("POST", "/replica/v1/reports"): [REPORT],
    ("POST", "/replica/v1/launcher"): [
        {"incarnation": "a", "job": "7", "node": "n1", "restart": -1, "state": "IDLE", "hold_s": 0}
    ],
    ("POST", "/replica/v1/images"): [{"image": "gcr.io/p/i:1", "reference": "sha256:0123"}],
    ("POST", "/replica/v1/control-requests/{id}"): [{"text": "here"}],
    ("POST", "/storage/v1/b"): [{"name": "other", "location": "EU", "storageClass": "STANDARD"}],
    ("PATCH", "/storage/v1/b/{bucket}/o/{name:path}"): [
        {"metadata": {"a": "b"}, "contentType": "text/plain", "cacheControl": "no-store"}
    ],
    ("PUT", "/storage/v1/b/{bucket}/o/{name:path}"): [{"metadata": {"a": "b"}}],
    **dataset_examples.BODIES,
    **tracking_examples.BODIES,
}
"""By method and path; the version before ``projects`` is left out."""
_VERSION = re.compile(r"^/(?:v1|v1beta1|ui|footplate/v1)/")
_MULTIPART = (
    b"--foo\r\nContent-Type: application/json\r\n\r\n"
    b'{"name": "m", "metadata": {"k": "v"}}\r\n'
    b"--foo\r\nContent-Type: text/plain\r\n\r\nthe bytes\r\n--foo--"
)
_BATCH = b"".join(
    b"--foo\r\nContent-Type: application/http\r\nContent-ID: <x+1>\r\n\r\n"
    b"%s HTTP/1.1\r\nContent-Type: application/json\r\n\r\n%s\r\n" % (line, content)
    for line, content in (
        (b"GET /storage/v1/b/stage/o/data%2Fx.csv", b""),
        (b"PATCH /storage/v1/b/stage/o/data%2Fx.csv", b'{"metadata": {"a": "b"}}'),
        (b"DELETE /storage/v1/b/stage/o/nothing", b""),
    )
)
_CONTENT = b"content"
_MD5 = base64.b64encode(hashlib.md5(_CONTENT, usedforsecurity=False).digest())


CONSOLE = (
    *("/jobs", "/searches", "/submit", "/experiments", "/models", "/capacity", "/system"),
    *("/connect", "/sign-"),
)
"""What the paths of pages begin with."""


_STUDIES = "/v1/projects/{project}/locations/{location}/studies"
OPTIMIZER: dict[tuple[str, str], list[object]] = {
    ("POST", _STUDIES): [{"studyConfig": CONFIG}],
    ("POST", f"{_STUDIES}/{{study}}/trials"): [
        {
            "parameters": [
                {"parameter": "kind", "stringValue": "a"},
                {"parameter": "depth", "intValue": "3"},
                {"parameter": "x", "floatValue": 0.5},
            ],
            "state": "COMPLETED",
            "finalMeasurement": MEASURED,
        }
    ],
    ("POST", f"{_STUDIES}/{{study}}/trials/{{trial}}:complete"): [{"finalMeasurement": MEASURED}],
}
"""Requests of ml v1 at the routes that aiplatform v1 has, too."""


def examples(rig: Rig, method: str, template: str) -> list[Call]:
    """At least one request of each route."""
    if template.startswith("/batch/"):
        kind = ((b"content-type", b"multipart/mixed; boundary=foo"),)
        return [Call("POST", template, "", kind, _BATCH + b"--foo--")]
    if "/upload/" in template:
        return _uploads(rig, method, template)
    targets = _targets(rig, template)
    headers = _headers(rig, template)
    if template == "/storage/v1/b/{bucket}/o/{name:path}" and method == "POST":
        return _copies(targets[0], headers)
    found = []
    for target in targets:
        for each in BODIES.get((method, unversioned(template)), [{}]):
            query = _fill(_query(rig, method, template), rig.names, safe="")
            call = Call(method, target)
            if method not in ("GET", "HEAD", "DELETE"):
                text = json.dumps(each).replace("{tensorboards}", rig.names["tensorboards"])
                call = replace(call, headers=JSON, body=text.encode())
            found.append(replace(call, query=query, headers=(*headers, *call.headers)))
    for each in OPTIMIZER.get((method, template), []):
        target = _fill(template, rig.names | {"study": rig.names["chosen"], "trial": "1"}, safe="")
        query = "studyId=more" if template == _STUDIES else ""
        found.append(Call(method, target, query, JSON, json.dumps(each).encode()))
    return found


def unversioned(template: str) -> str:
    """As ``BODIES`` has it: faces and versions of the API differ in nothing."""
    return _VERSION.sub("", template)


def _targets(rig: Rig, template: str) -> list[str]:
    fields = rig.names | {"resource": rig.names["custom"], "step": "fetch"}
    fields |= {"path": "instance/service-accounts/default/token", "host": "pubsub.googleapis.com"}
    fields |= {"api": "ml", "version": "v1"}
    kinds = {
        "customJobs": "custom",
        "hyperparameterTuningJobs": "tuning",
        "trainingPipelines": "pipeline",
        "jobs": "job",
    }
    for collection, key in kinds.items():
        if f"/{collection}/" in template:
            fields["job"] = rig.names[key]
    if template.endswith(":deleteVersion"):
        fields["model"] += "@1"
    if template.endswith((":addMeasurement", ":checkEarlyStoppingState")):
        fields |= {"study": rig.names["chosen"], "trial": "1"}
    if template.startswith("/console/"):
        return [_fill(template, {"digest": "0", "name": "console.css"}, safe="/")]
    if "/storage/" in template:
        return [_fill(template, fields | {"name": "data/x.csv"}, safe="")]
    if "{name:path}" in template:
        return [_fill(template, fields | {"name": name}, safe="/") for name in rig.jobs]
    if template.startswith("/programs/"):
        return [_fill(template, fields | {"rest": "v1/projects"}, safe="/")]
    return [_fill(template, fields, safe="")]


def _fill(template: str, fields: dict[str, str], safe: str) -> str:
    return _FIELD.sub(lambda match: quote(fields[match[1]], safe=safe), template)


def _headers(rig: Rig, template: str) -> Headers:
    if template.startswith("/replica/v1/launcher"):
        return ((b"authorization", f"Bearer {rig.launcher_token}".encode()),)
    if template.startswith("/replica/"):
        return ((b"authorization", f"Bearer {rig.token}".encode()),)
    if template.startswith("/programs/"):
        return ((b"metadata-flavor", b"Google"),)
    if template == "/" or template.startswith(CONSOLE):
        return ((b"accept", b"text/html"), (b"hx-request", b"true"))
    return ()


def _query(rig: Rig, method: str, template: str) -> str:
    if template == "/storage/v1/b":
        return f"project={PROJECT}"
    if template.endswith("/replay"):
        return "rule=median"
    if template in ("/jobs/compare", "/jobs/delete"):
        return f"job={quote(rig.jobs[0], safe='')}&job={quote(rig.jobs[1], safe='')}"
    if method == "PATCH" and template.endswith("/jobs/{job}"):
        return "updateMask=labels"
    if method == "PATCH" and template.endswith("/models/{model}"):
        return "updateMask=description"
    if method == "PATCH" and template.endswith("/{persistentResource}"):
        return "updateMask=labels"
    if method == "POST" and template.endswith("/persistentResources"):
        return "persistentResourceId=more"
    if method in ("GET", "HEAD"):
        return quote(tracking_examples.QUERIES.get(unversioned(template), ""), safe="=&{}")
    return ""


def _copies(target: str, headers: Headers) -> list[Call]:
    compose = {"sourceObjects": [{"name": "data/x.csv"}], "destination": {"contentType": "a/b"}}
    copy = {"metadata": {"x": "y"}}
    return [
        Call("POST", f"{target}/compose", "", (*headers, *JSON), json.dumps(compose).encode()),
        *(
            Call(
                "POST",
                f"{target}/{verb}/b/{BUCKET}/o/to%2Fthere",
                "",
                (*headers, *JSON),
                json.dumps(copy).encode(),
            )
            for verb in ("rewriteTo", "copyTo")
        ),
    ]


def _uploads(rig: Rig, method: str, template: str) -> list[Call]:
    target = template.replace("{bucket}", BUCKET)
    going = f"uploadType=resumable&upload_id={rig.names['upload']}"
    if method == "DELETE":
        return [Call("DELETE", target, going)]
    if method == "PUT":
        span = ((b"content-range", b"bytes 0-3/10"),)
        return [
            Call("PUT", target, going, span, b"some"),
            Call("PUT", target, going, ((b"content-range", b"bytes */*"),)),
        ]
    kind = ((b"content-type", b"multipart/related; boundary=foo"),)
    described = json.dumps({"metadata": {"a": "b"}, "contentType": "a/b", "md5Hash": None}).encode()
    typed = ((b"content-type", b"text/plain"), (b"x-goog-hash", b"md5=%s" % _MD5))
    return [
        Call("POST", target, "uploadType=media&name=up%2Fload", typed[:1], _CONTENT),
        Call("POST", target, "uploadType=media&name=up%2Fload", typed, _CONTENT),
        Call("POST", target, "uploadType=multipart", kind, _MULTIPART),
        Call("POST", target, "uploadType=resumable&name=later", JSON, described),
    ]
