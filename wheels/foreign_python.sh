#!/usr/bin/env bash
# A Python of another processor with NumPy and a wheel, in a folder, to be run by qemu. Nothing is installed on this machine.
#
#   wheels/foreign_python.sh PREFIX ARCHITECTURE PLATFORM WHEEL      foreign_python.sh build-wheels/arm arm64 manylinux2014_aarch64 x.whl
#
# Python is that of Debian's packages for the architecture; NumPy is the wheel for the platform from PyPI.
set -euo pipefail
prefix=$(mkdir -p "$1" && cd "$1" && pwd)
architecture=$2 platform=$3 wheel=$4
if [ ! -e "$prefix/usr/bin/python3.11" ]; then
  mkdir -p "$prefix/apt/parts" "$prefix/apt/lists/partial" "$prefix/apt/archives"
  cp /etc/apt/sources.list.d/debian.sources "$prefix/apt/parts/"
  options=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$prefix/apt/parts" -o "Dir::State::lists=$prefix/apt/lists"
    -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture" -o APT::Sandbox::User=root)
  apt-get -qq "${options[@]}" update
  (cd "$prefix/apt/archives" && apt-get -qq "${options[@]}" download python3.11-minimal libpython3.11-minimal libpython3.11-stdlib \
    libc6 libgcc-s1 libstdc++6 libexpat1 zlib1g libssl3 libffi8 libbz2-1.0 liblzma5)
  for package in "$prefix"/apt/archives/*.deb; do dpkg-deb -x "$package" "$prefix"; done
fi
rm -rf "$prefix/packages"
python3 -m pip -q install --target "$prefix/packages" --platform "$platform" --python-version 311 --only-binary :all: numpy "$wheel"
