"""Counterfactual regret minimisation on flat trees: CFR, CFR+, Linear CFR, DCFR, PCFR+.

All are one loop with four differences: what is done to the accumulated regrets R when the regrets
r of iteration t come in, what the next policy is proportional to, and the weight of iteration t
in the average policy.

| solver | R becomes | next policy by the positive part of | weight |
|---|---|---|---|
| cfr | R + r | R | 1 |
| cfr+ | max(R + r, 0) | R | t |
| lcfr | (R + r) t/(t+1) | R | t |
| dcfr | (R + r) t^alpha/(t^alpha+1) where positive, t^beta/(t^beta+1) elsewhere | R | t^gamma |
| pcfr+ | max(R + r, 0) | max(R + r, 0), the last r standing in for the next | t^2 |

Alternating updates let player 0 go first, and each player answers the others' newest policy.
Perfect-recall trees run on the sequence form, others on the node pass (`form` chooses). Without
perfect recall, or with more than two players, or with utilities that do not sum to zero, the
average need not approach an equilibrium; it is computed all the same, and NashConv tells.

Sources: Zinkevich, Johanson, Bowling, Piccione, "Regret minimization in games with incomplete
information", NIPS 2007 (cfr); Tammelin, "Solving large imperfect information games using CFR+",
2014 (cfr+); Brown and Sandholm, "Solving imperfect-information games via discounted regret
minimization", AAAI 2019 (lcfr, dcfr); Farina, Kroer, Sandholm, "Faster game solving via predictive
Blackwell approachability", AAAI 2021 (pcfr+).
"""
import time

import numpy as np

cimport cython
from libc.math cimport isinf, pow, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from engine_ext.game cimport PLAYER_LIMIT
from solvers.node_pass cimport NodePass, Seat
from solvers.sequence_form cimport (
    RULE_CFR, RULE_DISCOUNT, RULE_PLUS, RULE_PREDICT, Kernels, SequenceForm, Side, Weights,
)
from solvers.stopping cimport look_up
from solvers.tree cimport FlatTree

from engine_ext.errors import ParameterError, SavedStateError
from solvers.best_response import nash_conv
from solvers.budget import batches, run_for
from solvers.contract import Parameter, SolverSpec
from solvers.policies import TabularPolicy
from solvers.saved import read_checkpoint, write_saved

_KIND = "CFR checkpoint"
_VERSION = 3
_RULES = {"cfr": RULE_CFR, "cfr+": RULE_PLUS, "lcfr": RULE_DISCOUNT, "dcfr": RULE_DISCOUNT, "pcfr+": RULE_PREDICT}
_WEIGHTS = {"cfr": 0.0, "cfr+": 1.0, "lcfr": 1.0, "dcfr": 2.0, "pcfr+": 2.0}   # exponent of t
_GREATEST_GAMMA = 20.0    # the weights of 10^15 iterations still are numbers


cdef inline double power(double t, double exponent, bint by_root) noexcept nogil:
    """t ** exponent, quick for the exponents that papers use.

    `by_root` takes 1.5 by a square root, which rounds alike on every machine; else it is the C
    library's pow, which OpenSpiel's Python solvers use.
    """
    if exponent == 0.0:
        return 1.0
    if exponent == 1.0:
        return t
    if exponent == 2.0:
        return t * t
    if exponent == 1.5 and by_root:
        return t * sqrt(t)
    return pow(t, exponent)


cdef inline double share(double weight) noexcept nogil:
    """weight / (weight + 1), which is 1 for a weight beyond all numbers."""
    return 1.0 if isinf(weight) else weight / (weight + 1.0)


cdef class CFRSolver:
    """One run of a solver of the CFR family.

    Args:
        tree: the FlatTree to solve.
        variant: cfr, cfr+, lcfr, dcfr or pcfr+.
        updates: alternating or simultaneous.
        form: sequence, tree (the node pass), or auto: sequence where the tree has perfect recall.
        alpha: dcfr: exponent of the discount of positive regrets; so great that t ** alpha is beyond all
            numbers, nothing is discounted.
        beta: dcfr: exponent of the discount of negative regrets, likewise.
        gamma: exponent of t in the average's weights, 0 to 20; None for the variant's own.
        base_only: run the kernels of the base architecture (the same results, slower).

    Attributes:
        iterations: iterations done.

    Raises:
        ParameterError: an unknown name, or a number out of range.
        UnsuitableGameError: form is sequence and a player lacks perfect recall, or merged states.
    """
    cdef readonly FlatTree tree
    cdef readonly str variant
    cdef readonly str updates
    cdef readonly str form
    cdef readonly double alpha
    cdef readonly double beta
    cdef readonly double gamma
    cdef readonly int64_t iterations
    cdef readonly double seconds       # wall-clock time spent in iterations
    cdef int32_t rule
    cdef int32_t n_players
    cdef bint alternating
    cdef bint linear
    # the sequence form: vectors over slots
    cdef SequenceForm sequences
    cdef list vectors                  # per player: regret, policy, plan, total, values
    cdef double *regret[PLAYER_LIMIT]
    cdef double *policy[PLAYER_LIMIT]
    cdef double *plan[PLAYER_LIMIT]
    cdef double *total[PLAYER_LIMIT]
    cdef double *values[PLAYER_LIMIT]
    # the node pass: arrays over sequences (all players)
    cdef NodePass nodes
    cdef double[::1] node_regret
    cdef double[::1] node_latest       # this iteration's regrets alone, where the rule asks for them
    cdef double[::1] node_policy
    cdef double[::1] node_total
    cdef double[:, ::1] node_reach     # one row for all players by sequence, or one a player by node
    cdef double *reach[PLAYER_LIMIT]

    def __init__(self, FlatTree tree not None, *, variant="cfr", updates="alternating", form="auto", alpha=1.5,
                 beta=0.0, gamma=None, base_only=False):
        for name, value, allowed in (
                ("variant", variant, _RULES), ("updates", updates, ("alternating", "simultaneous")),
                ("form", form, ("auto", "sequence", "tree"))):
            if value not in allowed:
                raise ParameterError(f"{name} is {value!r}, allowed are {', '.join(allowed)}")
        if alpha != alpha or beta != beta:
            raise ParameterError(f"alpha is {alpha} and beta {beta}, both must be numbers")
        if gamma is not None and not 0 <= gamma <= _GREATEST_GAMMA:
            raise ParameterError(f"gamma is {gamma}, allowed are 0 to {_GREATEST_GAMMA}")
        self.tree, self.variant, self.updates = tree, variant, updates
        self.alpha, self.beta = (1.0, 1.0) if variant == "lcfr" else (alpha, beta)
        self.gamma = _WEIGHTS[variant] if gamma is None else gamma
        self.rule = _RULES[variant]
        self.n_players = tree.n_players
        self.alternating = updates == "alternating"
        self.linear = variant == "lcfr"
        self.form = form if form != "auto" else "sequence" if all(tree.perfect_recall) else "tree"
        if self.form == "sequence":
            self._start_sequences(base_only)
        else:
            self._start_nodes()

    cdef Weights weights_of(self, int64_t iteration) noexcept nogil:
        """What iteration t, from 1, weighs, and which share of the regrets before it is kept.

        The node pass discounts after an iteration's regrets are in, as OpenSpiel does; the sequence form when
        the next ones come, or, as lcfr's discount comes to t/(t+1) a time, weighs regrets by t instead.
        """
        cdef double t = <double>iteration
        cdef bint lazy = self.sequences is not None
        cdef Weights out
        out.average = power(t, self.gamma, lazy)
        out.regret = out.keep_positive = out.keep_negative = 1.0
        if self.linear and lazy:
            out.regret = t
        elif self.rule == RULE_DISCOUNT:
            out.keep_positive = share(power(t - lazy, self.alpha, lazy))
            out.keep_negative = share(power(t - lazy, self.beta, lazy))
        return out

    # ---- the sequence form ------------------------------------------------------------------

    def _start_sequences(self, base_only):
        cdef int32_t player
        self.sequences = SequenceForm(self.tree, base_only=base_only)
        uniform = uniform_policy(self.tree)
        self.vectors = []
        for player in range(self.n_players):
            policy = self.sequences.to_slots(player, uniform)
            plan = self.sequences.plan(player, policy)
            own = {"regret": self.sequences.vector(player), "policy": policy, "plan": plan,
                   "total": self.sequences.vector(player), "values": self.sequences.vector(player)}
            self.vectors.append(own)
        self._point()

    def _point(self):
        cdef int32_t player
        cdef double[::1] view
        for player in range(self.n_players):
            own = self.vectors[player]
            view = own["regret"]
            self.regret[player] = &view[0]
            view = own["policy"]
            self.policy[player] = &view[0]
            view = own["plan"]
            self.plan[player] = &view[0]
            view = own["total"]
            self.total[player] = &view[0]
            view = own["values"]
            self.values[player] = &view[0]

    cdef void iterate_sequences(self, int64_t count) noexcept nogil:
        cdef const Kernels *kernels = self.sequences.kernels
        cdef const Side *sides = self.sequences.sides
        cdef const double *rivals[PLAYER_LIMIT][PLAYER_LIMIT]
        cdef int32_t player
        cdef int64_t _
        cdef Weights weights
        for player in range(self.n_players):
            self.sequences.rivals(player, self.plan, rivals[player])
        for _ in range(count):
            self.iterations += 1
            weights = self.weights_of(self.iterations)
            if not self.alternating:
                for player in range(self.n_players):
                    kernels.values(&sides[player], rivals[player], self.values[player])
            for player in range(self.n_players):
                if self.alternating:
                    kernels.values(&sides[player], rivals[player], self.values[player])
                kernels.update[self.rule](&sides[player], &weights, self.values[player], self.regret[player],
                                          self.policy[player])
                kernels.plan(&sides[player], weights.average, self.policy[player], self.plan[player],
                             self.total[player])

    # ---- the node pass ----------------------------------------------------------------------

    def _start_nodes(self):
        self.nodes = NodePass(self.tree)
        n = self.tree.n_sequences
        self.node_regret, self.node_total = np.zeros(n), np.zeros(n)
        self.node_latest = np.zeros(n if self.rule == RULE_PREDICT else 0)
        self.node_policy = uniform_policy(self.tree)
        by_sequence = self.nodes.by_sequence
        self.node_reach = np.ones((1, n + 1) if by_sequence else (self.n_players, self.tree.n_nodes))
        self._reach_nodes()

    def _reach_nodes(self):
        """Every player's reach under the current policy."""
        cdef int32_t player
        for player in range(self.n_players):
            self.reach[player] = &self.node_reach[0 if self.nodes.by_sequence else player, 0]
            if self.node_policy.shape[0]:
                self.reach_nodes(player)

    @cython.boundscheck(False)   # hot, and its indices come from the tree
    cdef void iterate_nodes(self, int64_t count) noexcept nogil:
        cdef int32_t player
        cdef int64_t _
        cdef Weights weights
        if self.node_policy.shape[0] == 0:
            self.iterations += count
            return
        for _ in range(count):
            self.iterations += 1
            weights = self.weights_of(self.iterations)
            if self.node_latest.shape[0]:
                memset(&self.node_latest[0], 0, self.node_latest.shape[0] * sizeof(double))
            if not self.alternating:
                for player in range(self.n_players):
                    self.regret_nodes(player)
            for player in range(self.n_players):
                if self.alternating:
                    self.regret_nodes(player)
                self.update_nodes(player, weights)
                self.reach_nodes(player)

    @cython.boundscheck(False)
    cdef void regret_nodes(self, int32_t player) noexcept nogil:
        """Add a player's regrets of this iteration."""
        cdef double *latest = &self.node_latest[0] if self.node_latest.shape[0] else NULL
        self.nodes.values(player, &self.node_policy[0])
        self.nodes.add_regrets(player, self.reach, &self.node_regret[0], latest)

    @cython.boundscheck(False)
    cdef void reach_nodes(self, int32_t player) noexcept nogil:
        """A player's reach under its policy."""
        cdef const Seat *seat = &self.nodes.seats[player]
        cdef const double *policy = &self.node_policy[0]
        cdef double *plan = self.reach[player]
        cdef double before
        cdef int32_t i, s
        if not self.nodes.by_sequence:
            self.nodes.walk_down(player, policy, plan)
            return
        for i in range(seat.n_sets):
            before = plan[seat.parent[i]]
            for s in range(seat.first[i], seat.first[i] + seat.count[i]):
                plan[s + 1] = before * policy[s]

    @cython.boundscheck(False)
    cdef void update_nodes(self, int32_t player, Weights weights) noexcept nogil:
        """Average, regrets and next policy of one player, information set by information set.

        Unlike on the sequence form every positive regret counts, however small: as OpenSpiel does.
        """
        cdef const Seat *seat = &self.nodes.seats[player]
        cdef double *policy = &self.node_policy[0]
        cdef double *regret = &self.node_regret[0]
        cdef double *total = &self.node_total[0]
        cdef const double *plan = self.reach[player] + 1
        cdef int32_t i, first, end, s
        cdef double positive, r
        if not self.nodes.by_sequence:
            self.nodes.add_average(player, weights.average, policy, self.reach[player], total)
        for i in range(seat.n_sets):
            first, end = seat.first[i], seat.first[i] + seat.count[i]
            positive = 0.0
            for s in range(first, end):
                if self.nodes.by_sequence:
                    total[s] += weights.average * plan[s]
                r = regret[s]
                if self.rule == RULE_DISCOUNT:
                    r *= weights.keep_positive if r > 0.0 else weights.keep_negative
                elif self.rule != RULE_CFR and r < 0.0:
                    r = 0.0
                regret[s] = r
                if self.rule == RULE_PREDICT:
                    r += self.node_latest[s]
                policy[s] = r if r > 0.0 else 0.0
                positive += policy[s]
            if positive > 0.0:
                for s in range(first, end):
                    policy[s] /= positive
            else:
                for s in range(first, end):
                    policy[s] = 1.0 / <double>(end - first)

    # ---- running ----------------------------------------------------------------------------

    def run(self, iterations):
        """That many more iterations; Ctrl-C stops between two of them, with all state whole."""
        if not 0 <= iterations < 2**62:
            raise ParameterError(f"iterations is {iterations}, it must be 0 or more")
        cdef int64_t size
        began = time.perf_counter()
        try:
            for size in batches(iterations, None):
                with nogil:
                    if self.sequences is not None:
                        self.iterate_sequences(size)
                    else:
                        self.iterate_nodes(size)
                look_up()
        finally:
            self.seconds += time.perf_counter() - began

    def run_for(self, seconds):
        """Iterations until that much time has passed, at least one; returns how many."""
        return run_for(self, seconds)

    # ---- results ----------------------------------------------------------------------------

    def _gather(self, name):
        """regret, policy or total as float64[n_sequences], whichever form holds it."""
        if self.sequences is None:
            held = {"regret": self.node_regret, "policy": self.node_policy, "total": self.node_total}
            return np.asarray(held[name]).copy()
        out = np.zeros(self.tree.n_sequences)
        for player in range(self.n_players):
            self.sequences.from_slots(player, self.vectors[player][name], out)
        return out

    def average_policy(self):
        """The average policy of all iterations so far, a TabularPolicy. An information set that its
        own player never reached is uniform."""
        return TabularPolicy(self.tree, normalised(self.tree, self._gather("total")))

    def current_policy(self):
        """The policy that the next iteration plays, a TabularPolicy."""
        return TabularPolicy(self.tree, self._gather("policy"))

    def regrets(self):
        """Accumulated regrets after the variant's rule, float64[n_sequences]."""
        regret = self._gather("regret")
        if self.rule != RULE_DISCOUNT or self.sequences is None:
            return regret
        # The sequence form has yet to discount them.
        cdef Weights coming = self.weights_of(self.iterations + 1)
        if self.linear:
            return regret / coming.regret
        return regret * np.where(regret > 0.0, coming.keep_positive, coming.keep_negative)

    def nash_conv(self):
        """NashConv of the average policy.

        Raises:
            UnsuitableGameError: a player lacks perfect recall.
        """
        return nash_conv(self.average_policy(), sequences=self.sequences)

    def exploitability(self):
        """NashConv of the average policy divided by the number of players."""
        return self.nash_conv() / self.n_players

    # ---- checkpoints ------------------------------------------------------------------------

    def _setting(self):
        return {"solver": self.variant, "updates": self.updates, "form": self.form, "alpha": self.alpha,
                "beta": self.beta, "gamma": self.gamma, "game": self.tree.digest}

    def save(self, path):
        """Write a checkpoint from which a run continues bit for bit."""
        meta = {"setting": self._setting(), "iterations": self.iterations, "seconds": self.seconds,
                "name": self.tree.name}
        arrays = {"regret": self._gather("regret"), "policy": self._gather("policy"),
                  "total": self._gather("total")}
        write_saved(path, _KIND, _VERSION, meta, arrays)

    def load(self, path):
        """Continue from a checkpoint.

        Raises:
            SavedStateError: damaged, or of another game, solver or setting; nothing has changed then.
        """
        cdef int32_t player
        meta, arrays = read_checkpoint(path, _KIND, _VERSION, self._setting(), self.tree.name)
        n = self.tree.n_sequences
        if any(len(arrays.get(name, ())) != n for name in ("regret", "policy", "total")):
            raise SavedStateError(f"{path}: not a whole checkpoint")
        if self.sequences is None:
            self.node_regret, self.node_policy, self.node_total = (
                arrays[name].copy() for name in ("regret", "policy", "total"))
            self._reach_nodes()
        else:
            for player in range(self.n_players):
                own = self.vectors[player]
                for name in ("regret", "policy", "total"):
                    own[name][:] = self.sequences.to_slots(player, arrays[name])
                own["plan"][:] = self.sequences.plan(player, own["policy"])
        self.iterations, self.seconds = meta["iterations"], meta["seconds"]

    def __repr__(self):
        return f"<{self.variant} on {self.tree.name}, {self.form} form, {self.iterations} iterations>"


def uniform_policy(FlatTree tree not None):
    """Every action alike, float64[n_sequences]."""
    counts = np.diff(tree.arrays["info_first"])
    return np.repeat(1.0 / np.maximum(counts, 1), counts)


def normalised(FlatTree tree not None, const double[::1] weights):
    """Weights over the sequences scaled to sum to 1 in each information set; uniform where they are 0."""
    cdef const int32_t[::1] first = tree.arrays["info_first"]
    out = np.zeros(tree.n_sequences)
    cdef double[::1] policy = out
    cdef int32_t i, s
    cdef double total
    for i in range(tree.n_infosets):
        total = 0.0
        for s in range(first[i], first[i + 1]):
            total += weights[s]
        for s in range(first[i], first[i + 1]):
            policy[s] = weights[s] / total if total > 0.0 else 1.0 / <double>(first[i + 1] - first[i])
    return out


# ---- what solvers/specs.py finds -----------------------------------------------------------------

def _parameters(**more):
    return {
        "iterations": Parameter(1000, "iterations to run", low=0),
        "seconds": Parameter(None, "stop after this much time instead", kind=float, low=1e-6, high=1e8),
        "updates": Parameter("alternating", "who is updated at once", choices=("alternating", "simultaneous")),
        "form": Parameter("auto", "what it runs on: the sequence form or the tree's nodes",
                          choices=("auto", "sequence", "tree"), needs={"sequence": ("perfect_recall",)}),
        **more,
    }


def _maker(variant):
    def make(tree, parameters):
        options = {key: value for key, value in parameters.items() if key not in ("iterations", "seconds")}
        return CFRSolver(tree, variant=variant, **options)
    return make


_SUMMARIES = {
    "cfr": ("Counterfactual regret minimisation.", "Zinkevich et al., NIPS 2007"),
    "cfr+": ("CFR with regrets kept positive and later iterations weighted more.", "Tammelin, arXiv 1407.5042, 2014"),
    "lcfr": ("CFR with iteration t weighted by t.", "Brown and Sandholm, AAAI 2019, section 3"),
    "dcfr": ("CFR with old regrets discounted.", "Brown and Sandholm, AAAI 2019, section 4"),
    "pcfr+": ("Predictive CFR+: the last regret foretells the next.", "Farina, Kroer and Sandholm, AAAI 2021"),
}

SOLVERS = tuple(
    SolverSpec(
        name=name, kind="policy", summary=summary, source=source, make=_maker(name),
        parameters=_parameters(**({
            "alpha": Parameter(1.5, "exponent of the discount of positive regrets"),
            "beta": Parameter(0.0, "exponent of the discount of negative regrets"),
            "gamma": Parameter(2.0, "exponent of the average's weights", low=0.0, high=_GREATEST_GAMMA),
        } if name == "dcfr" else {})),
    )
    for name, (summary, source) in _SUMMARIES.items()
)
