#!/usr/bin/env bash
# Installs what requirements/machine.txt lists and this machine lacks. Needs root, on Debian.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin:/sbin # where Debian has its servers, and ordinary users don't look

missing=()
while read -r package probes; do
  case $package in '' | '#'*) continue ;; esac
  found=
  for probe in $probes; do
    if command -v "$probe" >/dev/null 2>&1 || compgen -G "$probe" >/dev/null; then found=1; fi
  done
  [ -n "$found" ] || missing+=("$package")
done <requirements/machine.txt

if [ "${#missing[@]}" -eq 0 ]; then
  echo "This machine has all packages of requirements/machine.txt."
elif [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "Installing packages needs root and Debian's apt-get. Missing: ${missing[*]}" >&2
  exit 1
else
  echo "Installs ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi
# It is in no package of Debian 12. Without it the tests that need it are left out, and say so.
tools/install_apptainer.sh || echo "Apptainer can't be installed: its tests are left out" >&2
