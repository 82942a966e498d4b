#!/usr/bin/env bash
# Starts the service, and gives later steps the variables by which they find it and are led there.
set -euo pipefail

export FOOTPLATE_DATA_DIR=$RUNNER_TEMP/footplate/data
# What steps of GitHub's own and pip must reach: the proxy refuses all other hosts.
allowed=(github.com .github.com .githubusercontent.com .blob.core.windows.net pypi.org
  files.pythonhosted.org)

write_variable() {
  local end
  end=end-$(od -An -N8 -tx1 /dev/urandom | tr -d ' \n')
  printf '%s<<%s\n%s\n%s\n' "$1" "$end" "$2" "$end" >>"$GITHUB_ENV"
}

# Writes what the lines of `footplate env` change: the runner takes values, and no shell code.
lead() {
  local lines words=() more entry name host
  read -ra more -d '' <<<"${INPUT_ALLOW_HOSTS:-}" || true # in words, without patterns of files
  for host in "${allowed[@]}" "${more[@]}"; do words+=(--allow-host "$host"); done
  lines=$(footplate env --project "${INPUT_PROJECT:-demo}" --region "${INPUT_REGION:-us-central1}" \
    "${words[@]}")
  declare -A before after
  while IFS= read -r -d '' entry; do before[${entry%%=*}]=${entry#*=}; done < <(env -0)
  while IFS= read -r -d '' entry; do after[${entry%%=*}]=${entry#*=}; done < <(
    eval "$lines"
    env -0
  )
  for name in "${!before[@]}" "${!after[@]}"; do
    case $name in
      # The runner lets no step set NODE_OPTIONS for others; the rest is the shell's own.
      NODE_OPTIONS | _ | SHLVL | PWD | OLDPWD) continue ;;
    esac
    if [ "${before[$name]-}" != "${after[$name]-}" ]; then
      write_variable "$name" "${after[$name]-}"
    fi
    before[$name]=${after[$name]-} # it is written once
  done
}

write_variable FOOTPLATE_DATA_DIR "$FOOTPLATE_DATA_DIR" # first: it has the log of a failed start
footplate up --detach --port 0
write_variable FOOTPLATE_PROJECT "${INPUT_PROJECT:-demo}"
{
  echo "url=$(footplate status --format='value(url)')"
  echo "data-dir=$FOOTPLATE_DATA_DIR"
} >>"$GITHUB_OUTPUT"
if [ "${INPUT_LEAD:-true}" = true ]; then lead; fi
