"""Loaded by Python processes that Custard starts: connections to port 443 of certain hosts go to Custard's endpoint
on 127.0.0.1 instead. The change is made below TLS, so what a sender sees and says (URL, Host, server name,
certificate check) stays true, whichever library it uses.

CUSTARD_REDIRECT         the endpoint's port, or `@` and the file that holds it (`%20` for a blank, `%25` for a
                         percent sign), then host names; one `*` in a name stands for any characters; `+` before a
                         name reports its connections too, `!` refuses it on other ports
CUSTARD_REDIRECT_CA      file with the authority that vouches for the endpoint (PEM)
CUSTARD_REDIRECT_REPORT  file that gets a line for every other place the process has turned to (optional)

Start-up time matters here: `socket` and `ssl` are changed when they are imported, not imported to be changed.
"""

import os
import sys

_LOCAL_ADDRESS = "127.0.0.1"
_HTTPS_PORTS = (443, "443", "https", b"443", b"https")


class _Rule:
    """What is redirected. Read again when it changes: a process may be started before it is known what for."""

    text = None
    place = "0"
    patterns = ()

    @classmethod
    def current(cls):
        text = os.environ.get("CUSTARD_REDIRECT", "")
        if text != cls.text:
            place, *patterns = text.split() or ["0"]
            cls.text, cls.place = text, place
            cls.patterns = [_parse_pattern(pattern) for pattern in patterns]
        return cls

    @classmethod
    def port(cls):
        """A program that the user started may outlive engines: then each connection asks which one runs now."""
        place = cls.current().place
        if not place.startswith("@"):
            return int(place)
        try:
            with open(place[1:].replace("%20", " ").replace("%25", "%")) as file:
                return int(file.read())
        except (OSError, ValueError):
            # No engine runs: nothing listens on port 0, so that the connection is refused.
            return 0


def _parse_pattern(text):
    mark = text[0] if text[0] in "+!" else ""
    return (mark, text[len(mark) :].partition("*"))


def _way(host, port):
    """`redirect`, `redirect+` (reported too), or None: none of our business. Raises for what is refused."""
    if not isinstance(host, (str, bytes)):
        return None
    name = (host if isinstance(host, str) else host.decode("latin-1")).lower().rstrip(".")
    marks = [mark for mark, pattern in _Rule.current().patterns if _matches(pattern, name)]
    redirecting = [mark for mark in marks if mark != "!"]
    if redirecting and port in _HTTPS_PORTS:
        return "redirect" + redirecting[0]
    if "!" in marks:
        raise PermissionError(13, "Functions don't reach AWS from here: %s:%s" % (name, port))
    return None


def _redirected_address(host, port):
    """The endpoint's address when the place leads there."""
    way = _way(host, port)
    if way == "redirect+" and _Report.current is not None:
        _Report.current.note("connect", "%s:%s" % (host, port))
    return None if way is None else (_LOCAL_ADDRESS, _Rule.port())


def _matches(pattern, name):
    start, star, end = pattern
    if not star:
        return name == start
    return len(name) >= len(start) + len(end) and name.startswith(start) and name.endswith(end)


# ------------------------------------------------------------------------------------------------ sockets


def _change_socket(socket):
    getaddrinfo = socket.getaddrinfo

    def redirected_getaddrinfo(host, port, family=0, type=0, proto=0, flags=0):
        address = _redirected_address(host, port)
        if address is not None:
            (host, port), family = address, socket.AF_INET
        return getaddrinfo(host, port, family, type, proto, flags)

    socket.getaddrinfo = redirected_getaddrinfo
    for name in ("connect", "connect_ex"):
        setattr(socket.socket, name, _redirected_connect(getattr(socket.socket, name)))


def _redirected_connect(connect):
    def redirected_connect(self, address):
        if isinstance(address, tuple) and len(address) >= 2:
            address = _redirected_address(address[0], address[1]) or address
        return connect(self, address)

    return redirected_connect


# -------------------------------------------------------------------------------------------------- trust


def _change_ssl(ssl):
    """Whatever a context trusts, it trusts the endpoint's authority besides. An environment variable isn't enough:
    requests brings its own list, and Debian's urllib3 reads the system's whatever SSL_CERT_FILE says."""
    load_verify_locations = ssl.SSLContext.load_verify_locations

    def add_authority(load):
        def load_and_add(self, *args, **kwargs):
            result = load(self, *args, **kwargs)
            load_verify_locations(self, cafile=os.environ["CUSTARD_REDIRECT_CA"])
            return result

        return load_and_add

    for name in ("load_verify_locations", "load_default_certs", "set_default_verify_paths"):
        setattr(ssl.SSLContext, name, add_authority(getattr(ssl.SSLContext, name)))


# ------------------------------------------------------------------------------------------------- imports

_CHANGES = {"socket": _change_socket, "ssl": _change_ssl}


class _Finder:
    """Finds the modules to change as Python does, and changes them once they are loaded."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in _CHANGES:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find and finder is not _Finder else None
            if spec is not None:
                _change_after_loading(spec.loader)
                return spec
        return None


def _change_after_loading(loader):
    exec_module = loader.exec_module

    def exec_and_change(module):
        exec_module(module)
        change = _CHANGES.get(module.__name__)
        if change is not None:
            change(module)

    loader.exec_module = exec_and_change


def _install():
    sys.meta_path.insert(0, _Finder)
    for name, change in _CHANGES.items():
        if name in sys.modules:
            change(sys.modules[name])
    if "CUSTARD_REDIRECT_REPORT" in os.environ:
        sys.addaudithook(_Report().hear)


# -------------------------------------------------------------------------------------------------- report


class _Report:
    """Notes where the process turns to besides Custard. Other programs can turn to anything, so that one was started
    is all that can be told."""

    current = None

    def __init__(self):
        _Report.current = self
        self.file = os.environ["CUSTARD_REDIRECT_REPORT"]
        self.seen = set()
        self.heard = {
            "socket.connect": lambda args: self.connection(args[1]),
            "socket.sendto": lambda args: self.connection(args[1]),
            "subprocess.Popen": lambda args: self.note("spawn", args[0]),
            "os.posix_spawn": lambda args: self.note("spawn", args[0]),
            "os.exec": lambda args: self.note("spawn", args[0]),
            "os.system": lambda args: self.note("spawn", args[0]),
        }

    def hear(self, event, args):
        heard = self.heard.get(event)
        if heard is not None:
            heard(args)

    def connection(self, address):
        if not isinstance(address, tuple):
            self.note("connect", address)
            return
        place = "%s:%s" % address[:2]
        ours = (os.environ.get("AWS_LAMBDA_RUNTIME_API"), "%s:%s" % (_LOCAL_ADDRESS, _Rule.port()))
        if place not in ours:
            self.note("connect", place)

    def note(self, kind, place):
        line = "%s %s\n" % (kind, os.fsdecode(place) if isinstance(place, bytes) else place)
        if line in self.seen:
            return
        self.seen.add(line)
        file = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, line.encode("utf-8", "backslashreplace"))
        finally:
            os.close(file)


# --------------------------------------------------------------------------------------------------- chain


def _run_next():
    """Python runs one sitecustomize only, the first: so the one that would have been run is run from here. This
    folder leaves the search path, since nothing else in it is meant for import."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != here]
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    from importlib.util import module_from_spec

    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_install()
_run_next()
