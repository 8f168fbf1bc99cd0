"""Runs a Python function as Lambda does: loads its handler, asks the Runtime API for events, posts what becomes of them.

Speaks HTTP over a bare socket: importing http.client would cost a third of the start-up time.
Started with --spare it waits for its function first: the Runtime API then hands it environment and directory.
"""

import json
import os
import socket
import sys
import time

INDENT = "\u00a0"
NEXT_EVENT = "/2018-06-01/runtime/invocation/next"


class RuntimeApi:
    """One keep-alive connection to the Runtime API."""

    def __init__(self, address, token):
        self._token = token
        host, port = address.split(":")
        self._socket = socket.create_connection((host, int(port)))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = b""

    def request(self, method, target, body=b"", headers=None):
        self.send(method, target, body, headers)
        return self.receive()

    def next(self):
        return self.request("GET", NEXT_EVENT)

    def post_and_next(self, target, body, headers):
        """Posts what became of an event and asks for the next in one go: no thread left running gets in between."""
        self._socket.sendall(self._encode("POST", target, body, headers) + self._encode("GET", NEXT_EVENT))
        self.receive()
        return self.receive()

    def send(self, method, target, body=b"", headers=None):
        self._socket.sendall(self._encode(method, target, body, headers))

    def _encode(self, method, target, body=b"", headers=None):
        lines = {"host": "custard", "custard-token": self._token, "content-length": len(body), **(headers or {})}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        return f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode() + body

    def receive(self):
        while b"\r\n\r\n" not in self._received:
            self._receive()
        head, self._received = self._received.split(b"\r\n\r\n", 1)
        headers = dict(_header(line) for line in head.decode("latin-1").split("\r\n")[1:])
        length = int(headers.get("content-length", 0))
        while len(self._received) < length:
            self._receive()
        body, self._received = self._received[:length], self._received[length:]
        return headers, body

    def _receive(self):
        chunk = self._socket.recv(1 << 16)
        if not chunk:
            # The engine is gone: nobody can be told anything any more.
            os._exit(0)
        self._received += chunk


def _header(line):
    name, _, value = line.partition(": ")
    return name.lower(), value


# ------------------------------------------------------------------------------------------------ errors


class Fault(Exception):
    """An error of the runtime itself, with Lambda's error type."""

    def __init__(self, error_type, message, trace=()):
        super().__init__(message)
        self.error_type = error_type
        self.message = message
        self.trace = list(trace)


def _report(error, request_id):
    """What Lambda reports of an exception."""
    if isinstance(error, Fault):
        error_type, message, trace = error.error_type, error.message, error.trace
    else:
        import traceback

        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if frame.filename != __file__ and "importlib" not in frame.filename]
        error_type, message, trace = type(error).__name__, str(error), traceback.format_list(own)
    report = {"errorMessage": message, "errorType": error_type, "requestId": request_id, "stackTrace": trace}
    if request_id is None:
        report["requestId"] = ""
    return report


def _log_error(report):
    """One log event: carriage returns between its lines, indents of no-break spaces, as Lambda writes it."""
    lines = [f"[ERROR] {report['errorType']}: {report['errorMessage']}"]
    if report["stackTrace"] is not None:
        lines.append("Traceback (most recent call last):")
    for element in report["stackTrace"]:
        for line in element.splitlines():
            rest = line.lstrip(" ")
            lines.append(INDENT * (len(line) - len(rest)) + rest)
    sys.stdout.write("\r".join(lines) + "\n")


# ------------------------------------------------------------------------------------------------ logs


class LazyRootLogger:
    """Sets up `logging` when the function first imports it: most of its import time is saved for those that don't."""

    request_id = None

    def install(self):
        if "logging" in sys.modules:
            self._set_up()
            return
        sys.meta_path.insert(0, self)

    def find_spec(self, name, path=None, target=None):
        if name != "logging":
            return None
        sys.meta_path.remove(self)
        import importlib.util

        spec = importlib.util.find_spec("logging")
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            self._set_up()

        spec.loader.exec_module = exec_module
        return spec

    def _set_up(self):
        logging = sys.modules["logging"]
        owner = self

        class WithRequestId(logging.Filter):
            def filter(self, record):
                record.aws_request_id = owner.request_id
                return True

        handler = logging.StreamHandler(_StandardOutput())
        handler.setFormatter(_formatter(logging))
        handler.addFilter(WithRequestId())
        logging.root.addHandler(handler)
        level = os.environ.get("AWS_LAMBDA_LOG_LEVEL", "").upper()
        if _logs_json() and level:
            names = {"TRACE": "DEBUG", "WARN": "WARNING", "FATAL": "CRITICAL"}
            logging.root.setLevel(names.get(level, level))


class _StandardOutput:
    """The `sys.stdout` of the moment."""

    def write(self, text):
        # One log event a record: its inner line ends become carriage returns.
        body = text[:-1] if text.endswith("\n") else text
        sys.stdout.write(body.replace("\n", "\r") + ("\n" if text.endswith("\n") else ""))

    def flush(self):
        sys.stdout.flush()


def _logs_json():
    return os.environ.get("AWS_LAMBDA_LOG_FORMAT", "").upper() == "JSON"


def _formatter(logging):
    if not _logs_json():
        formatter = logging.Formatter(
            "[%(levelname)s]\t%(asctime)s.%(msecs)03dZ\t%(aws_request_id)s\t%(message)s", "%Y-%m-%dT%H:%M:%S"
        )
        formatter.converter = time.gmtime
        return formatter

    class JsonFormatter(logging.Formatter):
        converter = time.gmtime

        def format(self, record):
            line = {
                "timestamp": self.formatTime(record, "%Y-%m-%dT%H:%M:%SZ"),
                "level": record.levelname,
                "message": record.getMessage(),
                "logger": record.name,
                "requestId": record.aws_request_id,
            }
            if record.exc_info:
                line["stackTrace"] = self.formatException(record.exc_info).splitlines()
                line["errorType"] = record.exc_info[0].__name__
                line["errorMessage"] = str(record.exc_info[1])
            return json.dumps({key: value for key, value in line.items() if value is not None})

    return JsonFormatter()


# ------------------------------------------------------------------------------------------------ the handler


def _load_handler(text):
    try:
        module_name, function_name = text.rsplit(".", 1)
    except ValueError as error:
        raise Fault("Runtime.MalformedHandlerName", f"Bad handler '{text}': {error}") from None
    module = _import(module_name.replace("/", "."))
    try:
        return getattr(module, function_name)
    except AttributeError:
        raise Fault(
            "Runtime.HandlerNotFound", f"Handler '{function_name}' missing on module '{module_name}'"
        ) from None


def _import(name):
    import importlib

    if name.split(".")[0] in sys.builtin_module_names:
        raise Fault("Runtime.ImportModuleError", f"Cannot use built-in module {name} as a handler module")
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Fault("Runtime.ImportModuleError", f"Unable to import module '{name}': {error}") from None
    except SyntaxError as error:
        where = [f'  File "{error.filename}" Line {error.lineno}\n    {error.text}']
        raise Fault("Runtime.UserCodeSyntaxError", f"Syntax error in module '{name}': {error}", where) from None


class ClientContext:
    def __init__(self, fields):
        self.custom = fields.get("custom")
        self.env = fields.get("env")
        self.client = fields.get("client")


class CognitoIdentity:
    def __init__(self, fields):
        self.cognito_identity_id = fields.get("cognitoIdentityId")
        self.cognito_identity_pool_id = fields.get("cognitoIdentityPoolId")


class LambdaContext:
    """The second argument of a handler."""

    def __init__(self, headers):
        self.aws_request_id = headers["lambda-runtime-aws-request-id"]
        self.log_group_name = os.environ.get("AWS_LAMBDA_LOG_GROUP_NAME")
        self.log_stream_name = os.environ.get("AWS_LAMBDA_LOG_STREAM_NAME")
        self.function_name = os.environ.get("AWS_LAMBDA_FUNCTION_NAME")
        self.memory_limit_in_mb = os.environ.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE")
        self.function_version = os.environ.get("AWS_LAMBDA_FUNCTION_VERSION")
        self.invoked_function_arn = headers.get("lambda-runtime-invoked-function-arn")
        self.tenant_id = None
        client = headers.get("lambda-runtime-client-context")
        self.client_context = ClientContext(json.loads(client)) if client else None
        identity = headers.get("lambda-runtime-cognito-identity")
        self.identity = CognitoIdentity(json.loads(identity) if identity else {})
        self._deadline = int(headers["lambda-runtime-deadline-ms"])

    def get_remaining_time_in_millis(self):
        return max(self._deadline - int(time.time() * 1000), 0)

    def log(self, message):
        sys.stdout.write(str(message))


def _to_json(result):
    try:
        return json.dumps(result, default=_plain_decimal).encode()
    except Exception as error:
        raise Fault("Runtime.MarshalError", f"Unable to marshal response: {error}") from None


def _plain_decimal(value):
    """Lambda's encoder writes decimals as numbers."""
    if type(value).__name__ == "Decimal":
        return float(value)
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


# ------------------------------------------------------------------------------------------------ the loop


def _serve(api, handler, logs):
    headers, body = api.next()
    while True:
        request_id = headers["lambda-runtime-aws-request-id"]
        logs.request_id = request_id
        os.environ["_X_AMZN_TRACE_ID"] = headers.get("lambda-runtime-trace-id", "")
        kind, *message = _invoke(handler, headers, body)
        headers, body = api.post_and_next(f"/2018-06-01/runtime/invocation/{request_id}/{kind}", *message)


def _invoke(handler, headers, body):
    try:
        result = _to_json(handler(json.loads(body), LambdaContext(headers)))
        return "response", result, {"content-type": "application/json"}
    except Exception as error:
        report = _report(error, headers["lambda-runtime-aws-request-id"])
        _log_error(report)
        return "error", *_error_message(report)


def _error_message(report):
    headers = {"lambda-runtime-function-error-type": report["errorType"], "content-type": "application/json"}
    return json.dumps(report).encode(), headers


def _take_assignment(api):
    """A spare process becomes its function's: environment, directory, module path."""
    api.send("GET", "/custard/assignment")
    _load_ahead()
    _, body = api.receive()
    assignment = json.loads(body)
    environment = assignment["environment"]
    for name in list(os.environ):
        if name not in environment:
            del os.environ[name]
    os.environ.update(environment)
    os.chdir(assignment["directory"])
    time.tzset()
    known = set(sys.path)
    sys.path[1:1] = [path for path in environment.get("PYTHONPATH", "").split(":") if path and path not in known]


def _load_ahead():
    """What nearly every provider needs to answer, loaded while there is nothing else to do: saves it 40 ms later."""
    import http.client
    import ssl
    import urllib.parse


def _set_module_path():
    """The function's own modules first; none of ours."""
    ours = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [os.environ["LAMBDA_TASK_ROOT"], *(path for path in sys.path[1:] if path != ours)]
    del sys.argv[1:]


def main():
    api = RuntimeApi(os.environ["AWS_LAMBDA_RUNTIME_API"], os.environ.pop("CUSTARD_RUNTIME_TOKEN"))
    if "--spare" in sys.argv:
        _take_assignment(api)
    _set_module_path()
    logs = LazyRootLogger()
    logs.install()
    try:
        handler = _load_handler(os.environ["_HANDLER"])
    except Exception as error:
        report = _report(error, None)
        _log_error(report)
        api.request("POST", "/2018-06-01/runtime/init/error", *_error_message(report))
        sys.exit(1)
    _serve(api, handler, logs)


if __name__ == "__main__":
    main()
