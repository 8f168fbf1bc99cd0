"""The cfnresponse module that AWS puts beside inline code that imports it: the same contract, our own code.

AWS's sends through urllib3, which Lambda's Python has and a plain one lacks: this one needs the standard library only.
"""

import json
import os
import ssl
from http.client import HTTPException, HTTPSConnection
from urllib.parse import urlsplit

SUCCESS = "SUCCESS"
FAILED = "FAILED"


def send(event, context, responseStatus, responseData, physicalResourceId=None, noEcho=False, reason=None):
    body = json.dumps(
        {
            "Status": responseStatus,
            "Reason": reason or f"See the details in CloudWatch Log Stream: {context.log_stream_name}",
            "PhysicalResourceId": physicalResourceId or context.log_stream_name,
            "StackId": event["StackId"],
            "RequestId": event["RequestId"],
            "LogicalResourceId": event["LogicalResourceId"],
            "NoEcho": noEcho,
            "Data": responseData,
        }
    )
    print("Response body:")
    print(body)
    headers = {"content-type": "", "content-length": str(len(body))}
    try:
        print("Status code:", _put(event["ResponseURL"], body, headers))
    except Exception as error:
        print("send(..) failed executing http.request(..):", error)


# Response URLs lead to Custard's endpoint, whose authority is read in no time; all of the system's would take 20 ms.
_context = ssl.create_default_context(cafile=os.environ.get("CUSTARD_REDIRECT_CA"))


# AWS's module keeps its connections from one invocation to the next, too.
_kept = {}


def _put(url, body, headers):
    parts = urlsplit(url)
    place = (parts.hostname, parts.port or 443)
    message = ("PUT", f"{parts.path}?{parts.query}", body.encode(), headers)
    kept = _kept.pop(place, None)
    if kept is not None:
        try:
            return _ask(place, kept, message)
        except (HTTPException, OSError):
            # It was closed while the process stood still.
            kept.close()
    return _ask(place, HTTPSConnection(*place, context=_context), message)


def _ask(place, connection, message):
    try:
        connection.request(*message)
        response = connection.getresponse()
        response.read()
    except BaseException:
        connection.close()
        raise
    # The library itself closes it where the server said so, and opens it again.
    _kept[place] = connection
    return response.status
