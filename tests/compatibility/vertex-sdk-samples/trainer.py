"""What users put in place of the samples' trainers: it leaves a model."""

import os
import sys

print("trains with", sys.argv[1:])
folder = os.environ.get("AIP_MODEL_DIR", "").replace("gs://", "/gcs/")
if folder:
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "model.txt"), "w") as file:
        file.write("a model")
