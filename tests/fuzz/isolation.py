"""A process for each case: whatever it does to itself, the next one begins from the same state.

One parent has imported all there is to import and forks, which takes some milliseconds. Memory and CPU time are
capped, so that an allocation without end and a loop without end are finds as well; the thread that pdacon runs in has
a small stack, so that recursion which the input controls is found where it is not yet deep.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import resource
import select
import signal
import struct
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from mmap import mmap
from pathlib import Path
from typing import Any

from fuzz.case import EVERY_BYTE, Case
from fuzz.checks import Examination
from fuzz.finds import Found, Outcome, Progress

import pdacon

MEGABYTE = 1 << 20
ORACLE_PHASES = ("making", "stock Lark loads", "stock Lark parses", "strict Lark")


@dataclass(frozen=True)
class Caps:
    """What a case may cost. ``memory`` 0: no cap, as with a sanitizer, which reserves terabytes."""

    seconds: int = 20
    memory: int = 1024
    stack: int = 512 * 1024
    effort: float = 1.0


@dataclass
class Result:
    """What a child has said, and what became of it."""

    case: Case | None = None
    outcome: str = "unknown"
    detail: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    phases: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    megabytes: int = 0
    find: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        data = dict(self.__dict__)
        del data["case"]
        return data


def run(make: Callable[[], Case], caps: Caps) -> Result:
    """Make a case and examine it in a process of its own."""
    shared = mmap(-1, Progress.SIZE)
    reader, writer = os.pipe()
    before = _status_kb("VmRSS")
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            _child(make, caps, shared, writer)
        finally:
            os._exit(0)
    os.close(writer)
    # CPU time is capped in the child; this is for one that waits for ever, on a machine that has other work.
    messages, late = _read(reader, child, wall=caps.seconds * 60)
    os.close(reader)
    _, status, usage = os.wait4(child, 0)
    result = Result()
    for message in messages:
        if "case" in message:
            result.case = Case.from_json(message["case"])
        else:
            for name, value in message.items():
                setattr(result, name, value)
    result.seconds = round(usage.ru_utime + usage.ru_stime, 3)
    result.megabytes = max(0, usage.ru_maxrss - before) // 1024
    phase = shared[: Progress.SIZE].rstrip(b"\0").decode()
    shared.close()
    _judge(result, phase, status, late, caps)
    return result


def _judge(result: Result, phase: str, status: int, late: bool, caps: Caps) -> None:
    """What the end of the process says."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        overtime = late or number == signal.SIGXCPU
        kind = "hang" if overtime else "crash"
        result.outcome = kind
        if overtime and phase in ORACLE_PHASES:
            result.outcome = "stock Lark takes too long"
        else:
            result.find = {"kind": kind, "phase": phase, "message": signal.Signals(number).name, "details": {}}
    elif result.outcome == "unknown":
        result.outcome = "crash"
        result.find = {
            "kind": "crash",
            "phase": phase,
            "message": f"exit status {os.waitstatus_to_exitcode(status)}",
            "details": {},
        }
    elif (
        result.find is None
        and result.outcome != "stock Lark takes too long"
        and caps.memory
        and result.megabytes > caps.memory
    ):
        result.find = {"kind": "memory", "phase": phase, "message": f"{result.megabytes} MB", "details": {}}


def _read(reader: int, child: int, wall: float) -> tuple[list[dict[str, Any]], bool]:
    """What the child writes until it ends; whether it had to be ended."""
    data = b""
    deadline = time.monotonic() + wall
    late = False
    while True:
        ready, _, _ = select.select([reader], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            os.kill(child, signal.SIGKILL)
            late, deadline = True, time.monotonic() + 60
            continue
        chunk = os.read(reader, 1 << 16)
        if not chunk:
            break
        data += chunk
    messages = []
    while len(data) >= 4:
        (size,) = struct.unpack_from("<I", data)
        if len(data) < 4 + size:
            break
        messages.append(json.loads(data[4 : 4 + size]))
        data = data[4 + size :]
    return messages, late


def _child(make: Callable[[], Case], caps: Caps, shared: mmap, writer: int) -> None:
    faulthandler.disable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (caps.seconds, caps.seconds + 5))
    if caps.memory:
        room = _status_kb("VmSize") * 1024 + (caps.memory + 256) * MEGABYTE
        resource.setrlimit(resource.RLIMIT_AS, (room, room))
    outcome = Outcome()
    progress = Progress(shared, outcome)
    with progress.phase("making"):
        case = make()
    _send(writer, {"case": case.to_json()})
    examination = Examination(case, progress, caps.effort)
    # Lark may use the stack as it likes.
    examination.ask_lark()
    find: dict[str, Any] | None = None

    def examine() -> None:
        nonlocal find
        find = examined(examination)

    threading.stack_size(caps.stack)
    thread = threading.Thread(target=examine)
    thread.start()
    thread.join()
    _send(
        writer,
        {
            "outcome": outcome.name if find is None else "find",
            "detail": outcome.detail[:300],
            "counts": outcome.counts,
            "phases": {name: round(seconds, 4) for name, seconds in outcome.seconds.items()},
            "find": find,
        },
    )


def examined(examination: Examination) -> dict[str, Any] | None:
    """Examine a case in this process: the find as data, or None."""
    progress = examination.progress
    try:
        examination.run()
    except Found as found:
        return {"kind": found.kind, "phase": progress.failed, "message": found.message, "details": found.details}
    except pdacon.LimitExceededError as error:
        # What only some tokens can spell may need more states than there are by default; it is refused by name then.
        if not examination.case.limits and examination.case.every_byte:
            return {"kind": "limit", "phase": progress.failed, "message": str(error)[:300], "details": {}}
        examination.outcome.name, examination.outcome.detail = "limit exceeded", str(error)
    except MemoryError:
        if progress.failed in ORACLE_PHASES:
            examination.outcome.name = "stock Lark takes too long"
            return None
        return {"kind": "memory", "phase": progress.failed, "message": "MemoryError", "details": {}}
    except Exception as error:
        text = "".join(traceback.format_exception(error)[-6:])
        message = f"{type(error).__name__}: {error}"
        return {
            "kind": "exception",
            "phase": progress.failed,
            "message": message[:500],
            "details": {"traceback": text[-2500:]},
        }
    return None


def _send(writer: int, message: dict[str, Any]) -> None:
    data = json.dumps(message).encode()
    data = struct.pack("<I", len(data)) + data
    while data:
        data = data[os.write(writer, data) :]


def _status_kb(name: str) -> int:
    with Path("/proc/self/status").open(encoding="ascii") as status:
        for line in status:
            if line.startswith(name + ":"):
                return int(line.split()[1])
    return 0


def prepare() -> None:
    """Do once in the parent what each child would do first, and make forks cheap."""
    case = Case(
        'start: A+ "x"\nA: /a|b(?=x)/\n%import common.INT\n%import common.WS\n%ignore " "\n',
        {},
        (*EVERY_BYTE, None),
        (256,),
    )
    case.lark()
    grammar = case.load()
    pdacon.check(grammar, case.vocabulary(), seconds=0).render()
    constraint = pdacon.compile(grammar, case.vocabulary())
    loaded = pdacon.Constraint.from_bytes(constraint.to_bytes())
    loaded.matcher().explain(b"a").render()
    gc.collect()
    gc.freeze()
