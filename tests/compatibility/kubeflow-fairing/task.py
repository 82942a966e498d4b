import os
import sys

print("trained as", os.environ["CLOUD_ML_JOB_ID"], os.environ["FAIRING_RUNTIME"], sys.argv)
raise SystemExit(int(os.environ.get("STATUS", "0")))
