"""Answers requests for resources of Google's AI APIs that don't exist here.

Clients look for these when they start, and go on: a list is empty, a name is NOT_FOUND, and what
would create or use one is FAILED_PRECONDITION, each with a way out. Google's clients retry neither.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from footplate.domain.errors import FailedPrecondition, NotFound
from footplate.wire.json_text import JsonObject

_BATCH_PREDICTION = (
    "Footplate has no batch predictions: send a custom job that loads the model, and writes its "
    "predictions into a bucket"
)
_EVALUATIONS = "Footplate keeps no evaluations of models: log the metrics to an experiment run"
_FEATURES = "Footplate has no feature store: keep the features as files in a bucket"
_GENERATIVE = (
    "Footplate has no generative models or agents: tune a model of your own in a custom job"
)
_ITEMS = "Footplate doesn't look into datasets: read the files that they name"
_LABELS = "Footplate labels no data: label it elsewhere, and put the labels into a bucket"
_MIGRATION = "Footplate migrates nothing: upload the files of a model as a new model"
_MODELS_OF_ML = (
    "Footplate has no models that answer predictions: the registry of Vertex AI (gcloud ai models) "
    "keeps trained ones"
)
_NOTEBOOKS = (
    "Footplate runs no notebooks: turn the notebook into a script (jupyter nbconvert --to script), "
    "and send the script as a custom job"
)
_OPERATIONS = "Operations are below their location, and done when they are answered"
_PERMISSIONS = "Footplate has no permissions: who reaches the service may use all of it"
_SERVING = (
    "Footplate trains models and has no endpoints: serve the files at the model's artifactUri "
    "with a server of your own"
)

UNSERVED: Mapping[str, str] = MappingProxyType(
    {
        "batchPredictionJobs": _BATCH_PREDICTION,
        "metadataSchemas": (
            "Footplate keeps no metadata schemas: use any schemaTitle without registering it"
        ),
        "nasJobs": (
            "Footplate has no neural architecture search: send a hyperparameter tuning job"
        ),
        "operations": _OPERATIONS,
        "pipelineJobs": (
            "Footplate runs no Kubeflow pipelines: run the pipeline with kfp.local, and send its "
            "training steps as custom jobs (aiplatform.CustomJob, or CustomTrainingJob for a model)"
        ),
        "schedules": (
            "Footplate has no schedules: run the script that sends the job from cron or a systemd "
            "timer"
        ),
        "migratableResources": _MIGRATION,
        "datasetVersions": (
            "Footplate keeps no versions of datasets: create another dataset of the files as they "
            "are now"
        ),
        "savedQueries": (
            "Footplate has no saved queries: filter by the labels of the import files (filterSplit)"
        ),
        **dict.fromkeys(("annotationSpecs", "annotations", "dataItems"), _ITEMS),
        **dict.fromkeys(("dataLabelingJobs", "specialistPools"), _LABELS),
        **dict.fromkeys(
            (
                *("deploymentResourcePools", "endpoints", "modelDeploymentMonitoringJobs"),
                *("modelMonitors", "servingProfiles"),
            ),
            _SERVING,
        ),
        **dict.fromkeys(("evaluations", "slices"), _EVALUATIONS),
        **dict.fromkeys(("featureGroups", "featureOnlineStores", "featurestores"), _FEATURES),
        **dict.fromkeys(
            ("indexEndpoints", "indexes"),
            "Footplate has no vector search: build the index in a custom job, and keep it in a "
            "bucket",
        ),
        **dict.fromkeys(
            ("notebookExecutionJobs", "notebookRuntimeTemplates", "notebookRuntimes"), _NOTEBOOKS
        ),
        **dict.fromkeys(
            (
                *("agentAnomalyDetectionScopes", "agents", "apps", "cacheConfig"),
                *("cachedContents", "collaborativeProjects", "detectors", "edgeDevices"),
                *("evaluationExperiments", "evaluationItems", "evaluationMetrics"),
                *("evaluationRuns", "evaluationSets", "exampleStores", "extensionControllers"),
                *("extensions", "interactions", "interactionsHttp", "learningSets", "media"),
                *("memoryBanks", "modelGardenEula", "monitoredAgents", "onlineEvaluators"),
                *("publishers", "ragCorpora", "ragEngineConfig", "reasoningEngines"),
                *("semanticGovernancePolicies", "semanticGovernancePolicyEngine", "skills"),
                *("solvers", "taskStores", "tasks", "tuningJobs", "vertexExpress", "voices"),
            ),
            _GENERATIVE,
        ),
    }
)
"""Why a collection isn't served, and the way out. Those of other resources are among them."""
_SINGLE = frozenset(
    {
        *("cacheConfig", "interactionsHttp", "media", "modelGardenEula", "ragEngineConfig"),
        *("semanticGovernancePolicyEngine", "vertexExpress"),
    }
)
"""These are no collections: there is no list of them."""
_ACTIONS: Mapping[str, str] = MappingProxyType(
    {
        "copy": "Footplate copies no models: export the model's files, and upload them as a model",
        "listCheckpoints": (
            "Footplate keeps no checkpoints of models: list the objects of the model's bucket"
        ),
        "purge": "Footplate purges no metadata: list the resources, and delete each",
        "readBlobData": (
            "Footplate serves no blobs of TensorBoards: read the objects below its "
            "blobStoragePathPrefix"
        ),
        "updateExplanationDataset": "Footplate explains no predictions: explain them in a job",
        **dict.fromkeys(("assemble", "assess", "searchDataItems"), _ITEMS),
        **dict.fromkeys(("explain", "predict"), _SERVING),
        **dict.fromkeys(("getIamPolicy", "setIamPolicy", "testIamPermissions"), _PERMISSIONS),
        **dict.fromkeys(
            ("readSize", "readUsage"),
            "Footplate counts neither sizes nor readers of TensorBoards",
        ),
        **dict.fromkeys(
            (
                *("askContexts", "asyncRetrieveContexts", "augmentPrompt", "corroborateContent"),
                *("deploy", "deployPublisherModel", "evaluateDataset", "evaluateInstances"),
                *("exportPublisherModel", "fetchPublisherModelConfig", "generateInstanceRubrics"),
                *("generateLossClusters", "generateSyntheticData", "generateUserScenarios"),
                *("recommendSpec", "retrieveContexts", "setPublisherModelConfig"),
            ),
            _GENERATIVE,
        ),
    }
)
"""Why a method isn't served, by what follows the colon in its path."""
_LISTS = frozenset(
    {"GET", "HEAD", "listCheckpoints", "search", "searchDataItems", "searchFeatures"}
)
_PATH = re.compile("/(?:upload/)?(?:v1|v1beta1)(?:/|(?=:))")
_ML_PLACE = 2
"""Where the models of ml v1 stand, which have no location."""


@dataclass(frozen=True)
class Unserved:
    """A collection, a resource in one, or a method that is not served."""

    reason: str
    name: str = ""
    """The name of the resource; empty for others."""
    is_list: bool = False
    """Whether the path may be that of a list."""


def answer_unserved(verb: str, path: str) -> JsonObject | None:
    """Returns an empty list, or None for a path of which nothing is known here.

    Raises NotFound for the name of a resource, and FailedPrecondition for other methods.
    """
    unserved = find_unserved(path)
    if unserved is None:
        return None
    if unserved.name:
        raise NotFound(f"{unserved.name} does not exist. {unserved.reason}")
    action = path.partition(":")[2]
    if unserved.is_list and (action or verb) in _LISTS:
        return {}
    raise FailedPrecondition(unserved.reason)


def find_unserved(path: str) -> Unserved | None:
    """Returns why a path isn't served. Each second part is a collection, the others are names."""
    found = _PATH.match(path)
    if found is None:
        return None
    whole, _, action = path[found.end() :].partition(":")
    parts = whole.split("/")
    for place in range(0, len(parts), 2):
        reason = UNSERVED.get(parts[place])
        if place == _ML_PLACE and (parts[0], parts[place]) == ("projects", "models"):
            reason = _MODELS_OF_ML
        if reason:
            is_single, is_last = parts[place] in _SINGLE, place + 1 == len(parts)
            name = "/".join(parts[: len(parts) - len(parts) % 2])
            return Unserved(reason, "" if is_single or is_last else name, not is_single)
    return Unserved(_ACTIONS[action], is_list=True) if action in _ACTIONS else None
