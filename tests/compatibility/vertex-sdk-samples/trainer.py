"""What users put in place of the samples' trainers: it leaves a model."""

import os
import sys
from pathlib import Path

print("trains with", sys.argv[1:])
folder = os.environ.get("AIP_MODEL_DIR", "").replace("gs://", "/gcs/")
if folder:
    Path(folder).mkdir(parents=True, exist_ok=True)
    Path(folder, "model.txt").write_text("a model")
