#!/usr/bin/env bash
# A Python for musl on this machine, to try a wheel in: CPython 3.11 and libffi from Debian's sources, by musl-gcc (apt-get
# install musl-tools). Two minutes of processor time. Nothing is installed on this machine.
#
#   wheels/musl_python.sh PREFIX      does nothing if PREFIX/bin/python3.11 is there
set -euo pipefail
prefix=$(mkdir -p "$1" && cd "$1" && pwd)
[ -x "$prefix/bin/python3.11" ] && exit 0
here=$(cd "$(dirname "$0")" && pwd)
sources=$here/../build-wheels/sources work=$prefix/work
"$here/sources.sh" "$sources" python3.11 libffi
rm -rf "$work" && mkdir -p "$work/linux" "$work/tools"

# musl-gcc has no headers of the kernel, and says that it compiles for glibc's folders.
ln -s /usr/include/linux /usr/include/asm-generic "/usr/include/$(gcc -print-multiarch)/asm" "$work/linux/"
cat > "$work/tools/cc" << END
#!/bin/sh
case \$1 in
  --print-multiarch) echo $(uname -m)-linux-musl; exit ;;
  -print-multiarch) exit 1 ;;
esac
exec musl-gcc -idirafter $work/linux -w "\$@"
END
printf '#!/bin/sh\nexit 1\n' > "$work/tools/dpkg-architecture"
chmod +x "$work/tools/"*
export PATH=$work/tools:$PATH CC=$work/tools/cc CFLAGS="-O1 -fPIC"

AR="ar" "$here/dependencies.sh" "$work/zlib" "$CC"
for name in libffi python3.11; do
  mkdir "$work/$name"
  tar -xf "$sources/$name"_*.orig.tar.gz -C "$work/$name" --strip-components=1
done
cd "$work/libffi"
./configure --prefix="$prefix" --disable-shared --disable-docs --host="$(uname -m)-linux-musl"
make -s && make -s install
cd "$work/python3.11"
export CPPFLAGS="-I$prefix/include -I$work/zlib/include" LDFLAGS="-L$prefix/lib -L$work/zlib/lib" PKG_CONFIG_PATH=$prefix/lib/pkgconfig
./configure --prefix="$prefix" --without-ensurepip
make -s OPT=-O0 && make -s OPT=-O0 install
rm -rf "$work"
"$prefix/bin/python3.11" -c 'import ctypes, zlib'
