"""The exact equilibrium of a two-player zero-sum game, by linear programming on the sequence form.

Player 0's plan x (a probability for each of its sequences) earns the most against a best-responding
rival: maximise v over x and q with

    E x = e,  x >= 0          x is a plan: each set's sequences sum to the one before them
    F' q <= A' x              q bounds, from below, the value of each of the rival's information sets
    v = q[root]

and the same from player 1's side. Both programs go to HiGHS through scipy. It is independent of the
CFR family and checks it; its cost grows steeply with the size of the game.

Source: Koller, Megiddo, von Stengel, "Efficient computation of equilibria for extensive two-person
games", Games and Economic Behavior 14 (1996).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix, csr_matrix, hstack

from engine_ext.errors import ParameterError, SavedStateError, TooLargeError, UnsuitableGameError
from engine_ext.position import Rules
from solvers.best_response import exploitability
from solvers.contract import Parameter, SolverSpec, advised
from solvers.detached import call_detached
from solvers.policies import TabularPolicy
from solvers.saved import read_checkpoint, write_saved
from solvers.sequence_form import SequenceForm, require_perfect_recall
from solvers.tree import FlatTree

_QUICK_ENTRIES = 20_000  # payoff entries of a program that HiGHS solves in about a second
_KIND, _VERSION = "linear program checkpoint", 1
_LIMIT_REACHED = 1  # one of scipy's statuses


def require_two_player_zero_sum(tree: FlatTree, what: str) -> None:
    """Raise UnsuitableGameError, naming the property, unless the game is zero-sum for two."""
    if tree.n_players != 2:
        raise UnsuitableGameError(f"{tree.name}: {what} needs two players; it has {tree.n_players}")
    if not tree.zero_sum:
        raise UnsuitableGameError(f"{tree.name}: {what} needs utilities that sum to zero; these do not (general-sum)")


class SequenceFormSolver:
    """Solves a tree exactly; a `PolicySolver` whose first iteration is the whole work.

    Args:
        tree: the FlatTree.

    Attributes:
        iterations: 1 once solved, else 0.
        value: the game's value to player 0; nan before.

    Raises:
        UnsuitableGameError: not two players, not zero-sum, or without perfect recall.
    """

    def __init__(self, tree: FlatTree) -> None:
        require_two_player_zero_sum(tree, "linear programming")
        require_perfect_recall(tree, "linear programming")
        self.tree = tree
        self.iterations = 0
        self.seconds = 0.0
        self.value = float("nan")
        self._policy = TabularPolicy.uniform(tree)

    def run(self, iterations: int) -> None:
        """Solve both players' programs; further calls, and 0, do nothing.

        Raises:
            UnsuitableGameError: HiGHS finds no optimum (numerically ill-posed utilities).
            TooLargeError: its process was killed.
        """
        if iterations >= 1 and not self.iterations:
            self._solve(None)

    def run_for(self, seconds: float) -> int:
        """Solve, but give up after so much time; returns 1.

        Raises:
            ParameterError: seconds is out of range.
            TooLargeError: HiGHS was not done by then, or its process was killed.
            UnsuitableGameError: as for `run`.
        """
        if not seconds > 0:
            raise ParameterError(f"seconds is {seconds}, it must be above 0")
        if not self.iterations:
            self._solve(seconds)
        return 1

    def _solve(self, seconds: float | None) -> None:
        began = time.perf_counter()
        sequences = SequenceForm(self.tree)
        payoff = sequences.payoff_matrix()
        sides = [_Constraints(self.tree, sequences, player) for player in range(2)]
        probabilities = np.zeros(self.tree.n_sequences)
        values = []
        for player in range(2):
            rival = 1 - player
            matrix = payoff[player] if player == 0 else payoff[player].T.tocsr()
            matrix = matrix[sides[player].slots][:, sides[rival].slots]
            left_s = None if seconds is None else max(0.01, seconds - (time.perf_counter() - began))
            value, plan = _solve(matrix, sides[player], sides[rival], self.tree.name.removesuffix("()"), left_s)
            values.append(value)
            sides[player].to_policy(plan, probabilities)
        self.value = (values[0] - values[1]) / 2
        self._policy = TabularPolicy(self.tree, probabilities)
        self.iterations = 1
        self.seconds = time.perf_counter() - began

    @property
    def exact(self) -> bool:
        """Whether the policy is the equilibrium: not before it is solved."""
        return self.iterations > 0

    def average_policy(self) -> TabularPolicy:
        """The equilibrium; uniform before the run, and in sets that an equilibrium player never reaches."""
        return self._policy

    def exploitability(self) -> float:
        """NashConv / 2 of the policy."""
        return float(exploitability(self._policy))

    def save(self, path: Path) -> None:
        """Write the policy, and how long it took."""
        meta = {"setting": self._setting(), "seconds": self.seconds, "value": self.value, "name": self.tree.name}
        write_saved(path, _KIND, _VERSION, meta, {"probabilities": self._policy.probabilities})

    def load(self, path: Path) -> None:
        """Take over a saved solution.

        Raises:
            SavedStateError: damaged, of another game or solver, or no equilibrium; nothing has changed then.
        """
        meta, arrays = read_checkpoint(path, _KIND, _VERSION, self._setting(), self.tree.name)
        policy = TabularPolicy(self.tree, arrays["probabilities"])
        if exploitability(policy) > 1e-6 * max(1.0, self.tree.max_utility - self.tree.min_utility):
            raise SavedStateError(f"{path}: this policy is not an equilibrium")
        self._policy, self.iterations = policy, 1
        self.seconds, self.value = meta["seconds"], meta["value"]

    def _setting(self) -> dict[str, str]:
        return {"solver": "sequence_form", "game": self.tree.digest}


class _Constraints:
    """One player's sequences (0 is the empty one) and the equations that make a vector a plan."""

    def __init__(self, tree: FlatTree, sequences: SequenceForm, player: int) -> None:
        first, parent = tree.arrays["info_first"], tree.arrays["info_parent"]
        counts = np.diff(first)
        own = np.flatnonzero(tree.arrays["info_player"] == player)
        self.sequences = np.flatnonzero(np.repeat(tree.arrays["info_player"] == player, counts))
        place = np.zeros(tree.n_sequences + 1, dtype=np.int64)  # place[-1] is the empty sequence's
        place[self.sequences] = np.arange(1, len(self.sequences) + 1)
        self.slots = np.concatenate([[0], sequences.slot_of[self.sequences]]).astype(np.int64)
        self.counts = counts[own]
        rows = np.concatenate([[0], np.repeat(np.arange(1, len(own) + 1), self.counts), np.arange(1, len(own) + 1)])
        columns = np.concatenate([[0], np.arange(1, len(self.sequences) + 1), place[parent[own]]])
        signs = np.concatenate([[1.0], np.ones(len(self.sequences)), -np.ones(len(own))])
        self.matrix: csr_matrix = coo_matrix((signs, (rows, columns)), (len(own) + 1, len(self.slots))).tocsr()
        self.right = np.zeros(len(own) + 1)
        self.right[0] = 1.0

    def to_policy(self, plan: np.ndarray, out: np.ndarray) -> None:
        """Write the behaviour policy of a plan at the player's sequences."""
        weights = np.maximum(plan[1:], 0.0)
        if not len(weights):
            return
        starts = np.concatenate([[0], np.cumsum(self.counts)[:-1]])
        sums = np.repeat(np.add.reduceat(weights, starts), self.counts)
        even = np.repeat(1.0 / self.counts, self.counts)
        reached = sums > 1e-12
        out[self.sequences] = np.where(reached, weights / np.where(reached, sums, 1.0), even)


def _solve(
    payoff: csr_matrix, own: _Constraints, rival: _Constraints, name: str, seconds: float | None
) -> tuple[float, np.ndarray]:
    """(value, plan) of the maximising player; payoff is [own sequences, rival's sequences]."""
    n_own, n_sets = own.matrix.shape[1], rival.matrix.shape[0]
    objective = np.zeros(n_own + n_sets)
    objective[n_own] = -1.0
    program = {
        "c": objective,
        "A_ub": hstack([-payoff.T, rival.matrix.T]).tocsr(),
        "b_ub": np.zeros(rival.matrix.shape[1]),
        "A_eq": hstack([own.matrix, csr_matrix((own.matrix.shape[0], n_sets))]).tocsr(),
        "b_eq": own.right,
        "bounds": [(0, None)] * n_own + [(None, None)] * n_sets,
        "options": {
            "primal_feasibility_tolerance": 1e-10,
            "dual_feasibility_tolerance": 1e-10,
            **({} if seconds is None else {"time_limit": seconds}),
        },
    }
    # HiGHS hears no signals, and a large program may take hours; nor does it look at the clock in every step.
    try:
        optimum, status, message = (
            call_detached(_optimum, program, seconds=seconds) if payoff.nnz > _QUICK_ENTRIES else _optimum(program)
        )
    except TimeoutError:
        optimum, status, message = None, _LIMIT_REACHED, ""
    except RuntimeError as error:
        raise TooLargeError(f"{name}: HiGHS found no end, most likely for want of memory: {error}") from error
    if status == _LIMIT_REACHED and seconds is not None:
        raise TooLargeError(
            f"{name}: the linear program of {n_own} sequences against {n_sets} information sets was not solved in "
            "time; give it more seconds, or use cfr+"
        )
    if optimum is None:
        raise UnsuitableGameError(f"{name}: HiGHS finds no equilibrium: {message}")
    return float(optimum[n_own]), optimum[:n_own]


def _optimum(program: dict[str, Any]) -> tuple[np.ndarray | None, int, str]:
    """Where a linear program has its optimum, None without one; scipy's status, and what HiGHS says."""
    result = linprog(**program, method="highs")
    return result.x if result.success else None, int(result.status), str(result.message)


def check(rules: Rules, parameters: Mapping[str, Any]) -> None:
    """Raise UnsuitableGameError for a game that cannot be solved, before its tree is extracted."""
    if rules.num_players() != 2:
        _refuse(rules, f"needs two players; it has {rules.num_players()}")
    if not rules.zero_sum:
        _refuse(rules, "needs utilities that sum to zero; these do not (general-sum)")
    if not getattr(rules, "perfect_recall", True):
        _refuse(rules, "needs perfect recall, and here a seat forgets what it knew or did", measured=False)


def _refuse(rules: Rules, why: str, measured: bool = True) -> None:
    """Raise; `measured`: whether exploitability is defined for the game."""
    if not rules.hidden_information:
        advice = "nothing is hidden, so value_iteration solves it, or mcts plays it"
    elif measured:
        advice = "cfr+ runs all the same, and tells how exploitable what it finds is"
    else:
        advice = "cfr+ runs all the same, and promises nothing"
    raise UnsuitableGameError(f"{rules.name}: linear programming {why}; {advised(rules, advice)}")


def _make(tree: FlatTree, parameters: Mapping[str, Any]) -> SequenceFormSolver:
    return SequenceFormSolver(tree)


SOLVERS = (
    SolverSpec(
        name="sequence_form",
        kind="policy",
        summary="Exact equilibrium of a two-player zero-sum game by linear programming.",
        source="Koller, Megiddo and von Stengel, Games and Economic Behavior 14, 1996",
        make=_make,
        parameters={"seconds": Parameter(None, "give up after so much time", kind=float, low=1e-6, high=1e8)},
        check=check,
        exact=lambda parameters: True,
    ),
)
