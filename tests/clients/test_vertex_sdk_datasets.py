"""The classes of the Vertex SDK for managed datasets, over REST."""

from __future__ import annotations

from collections.abc import Callable

SCRIPT = """
from google.cloud import storage
CSV = BUCKET + "/data/table.csv"
bucket = storage.Client("demo", AnonymousCredentials()).bucket(os.environ["BUCKET"])
bucket.blob("data/table.csv").upload_from_string("a,b,label\\n" + "1,2,x\\n" * 10)
bucket.blob("data/texts.jsonl").upload_from_string(
    '{"textContent": "hello", "classificationAnnotation": {"displayName": "greeting"}}\\n' * 10)

table = aiplatform.TabularDataset.create("table", gcs_source=CSV, labels={"team": "a"})
say(table.display_name, sorted(table.column_names), table.labels["team"])
again = aiplatform.TabularDataset(table.name)
again.update(display_name="tables", labels={"team": "b"}, description="changed")
say(aiplatform.TabularDataset(table.resource_name).display_name, again.labels["team"])
say([each.name == table.name for each in aiplatform.TabularDataset.list(
    filter="labels.team=b", order_by="display_name desc")])
say(aiplatform.TextDataset.list(filter="labels.team=b"))
for wrong in (dict(bq_source="bq://a.b.c"), dict(gcs_source=BUCKET + "/data/")):
    try:
        aiplatform.TabularDataset.create("wrong", **wrong)
    except exceptions.BadRequest as error:
        say("metadata.inputConfig" in str(error))

ioformat = aiplatform.schema.dataset.ioformat
LINES = BUCKET + "/data/*.jsonl"
FORMAT = ioformat.text.single_label_classification
texts = aiplatform.TextDataset.create("texts", gcs_source=LINES, import_schema_uri=FORMAT)
texts.import_data([LINES], FORMAT, {"aiplatform.googleapis.com/ml_use": "test"})
say(texts.display_name, texts.metadata_schema_uri.rpartition("/")[2])
try:
    texts.import_data(BUCKET + "/data/none.jsonl", FORMAT)
except exceptions.NotFound as error:
    say("none.jsonl" in str(error))
images = aiplatform.ImageDataset.create(display_name="images")
images.delete()
try:
    aiplatform.ImageDataset(images.resource_name)
except exceptions.NotFound:
    say("gone")

exported = texts.export_data(BUCKET + "/exports")
say(len(exported) > 0, all(f.startswith(BUCKET + "/exports/export-data-texts-") for f in exported))
if hasattr(table, "export_data_for_custom_training"):
    split = {"training_fraction": 0.8, "validation_fraction": 0.1, "test_fraction": 0.1}
    answer = table.export_data_for_custom_training(BUCKET + "/exports", split=split)
    say(len(answer["exportedFiles"]), answer["dataStats"]["trainingDataItemsCount"])
for dataset in (table, texts):
    dataset.delete()
"""


def test_datasets(sdk: Callable[[str], list[str]]) -> None:
    assert sdk(SCRIPT) == [
        "table ['a', 'b', 'label'] a",
        "tables b",
        "[True]",
        "[]",
        "True",
        "True",
        "texts text_1.0.0.yaml",
        "True",
        "gone",
        "True True",
        "3 8",
    ]
