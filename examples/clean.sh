#!/bin/sh
# Removes the handwriting from a picture of a page: sh clean.sh page.jpg clean.jpg
# UNINK_URL (such as http://acme.localhost:8080) and UNINK_TOKEN come from the environment.
# Needs curl 7.82, jq and sha256sum.
set -eu

if [ $# -ne 2 ]; then
    echo 'usage: sh clean.sh PICTURE RESULT' >&2
    exit 2
fi
: "${UNINK_URL:?}" "${UNINK_TOKEN:?}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

base64 < "$1" > "$work/base64"
tr -d '\n' < "$work/base64" |
    jq -R '{media_id: ., keep_distortion: false, keep_ori: false}' > "$work/body"
# The same page is charged once in 24 hours, however often it is sent.
key=$(sha256sum < "$work/body" | cut -d ' ' -f 1)

# The token goes in by a pipe: other users of the machine can read the arguments of a command.
# While the service is busy (429, 503), --retry asks again, after the time in Retry-After.
status=$(printf 'Authorization: Bearer %s\nAccept: image/*\n' "$UNINK_TOKEN" |
    curl --silent --show-error --retry 3 --retry-max-time 180 --max-time 60 --header @- \
        --header "Idempotency-Key: $key" --header 'Content-Type: application/json' \
        --data-binary "@$work/body" --output "$work/answer" --write-out '%{http_code}' \
        "$UNINK_URL/cleanup")

if [ "$status" != 200 ]; then
    jq -r --arg status "$status" '"HTTP \($status), code \(.code): \(.message)"' \
        "$work/answer" >&2
    exit 1
fi
cp "$work/answer" "$2"
