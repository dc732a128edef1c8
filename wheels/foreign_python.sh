#!/usr/bin/env bash
# A Python of another processor with NumPy and a wheel, in a folder, to be run by qemu. Nothing is installed on this machine.
#
#   wheels/foreign_python.sh PREFIX ARCHITECTURE PLATFORM WHEEL      foreign_python.sh build-wheels/arm arm64 manylinux2014_aarch64 x.whl
#
# Python is that of Debian's packages for the architecture; NumPy is the wheel for the platform from PyPI.
set -euo pipefail
"$(dirname "$0")/foreign_packages.sh" "$1" "$2" python3.11-minimal libpython3.11-minimal libpython3.11-stdlib \
  libc6 libgcc-s1 libstdc++6 libexpat1 zlib1g libssl3 libffi8 libbz2-1.0 liblzma5
rm -rf "$1/packages"
python3 -m pip -q install --target "$1/packages" --platform "$3" --python-version 311 --only-binary :all: numpy "$4"
