#!/usr/bin/env bash
# Archives of Debian's source packages, without touching the machine's own lists: of the newest version of which all archives
# are there, the corrections of security updates among them, unless a version is named.
#
#   wheels/sources.sh FOLDER PACKAGE[=VERSION]...
set -euo pipefail
sources=$(mkdir -p "$1" && cd "$1" && pwd)
shift
mkdir -p "$sources/apt/parts" "$sources/apt/lists/partial"
cp /etc/apt/sources.list.d/debian.sources "$sources/apt/parts/source.sources"
sed -i 's/^Types: .*/Types: deb-src/' "$sources/apt/parts/source.sources"
options=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$sources/apt/parts" -o "Dir::State::lists=$sources/apt/lists"
  -o APT::Sandbox::User=root)
apt-get -qq "${options[@]}" update
cd "$sources"
for package in "$@"; do
  name=${package%%=*}
  versions=${package#"$name"}
  versions=${versions#=}
  [ -n "$versions" ] || versions=$(apt-cache "${options[@]}" showsrc "$name" | sed -n 's/^Version: //p' | sort -ruV)
  found=
  for version in $versions; do
    apt-get -qq "${options[@]}" source --download-only "$name=$version" && found=1 && break
  done
  [ -n "$found" ] || {
    echo "sources: the archives of $package cannot be downloaded" >&2
    exit 1
  }
done
