#!/usr/bin/env bash
# Archives of Debian's source packages, without touching the machine's own lists.
#
#   wheels/sources.sh FOLDER PACKAGE...
set -euo pipefail
sources=$(mkdir -p "$1" && cd "$1" && pwd)
shift
mkdir -p "$sources/apt/parts" "$sources/apt/lists/partial"
cp /etc/apt/sources.list.d/debian.sources "$sources/apt/parts/source.sources"
sed -i 's/^Types: .*/Types: deb-src/' "$sources/apt/parts/source.sources"
options=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$sources/apt/parts" -o "Dir::State::lists=$sources/apt/lists"
  -o APT::Sandbox::User=root)
apt-get -qq "${options[@]}" update
cd "$sources" && apt-get -qq "${options[@]}" source --download-only "$@" || true # an archive of Debian's changes may be missing
