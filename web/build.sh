#!/usr/bin/env bash
# `make web`: the explorer, one file without dependencies: out/web/index.html. emscripten compiles the library, esbuild puts the
# modules of web/src together; the worker's text and the WebAssembly are part of the page, so that it also opens from a disk.
set -euo pipefail
cd "$(dirname "$0")/.."
web/setup.sh
jobs=${JOBS:-$(nproc)}
out=${1:-out/web}
launcher=()
command -v ccache > /dev/null && launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
if ! { emcmake cmake -S web/native -B build-web/wasm -DCMAKE_BUILD_TYPE=Release "${launcher[@]}" &&
  cmake --build build-web/wasm -j "$jobs"; } > build-web/build.log 2>&1; then
  tail -30 build-web/build.log
  echo "web: the library could not be compiled (see build-web/build.log)" >&2
  exit 1
fi
esbuild web/src/worker.js --bundle --minify --format=iife --target=es2021 --log-level=warning --outfile=build-web/worker.txt
printf 'import text from "./worker.txt"; export default text;\n' > build-web/worker-text.js
python3 web/meanings.py build-web/meanings.js
NODE_PATH=build-web esbuild web/src/app.js --bundle --minify --format=iife --target=es2021 --log-level=warning --loader:.txt=text \
  --outfile=build-web/app.js
mkdir -p "$out"
python3 - "$out/index.html" << 'END'
import sys

page, style, script = (open(name, encoding="utf-8").read() for name in ("web/src/index.html", "web/src/style.css", "build-web/app.js"))
page = page.replace("/*STYLE*/", style).replace("/*SCRIPT*/", script.replace("</script", "<\\/script"))
open(sys.argv[1], "w", encoding="utf-8").write(page)
END
echo "web: $out/index.html, $(wc -c < "$out/index.html") bytes, $(gzip -9c "$out/index.html" | wc -c) compressed"
