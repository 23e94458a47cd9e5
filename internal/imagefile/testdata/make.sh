#!/bin/sh
# Makes the files of this folder anew, with Debian 12's imagemagick, libheif-examples, libavif-bin and
# libtiff-tools; the tests only read them. The pictures are those that corner and odd draw in the
# tests: red at the top left, green at the top right, blue at the bottom left and white elsewhere.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

corner() { # size of a quarter, file
	convert -size "$1" \( xc:'rgb(255,0,0)' xc:'rgb(0,200,0)' +append \) \( xc:'rgb(0,0,255)' xc:white +append \) -append -depth 8 PNG24:"$2"
}
heic() { heif-enc -q 95 "$@" >/dev/null 2>&1; }
avif() { avifenc -j 1 -s 6 --min 0 --max 4 "$@" >/dev/null 2>&1; }

corner 80x48 "$work/c.png"
convert "$work/c.png" -depth 16 -define png:bit-depth=16 -define png:color-type=2 "$work/c16.png"
corner 40x24 "$work/small.png"
convert "$work/small.png" -crop 33x21+10+10 +repage -depth 8 PNG24:"$work/odd.png"
convert "$work/c.png" -colorspace Gray "$work/grey.png"
convert "$work/c.png" -alpha set -channel A -evaluate set 50% -depth 8 PNG32:"$work/alpha.png"
convert "$work/c.png" -quality 98 -sampling-factor 1x1 "$work/c.jpg"

# HEIC. libheif makes a grid of one tile of what is smaller than 64 pixels.
heic "$work/c.png" -p chroma=444 -o plain.heic
heic "$work/odd.png" -o odd.heic
heic "$work/grey.png" -o grey.heic
heic "$work/alpha.png" -o alpha.heic
heic -b 10 "$work/c16.png" -o deep.heic

# AVIF. turned.avif is first turned by a quarter and then mirrored.
avif "$work/c.png" plain.avif
avif "$work/odd.png" odd.avif
avif -y 400 "$work/grey.png" grey.avif
avif "$work/alpha.png" alpha.avif
avif -d 10 "$work/c16.png" deep.avif
avif --irot 1 --imir 0 "$work/c.png" turned.avif
chroma() { echo "(128 + $1 * (8 * abs(mod(i, 28) - 14) - 56)) / 255"; } # a wave along rows
convert -size 112x32 xc:'rgb(128,128,128)' -channel G -fx "$(chroma -0.344136)" -channel B \
	-fx "$(chroma 1.772)" +channel -depth 8 PNG24:"$work/wave.png"
avif -y 420 "$work/wave.png" wave.avif
avif --crop 40,10,100,60 "$work/c.png" crop.avif

# JPEG in four inks, inverted as nearly all are. cmyk.jpg and progressive-grey.jpg are older.
convert "$work/c.png" -colorspace CMYK -quality 98 -sampling-factor 1x1 inks.jpg

# TIFF
tiff() { convert "$work/c.png" -units PixelsPerInch -density 300 "$@"; }
tiff -type bilevel -compress Group4 "$work/1.tif"
tiff -type TrueColor -compress LZW "$work/2.tif"
tiff -type Grayscale -depth 16 -compress Zip "$work/3.tif"
tiffcp "$work/1.tif" "$work/2.tif" "$work/3.tif" pages.tif
tiffcp -c g3:1d "$work/1.tif" fax3.tif
tiffcp -c g3:2d "$work/1.tif" fax3-2d.tif
tiffcp -c g3:1d:fill "$work/1.tif" fax3-fill.tif
tiff -type TrueColor -depth 16 -compress LZW "$work/16.tif"
tiffcp -c lzw:2 "$work/16.tif" deep.tif
tiff -type TrueColorMatte -alpha set -channel A -evaluate set 50% +channel -compress Zip alpha.tif
tiffcp -t -w 32 -l 32 "$work/2.tif" tiles.tif
tiffcp -p separate "$work/2.tif" planes.tif
tiffcp -c jpeg:90 "$work/2.tif" jpeg.tif
tiffcp -8 -c lzw "$work/2.tif" big.tif
tiffcp -8 -B "$work/1.tif" "$work/2.tif" "$work/3.tif" big-pages.tif
tiffcp -c lzma "$work/2.tif" lzma.tif
tiff -colorspace CMYK -compress Zip cmyk.tif
tiff -colors 4 -type palette -compress Zip palette2.tif

# JPEG, progressive as libjpeg has it
convert ../../../docs/before.jpg -resize '240x260!' -interlace JPEG -quality 85 progressive.jpg

# WebP of reduced colours
convert "$work/c.png" -quality 95 lossy.webp
convert "$work/alpha.png" -quality 95 lossy-alpha.webp

# BMP, of the odd picture, and GIF
convert "$work/odd.png" -compress none BMP3:rgb24.bmp
convert "$work/odd.png" -alpha set BMP:rgba32.bmp
convert "$work/odd.png" -colors 4 -type palette -compress none BMP3:palette4.bmp
convert "$work/odd.png" -colors 4 -type palette -compress RLE BMP3:rle8.bmp
convert "$work/c.png" -interlace gif interlaced.gif
