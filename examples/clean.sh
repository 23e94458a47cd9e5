#!/bin/sh
# Removes the handwriting from a picture of a page: sh clean.sh page.jpg clean.jpg
# UNINK_URL (such as http://acme.localhost:8080) and UNINK_TOKEN come from the environment. Needs curl 7.82 and jq.
set -eu

if [ $# -ne 2 ]; then
    echo 'usage: sh clean.sh PICTURE RESULT' >&2
    exit 2
fi
: "${UNINK_URL:?}" "${UNINK_TOKEN:?}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

base64 < "$1" > "$work/base64"
tr -d '\n' < "$work/base64" | jq -R '{media_id: ., keep_distortion: false, keep_ori: false}' > "$work/body"

# The token goes in by a pipe: other users of the machine can read the arguments of a command.
# When the service is busy (429, 503), --retry asks once more, after the time in Retry-After.
status=$(printf 'Authorization: Bearer %s\n' "$UNINK_TOKEN" |
    curl --silent --show-error --retry 1 --max-time 60 --header @- --json "@$work/body" \
        --output "$work/answer" --write-out '%{http_code}' "$UNINK_URL/cleanup")

if [ "$status" != 200 ] || [ "$(jq .code "$work/answer")" != 0 ]; then
    jq -r --arg status "$status" '"HTTP \($status), code \(.code): \(.message)"' "$work/answer" >&2
    exit 1
fi
jq -r .data.data.mediaId "$work/answer" | base64 --decode > "$2"
