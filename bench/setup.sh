#!/usr/bin/env bash
# Installs the benchmark's peers into the virtual environment of the given Python: ale-py with its vector environment
# (which needs gymnasium), and EnvPool, whose column is nan where it cannot be installed. Does nothing if all are installed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
python=${1:-.venv/bin/python}

[ -x "$python" ] || tests/setup.sh --roms
[ -x "$python" ] || { echo "bench: no Python at $python" >&2; exit 1; }

install() { # module, packages
  local module=$1
  shift
  "$python" -c "import importlib.util as u, sys; sys.exit(u.find_spec('$module') is None)" && return
  echo "bench: installing $*"
  "$python" -m pip -q install "$@" > bench-setup.log 2>&1 || tail -1 bench-setup.log >&2
  rm -f bench-setup.log
}

install ale_py 'ale-py>=0.12,<0.13' numpy
install gymnasium gymnasium
install envpool envpool
exit 0
