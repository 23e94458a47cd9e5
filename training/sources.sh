#!/bin/sh
# Fetch what the printed pages are made of, into $UNINK_DATA (default: training/data).
# Needs Debian 12 with apt, npm, and about 6 GB. Downloads already unpacked are skipped.
#
#   training/sources.sh            everything
#   training/sources.sh fonts      one part: fonts, docs, texts, print-fonts or pictures
#   training/sources.sh few        some 40 MB of each but docs: enough to try the layouts
set -eu
data=${UNINK_DATA:-$(dirname "$0")/data}
mkdir -p "$data"
cd "$data"
largest=90000000 # bytes: font packages above this are left out

docs="publishers-doc games music pictures-doc pstricks-doc metapost-doc science-doc
humanities-doc fonts-extra-doc latex-extra-doc latex-recommended-doc lang-arabic
lang-chinese lang-cyrillic lang-french lang-greek lang-japanese lang-korean lang-other"

pictures="mate-backgrounds ukui-wallpapers openclipart-svg tango-icon-theme kgeography-data
gcompris-qt-data"

# Programs' translations (.mo: sentences in some hundred languages), and one manual.
texts="iso-codes libgtk-3-common evolution-common gedit-common tuxpaint-data nautilus-data
installation-guide-amd64"

# Google Fonts families, packed for npm by Expo: script and typewriter faces that are
# used as print, display faces, and text faces that Debian does not have.
families="great-vibes allura alex-brush pacifico dancing-script sacramento satisfy
special-elite courier-prime cutive-mono tangerine parisienne pinyon-script yellowtail
cookie kaushan-script lobster courgette italianno rouge-script petit-formal-script
monsieur-la-doulaise herr-von-muellerhoff imperial-script playball niconne marck-script
bilbo-swash-caps mr-dafoe euphoria-script berkshire-swash grand-hotel fredericka-the-great
abril-fatface alfa-slab-one bangers bungee-shade unifraktur-maguntia uncial-antiqua
press-start-2p vt323 share-tech-mono space-mono libre-barcode-39 libre-barcode-128
playfair-display cormorant-garamond im-fell-english old-standard-tt bodoni-moda crimson-text
spectral zilla-slab rokkitt roboto roboto-slab open-sans montserrat oswald poppins raleway
nunito work-sans barlow-condensed josefin-sans poiret-one monoton faster-one stardos-stencil
black-ops-one fredoka-one comic-neue patua-one rye limelight tiro-tamil cairo amiri lateef
reem-kufi frank-ruhl-libre david-libre heebo suez-one kanit sarabun hind baloo-2 rozha-one
gowun-batang gugi do-hyeon black-han-sans dela-gothic-one shippori-mincho hachi-maru-pop
zcool-kuaile zcool-xiaowei zcool-qingke-huangyou ma-shan-zheng noto-serif-armenian
noto-serif-georgian noto-serif-ethiopic noto-sans-ethiopic"

# download KIND PACKAGE...: fetches those of these Debian packages that are not unpacked yet. It
# takes fifty at a time, since apt takes seconds to start; where one of them fails, unpack asks again
# for each. debs holds whole files alone.
download() {
	kind=$1
	shift
	rm -rf debs/part && mkdir -p debs/part
	for package in "$@"; do
		[ -d "$kind/$package" ] || has "$package" || echo "$package"
	done | (
		cd debs/part &&
			xargs -r -n 50 sh -c 'apt-get download "$@" >/dev/null && mv ./*.deb ..' sh
	) || true
}

has() { ls debs/"$1"_*.deb >/dev/null 2>&1; }

# unpack KIND PACKAGE TAR-PATTERN...: the matching files of a Debian package.
unpack() {
	kind=$1 package=$2
	shift 2
	[ -d "$kind/$package" ] && return
	has "$package" || download "$kind" "$package"
	has "$package" || return 0
	mkdir -p "$kind/$package.part"
	dpkg-deb --fsys-tarfile debs/"$package"_*.deb |
		tar -x -C "$kind/$package.part" --wildcards "$@" '*copyright' 2>/dev/null || true
	mv "$kind/$package.part" "$kind/$package"
	rm -f debs/"$package"_*.deb
}

fetch_fonts() {
	packages=$(apt-cache search --names-only '^fonts-' | awk '{print $1}' |
		grep -vE 'emoji|awesome|symbola-|mathjax|glyphicons|materialdesign' |
		xargs apt-cache show |
		awk -v largest=$largest '/^Package:/ {p = $2}
			/^Size:/ && $2 <= largest && !had[p]++ {print p}')
	download fonts $packages
	for package in $packages; do unpack fonts "$package" '*.ttf' '*.otf' '*.ttc'; done
}

fetch_docs() {
	for part in $docs; do unpack docs "texlive-$part" '*.pdf'; done
}

fetch_pictures() {
	for package in $pictures; do
		unpack pictures "$package" '*.jpg' '*.png' '*.svg' '*.svgz' '*.webp'
	done
}

fetch_texts() {
	for package in $texts; do unpack texts "$package" '*.mo' '*.txt.gz' '*.txt'; done
}

# The version of each family is kept beside it, in package.json.
fetch_print_fonts() {
	for family in $families; do
		[ -d "print-fonts/$family" ] && continue
		mkdir -p "print-fonts/$family.part"
		archive=$(npm pack --silent "@expo-google-fonts/$family") || continue
		tar -x -z -f "$archive" -C "print-fonts/$family.part" --strip-components=1 \
			--wildcards '*.ttf' 'package/package.json' '*LICENSE*' 2>/dev/null || true
		mv "print-fonts/$family.part" "print-fonts/$family"
		rm -f "$archive"
	done
	rm -rf print-fonts/*.part
}

fetch_few() {
	for package in dejavu-core liberation2 ebgaramond lato courier-prime lobster inconsolata \
		cmu wqy-microhei gfs-didot hosny-amiri; do
		unpack fonts "fonts-$package" '*.ttf' '*.otf'
	done
	for package in gedit-common tuxpaint-data; do unpack texts $package '*.mo'; done
	unpack pictures tango-icon-theme '*.svg'
}

case ${1:-all} in
few) fetch_few ;;
all) fetch_fonts && fetch_docs && fetch_texts && fetch_print_fonts && fetch_pictures ;;
fonts | docs | texts | pictures) "fetch_$1" ;;
print-fonts) fetch_print_fonts ;;
*) echo "sources.sh: no part named $1; parts are few, fonts, docs, texts, print-fonts, pictures" >&2 && exit 2 ;;
esac
