#!/bin/sh
# Removes the handwriting from a PDF: sh pdf.sh exam.pdf clean.pdf
# UNINK_URL (such as http://acme.localhost:8080) and UNINK_TOKEN come from the environment.
# Needs curl 7.82, jq and sha256sum.
set -eu

if [ $# -ne 2 ]; then
    echo 'usage: sh pdf.sh PDF RESULT' >&2
    exit 2
fi
: "${UNINK_URL:?}" "${UNINK_TOKEN:?}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# call asks for a path and keeps the answer. The token goes in by a pipe: other users of the machine
# can read the arguments of a command. While the service is busy (429, 503), --retry asks again,
# after the time in Retry-After.
call() {
    path=$1
    shift
    status=$(printf 'Authorization: Bearer %s\n' "$UNINK_TOKEN" |
        curl --silent --show-error --retry 3 --retry-max-time 180 --max-time 300 --header @- \
            --output "$work/answer" --write-out '%{http_code}' "$@" "$UNINK_URL$path")
    case $status in 2*) return ;; esac
    jq -r --arg status "$status" '"HTTP \($status), code \(.code): \(.message)"' \
        "$work/answer" >&2
    exit 1
}

# The same PDF is one job for as long as it is kept there, however often it is sent.
key=$(sha256sum < "$1" | cut -d ' ' -f 1)
call /pdf --header "Idempotency-Key: $key" --form "pdf=@$1"
id=$(jq -r .data.id "$work/answer")

state() { jq -r .data.state "$work/answer"; }
while [ "$(state)" = waiting ] || [ "$(state)" = working ]; do
    sleep 1
    call "/pdf/$id"
done
if [ "$(state)" != done ]; then # each page that failed says why
    jq -r '.data | .error, .page[].error | select(.) | "code \(.code): \(.message)"' \
        "$work/answer" >&2
    exit 1
fi
call "/pdf/$id/file"
cp "$work/answer" "$2"
