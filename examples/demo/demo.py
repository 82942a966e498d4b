"""`make demo`: one trainer, sent by Google's own clients, twice, and run on this machine."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples" / "digits"
BIN = pathlib.Path(sys.executable).parent
FOOTPLATE = str(BIN / "footplate")
CACHE = ROOT / ".cache" / "demo"
PROJECT, BUCKET = "demo", "demo-bucket"
ACCURACIES = []


def say(text):
    print(f"\n\033[1m== {text}\033[0m" if sys.stdout.isatty() else f"\n== {text}", flush=True)


def footplate(*args):
    """Run the command line; it finds the server through the data directory. Its last line."""
    shown = " ".join(str(a).replace(f"{ROOT}/", "") for a in args)
    print(f"$ footplate {shown}", flush=True)
    command = [FOOTPLATE, *map(str, args)]
    last = ""
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            last = line.strip() or last
            if "accuracy:" in line:
                ACCURACIES.append(line.rpartition("accuracy:")[2].strip())
    if process.returncode:
        sys.exit(f"that ended with {process.returncode}; what it said is above")
    return last


def start(data_dir):
    """Start the service on a free port, and wait until it has said where it is."""
    server = subprocess.Popen([FOOTPLATE, "up", "--port", "0"], start_new_session=True)
    deadline = time.monotonic() + 60
    while not (data_dir / "server.json").exists():
        if server.poll() is not None or time.monotonic() > deadline:
            sys.exit("the service did not start; what it said is above")
        time.sleep(0.05)
    return server


def show(data_dir):
    """The models that came out of it, oldest first, and their accuracy on unseen digits."""
    models = (data_dir / "buckets" / BUCKET).rglob("model.joblib")
    for model, accuracy in zip(sorted(models, key=os.path.getmtime), ACCURACIES, strict=True):
        print(f"   accuracy {accuracy}  {model.stat().st_size:,} bytes  {model}")


def run(data_dir):
    footplate("storage", "buckets", "create", BUCKET)

    say("1. The AI Platform way: googleapiclient, examples/digits/submit_ai_platform.py")
    script = DIGITS / "submit_ai_platform.py"
    job = footplate("run", "--", sys.executable, script, PROJECT, BUCKET)
    footplate("ai-platform", "jobs", "stream-logs", job, "--project", PROJECT)

    say("2. The Vertex AI way: the SDK, examples/digits/submit_vertex.py")
    script = DIGITS / "submit_vertex.py"
    job = footplate("run", "--", sys.executable, script, PROJECT, BUCKET)
    footplate("ai", "custom-jobs", "stream-logs", job)

    say("The models:")
    show(data_dir)


def main():
    data_dir = pathlib.Path(tempfile.mkdtemp(prefix="footplate-demo-"))
    os.environ["FOOTPLATE_DATA_DIR"] = str(data_dir)
    os.environ["FOOTPLATE_CACHE_DIR"] = str(CACHE)
    say(f"Starting the service; its data directory is {data_dir}")
    print("The first time, scikit-learn and its friends are downloaded (about 150 MB).")
    server = start(data_dir)
    try:
        run(data_dir)
    finally:
        footplate("down")
        server.wait(timeout=60)
    url = json.dumps(str(data_dir))
    say("What to try next")
    print(f"""   footplate up --data-dir {url}      the same service again, with both jobs
   footplate ai custom-jobs list
   footplate run -- python your_script.py   your own Vertex SDK script, unchanged
   eval "$(footplate env)"                  and gcloud, pointed here""")


if __name__ == "__main__":
    main()
