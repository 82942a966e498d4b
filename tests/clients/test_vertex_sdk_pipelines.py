"""The classes of the Vertex SDK that train by pipelines, and its model registry, over REST."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.trainers import Trainers

SCRIPT = """
SERVE = "us-docker.pkg.dev/vertex-ai/prediction/sklearn-cpu.1-0:latest"
MACHINE = dict(replica_count=2, machine_type="n1-standard-4")

def script(name, text):
    with open(name + ".py", "w") as file:
        file.write(text)
    return name + ".py"

saving = script("saving", "import os, pathlib; p = os.environ['AIP_MODEL_DIR']; "
                          "p = p.replace('gs://', '/gcs/'); "
                          "pathlib.Path(p, 'model.txt').write_text('42')")
job = aiplatform.CustomTrainingJob("script", saving, IMAGE, labels={"team": "a"},
                                   model_serving_container_image_uri=SERVE)
model = job.run(base_output_dir=BUCKET + "/out", model_display_name="mymodel", **MACHINE)
say(job.state.name, model.display_name, model.version_id, model.uri == BUCKET + "/out/model/")

package = aiplatform.CustomPythonPackageTrainingJob(
    "package", PACKAGE, "trainer.task", IMAGE, model_serving_container_image_uri=SERVE)
made = package.run(base_output_dir=BUCKET + "/package", sync=False, **MACHINE)
made.wait()
say(package.state.name, made.uri == BUCKET + "/package/model/")

empty = aiplatform.CustomTrainingJob("empty", script("empty", "print('no model')"), IMAGE,
                                     model_serving_container_image_uri=SERVE)
say(empty.run(base_output_dir=BUCKET + "/empty", **MACHINE), empty.state.name)

failing = aiplatform.CustomTrainingJob("failing", script("failing", "raise ValueError('not 42')"),
                                       IMAGE)
try:
    failing.run(**MACHINE)
except RuntimeError as error:
    say("not 42" in str(error))

endless = aiplatform.CustomTrainingJob(
    "endless", script("endless", "import time; time.sleep(3600)"), IMAGE)
endless.submit(**MACHINE)
again = aiplatform.CustomTrainingJob.get(endless.resource_name)
again.cancel()
deadline = time.monotonic() + 300
while again.state.name != "PIPELINE_STATE_CANCELLED":
    assert time.monotonic() < deadline, again.state
    time.sleep(0.5)
again._sync_gca_resource()
say(again.state.name, again._gca_resource.error.code)
found = aiplatform.CustomTrainingJob.list(filter='display_name="endless"')
say([each.resource_name == again.resource_name for each in found])
again.delete()
say(aiplatform.CustomTrainingJob.list(filter='display_name="endless"'))

second = aiplatform.Model.upload(display_name="mymodel", parent_model=model.resource_name,
                                 artifact_uri=model.uri, serving_container_image_uri=SERVE,
                                 version_aliases=["best"], is_default_version=False)
registry = model.versioning_registry
say([(v.version_id, sorted(v.version_aliases)) for v in registry.list_versions()])
registry.add_version_aliases(["default"], "2")
registry.delete_version("1")
say(aiplatform.Model(model.resource_name).version_id)
second.update(description="changed", labels={"x": "y"})
say(aiplatform.Model(model.resource_name).description)
exported = second.export_model("custom-trained", BUCKET + "/exported/")
say(exported["artifactOutputUri"].startswith(BUCKET + "/exported/model-export-mymodel-2-"))
say([each.display_name for each in aiplatform.Model.list(filter='display_name="mymodel"')])
second.delete()
say(aiplatform.Model.list(filter='display_name="mymodel"'))
"""
DATA_SCRIPT = """
from google.cloud import storage
bucket = storage.Client("demo", AnonymousCredentials()).bucket(os.environ["BUCKET"])
bucket.blob("data/table.csv").upload_from_string(
    "id,value\\n" + "".join("%d,x\\n" % i for i in range(20)))
bucket.blob("data/texts.jsonl").upload_from_string("".join(
    '{"textContent": "%d", "dataItemResourceLabels": {"aiplatform.googleapis.com/ml_use": "%s"}}\\n'
    % (i, ("training", "test")[i % 2]) for i in range(6)))
with open("reading.py", "w") as file:
    file.write('''
import csv, glob, json, os
for name in ("TRAINING", "VALIDATION", "TEST"):
    paths = sorted(glob.glob(os.environ["AIP_%s_DATA_URI" % name].replace("gs://", "/gcs/")))
    assert paths
    if os.environ["AIP_DATA_FORMAT"] == "csv":
        rows = [row["id"] for path in paths for row in csv.DictReader(open(path))]
    else:
        rows = [json.loads(line)["textContent"] for path in paths for line in open(path)]
    with open(os.environ["AIP_MODEL_DIR"].replace("gs://", "/gcs/") + "/" + name, "w") as file:
        file.write(" ".join(rows))
''')

def train(output, dataset, **split):
    job = aiplatform.CustomTrainingJob("reading", "reading.py", IMAGE)
    job.run(dataset, base_output_dir=BUCKET + "/" + output, replica_count=1,
            machine_type="n1-standard-4", **split)
    found = [bucket.blob("%s/model/%s" % (output, name)).download_as_bytes().decode().split()
             for name in ("TRAINING", "VALIDATION", "TEST")]
    written = bucket.list_blobs(prefix=output + "/dataset-%s-" % dataset.name)
    say(job.state.name, sorted(each.name.split("/")[-1] for each in written))
    return found

table = aiplatform.TabularDataset.create("table", gcs_source=BUCKET + "/data/table.csv")
found = train("random", table)
say([len(each) for each in found], sorted(map(int, sum(found, []))) == list(range(20)))
texts = aiplatform.TextDataset.create(
    "texts", gcs_source=BUCKET + "/data/texts.jsonl",
    import_schema_uri=aiplatform.schema.dataset.ioformat.text.single_label_classification)
USE = "labels.aiplatform.googleapis.com/ml_use="
say(train("labels", texts, training_filter_split=USE + "training", validation_filter_split="-",
          test_filter_split=USE + "test"))
bucket.blob("data/table.csv").upload_from_string("a,b\\n1\\n")
try:
    train("wrong", table)
except RuntimeError as error:
    say("line 2 of " + BUCKET + "/data/table.csv has 1 columns" in str(error))
"""
TRAINER = """
import os
with open(os.environ["AIP_MODEL_DIR"].replace("gs://", "/gcs/") + "/model.txt", "w") as file:
    file.write("42")
"""


def test_pipelines_and_models(sdk: Callable[[str], list[str]], trainers: Trainers) -> None:
    lines = sdk(f"PACKAGE = {trainers.make(TRAINER)!r}\n{SCRIPT}")
    assert lines == [
        "PIPELINE_STATE_SUCCEEDED mymodel 1 True",
        "PIPELINE_STATE_SUCCEEDED True",
        "None PIPELINE_STATE_SUCCEEDED",
        "True",
        "PIPELINE_STATE_CANCELLED 1",
        "[True]",
        "[]",
        "[('1', ['default']), ('2', ['best'])]",
        "2",
        "changed",
        "True",
        "['mymodel']",
        "[]",
    ]


def test_datasets_are_split_for_the_program(sdk: Callable[[str], list[str]]) -> None:
    csv, jsonl = (
        [f"{each}-00000-of-00001.{kind}" for each in ("test", "training", "validation")]
        for kind in ("csv", "jsonl")
    )
    assert sdk(DATA_SCRIPT) == [
        f"PIPELINE_STATE_SUCCEEDED {csv}",
        "[16, 2, 2] True",
        f"PIPELINE_STATE_SUCCEEDED {jsonl}",
        "[['0', '2', '4'], [], ['1', '3', '5']]",
        "True",
    ]
