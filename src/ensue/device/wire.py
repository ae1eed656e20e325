"""Where lines come from and go to: stdin, sockets, and the clock that moves windows when nothing comes."""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress

from ensue.device.job import Job
from ensue.device.load import scoped
from ensue.errors import EnsueError, InputError, Place, UsageError
from ensue.inputlimits import MAX_DEVICE_LINE, LineCutter, LongLine, too_long
from ensue.model import FOREVER, NEVER
from ensue.ntriples import parse_line
from ensue.times import milliseconds

Clock = Callable[[], int]
"""The time now, in milliseconds."""

_CHUNK = 1 << 16
_LONGEST_MOMENT = 64


class Connection:
    """Bytes from one sender, cut into lines."""

    def __init__(
        self,
        descriptor: int,
        name: str,
        scope: str,
        sock: socket.socket | None = None,
        max_line: int = MAX_DEVICE_LINE,
    ) -> None:
        self.descriptor = descriptor
        self.name = name
        self.scope = scope
        self.open = True
        self.line = 0
        self._socket = sock
        # A sender that never ends its line must not fill the memory.
        self._cutter = LineCutter(max_line)

    def fileno(self) -> int:
        """For `select`."""
        return self.descriptor

    def read(self) -> Iterator[bytes | LongLine]:
        """The lines that have come, or what was passed over of one that is too long.

        At the end, the last one even if it lacks its newline.
        """
        try:
            data = os.read(self.descriptor, _CHUNK)
        except ConnectionError:
            data = b""
        if not data:
            self.close()
        for piece in self._cutter.take(data) if data else self._cutter.rest():
            if isinstance(piece, LongLine):
                yield piece
            else:
                yield from piece.removesuffix(b"\n").split(b"\n")

    def close(self) -> None:
        """Listen no longer."""
        self.open = False
        if self._socket is not None:
            self._socket.close()


class Intake:
    """Reads connections and hands their statements to a job."""

    def __init__(
        self,
        job: Job,
        clock: Clock,
        on_bad: Callable[[EnsueError, str], None],
        max_line: int = MAX_DEVICE_LINE,
    ) -> None:
        self.max_line = max_line
        self._job = job
        self._clock = clock
        self._on_bad = on_bad
        self._by_clock = False
        """Whether statements came without a time, so that the clock has to close windows."""

    def take(self, connection: Connection) -> None:
        """Hand on what has come from one sender."""
        for raw in connection.read():
            connection.line += 1
            shown = raw.head if isinstance(raw, LongLine) else raw
            try:
                if isinstance(raw, LongLine) or len(raw) > self.max_line:
                    raise self._too_long(raw, Place(connection.name, connection.line, 1))
                self._statement(raw, connection)
            except InputError as problem:
                self._job.counters.malformed += 1
                self._on_bad(problem, shown.decode(errors="replace"))

    def _too_long(self, raw: bytes | LongLine, place: Place) -> InputError:
        length = raw.length - raw.ended if isinstance(raw, LongLine) else len(raw)
        return InputError(too_long(length, self.max_line), place=place, hint="--max-line takes longer ones")

    def pause(self) -> float | None:
        """How many seconds to wait for input at most: until the next window closes by the clock."""
        close = self._job.next_close()
        if not self._by_clock or close is None:
            return None
        return max(0.0, (close - self._clock()) / 1000)

    def idle(self) -> None:
        """Close the windows whose time is over."""
        if self._by_clock:
            self._job.tick(self._clock())

    def _statement(self, raw: bytes, connection: Connection) -> None:
        try:
            text = raw.decode()
        except UnicodeDecodeError as problem:
            place = Place(connection.name, connection.line, len(raw[: problem.start].decode()) + 1)
            raise InputError("this is not UTF-8 text", place=place, hint="N-Triples is UTF-8") from problem
        head, tab, body = text.partition("\t")
        time = _time(head) if tab else None
        # Spaces in place of the time keep columns as the sender sees them.
        text = text if time is None else " " * (len(head) + 1) + body
        line = parse_line(text, connection.name, connection.line)
        if line is not None:
            if time is None:
                self._by_clock = True
                time = self._clock()
            self._job.push(time, scoped(line, connection.scope))


def _time(head: str) -> int | None:
    digits = head.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        return milliseconds(head, needs_zone=False) if len(head) < _LONGEST_MOMENT else None
    if len(digits) > 20:
        return None
    time = int(head)
    return time if NEVER < time < FOREVER else None


def from_stdin(intake: Intake, descriptor: int) -> None:
    """Read a descriptor to its end."""
    connection = Connection(descriptor, "<stdin>", "c0", max_line=intake.max_line)
    while connection.open:
        if select.select([connection], [], [], intake.pause())[0]:
            intake.take(connection)
        intake.idle()


def from_socket(intake: Intake, server: socket.socket, *, once: bool) -> None:
    """Accept senders, any number at a time; with `once`, until the last has gone."""
    connections: list[Connection] = []
    count = 0
    while True:
        senders: list[socket.socket | Connection] = [server, *connections]
        for ready in select.select(senders, [], [], intake.pause())[0]:
            if isinstance(ready, Connection):
                intake.take(ready)
            else:
                count += 1
                sock, address = server.accept()
                name = f"{address[0]}:{address[1]}"
                connections.append(Connection(sock.fileno(), name, f"c{count}", sock, intake.max_line))
        connections = [connection for connection in connections if connection.open]
        intake.idle()
        if once and count and not connections:
            return


def listen(address: tuple[str, int]) -> socket.socket:
    """A socket that accepts connections; port 0 takes any free one."""
    try:
        return socket.create_server(address)
    except OSError as problem:
        what = f"cannot listen on {address[0]}:{address[1]}: {problem.strerror}"
        raise UsageError(what, hint="is the port in use, or the host not this one?") from problem


class Forward:
    """A connection to another Ensue. Lines are sent many at a time."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._name = f"{address[0]}:{address[1]}"
        self._lines: list[str] = []
        try:
            self._socket = socket.create_connection(address)
        except OSError as problem:
            what = f"cannot connect to {self._name}: {problem}"
            raise EnsueError(what, hint="is it listening?") from problem

    def write(self, line: str) -> None:
        """Send a line, now or soon."""
        self._lines.append(line)
        if len(self._lines) >= 1000:
            self.flush()

    def flush(self) -> None:
        """Send what has not been sent."""
        lines, self._lines = self._lines, []
        try:
            self._socket.sendall("".join(lines).encode())
        except OSError as problem:
            raise EnsueError(f"{self._name} takes no more: {problem}", hint="has it ended?") from problem

    def close(self) -> None:
        """Hang up."""
        with suppress(OSError):
            self._socket.close()
