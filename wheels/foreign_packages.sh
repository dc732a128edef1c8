#!/usr/bin/env bash
# Debian's packages for another processor, unpacked into a folder, to be run by qemu. Nothing is installed on this machine.
#
#   wheels/foreign_packages.sh PREFIX ARCHITECTURE PACKAGE...      does nothing if they are there
set -euo pipefail
prefix=$(mkdir -p "$1" && cd "$1" && pwd)
architecture=$2
shift 2
[ -e "$prefix/unpacked" ] && exit 0
mkdir -p "$prefix/apt/parts" "$prefix/apt/lists/partial" "$prefix/apt/archives"
cp /etc/apt/sources.list.d/debian.sources "$prefix/apt/parts/"
options=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$prefix/apt/parts" -o "Dir::State::lists=$prefix/apt/lists"
  -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture" -o APT::Sandbox::User=root)
apt-get -qq "${options[@]}" update
(cd "$prefix/apt/archives" && apt-get -qq "${options[@]}" download "$@")
for package in "$prefix"/apt/archives/*.deb; do dpkg-deb -x "$package" "$prefix"; done
touch "$prefix/unpacked"
