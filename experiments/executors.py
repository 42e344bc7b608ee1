"""Where tasks run: in this process, in processes on this machine, or on a Ray cluster.

A task is a picklable object with `run() -> Rows`. Tasks are independent, and each carries its
own seeds, so the results depend neither on the executor nor on the order in which they end.
"""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import multiprocessing.connection
import multiprocessing.resource_tracker
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from engine_ext.errors import ParameterError, ResultsError
from experiments import signals

_LEAVE_S = 5.0  # time for a worker to end when it is asked to


class WorkerLostError(ResultsError):
    """A worker has gone, which says nothing against the run itself: it can go on."""


class Task(Protocol):
    """A piece of an experiment that runs anywhere."""

    def run(self) -> Any:
        """Do the work and return its rows."""
        ...


class Executor(Protocol):
    """Runs tasks and yields each result as it arrives, in any order."""

    workers: int

    def results(self, tasks: Iterable[Task]) -> Iterator[Any]:
        """Yield the result of every task; an exception inside a task is raised here."""
        ...


class InlineExecutor:
    """Runs the tasks one after another in this process."""

    workers = 1

    def results(self, tasks: Iterable[Task]) -> Iterator[Any]:
        """Yield the result of every task, in order."""
        for task in tasks:
            yield task.run()


class ProcessExecutor:
    """Runs the tasks in freshly spawned processes on this machine.

    Args:
        workers: processes, at least 1.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def results(self, tasks: Iterable[Task]) -> Iterator[Any]:
        """Yield results as they arrive. Few tasks wait in the queue at any time.

        Raises:
            WorkerLostError: a worker process died (killed, or out of memory).
        """
        _start_tracker()
        pool = concurrent.futures.ProcessPoolExecutor(
            self.workers, mp_context=multiprocessing.get_context("spawn"), initializer=_start_worker
        )
        pending: set[concurrent.futures.Future[Any]] = set()
        try:
            for task in tasks:
                pending.add(pool.submit(_run, task))
                if len(pending) >= 3 * self.workers:
                    done, pending = concurrent.futures.wait(pending, return_when=concurrent.futures.FIRST_COMPLETED)
                    for future in done:
                        yield future.result()
            for future in concurrent.futures.as_completed(pending):
                yield future.result()
        except concurrent.futures.process.BrokenProcessPool as error:
            raise WorkerLostError(
                "a worker process died (killed, or out of memory); what had been finished is kept, --resume goes on"
            ) from error
        finally:
            _stop(pool)


class RayExecutor:
    """Runs the tasks on a Ray cluster (the extra `ray`), or on this machine where none is running.

    Args:
        workers: tasks in flight at once; 0 takes the cluster's processors.
    """

    def __init__(self, workers: int = 0) -> None:
        try:
            import ray
        except ImportError as error:
            raise ParameterError("the executor 'ray' needs Ray: pip install 'quandary[ray]'") from error
        self._ray = ray
        if not ray.is_initialized():
            ray.init(log_to_driver=False, include_dashboard=False)
        self.workers = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))

    def results(self, tasks: Iterable[Task]) -> Iterator[Any]:
        """Yield results as they arrive.

        Raises:
            WorkerLostError: a worker of the cluster died.
        """
        ray = self._ray
        remote = ray.remote(_run)
        pending: list[Any] = []
        try:
            for task in tasks:
                pending.append(remote.remote(task))
                if len(pending) >= 3 * self.workers:
                    done, pending = ray.wait(pending)
                    yield ray.get(done[0])
            while pending:
                done, pending = ray.wait(pending)
                yield ray.get(done[0])
        except ray.exceptions.RayTaskError as error:
            raise error.as_instanceof_cause() from error
        except ray.exceptions.RayError as error:
            raise WorkerLostError(f"a worker of the Ray cluster failed: {error}") from error


def processors() -> int:
    """Processors this process may use."""
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:
        return max(1, os.cpu_count() or 1)


def most_workers(name: str) -> int:
    """How many workers an executor takes at most: of processes, each of which has the whole project in memory, four a
    processor, and 64 even on a small machine."""
    return max(64, 4 * processors()) if name == "processes" else 10_000


def make(name: str, workers: int) -> Executor:
    """The executor of this name.

    Args:
        name: `processes` or `ray`.
        workers: at least 1; one process means this one.

    Raises:
        ParameterError: an unknown name, too many or too few workers, or Ray is not installed.
    """
    if not 1 <= workers <= most_workers(name):
        here = f"; this machine has {processors()} processors" if name == "processes" else ""
        raise ParameterError(f"workers is {workers}, it must be 1 to {most_workers(name)}{here}")
    if name == "ray":
        return RayExecutor(workers)
    if name == "processes":
        return InlineExecutor() if workers == 1 else ProcessExecutor(workers)
    raise ParameterError(f"no executor is called {name!r}; there are: processes, ray")


def fitted(engine: Executor, jobs: int) -> Executor:
    """The same with no more workers than there are jobs."""
    workers = max(1, min(engine.workers, jobs))
    if isinstance(engine, ProcessExecutor):
        return InlineExecutor() if workers == 1 else ProcessExecutor(workers)
    engine.workers = workers
    return engine


def _run(task: Task) -> Any:
    return task.run()


def _start_tracker() -> None:
    """Start multiprocessing's resource tracker without its warning: it outlives a kill -9 of this
    process, clears away the semaphores left behind, and would then write to a terminal that has
    long gone on to other things."""
    sys.warnoptions.append("ignore:resource_tracker:UserWarning")  # which it inherits as -W
    try:
        multiprocessing.resource_tracker.ensure_running()
    finally:
        sys.warnoptions.pop()


def _start_worker() -> None:
    """Leave Ctrl-C to the parent, and end when the parent has gone (even by kill -9)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    multiprocessing.connection.wait([sentinel])
    os._exit(1)


def _stop(pool: concurrent.futures.ProcessPoolExecutor) -> None:
    """Shut a pool down without waiting for tasks whose results nobody will read."""
    with signals.undisturbed():
        workers = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join(_LEAVE_S)
            if worker.is_alive():  # it cannot hear
                worker.kill()
                worker.join()
