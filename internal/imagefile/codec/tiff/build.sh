#!/bin/sh
# Builds tiff.wasm.gz anew, of the sources of Debian and with Debian's compiler:
#
#	apt-get install clang-19 lld-19 llvm-19 wasi-libc libclang-rt-19-dev-wasm32 cmake
#	apt-get source tiff=4.7.0-3+deb13u3 libjpeg-turbo=1:2.1.5-4 zlib=1:1.3.dfsg+really1.3.1-1 \
#		xz-utils=5.8.1-1+deb13u1
#	sh internal/imagefile/codec/tiff/build.sh SOURCES
#
# SOURCES is the folder with the four sources. What is compressed as JBIG, JPEG 2000, LERC, WebP
# or Zstandard is left out.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
sources=$(pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
flags="-O3 -I$here -I$work"

cd "$sources"/zlib-*/
for f in adler32 crc32 inflate inffast inftrees zutil deflate trees compress uncompr; do
	clang-19 --target=wasm32-wasi $flags -DZ_HAVE_UNISTD_H -c $f.c -o "$work/$f.o"
done
llvm-ar-19 rcs "$work/libz.a" "$work"/*.o
cp zlib.h zconf.h "$work"

configure() { # source, options
	cmake -S "$1" -B "$work/$(basename "$1")" -DCMAKE_SYSTEM_NAME=Generic \
		-DCMAKE_SYSTEM_PROCESSOR=wasm32 -DCMAKE_C_COMPILER=clang-19 \
		-DCMAKE_C_COMPILER_TARGET=wasm32-wasi -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY \
		-DCMAKE_AR=/usr/bin/llvm-ar-19 -DCMAKE_RANLIB=/usr/bin/llvm-ranlib-19 \
		-DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS="$flags" $2
}
jpeg=$(echo "$sources"/libjpeg-turbo-*/)
configure "${jpeg%/}" "-DWITH_SIMD=0 -DWITH_TURBOJPEG=0 -DENABLE_SHARED=0"
make -C "$work/$(basename "$jpeg")" jpeg-static
cp "$work/$(basename "$jpeg")"/libjpeg.a "$work/$(basename "$jpeg")"/jconfig.h \
	"$jpeg"/jpeglib.h "$jpeg"/jmorecfg.h "$jpeg"/jerror.h "$work"

xz=$(echo "$sources"/xz-utils-*/)
configure "${xz%/}" "-DBUILD_SHARED_LIBS=OFF -DXZ_THREADS=no -DXZ_NLS=OFF"
make -C "$work/$(basename "$xz")" liblzma
cp "$work/$(basename "$xz")"/liblzma.a "$work"
cp -r "$xz"/src/liblzma/api/lzma "$xz"/src/liblzma/api/lzma.h "$work"

tiff=$(echo "$sources"/tiff-*/)
configure "${tiff%/}" "-DBUILD_SHARED_LIBS=OFF -Dtiff-tools=OFF -Dtiff-tests=OFF -Dtiff-docs=OFF
	-Dtiff-contrib=OFF -Dcxx=OFF -Dlzma=ON -Dzstd=OFF -Dwebp=OFF -Djbig=OFF -Dlerc=OFF -Dlibdeflate=OFF
	-DZLIB_INCLUDE_DIR=$work -DZLIB_LIBRARY=$work/libz.a -DJPEG_INCLUDE_DIR=$work -DJPEG_LIBRARY=$work/libjpeg.a
	-DLIBLZMA_INCLUDE_DIR=$work -DLIBLZMA_LIBRARY=$work/liblzma.a -DLIBLZMA_HAS_AUTO_DECODER=1
	-DLIBLZMA_HAS_EASY_ENCODER=1 -DLIBLZMA_HAS_LZMA_PRESET=1"
built="$work/$(basename "$tiff")/libtiff"
make -C "$work/$(basename "$tiff")" tiff

clang-19 --target=wasm32-wasi $flags -I"$built" -I"$tiff/libtiff" -nostartfiles -Wl,--no-entry \
	-Wl,--export=malloc -Wl,--export=free -Wl,--export=decode -Wl,--export=encode \
	-Wl,--strip-all -Wl,-z,stack-size=1048576 "$here/tiff.c" "$built/libtiff.a" \
	"$work/libjpeg.a" "$work/libz.a" "$work/liblzma.a" -o "$work/tiff.wasm"
cd "$here/../../../.."
gzip -9nc "$work/tiff.wasm" | go run ./internal/imagefile/codec/meter >"$here/../tiff.wasm.gz"
