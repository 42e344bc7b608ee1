"""Checkpoints of `quandary solve`: a policy solver's run that can be stopped at any time and taken up again.

The file is read before the run where it is there, and written after it, now and then during it, and when a
signal or an error ends it. Resumed runs give bit for bit what one run would have given.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from engine_ext.errors import SavedStateError, SpecError
from experiments import signals
from solvers import saved_policies
from solvers.budget import OVERTIME
from solvers.specs import Spec

SAVE_EVERY_S = 60.0
_SAVING_SHARE = 0.05  # of the time, at most


def check(spec: Spec, path: Path) -> None:
    """Refuse a checkpoint that cannot work before any work starts.

    Raises:
        SpecError: the solver keeps no checkpoints.
        SavedStateError: the file could not be written.
    """
    if spec.solver.kind != "policy":
        raise SpecError(
            f"{spec.name} searches from a position and keeps no checkpoint; solvers of policies do, such as cfr+ and "
            "mccfr_os"
        )
    if spec.name == saved_policies.NAME:
        raise SpecError(f"{spec.name} is found already and keeps no checkpoint")
    _require_writable(path, "a checkpoint")


def check_policy(spec: Spec, path: Path, checkpoint: Path | None) -> None:
    """Refuse a file for the policy that cannot work before any work starts.

    Raises:
        SpecError: the solver finds no policy.
        SavedStateError: the file could not be written, or is the checkpoint's.
    """
    if spec.solver.kind != "policy":
        raise SpecError(
            f"{spec.name} searches from a position and finds no policy of the whole game; solvers of policies do, such "
            "as cfr+ and sequence_form"
        )
    if checkpoint is not None and path.resolve() == checkpoint.resolve():
        raise SavedStateError(f"{path}: the policy and the checkpoint need a file each")
    _require_writable(path, "a policy")


def _require_writable(path: Path, kind: str) -> None:
    folder = path.parent
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        what = "it is a folder" if path.is_dir() else f"{folder} is no folder that can be written to"
        raise SavedStateError(f"{kind} cannot be written to {path}: {what}")


def run(spec: Spec, solver: Any, path: Path) -> None:
    """Take up the run in a file, if there is one, and run until the spec's iterations or seconds are reached,
    counted from the very first start.

    Raises:
        SavedStateError: the file is damaged, of another game or solver, or cannot be written.
    """
    if path.exists():
        solver.load(path)
    last = spec.parameters.get("iterations", 1)
    if spec.parameters.get("seconds") is None and solver.iterations > last:
        raise SavedStateError(
            f"{path}: this run has {solver.iterations} iterations already, {last} are asked for; iterations count from "
            "the very first start"
        )
    keeper = _Keeper(solver, path)
    try:
        _finish(spec, solver, keeper)
    except BaseException:
        _put_away(keeper)
        raise
    keeper.save()


def _put_away(keeper: _Keeper) -> None:
    """Save what an interrupted run has, and say so; what ended it is told by others."""
    try:
        with signals.undisturbed():
            if keeper.save():
                so_far = f"stopped after {keeper.solver.iterations:,} iterations, kept in {keeper.path}"
                signals.tell(f"{so_far}; the same command goes on with them")
    except SavedStateError as error:
        print(f"\nquandary: {error}", file=sys.stderr)


class _Keeper:
    """Saves a run, not so often that it would be held up."""

    def __init__(self, solver: Any, path: Path) -> None:
        self.solver, self.path = solver, path
        self.saved_at = time.monotonic()
        self.pause_s = SAVE_EVERY_S

    def save(self) -> bool:
        """Write the file; a run that has not begun leaves none, and the answer is False."""
        if not (self.solver.iterations or getattr(self.solver, "visited", 0)):
            return False
        began = time.monotonic()
        self.solver.save(self.path)
        self.saved_at = time.monotonic()
        self.pause_s = max(SAVE_EVERY_S, (self.saved_at - began) / _SAVING_SHARE)
        return True

    def left_s(self) -> float:
        """Time until the next save."""
        return max(0.0, self.saved_at + self.pause_s - time.monotonic())


def _finish(spec: Spec, solver: Any, keeper: _Keeper) -> None:
    """Run what is left, a stretch between two saves at a time."""
    seconds: Any = spec.parameters.get("seconds")
    if seconds is not None:
        while (left_s := seconds - solver.seconds) > 0:
            before_s = solver.seconds
            each_s = before_s / max(1, solver.iterations)
            if not hasattr(solver, "visited") and left_s + OVERTIME * seconds < each_s:
                break  # as in one go: none is begun that would end too late (one without a tree stops within)
            # A first iteration may need all the time there is.
            solver.run_for(min(left_s, keeper.pause_s) if solver.iterations else left_s)
            keeper.save()
            if solver.seconds == before_s:  # a linear program is solved once
                break
        return
    last = spec.parameters.get("iterations", 1)
    step = 1
    while solver.iterations < last:
        began, before = time.monotonic(), solver.iterations
        solver.run(min(step, last - solver.iterations))
        each_s = (time.monotonic() - began) / max(1, solver.iterations - before)
        if not keeper.left_s():
            keeper.save()
        step = max(1, min(4 * step, int(0.5 * keeper.left_s() / max(each_s, 1e-9))))
