#!/bin/sh
# Fetches the handwriting fonts that training/common/ink/hands.py draws from, at fixed versions, from
# npm (@expo-google-fonts, every family under the SIL Open Font Licence) into $UNINK_DATA/hands.
# One regular weight a family is kept, with its licence.
#
#   training/fetch_hands.sh        all of them
#   training/fetch_hands.sh few    the first ten: enough to try the pipeline
set -eu
data=${UNINK_DATA:-$(dirname "$0")/data}
hands=$data/hands
mkdir -p "$hands"
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

families="
allison@0.2.3 amatic-sc@0.4.2 amita@0.2.2 annie-use-your-telescope@0.4.0 architects-daughter@0.4.1
aref-ruqaa-ink@0.2.3 bad-script@0.4.1 butterfly-kids@0.2.3 calligraffitti@0.2.3 caveat@0.4.2
caveat-brush@0.4.1 cedarville-cursive@0.4.1 charm@0.4.1 charmonman@0.2.0 chilanka@0.2.3
comforter@0.4.2 coming-soon@0.4.1 covered-by-your-grace@0.4.1 damion@0.4.0 dancing-script@0.4.2
dawning-of-a-new-day@0.1.0 dekko@0.2.3 delius@0.4.1 dokdo@0.4.1 dr-sugiyama@0.1.0
east-sea-dokdo@0.2.0 edu-nsw-act-foundation@0.4.1 edu-qld-beginner@0.4.2 edu-vic-wa-nt-beginner@0.2.3 fuggles@0.2.3
fuzzy-bubbles@0.2.3 gaegu@0.4.1 gamja-flower@0.4.1 gloria-hallelujah@0.4.1 gochi-hand@0.4.2
grape-nuts@0.4.2 hachi-maru-pop@0.4.1 handlee@0.2.3 herr-von-muellerhoff@0.4.1 homemade-apple@0.4.1
hurricane@0.2.2 indie-flower@0.4.1 italianno@0.4.1 itim@0.4.1 just-another-hand@0.4.1
just-me-again-down-here@0.4.1 kalam@0.4.1 klee-one@0.4.1 la-belle-aurore@0.4.1 liu-jian-mao-cao@0.2.3
loved-by-the-king@0.2.3 ma-shan-zheng@0.4.3 mali@0.4.1 mansalva@0.2.2 marck-script@0.4.1
montez@0.1.0 mr-dafoe@0.4.1 mrs-sheppards@0.4.1 my-soul@0.4.2 mynerve@0.2.3
nanum-brush-script@0.2.3 nanum-pen-script@0.4.0 nerko-one@0.4.1 neucha@0.4.1 nothing-you-could-do@0.4.1
pangolin@0.4.1 patrick-hand@0.4.1 permanent-marker@0.4.0 playwrite-pl@0.4.1 playwrite-us-trad@0.4.1
poor-story@0.2.3 qwigley@0.2.3 qwitcher-grypen@0.2.3 reenie-beanie@0.4.1 rock-salt@0.4.1
rouge-script@0.2.3 ruthie@0.2.0 sacramento@0.4.1 satisfy@0.4.1 schoolbell@0.4.0
sedgwick-ave@0.4.1 shadows-into-light@0.4.1 shadows-into-light-two@0.4.1 short-stack@0.4.1 single-day@0.4.1
solitreo@0.4.0 sriracha@0.4.1 sue-ellen-francisco@0.4.1 sunshiney@0.2.3 swanky-and-moo-moo@0.2.3
the-girl-next-door@0.4.1 vibur@0.2.2 waiting-for-the-sunrise@0.2.3 whisper@0.4.2 yomogi@0.4.1
zen-kurenaido@0.4.1 zeyada@0.2.3 zhi-mang-xing@0.4.1
"

[ "${1:-}" = few ] && families=$(echo $families | cut -d ' ' -f 1-10)
for package in $families; do
    family=${package%@*}
    [ -e "$hands/$family/LICENSE_FONT" ] && continue
    (cd "$temporary" && npm pack --silent "@expo-google-fonts/$package" >/dev/null &&
        tar xzf ./*.tgz && rm ./*.tgz)
    font=$(find "$temporary/package" -name '*_400Regular.ttf' | head -1)
    [ -n "$font" ] || font=$(find "$temporary/package" -name '*.ttf' | sort | head -1)
    mkdir -p "$hands/$family"
    cp "$font" "$hands/$family/"
    licence=$(find "$temporary/package" -maxdepth 1 -name 'LICENSE_FONT' | head -1)
    cp "${licence:-$temporary/package/package.json}" "$hands/$family/LICENSE_FONT"
    rm -rf "$temporary/package"
done
echo "$(find "$hands" -name '*.ttf' | wc -l) handwriting fonts in $hands"
