"""Finds the cause of a program's failure in the last lines of its stderr."""

from __future__ import annotations

import re

_TERMINAL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles, links
    r"|[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)
_TABS = re.compile(r"\t+")


def make_plain(text: str) -> str:
    """Returns one line, without terminal commands, and without characters that can't be seen."""
    if text.isascii() and text.isprintable():
        return text
    return _TABS.sub(" ", _TERMINAL.sub("", text))


_LIMIT = 1000
_HEADER = "Traceback (most recent call last)"
_GROUP = "+ Exception Group "
_BOX = "\u2502\u256d\u2570"
"""What rich draws around the frames of a traceback."""
_FRAME = re.compile(r'\s*File "([^"]+)", line (\d+)(?:,? in (.+))?')
_BOXED_FRAME = re.compile(r"[\u2502|] (\S+):(\d+) in (\S+)")
_LIBRARY = re.compile(r"<frozen |/lib(?:64)?/python\d|/(?:site|dist)-packages/")
"""What the path of a file has that isn't the user's own."""
_CURRENT = re.compile(r"Current thread 0x")
"""What faulthandler writes before the frames of the thread that failed, the last call first."""
_SYNTAX = ("SyntaxError: ", "IndentationError: ", "TabError: ")
_NAMED = re.compile(r"[^\W\d][\w.<>]*(?::|$)")
"""How the line begins that names an exception: with its class, and nothing else before a colon."""
_WRAPPERS = re.compile(r"[\w.]*(?:ChildFailedError|CalledProcessError|ProcessExitedException)\b")
"""They only say that another process failed, whose own exception tells more."""
_THROWN = re.compile(r"terminate called after throwing an instance of '([^']+)'")
_SAID = re.compile(r"\s*what\(\):\s*(.+)")
_ABORT = re.compile(
    r"^(?:Fatal Python error: |terminate called |panic: |fatal error: )"
    r"|^thread '[^']*'[^:]{0,20} panicked at "
    r"|Check failed: |Assertion [`'].*failed|\*\*\* (?:stack smashing|buffer overflow)"
    r"|^(?:free|malloc|realloc|munmap_chunk)\(\): |^corrupted |^double free"
)
"""How runtimes of C, C++, Go, Rust and Python itself begin what they say before they abort."""
_USAGE = re.compile(r"[^\s:]+: error: ")
_ERROR = re.compile(r"(?:error|ERROR): (?P<what>.+)")
_STEPS = re.compile(r"subprocess-exited-with-error|[a-z]+-(?:[a-z]+-)*fail(?:ed|ure)\b")
"""What pip calls the step that failed; an error before it says more."""
_AFTERWORDS = re.compile(r"(?:hint|note|WARNING): |\[notice\] |\u00d7 |\u2570\u2500> ")
"""How the lines begin that pip prints after its error."""
_ORIGINAL = re.compile(r"Original error was: (.+)")
_NUMPY_WRAPPER = re.compile(
    r"ImportError: (?:Error importing numpy: you should not try"
    r"|Unable to import required dependencies)"
)
"""What NumPy and pandas wrap it in when NumPy can't be imported."""
_UNIMPORTABLE = "ImportError: NumPy can't be imported: "
_TAIL = re.compile(r"\s*\[Op:\w+\] name:$")
"""What TensorFlow adds to each of its messages."""
_KEY = re.compile(r"(/programs/|//program:)[\w.-]+\.[0-9a-f]{64}")
"""A key in the address of the buckets that a program has: long, and nobody else's."""
_FRESH = 200
"""An exception with so many lines after it was dealt with; what ended the program came later."""


_BAR = re.compile(r"\d ?%|\d ?/ ?\d|\d(?:it|[kKMG]i?B)\b|[#=.>\u2501\u2588-\u258f]{4}")


def is_bar(line: str) -> bool:
    """Returns whether a line that was rewritten shows progress, and no exception after it."""
    return _BAR.search(line) is not None and _HEADER not in line


class CauseFinder:
    """Watches stderr and remembers a few lines of at most 1000 characters.

    Tracebacks may stand behind a prefix that each of their lines has (``[rank0]: ``), and may
    be chained or of an exception group; the last one counts. One line of something else that
    names no exception, like of a build's stdout, may stand among its lines.
    """

    __slots__ = (
        "_age",
        "_error",
        "_exception",
        "_fault",
        "_fault_place",
        "_frame",
        "_last",
        "_open",
        "_own_frame",
        "_package",
        "_place",
        "_prefix",
        "_strayed",
        "_thrown",
    )

    def __init__(self, package: str = "") -> None:
        """Begins to read a program's output; ``package`` is the program's own package, whose files
        lie beside those of other packages.
        """
        self._package = package
        self._exception = ""
        self._fault = ""
        """What a runtime said before it aborted, after the last exception."""
        self._last = ""
        self._error = ""
        """The last error that was said as such, while nothing but pip's afterwords follows."""
        self._prefix: str | None = None
        """What stands before each line of the traceback that is being read; None: none is."""
        self._open = ""
        """Which of the two may go on in the next line: if it ended with a colon, or that is
        indented."""
        self._frame = ""
        """Where the last frame is, of whatever file."""
        self._own_frame = ""
        """Where the last frame is that lies in the user's own code."""
        self._place = ""
        """Where the exception was raised; empty: unknown."""
        self._fault_place: str | None = None
        """The same as ``_place``, for the fault; None: no frame of it is awaited."""
        self._strayed = False
        """Whether a line stood in the traceback that names no exception and may be another's."""
        self._thrown = False
        self._age = 0

    @property
    def exception(self) -> str:
        """The line that names the last uncaught exception (``ValueError: bad``), or empty."""
        return self._exception if self._age <= _FRESH else ""

    @property
    def fault(self) -> str:
        """The message of a program that then ended itself by a signal; '' if there is none."""
        return self._fault or self.exception

    @property
    def cause(self) -> str:
        """The last exception, or else the error before pip's afterwords, or the last line that
        wasn't empty.
        """
        if _USAGE.match(self._last):
            return self._last
        return self.exception or self._fault or self._error or _without_interpreter(self._last)

    def locate(self, cause: str) -> str:
        """Returns the cause with its place in the program: ``ValueError: bad (at task.py:2 in
        load)``.

        The place is the innermost call in the user's own code, if the traceback has one.
        """
        known = ((self._fault, self._fault_place), (self.exception, self._place))
        for sentence, place in known:
            if sentence and place and cause.startswith(sentence) and place not in sentence:
                return f"{sentence} (at {place}){cause[len(sentence) :]}"
        return cause

    def see(self, line: str) -> None:
        line = _KEY.sub(r"\1...", make_plain(line[: 2 * _LIMIT]))
        text = line.strip()
        if text:
            self._last = text[:_LIMIT]
            self._age += 1
            self._go_on(line)
            self._see_abort(text)
            self._see_error(text)
            self._see_original(text)
        header_at = line.find(_HEADER)
        if header_at >= 0:
            self._frame = self._own_frame = ""
            prefix = line[:header_at]
            self._prefix = "  | " if prefix.endswith(_GROUP) else prefix
            self._strayed = False
        elif self._prefix is not None:
            self._read(line)
        elif text.startswith(_SYNTAX):
            self._take(text)
        self._see_frame(line)

    def _read(self, line: str) -> None:
        prefix = self._prefix or ""
        boxed = prefix.lstrip()[:1] in _BOX and prefix.strip() != ""
        body = line.lstrip() if boxed else line[len(prefix) :] if line.startswith(prefix) else line
        if body.strip() and not body[0].isspace() and body[0] not in _BOX:
            self._take(body.strip())
            if _NAMED.match(body) or self._strayed:
                self._prefix = None
            self._strayed = True
            if prefix and not body.rstrip().endswith(":"):
                self._open = ""  # what is indented there is indented for another reason

    def _take(self, text: str) -> None:
        """Takes the line of an exception, unless it only wraps a known one."""
        if self.exception and _WRAPPERS.match(text):
            return
        if self._exception.startswith(_UNIMPORTABLE) and _NUMPY_WRAPPER.match(text):
            return
        self._place = self._own_frame or self._frame
        where = ""
        if text.startswith(_SYNTAX) and self._frame:
            self._place = self._frame.partition(" in ")[0]  # which is where it was imported
            where = f" (at {self._place})"
        self._exception = f"{_TAIL.sub('', text)}{where}"[:_LIMIT]
        self._open = "exception"
        self._fault, self._age = "", 0

    def _go_on(self, line: str) -> None:
        text = line.strip()
        if not self._open or not any(map(str.isalnum, text)):
            return
        sentence = self._exception if self._open == "exception" else self._fault
        if sentence.endswith(":") or (line[0].isspace() and not _FRAME.match(line)):
            sentence = f"{sentence} {text}"[:_LIMIT]
        if self._open == "exception":
            self._exception = sentence
        else:
            self._fault = sentence
        self._open = ""

    def _see_abort(self, text: str) -> None:
        said = _SAID.match(text) if self._thrown else None
        if said is not None:
            self._fault = f"{self._fault}: {said.group(1)}"[:_LIMIT]
            self._thrown = False
            return
        thrown = _THROWN.search(text)
        self._thrown = thrown is not None or self._thrown
        if self._fault and _CURRENT.match(text):
            self._fault_place = ""
        if thrown is not None:
            self._fault = thrown.group(1)[:_LIMIT]
        elif _ABORT.search(text[:_LIMIT]):
            self._fault = text[:_LIMIT]
            self._open = "fault" if text.endswith(":") else ""

    def _see_error(self, text: str) -> None:
        error = _ERROR.match(text)
        if error is None:
            if not _AFTERWORDS.match(text) and not text.startswith("[end of output]"):
                self._error = ""
        elif not (self._error and _STEPS.match(error.group("what"))):
            self._error = text[:_LIMIT]

    def _see_original(self, text: str) -> None:
        """Takes the last line of NumPy's long advice, which has the cause."""
        original = _ORIGINAL.search(text)
        if original is not None and self._exception.startswith("ImportError:"):
            self._exception = f"{_UNIMPORTABLE}{original.group(1)}"[:_LIMIT]
            self._open = ""

    def _see_frame(self, line: str) -> None:
        """Remembers the place of the last frame; of a fault, the place of the first."""
        frame = (_FRAME.match if self._prefix is None else _FRAME.search)(line)
        if frame is None and self._prefix is not None:
            frame = _BOXED_FRAME.search(line)
        if frame is None:
            return
        path, number, function = frame.groups()
        self._frame = f"{_short(path)}:{number}" + (f" in {function.strip()}" if function else "")
        if self._is_own(path):
            self._own_frame = self._frame
            self._fault_place = self._frame if self._fault_place == "" else self._fault_place

    def _is_own(self, path: str) -> bool:
        if not _LIBRARY.search(path):
            return True
        installed = re.split("/(?:site|dist)-packages/", path)[-1].partition("/")[0]
        return bool(self._package) and installed in (self._package, f"{self._package}.py")


def _short(path: str) -> str:
    """Returns the file's name, with its folder if the name is a common one."""
    folder, _, name = path.rpartition("/")
    return f"{folder.rpartition('/')[2]}/{name}" if folder and name.startswith("__") else name


def _without_interpreter(line: str) -> str:
    """Returns the line without the path of the interpreter, with which ``python -m MODULE`` begins
    its own messages.
    """
    path, colon, words = line.partition(": ")
    is_interpreter = path.startswith("/") and path.rpartition("/")[2].startswith("python")
    return words if colon and is_interpreter else line
