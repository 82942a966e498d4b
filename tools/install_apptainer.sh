#!/usr/bin/env bash
# Installs Apptainer of Debian's next release in /opt/apptainer, with the C library that it needs.
# The system's packages stay as they are. Needs root, on Debian 12 or later, x86-64.
set -euo pipefail
root=/opt/apptainer
[ -x /usr/local/bin/apptainer ] && { apptainer --version; exit; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists/partial,archives/partial,deb}
chmod -R a+rwX "$work"
# shellcheck disable=SC2016 # apt-get replaces it
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' | head -n 1)
for suite in sid trixie; do
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main"
done >"$work/sources.list"
next=(-qq -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null
  -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work")
apt-get "${next[@]}" update
cd "$work/deb"
apt-get "${next[@]}" download apptainer libc6/trixie libseccomp2/trixie libsqlite3-0/trixie
apt-get -qq update
apt-get -qq download patchelf squashfs-tools squashfuse libsquashfuse0 libfuse3-3 liblzo2-2
for package in *.deb; do
  case $package in
    apptainer*) dpkg -x "$package" "$root" ;;
    libc6* | libseccomp2* | libsqlite3*) dpkg -x "$package" "$work/next" ;;
    *) dpkg -x "$package" "$work/own" ;;
  esac
done
# It looks for its files below the folder of its programs, and for tools beside its starter.
libraries=$root/usr/lib/x86_64-linux-gnu
mkdir -p "$root"/{next,own} "$root/usr/lib/var/lib/apptainer/mnt/session"
ln -sfn "$root/etc" "$root/usr/etc"
ln -sfn "$root/etc" "$root/usr/lib/etc"
find "$work/next" -path '*/lib/*' -name '*.so*' ! -path '*/gconv/*' -exec cp -aL -t "$root/next" {} +
find "$work/own" -path '*/lib/*' -name '*.so*' -exec cp -aL -t "$root/own" {} +
patch() { "$work/own/usr/bin/patchelf" --force-rpath "$@"; }
for program in "$root/usr/bin/apptainer" "$libraries/apptainer/bin/starter"; do
  patch --set-interpreter "$root/next/ld-linux-x86-64.so.2" --set-rpath "$root/next" "$program"
done
for tool in mksquashfs unsquashfs squashfuse squashfuse_ll; do
  cp "$work/own/usr/bin/$tool" "$libraries/apptainer/bin/"
  patch --set-rpath "$root/own" "$libraries/apptainer/bin/$tool"
done
ln -sfn "$root/usr/bin/apptainer" /usr/local/bin/apptainer
apptainer --version
