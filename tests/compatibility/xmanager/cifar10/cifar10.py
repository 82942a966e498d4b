"""What the launch script packages: it prints what it was given, and obeys."""

import argparse
import os
import time

parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, default=0)
parser.add_argument("--learning_rate", type=float, default=0.0)
parser.add_argument("--master", default="")
parser.add_argument("--sleep_s", type=float, default=0.0)
parser.add_argument("--status", type=int, default=0)
arguments = parser.parse_args()
print(vars(arguments), os.environ.get("AIP_TENSORBOARD_LOG_DIR", ""), flush=True)
with open("/gcs/xmanager/%s" % os.environ["CLOUD_ML_JOB_ID"], "a") as file:
    file.write("%d %g %s\n" % (arguments.batch_size, arguments.learning_rate, arguments.master))
time.sleep(arguments.sleep_s)
raise SystemExit(arguments.status)
