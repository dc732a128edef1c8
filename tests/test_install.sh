#!/usr/bin/env bash
# The installed library can be used from C through pkg-config and through CMake, and from C++.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cmake --install build --prefix "$dir/usr" > /dev/null
cat > "$dir/main.c" << 'C'
#include <diffvcs/diffvcs.h>
#include <stdio.h>
int main(void) {
  size_t size;
  const uint8_t *image = vcs_demo_image(&size);
  vcs_error_t error;
  vcs_cart_t *cart;
  vcs_env_t *env;
  if (vcs_cart_load(image, size, NULL, &cart, &error) || vcs_env_create(cart, &env, &error)) return 1;
  for (int i = 0; i < 60; i++) vcs_env_act(env, VCS_RIGHT, VCS_NOOP);
  printf("%d\n", (int)vcs_env_frame_number(env));
  vcs_env_free(env);
  vcs_cart_free(cart);
  return 0;
}
C
lib=$(dirname "$(find "$dir/usr" -name libdiffvcs.a)")
flags=$(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --cflags --libs diffvcs)
# shellcheck disable=SC2086
cc "$dir/main.c" -o "$dir/shared" $flags
[ "$(LD_LIBRARY_PATH=$lib "$dir/shared")" = 60 ]
echo "ok: C, shared library, by pkg-config"
cc "$dir/main.c" -I"$dir/usr/include" "$lib/libdiffvcs.a" -lz -lpng -lpthread -lm -o "$dir/static"
[ "$("$dir/static")" = 60 ]
echo "ok: C, static library"
c++ -x c++ "$dir/main.c" -x none -I"$dir/usr/include" "$lib/libdiffvcs.a" -lz -lpng -lpthread -lm -o "$dir/cpp"
[ "$("$dir/cpp")" = 60 ]
echo "ok: C++"
cat > "$dir/CMakeLists.txt" << 'C'
cmake_minimum_required(VERSION 3.20)
project(user C)
find_package(diffvcs REQUIRED)
add_executable(user main.c)
target_link_libraries(user diffvcs::shared)
C
cmake -S "$dir" -B "$dir/b" -DCMAKE_PREFIX_PATH="$dir/usr" > /dev/null && cmake --build "$dir/b" > /dev/null
[ "$("$dir/b/user")" = 60 ]
echo "ok: CMake package"
