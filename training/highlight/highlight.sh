#!/bin/sh
# Learns what tells highlighter, to internal/restore/highlight: from tints that strokes left on real
# training pages, and all others there.
set -eu
cd "$(dirname "$0")/../.."
out=build/highlight
rm -rf "$out"
python3 -m training.highlight.data "$out/train" --split train --count 330 --seed 1
python3 -m training.highlight.data "$out/val" --split val --count 160 --seed 2
for part in train val; do
	go run ./training/highlight/tints -dir "$out/$part" >"$out/$part.jsonl"
done
python3 -m training.highlight.train "$out/train.jsonl" --val "$out/val.jsonl"
