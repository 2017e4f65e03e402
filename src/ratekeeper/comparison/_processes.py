"""Trials in processes that end with ours, start safely and share one copy of the data."""

from __future__ import annotations

import mmap
import os
import pickle
import secrets
import signal
import sys
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from ratekeeper._system import _processes as processes
from ratekeeper.comparison._trial import Trial, one_sentence, run_trial
from ratekeeper.exceptions import InputError, Parameter

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterable, Iterator

    from sklearn.base import BaseEstimator

    from ratekeeper.comparison._trial import Problem

    Call = tuple[str, str, BaseEstimator, int]
    Reply = tuple["_Process", Trial | str | None]

# Every process would use all cores. What the user has set stays.
_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
_ALIGNED = 64  # bytes, as fresh arrays are


def run_in_processes(problem: Problem, calls: Iterable[Call], number: int) -> Iterator[Trial]:
    """Yield trials as they are finished; the processes end with the iterator.

    Parameters
    ----------
    problem : Problem
        The data, of which all processes share one copy.
    calls : iterable of (name, made, system, repeat)
        What `run_trial` is told. One more than is running is prepared at any time.
    number : int
        How many processes.
    """
    replies: SimpleQueue[Reply] = SimpleQueue()
    with ExitStack() as held:
        shared = held.enter_context(_sharing(problem))
        idle = [held.enter_context(_process(shared, number, replies)) for _ in range(number)]
        for name, made, system, repeat in calls:
            message = _packed(name, made, system, repeat)
            if idle:
                idle.pop().start(message, name, repeat)
            else:
                process, trial = _next(replies)
                process.start(message, name, repeat)  # first, since the caller may take its time
                yield trial
        for _ in range(number - len(idle)):
            yield _next(replies)[1]


def _packed(name: str, made: str, system: BaseEstimator, repeat: int) -> bytes:
    from joblib import wrap_non_picklable_objects

    call = name, made, system, repeat
    try:  # so that classes of a user's script or notebook can be sent, too
        return pickle.dumps(wrap_non_picklable_objects(call, keep_wrapper=False))
    except Exception as error:
        raise _unsendable(name, f"{type(error).__name__}: {error}") from error


def _next(replies: SimpleQueue[Reply]) -> tuple[_Process, Trial]:
    """Wait for a trial, or raise what kept a process from it."""
    while True:
        with suppress(Empty):  # on Windows nothing interrupts a wait without an end
            process, reply = replies.get(timeout=1.0)
            break
    if isinstance(reply, str):
        raise _unsendable(process.name, reply)
    if reply is None:
        raise InputError(
            f"The process that ran {process.name!r} on split {process.repeat} ended before it was "
            f"finished: {process.ending()}.",
            parameter="n_jobs",
            remedy=(
                "If memory was short, use fewer processes, such as ",
                Parameter("n_jobs", 1),
                "; finished trials are kept if there is a ",
                Parameter("checkpoint"),
                ".",
            ),
        )
    return process, reply


def _unsendable(name: str, why: str) -> InputError:
    return InputError(
        f"{name!r} cannot run in another process: {one_sentence(why)}",
        parameter="n_jobs",
        remedy=("Use ", Parameter("n_jobs", 1), "."),
    )


@dataclass(eq=False)
class _Process:
    """A process, and what it runs."""

    running: subprocess.Popen[bytes]
    name: str = ""
    repeat: int = 0

    def start(self, message: bytes, name: str, repeat: int) -> None:
        """Let it run a trial."""
        self.name, self.repeat = name, repeat
        processes.send(self.running, pickle.dumps(message))

    def listen(self, replies: SimpleQueue[Reply]) -> None:
        """Pass on what it replies, and None at its end."""
        assert self.running.stdout is not None  # noqa: S101 - for the type checker
        try:
            processes.skip_start(self.running.stdout)
            while True:
                replies.put((self, pickle.load(self.running.stdout)))  # noqa: S301 - our own
        except Exception:  # noqa: BLE001 - a reply cut off is no reply
            replies.put((self, None))

    def ending(self) -> str:
        """Say how it ended."""
        code = self.running.wait()
        with suppress(ValueError):
            return f"signal {signal.Signals(-code).name}"
        return f"exit code {code}"


@contextmanager
def _process(shared: _Shared, number: int, replies: SimpleQueue[Reply]) -> Iterator[_Process]:
    """Start a process in the calling thread, with whose end the system may end it."""
    from joblib import cpu_count

    threads = dict.fromkeys(_THREADS, str(max(cpu_count() // number, 1)))
    process = _Process(
        processes.start(
            __name__,
            "serve",
            environment={**threads, "ENABLE_IPC": "1"},
            inherited=shared.inherited,
        )
    )
    listener = Thread(target=process.listen, args=(replies,), daemon=True)
    listener.start()
    try:
        processes.send(process.running, pickle.dumps(shared))
        yield process
    finally:
        process.running.kill()  # it has nothing to finish
        listener.join()
        processes.end(process.running)


@dataclass(frozen=True)
class _Shared:
    """A pickle, and where its large arrays lie: in memory that has no name in any folder."""

    pickled: bytes
    places: tuple[tuple[int, int], ...]
    size: int
    inherited: tuple[int, ...]
    tag: str

    def load(self) -> Any:  # noqa: ANN401 - whatever was pickled
        if sys.platform == "win32":
            memory = mmap.mmap(-1, self.size, tagname=self.tag)
        else:
            memory = mmap.mmap(self.inherited[0], self.size, access=mmap.ACCESS_READ)
        view = memoryview(memory).toreadonly()
        buffers = [view[start:end] for start, end in self.places]
        return pickle.loads(self.pickled, buffers=buffers)  # noqa: S301 - from our own parent


@contextmanager
def _sharing(value: object) -> Iterator[_Shared]:
    """Copy a value's arrays to memory that processes share, and that is gone with the last one."""
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    places, end = [], 0
    for buffer in buffers:
        start = -(-end // _ALIGNED) * _ALIGNED
        end = start + buffer.raw().nbytes
        places.append((start, end))
    size, tag = max(end, 1), f"ratekeeper-{secrets.token_hex(16)}"
    with ExitStack() as held:
        if sys.platform == "win32":
            inherited: tuple[int, ...] = ()
            memory = held.enter_context(mmap.mmap(-1, size, tagname=tag))
        else:
            file = held.enter_context(_nameless_file(tag))
            file.truncate(size)
            inherited = (file.fileno(),)
            memory = held.enter_context(mmap.mmap(file.fileno(), size))
        for (start, stop), buffer in zip(places, buffers, strict=True):
            memory[start:stop] = buffer.raw()
        yield _Shared(pickled, tuple(places), size, inherited, tag)


def _nameless_file(tag: str) -> Any:  # noqa: ANN401 - a file, or what wraps one
    """Return a file that no folder lists, in memory where the system can."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create(tag), "r+b")
    return tempfile.TemporaryFile()


def serve(requests: BinaryIO) -> NoReturn:
    """Run trials in a process started by `run_in_processes`, until it is ended."""
    from joblib import parallel_config

    replies, nothing = processes.open_replies()
    if hasattr(os, "register_at_fork"):  # what a system leaves behind must not keep the pipe open
        os.register_at_fork(after_in_child=lambda: os.dup2(nothing, replies.fileno()))
    problem = pickle.load(requests).load()  # noqa: S301 - from our own parent
    messages: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_receive, args=(requests, messages), daemon=True).start()
    with parallel_config(backend="threading"):  # no processes within processes
        while True:
            pickle.dump(_reply(problem, messages.get()), replies)
            replies.flush()


def _reply(problem: Problem, message: bytes) -> Trial | str:
    """Run a trial, or say why it cannot be run here."""
    try:
        return run_trial(problem, *pickle.loads(message))  # noqa: S301 - from our own parent
    except BaseException as error:  # noqa: BLE001 - the parent tells the user
        return f"{type(error).__name__}: {error}"


def _receive(requests: BinaryIO, messages: SimpleQueue[bytes]) -> NoReturn:
    """Pass on what is to be run; the end of the pipe is the end of the parent, and ours."""
    try:
        while True:
            messages.put(pickle.load(requests))  # noqa: S301 - from our own parent
    finally:
        os._exit(1)
