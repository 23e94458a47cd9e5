"""Removes the handwriting from a picture of a page: python3 clean.py page.jpg clean.jpg

UNINK_URL (such as http://acme.localhost:8080) and UNINK_TOKEN come from the environment.
"""

import base64
import json
import os
import sys
import time
import urllib.error
import urllib.request


def send(request):
    """Returns status, headers and body of the answer, also when it is an error."""
    try:
        response = urllib.request.urlopen(request, timeout=60)
    except urllib.error.HTTPError as error:
        response = error
    with response:
        return response.status, response.headers, response.read()


def clean(image):
    request = urllib.request.Request(
        os.environ["UNINK_URL"] + "/cleanup",
        data=json.dumps({
            "media_id": base64.b64encode(image).decode(),
            "keep_distortion": False,
            "keep_ori": False,
        }).encode(),
        headers={
            "Authorization": "Bearer " + os.environ["UNINK_TOKEN"],
            "Content-Type": "application/json; charset=UTF-8",
        },
    )
    status, headers, body = send(request)
    if status in (429, 503):  # busy: come back once
        time.sleep(int(headers.get("Retry-After", 1)))
        status, headers, body = send(request)
    answer = json.loads(body)
    if status != 200 or answer["code"] != 0:
        sys.exit(f"HTTP {status}, code {answer.get('code')}: {answer.get('message')}")
    return base64.b64decode(answer["data"]["data"]["mediaId"])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python3 clean.py PICTURE RESULT")
    with open(sys.argv[1], "rb") as picture:
        cleaned = clean(picture.read())
    with open(sys.argv[2], "wb") as result:
        result.write(cleaned)
