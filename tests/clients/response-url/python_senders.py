"""Senders as providers write them, one per name: `python3 python_senders.py NAME`, the URL and the body by environment.
Each prints the status that it was answered."""

import json
import os
import sys

URL = os.environ["RESPONSE_URL"]
BODY = os.environ["RESPONSE_BODY"]
NO_TYPE = {"content-type": "", "content-length": str(len(BODY.encode()))}


def urllib3_pool():
    import urllib3

    return urllib3.PoolManager().request("PUT", URL, headers=NO_TYPE, body=BODY.encode()).status


def requests_data():
    import requests

    return requests.put(URL, data=BODY.encode(), headers=NO_TYPE).status_code


def requests_json():
    import requests

    return requests.put(URL, json=json.loads(BODY)).status_code


def http_client():
    from http.client import HTTPSConnection
    from urllib.parse import urlsplit

    parts = urlsplit(URL)
    connection = HTTPSConnection(parts.hostname)
    connection.request("PUT", parts.path + "?" + parts.query, body=BODY.encode(), headers={"content-type": ""})
    return connection.getresponse().status


def urllib_request():
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    request = Request(URL, data=BODY.encode(), headers=NO_TYPE, method="PUT")
    try:
        return urlopen(request).status
    except HTTPError as error:
        return error.code


def asyncio_stream():
    import asyncio
    from urllib.parse import urlsplit

    async def send():
        parts = urlsplit(URL)
        reader, writer = await asyncio.open_connection(parts.hostname, 443, ssl=True)
        head = "PUT %s?%s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n"
        writer.write((head % (parts.path, parts.query, parts.hostname, len(BODY.encode())) + BODY).encode())
        status = (await reader.readline()).split()[1]
        writer.close()
        return int(status)

    return asyncio.run(send())


print({function.__name__: function for function in (
    urllib3_pool, requests_data, requests_json, http_client, urllib_request, asyncio_stream
)}[sys.argv[1]]())
