#!/usr/bin/env bash
# Installs Footplate into an environment of its own, beside the Python and the packages of the job.
set -euo pipefail

python=${PYTHON:-python3}
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "::error::Footplate needs Python 3.11 or later: use actions/setup-python before it"
  exit 1
fi
if [ -n "${INPUT_PATH:-}" ]; then
  package=$INPUT_PATH
elif [ -n "${INPUT_VERSION:-}" ]; then
  package=footplate==$INPUT_VERSION
else
  package=$GITHUB_ACTION_PATH
fi
home=$RUNNER_TEMP/footplate
"$python" -m venv --without-pip "$home/venv"
"$python" -m pip --python "$home/venv/bin/python" install --quiet --disable-pip-version-check "$package"
# The command alone: the environment's python and pip must not hide those of the job.
mkdir -p "$home/bin"
ln -sf "$home/venv/bin/footplate" "$home/bin/footplate"
echo "$home/bin" >>"$GITHUB_PATH"
"$home/bin/footplate" --version
