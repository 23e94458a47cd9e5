#!/bin/sh
# Trains the judge, to models/. Each fold's segmenter learns without half of the training pages and
# tells of that half; from what both tell, the judge learns. A fold has its own real pages and
# samples, and shares the rest.
#
# A fold's segmenter is trained by recipes/fold.toml, which begins with nothing.
set -eu
cd "$(dirname "$0")/../.."
data=$(cd "${UNINK_DATA:-training/data}" && pwd)
out=build/judge
regions=
rm -rf "$out"
for fold in 0 1; do
	export UNINK_DATA="$data/fold$fold"
	mkdir -p "$UNINK_DATA/shards" "$out/models$fold"
	for name in fonts.tsv fonts hands pages print-fonts texts pictures cache shards/val; do
		[ ! -e "$data/$name" ] || ln -sfn "$data/$name" "$UNINK_DATA/$name"
	done
	python3 -m training.common.real --fold $fold
	python3 -m training.common.data make --split train --count 240 --seed 7$fold
	python3 -m training.segment.train training/recipes/fold.toml --out "$out/run$fold"
	python3 -m training.segment.export "$out/run$fold/weights.pt" --out "$out/models$fold"
	python3 -m training.judge.data "$out/pages$fold" --split fold --seed $fold
	go run ./training/judge/regions -dir "$out/pages$fold" -out "$out/regions$fold" \
		-models "$out/models$fold"
	regions="$regions $out/regions$fold"
done
export UNINK_DATA="$data"
python3 -m training.judge.data "$out/pages"
go run ./training/judge/regions -dir "$out/pages" -out "$out/regions"
# shellcheck disable=SC2086
python3 -m training.judge.train training/recipes/judge.toml $regions --val "$out/regions" \
	--out "$out/run"
cp "$out/run/weights.pt" training/judge.pt
python3 -m training.judge.export training/judge.pt
