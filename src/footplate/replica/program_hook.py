"""Waits for Google's libraries in the Python programs of a job.

TensorFlow's own gs:// leads to the buckets. Its client of Cloud Storage goes nowhere but to
Google's address, or through a proxy of the environment. There, all clients of the program would
use the proxy. So the variables are set when TensorFlow is imported, for the C libraries of this
process alone: they aren't in ``os.environ``, and no process that Python starts inherits them.

Google's client of Cloud Logging leads here, too. A variable would lead all gRPC of a program, so
the channel to that one address gets the proxy as an option.

The credentials that programs find go to no host of Google's: google.auth refuses it with a
sentence, before anything is sent. Else clients would send them, be refused there or find no way
there, and try again for minutes.

The supervisor copies this file to where programs find it, and ``program_hook_start`` loads it
before the first of these libraries. It runs on any Python from 3.6 on.
"""

import os
import sys

TYPE_CHECKING = False  # typing would cost time
if TYPE_CHECKING:
    from typing import Any

PROXY = "FOOTPLATE_GS_PROXY"
ROOTS = "FOOTPLATE_GS_ROOTS"
METADATA = "GCE_METADATA_HOST"
LED_HOSTS = ("logging.googleapis.com",)
"""Channels to these lead to this service in every program."""
_STAND_IN = "/programs/"
_OWN_CREDENTIALS = "GOOGLE_APPLICATION_CREDENTIALS"
ALL_GRPC, TRUSTED = "grpc_proxy", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"
"""Set in programs that may call the API, where the service has its proxy."""
_REQUESTS = "google.auth.transport.requests"
_HTTP_METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
"""The methods of gRPC have other names."""
_NOT_BY_PROXY = "localhost,127.0.0.1"
_ENVIRONMENT = 5
"""The place of the environment among the arguments of ``fork_exec``."""


class Finder:
    """A finder to go first on ``sys.meta_path``, which waits for the import of modules.

    ``before`` is called when a module of one of these names is to be imported, ``after`` with a
    module when it has been imported.
    """

    def __init__(self, before: "dict[str, Any]", after: "dict[str, Any]") -> None:
        self._before = before
        self._after = after

    def find_spec(self, name: str, path: "Any" = None, *more: "Any") -> "Any":
        act = self._before.pop(name, None)
        if act is not None:
            act()
        act = self._after.pop(name, None)
        return None if act is None else self._find(act, name, path, *more)

    def _find(self, act: "Any", *sought: "Any") -> "Any":
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = None if finder is self or find is None else find(*sought)
            if spec is not None:
                _run_after(spec.loader, act)
                return spec
        return None


def _run_after(loader: "Any", act: "Any") -> None:
    execute = loader.exec_module

    def exec_module(module: "Any") -> None:
        execute(module)
        act(module)

    loader.exec_module = exec_module


def lead(environ: "Any") -> None:
    """Directs the program's calls to the proxy; does nothing without ctypes."""
    try:
        import ctypes  # no other program pays for it

        libc = ctypes.CDLL(None)
        set_variable = libc.setenv
    except (ImportError, AttributeError, OSError):  # TensorFlow reports it
        return
    _guard_children()
    for name, value in compose_variables(environ).items():
        set_variable(os.fsencode(name), os.fsencode(value), 1)


def compose_variables(environ: "Any") -> "dict[str, str]":
    """Returns the variables for libcurl and TensorFlow. gRPC, which reads ``https_proxy``, is left
    as before.
    """
    before = [environ.get(name) for name in ("grpc_proxy", "https_proxy", "http_proxy")]
    return {
        "https_proxy": environ[PROXY],
        "no_proxy": _NOT_BY_PROXY,
        "NO_PROXY": _NOT_BY_PROXY,
        "grpc_proxy": next((value for value in before if value is not None), ""),
        "CURL_CA_BUNDLE": environ[ROOTS],
        "GOOGLE_AUTH_TOKEN_FOR_TESTING": "footplate",  # it looks for credentials without one
    }


def _guard_children() -> None:
    """Makes children that are started without an environment get that of ``os.environ``, not that
    of C.
    """
    import _posixsubprocess
    import subprocess

    fork_exec = _posixsubprocess.fork_exec

    def fork_exec_with_environment(*args: "Any") -> "Any":
        words = list(args)
        if len(words) > _ENVIRONMENT and words[_ENVIRONMENT] is None:
            words[_ENVIRONMENT] = [b"%b=%b" % pair for pair in os.environb.items()]
        return fork_exec(*words)

    posix_spawn: "Any" = getattr(os, "posix_spawn", None)

    def posix_spawn_with_environment(path: "Any", argv: "Any", env: "Any", **more: "Any") -> "Any":
        return posix_spawn(path, argv, os.environ if env is None else env, **more)

    def execv(path: "Any", args: "Any") -> "Any":
        os.execve(path, args, os.environ)  # noqa: S606  as the program asks

    def system(command: "Any") -> int:
        code = subprocess.call(command, shell=True)  # noqa: S602  as the program asks
        return -code if code < 0 else code << 8

    _posixsubprocess.fork_exec = fork_exec_with_environment
    if hasattr(subprocess, "_fork_exec"):  # from Python 3.11 on
        subprocess._fork_exec = fork_exec_with_environment
    if posix_spawn is not None:  # from Python 3.8 on
        os.posix_spawn = posix_spawn_with_environment
    os.execv = execv
    os.system = system


def lead_channels(module: "Any", proxy: str) -> None:
    """Makes the channels of ``module``, which is ``grpc``, go through the proxy, also those of
    ``aio``, which older versions lack.
    """
    for each in (module, getattr(module, "aio", None)):
        if each is not None:
            each.secure_channel = make_led_channels(each.secure_channel, proxy)


def make_led_channels(secure_channel: "Any", proxy: str) -> "Any":
    def led_channel(
        target: str, credentials: "Any", options: "Any" = None, *args: "Any", **more: "Any"
    ) -> "Any":
        if _is_led_host(target):
            options = [*(options or ()), ("grpc.http_proxy", proxy)]
        return secure_channel(target, credentials, options, *args, **more)

    return led_channel


def _is_led_host(target: str) -> bool:
    return target.rpartition("/")[2].partition(":")[0] in LED_HOSTS


def _has_proxy(environ: "Any") -> bool:
    return bool(environ.get(PROXY) and environ.get(ROOTS))


def has_stand_in(environ: "Any") -> bool:
    """Returns whether the metadata server is this service's, with made-up credentials."""
    return _STAND_IN in environ.get(METADATA, "")


class Guard:
    """Guard of made-up credentials: keeps them from Google's hosts, and directs calls that use them
    to this service.

    ``products`` is the module google_products.
    """

    def __init__(self, products: "Any") -> None:
        self._products = products

    def guard_requests(self, module: "Any") -> None:
        """Guards clients over HTTP: ``module`` is google.auth.credentials."""
        inner = module.Credentials.before_request

        def before_request(
            credentials: "Any", request: "Any", method: str, url: str, headers: "Any"
        ) -> "Any":
            if is_made_up(credentials):
                led = type(request).__module__ == _REQUESTS and self._is_led(url)
                if method in _HTTP_METHODS and not led:
                    self._refuse(url)
                credentials._rab_disabled = True  # else it asks Google where it may be used
            return inner(credentials, request, method, url, headers)

        module.Credentials.before_request = before_request

    def lead_requests(self, module: "Any") -> None:
        """Directs clients over HTTP to the proxy, like gRPC: ``module`` is
        google.auth.transport.requests.
        """
        inner = module.AuthorizedSession.request

        def request(session: "Any", method: str, url: str, *more: "Any", **named: "Any") -> "Any":
            if is_made_up(session.credentials) and self._is_led(url):
                named.setdefault("proxies", {"https": os.environ[ALL_GRPC]})
                named.setdefault("verify", os.environ[TRUSTED])
            return inner(session, method, url, *more, **named)

        module.AuthorizedSession.request = request

    def _is_led(self, url: str) -> bool:
        """Returns whether a client whose proxy can be set reaches this service at the address."""
        known = os.environ.get(ALL_GRPC) and os.environ.get(TRUSTED)
        return bool(known) and self._products.is_served(_split(url)[0])

    def guard_channels(self, module: "Any") -> None:
        """Guards clients over gRPC, unless they use the proxy: ``module`` is api_core's
        grpc_helpers.
        """
        create = module.create_channel

        def create_channel(
            target: str, credentials: "Any" = None, *more: "Any", **named: "Any"
        ) -> "Any":
            led = os.environ.get(ALL_GRPC) or (_has_proxy(os.environ) and _is_led_host(target))
            if not led and self._goes_with(credentials, named):
                self._refuse("https://" + target)
            return create(target, credentials, *more, **named)

        module.create_channel = create_channel

    def _goes_with(self, credentials: "Any", named: "Any") -> bool:
        """Returns whether a channel finds the made-up credentials, or is given them."""
        if credentials is not None:
            return is_made_up(credentials)
        return not (named.get("credentials_file") or os.environ.get(_OWN_CREDENTIALS))

    def _refuse(self, url: str) -> None:
        """Raises an error that no client takes for a temporary fault."""
        why = self._products.explain_host(*_split(url))
        if why is None:
            return
        from google.auth.exceptions import RefreshError

        raise RefreshError(
            why + ". Programs have Footplate's credentials here; to call Google's services, give "
            "the job Google's credentials in " + _OWN_CREDENTIALS + "."
        )


def _split(url: str) -> "tuple[str, str]":
    host, _, path = url.partition("://")[2].partition("/")
    return host.partition(":")[0], path


def is_made_up(credentials: "Any") -> bool:
    """Returns whether credentials are from the service's metadata server, or from a made-up
    account's key file.
    """
    if type(credentials).__module__.startswith("google.auth.compute_engine"):
        return True
    return str(getattr(credentials, "_token_uri", "")).startswith("http://")


def keep_project(module: "Any") -> None:
    """Makes the Vertex SDK use the project's id in place of its number, for which it would ask
    Google: the project has none.
    """
    module.get_project_id = lambda project_number, *_, **__: project_number


def make_finder(environ: "Any", products: "Any") -> Finder:
    """Returns the finder that waits for this program's modules."""
    before, after = {}, {}
    if _has_proxy(environ):
        before["tensorflow"] = lambda: lead(environ)
        if environ.get(ALL_GRPC) is None:
            after["grpc"] = lambda module: lead_channels(module, environ[PROXY])
    if has_stand_in(environ):
        guard = Guard(products)
        after["google.auth.credentials"] = guard.guard_requests
        after[_REQUESTS] = guard.lead_requests
        after["google.api_core.grpc_helpers"] = guard.guard_channels
        after["google.api_core.grpc_helpers_async"] = guard.guard_channels
        after["google.cloud.aiplatform.utils.resource_manager_utils"] = keep_project
    return Finder(before, after)
