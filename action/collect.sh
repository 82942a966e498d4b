#!/usr/bin/env bash
# Writes into a folder what each failed training job was, why it failed and what it printed, and the
# service's own log. What can't be had is left out: the rest is wanted most when the service is down.
set -euo pipefail

folder=$RUNNER_TEMP/footplate/collected
mkdir -p "$folder"
cp "$FOOTPLATE_DATA_DIR"/footplate.log "$folder" || true
footplate jobs list >"$folder/jobs.txt" 2>&1 || true
count=0
while IFS= read -r job; do
  count=$((count + 1))
  name=${job//[!A-Za-z0-9._-]/_}
  footplate jobs describe "$job" >"$folder/$name.yaml" || true
  footplate jobs logs "$job" >"$folder/$name.log" || true
done < <(footplate jobs list --state=FAILED --uri)
if [ "$count" -gt 0 ]; then
  {
    echo "### Training jobs that failed: $count"
    echo '```'
    cat "$folder/jobs.txt"
    echo '```'
  } >>"$GITHUB_STEP_SUMMARY"
fi
{
  echo "folder=$folder"
  echo "failed=$count"
} >>"$GITHUB_OUTPUT"
