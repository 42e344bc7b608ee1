"""Online outcome sampling: Monte Carlo regret minimisation as a search, on flat trees.

Every simulation plays one game of the whole tree, from its root, and updates the regrets of one
seat along it and the average strategies of the others; the seats take turns. With probability
`delta` a simulation is *targeted*: chance and players only take what can still lead to the
information set that is to be decided now, so that most work goes where the answer is needed, while
the rest keeps the strategies elsewhere honest. Importance weights undo the bias, so the average
strategies converge to an equilibrium in two-player zero-sum games, wherever the search is.

Sampling is epsilon-on-policy for the seat that is updated and on-policy for the others. Each
information set follows regret matching; its average strategy is weighted by its owner's reach over
the probability of the sample (stochastic weighting). The tables cover the whole tree from the start, so
no playout policy is needed.

Source: Lisy, Lanctot, Bowling, "Online Monte Carlo Counterfactual Regret Minimization for Search in
Imperfect Information Games" (2015), algorithm 1 with information set targeting (section 4.1).
"""
import time

import numpy as np

from libc.stdint cimport int8_t, int32_t, int64_t, uint64_t
from libc.string cimport memset

from engine_ext.game cimport CHANCE, LEGAL_LIMIT, PLAYER_LIMIT, TERMINAL, ops_info_key
from engine_ext.position cimport Position, Rules
from engine_ext.rng cimport Rng, rng_below, rng_double, rng_seed_keys
from solvers.tree cimport FlatTree, TreeTables, tree_child, tree_sample
from solvers.tree_rules cimport TreeRules

from engine_ext.errors import LimitError, PositionError, SpecError, UnsuitableGameError
from engine_ext.seeds import check_seed
from engine_ext.rng import Stream
from solvers.budget import batches, simulation_limit
from solvers.contract import ActionStats, Limit, Parameter, SearchResult, SolverSpec
from solvers.ismcts import DEFAULT_SIMULATIONS, draw
from solvers.extraction import extract

cdef enum:
    SAMPLE_STREAM = 3   # keys of the random streams that belong to one seed
    MOVE_STREAM = 4
    AWAY = 0            # marks: from this node the target cannot be reached any more, or it lies above
    TOWARD = 1          # the target lies below
    TARGET = 2          # a member of the targeted information set


cdef struct Step:
    double prob         # of the edge taken, under the strategies (chance: its probability)
    double others       # reach of everyone but the updated seat, chance included
    int32_t first       # the information set's first sequence; -1 where the updated seat does not move
    int32_t count
    int32_t taken


cdef class Sampler:
    """Regrets and average strategies of one tree, and the simulations that change them.

    Args:
        tree: a FlatTree with one history a node.
        seed: int in [0, 2**64).
        epsilon: share of uniform exploration of the updated seat, in [0, 1].
        delta: share of targeted simulations, in [0, 1].
        targets: information sets to target, all of one seat; [] for none.

    Attributes:
        simulations: made so far.
        regrets: float64[n_sequences], cumulative.
        averages: float64[n_sequences], cumulative; normalise an information set's for its strategy.
    """

    cdef readonly FlatTree tree
    cdef const TreeTables *t
    cdef Rng rng
    cdef double epsilon, delta
    cdef readonly int64_t simulations
    cdef readonly object regrets, averages
    cdef object _marks, _steps, _visits, _weights, _totals
    cdef double *regret
    cdef double *average
    cdef int8_t *mark               # [n_nodes], or null without a target
    cdef int32_t target_seat
    cdef Step *steps                # [depth of the tree]
    # ---- what passed through the target (or, without one, the root): self-normalised estimates
    cdef int64_t *visits            # [LEGAL_LIMIT] by edge of the target
    cdef double *weights            # [LEGAL_LIMIT] sums of importance weights, given that edge
    cdef double *totals             # [LEGAL_LIMIT] and of weight times the mover's utility
    cdef double weight              # the same for the strategies' own choice
    cdef double seat_totals[PLAYER_LIMIT]

    def __init__(self, FlatTree tree not None, *, seed, epsilon, delta, targets):
        cdef double[::1] doubles
        cdef int64_t[::1] longs
        cdef int8_t[::1] bytes_
        cdef uint64_t seed_bits = check_seed(seed)
        cdef int32_t node, infoset
        if tree.tables.parent == NULL:
            raise UnsuitableGameError(f"oos: {tree.name} has merged states, and it needs one history a node")
        tree.prepare_sampling()
        self.tree, self.t = tree, &tree.tables
        self.epsilon, self.delta = epsilon, delta if targets else 0.0
        rng_seed_keys(&self.rng, seed_bits, SAMPLE_STREAM, 0, 0)
        self.regrets = np.zeros(max(1, tree.n_sequences))
        self.averages = np.zeros(max(1, tree.n_sequences))
        doubles = self.regrets
        self.regret = &doubles[0]
        doubles = self.averages
        self.average = &doubles[0]
        self._steps = np.zeros((sum(tree.depths()) + 1) * sizeof(Step), dtype=np.int8)
        bytes_ = self._steps
        self.steps = <Step *>&bytes_[0]
        self._visits = np.zeros(LEGAL_LIMIT, dtype=np.int64)
        longs = self._visits
        self.visits = &longs[0]
        self._weights, self._totals = np.zeros(LEGAL_LIMIT), np.zeros(LEGAL_LIMIT)
        doubles = self._weights
        self.weights = &doubles[0]
        doubles = self._totals
        self.totals = &doubles[0]
        memset(self.seat_totals, 0, sizeof(self.seat_totals))
        self.mark = NULL
        if not targets:
            return
        self._marks = np.zeros(tree.n_nodes, dtype=np.int8)
        bytes_ = self._marks
        self.mark = &bytes_[0]
        self.target_seat = tree.infoset_player(targets[0])
        for infoset in targets:
            for node in tree.infoset_nodes(infoset):
                self.mark[node] = TARGET
                node = self.t.parent[node]
                while node >= 0 and self.mark[node] == AWAY:
                    self.mark[node] = TOWARD
                    node = self.t.parent[node]

    def run(self, int64_t count):
        """That many more simulations, without the GIL."""
        cdef int64_t _k
        with nogil:
            for _k in range(count):
                self.simulate(<int32_t>(self.simulations % self.t.n_players))
                self.simulations += 1

    def strategy(self, *infosets):
        """The average strategy of an information set, float64[its actions]; uniform before any visit.

        Given several with the same actions, which a seat cannot tell apart, theirs together.
        """
        weights = sum(self.averages[slice(self.t.info_first[<int32_t>infoset], self.t.info_first[<int32_t>infoset + 1])]
                      for infoset in infosets)
        total = weights.sum()
        return weights / total if total > 0 else np.full(len(weights), 1.0 / len(weights))

    def action_statistics(self):
        """What passed through the target, by edge: (visits int64[n], values float64[n], nan where unvisited)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self._visits.copy(), self._totals / self._weights

    def values(self):
        """Utility per seat at the target (without one, of the game) under the strategies of the
        simulations, as their importance-weighted mean; nan before any came by."""
        return tuple(self.seat_totals[seat] / self.weight if self.weight > 0 else float("nan")
                     for seat in range(self.t.n_players))

    cdef void match(self, int32_t first, int32_t count, double *sigma) noexcept nogil:
        """Regret matching: probabilities in proportion to positive regrets, uniform without any."""
        cdef double total = 0.0
        cdef int32_t i
        for i in range(count):
            sigma[i] = max(self.regret[first + i], 0.0)
            total += sigma[i]
        if total > 0.0:
            for i in range(count):
                sigma[i] /= total
        else:
            for i in range(count):
                sigma[i] = 1.0 / count

    cdef void simulate(self, int32_t updated) noexcept nogil:
        """One game, and what one seat learns from it."""
        cdef const TreeTables *t = self.t
        cdef double sigma[LEGAL_LIMIT]
        cdef double reach[PLAYER_LIMIT]      # of each seat, so far
        cdef double chance = 1.0             # of chance, so far
        cdef double targeted = 1.0           # probability of the path when targeted, s1
        cdef double free = 1.0               # and when not, s2
        cdef double others, all_but_target = 1.0, at_target = 1.0
        cdef double share, mass, probability, tail, value, weight, gain
        cdef double explore
        cdef bint aiming = self.delta > 0.0 and rng_double(&self.rng) < self.delta
        cdef bint narrow, through = self.mark == NULL
        cdef int32_t node = 0, length = 0, target_edge = -1
        cdef int32_t seat, count, first, i, j, taken, allowed
        cdef Step *step
        for seat in range(t.n_players):
            reach[seat] = 1.0
        while t.player[node] != TERMINAL:
            seat = t.player[node]
            count = t.count[node]
            narrow = self.mark != NULL and self.mark[node] == TOWARD
            others = chance
            for i in range(t.n_players):
                if i != updated:
                    others *= reach[i]
            if seat == CHANCE:
                first = -1
                if narrow:
                    mass = 0.0
                    for i in range(count):
                        if self.mark[tree_child(t, node, i)] != AWAY:
                            mass += t.prob[t.first[node] + i]
                taken = self.pick_chance(node, mass) if narrow and aiming else tree_sample(t, node, &self.rng)
                probability = t.prob[t.first[node] + taken]
                free *= probability
                if not narrow:
                    targeted *= probability
                elif self.mark[tree_child(t, node, taken)] != AWAY:
                    targeted *= probability / mass
                else:
                    targeted = 0.0
                chance *= probability
            else:
                first = t.info_first[t.infoset[node]]
                self.match(first, count, sigma)
                explore = self.epsilon if seat == updated else 0.0
                allowed = count
                mass = 1.0
                if narrow:
                    allowed, mass = 0, 0.0
                    for i in range(count):
                        if self.mark[tree_child(t, node, i)] != AWAY:
                            allowed += 1
                            mass += sigma[i]
                if seat != updated:
                    # The owner's reach over the sample's probability; chance cancels most of it.
                    weight = chance * reach[seat] / (self.delta * targeted + (1.0 - self.delta) * free)
                    for i in range(count):
                        self.average[first + i] += weight * sigma[i]
                taken = self.pick_action(node, count, sigma, explore, narrow and aiming, allowed, mass)
                probability = sigma[taken]
                free *= explore / count + (1.0 - explore) * probability
                if not narrow:
                    targeted *= explore / count + (1.0 - explore) * probability
                elif self.mark[tree_child(t, node, taken)] == AWAY:
                    targeted = 0.0
                elif mass > 0.0:
                    targeted *= explore / allowed + (1.0 - explore) * probability / mass
                else:
                    targeted *= 1.0 / allowed
                reach[seat] *= probability
            if self.mark != NULL and self.mark[node] == TARGET:
                through = True
                target_edge, at_target = taken, probability
            else:
                all_but_target *= probability
            step = &self.steps[length]
            step.prob, step.others, step.first, step.count, step.taken = probability, others, -1, count, taken
            if seat == updated:
                step.first = first
            length += 1
            node = tree_child(t, node, taken)
        share = self.delta * targeted + (1.0 - self.delta) * free
        self.note(node, through, target_edge, all_but_target / share, at_target)
        value = t.utility[<int64_t>t.infoset[node] * t.n_players + updated] / share
        tail = 1.0          # probability of the rest of the game, from behind the step
        for j in range(length - 1, -1, -1):
            step = &self.steps[j]
            if step.first >= 0:
                gain = value * step.others * tail
                for i in range(step.count):
                    self.regret[step.first + i] -= gain * step.prob
                self.regret[step.first + step.taken] += gain
            tail *= step.prob

    cdef void note(self, int32_t terminal, bint through, int32_t edge, double weight, double at_target) noexcept nogil:
        """Keep the estimates of values at the target up to date."""
        cdef const TreeTables *t = self.t
        cdef const double *utility = t.utility + <int64_t>t.infoset[terminal] * t.n_players
        cdef int32_t seat
        if not through:
            return
        self.weight += weight * at_target
        for seat in range(t.n_players):
            self.seat_totals[seat] += weight * at_target * utility[seat]
        if edge >= 0:
            seat = self.target_seat
            self.visits[edge] += 1
            self.weights[edge] += weight
            self.totals[edge] += weight * utility[seat]

    cdef int32_t pick_chance(self, int32_t node, double mass) noexcept nogil:
        """An outcome among those that lead to the target, by probability."""
        cdef const TreeTables *t = self.t
        cdef double left = rng_double(&self.rng) * mass
        cdef int32_t i, last = 0
        for i in range(t.count[node]):
            if self.mark[tree_child(t, node, i)] != AWAY:
                last = i
                left -= t.prob[t.first[node] + i]
                if left < 0.0:
                    break
        return last

    cdef int32_t pick_action(self, int32_t node, int32_t count, const double *sigma, double explore, bint narrow,
                             int32_t allowed, double mass) noexcept nogil:
        """An action, by the strategy mixed with `explore` of uniform; when narrow, of those that
        lead to the target."""
        cdef const TreeTables *t = self.t
        cdef int32_t i, last = -1, skip
        cdef double left
        if (explore > 0.0 and rng_double(&self.rng) < explore) or (narrow and mass <= 0.0):
            if not narrow:
                return rng_below(&self.rng, count)
            skip = rng_below(&self.rng, allowed)
            for i in range(count):
                if self.mark[tree_child(t, node, i)] != AWAY:
                    if skip == 0:
                        return i
                    skip -= 1
        left = rng_double(&self.rng) * (mass if narrow else 1.0)
        for i in range(count):
            if sigma[i] > 0.0 and (not narrow or self.mark[tree_child(t, node, i)] != AWAY):
                last = i
                left -= sigma[i]
                if left < 0.0:
                    break
        return last


# ---- the searcher ------------------------------------------------------------------------------


class OosSearcher:
    """Online outcome sampling as a searcher; see the module and `PARAMETERS`.

    Args:
        tree: the flat tree of the game, where there is one; else the first search extracts it.
        parameters: of `PARAMETERS`; missing ones take their defaults.

    Raises:
        SpecError: an unknown parameter.
        LimitError: a limit out of range.
    """

    def __init__(self, *, tree=None, **parameters):
        unknown = set(parameters) - set(PARAMETERS)
        if unknown:
            raise SpecError(f"oos has no parameter {min(unknown)!r}; it has: {', '.join(PARAMETERS)}")
        self.parameters = {key: parameter.default for key, parameter in PARAMETERS.items()} | parameters
        limits = {key: self.parameters[key] for key in ("simulations", "nodes", "seconds")}
        if all(value is None for value in limits.values()):
            limits["simulations"] = DEFAULT_SIMULATIONS
        self.limit = Limit(**limits)
        self._tree = tree
        self._rules = None

    def reset(self):
        """Nothing is kept between searches but the extracted tree."""

    def prepare(self, rules, progress=None):
        """Extract the game's tree where that has not been done, and what else is done for it once; the FlatTree."""
        tree = self.tree_of(rules, progress)
        tree.prepare_sampling()
        tree.prepare_members()
        tree.depths()
        return None if isinstance(rules, TreeRules) else tree

    def tree_of(self, rules, progress=None):
        """The flat tree of a game, extracted at its first search.

        Raises:
            UnsuitableGameError: the game has no finite tree.
            TooLargeError: its tree does not fit; carries the estimate.
        """
        if isinstance(rules, TreeRules):
            return rules.tree
        if self._tree is None or (self._rules is not None and self._rules is not rules):
            self._tree = extract(rules, progress=progress)
        self._rules = rules
        return self._tree

    def sample(self, position, *, seed, limit=None):
        """Run one search and return its `Sampler` and the information sets it targeted.

        Args:
            position: a decision to target; at a chance node nothing is targeted, so from the start
                of a game this is outcome-sampling MCCFR.
            seed: int in [0, 2**64).
            limit: overrides the searcher's own. A limit in seconds does not count `prepare`.
        """
        limit = self.limit if limit is None else limit
        if limit.depth is not None:
            raise LimitError("oos samples whole games: a limit in depth does not apply to it")
        simulations = simulation_limit(limit, DEFAULT_SIMULATIONS)
        seed = check_seed(seed)
        check(position.rules, self.parameters)
        self.prepare(position.rules)
        tree = self.tree_of(position.rules)
        start_s = time.perf_counter()
        targets = find_infosets(tree, position) if position.is_player_node() else []
        sampler = Sampler(tree, seed=seed, epsilon=self.parameters["epsilon"], delta=self.parameters["delta"],
                          targets=targets)
        left_s = None if limit.seconds is None else max(1e-9, limit.seconds - (time.perf_counter() - start_s))
        for count in batches(simulations, left_s):
            sampler.run(count)
        return sampler, targets

    def search(self, position, *, seed, limit=None):
        """Search from a position; see `solvers.contract.Searcher`."""
        seed = check_seed(seed)
        limit = self.limit if limit is None else limit
        if position.is_terminal():
            return SearchResult(None, tuple(position.returns()), (), 0, 0, 0.0, exact=True)
        check(position.rules, self.parameters)
        self.prepare(position.rules)
        start_s = time.perf_counter()
        sampler, targets = self.sample(position, seed=seed, limit=limit)
        action, actions = None, ()
        if targets:
            shares = sampler.strategy(*targets)
            visits, values = sampler.action_statistics()
            legal = position.legal_actions()
            actions = tuple(ActionStats(each, int(visits[i]), float(values[i]), float(shares[i]))
                            for i, each in enumerate(legal))
            if self.parameters["play"] == "best":
                best = int(shares.argmax())
                shares = np.eye(len(shares))[best]
                actions = tuple(ActionStats(each.action, each.visits, each.value, float(shares[i]))
                                for i, each in enumerate(actions))
            action = draw(dict(zip(legal, shares.tolist())), Stream.keyed(seed, MOVE_STREAM))
        return SearchResult(
            action=action,
            values=sampler.values(),
            actions=actions,
            simulations=sampler.simulations,
            nodes=sampler.tree.n_infosets,
            seconds=time.perf_counter() - start_s,
            principal_variation=() if action is None else (action,),
            reproducible=limit.reproducible,
        )


def find_infosets(FlatTree tree, Position position):
    """The information sets of a tree that are the one of the seat to move at a position.

    More than one only where the game's key forgets what its tree remembers: with perfect
    information, where the same state is reached in several ways.

    Args:
        position: a decision, of the tree itself (`TreeRules`) or of the game it was extracted from.

    Raises:
        PositionError: the game cannot come to it from its start.
    """
    cdef int32_t seat = position.ops.turn(position.tables, position.state)
    if isinstance(position.rules, TreeRules):
        return [int(tree.arrays["infoset"][position.rules.node(position)])]
    key = ops_info_key(position.ops, position.tables, position.state, seat)
    found = np.flatnonzero((tree.arrays["info_key"] == np.uint64(key)) & (tree.arrays["info_player"] == seat))
    if not len(found):
        raise PositionError(f"oos: {tree.name} cannot come to this position from its start, so nothing leads to it")
    return [int(infoset) for infoset in found]


# ---- what is declared --------------------------------------------------------------------------

PARAMETERS = {
    "simulations": Parameter(None, f"simulations a move; {DEFAULT_SIMULATIONS} where no limit is given",
                             kind=int, low=1),
    "nodes": Parameter(None, "the same as simulations, each of which descends once", kind=int, low=1),
    "seconds": Parameter(None, "wall-clock time a move", kind=float, low=1e-6, high=1e8),
    "epsilon": Parameter(0.4, "share of uniform exploration of the updated seat", low=0.0, high=1.0),
    "delta": Parameter(0.9, "share of simulations that aim at the information set to be decided", low=0.0, high=0.999),
    "play": Parameter("sample", "the move: drawn from the average strategy, or its likeliest action",
                      choices=("sample", "best")),
}


def check(Rules rules, parameters):
    """Raises UnsuitableGameError where a property of the game rules the search out."""
    if rules.cyclic:
        raise UnsuitableGameError(f"oos works on the whole tree of a game, and {rules.name} can come back to a state, "
                                  "so its tree has no end; use ismcts")
    if isinstance(rules, TreeRules) and rules.tree.merged:
        raise UnsuitableGameError(f"oos needs one history a node, and {rules.tree.name} has merged states")


def _make(parameters):
    return OosSearcher(**parameters)


SOLVERS = (
    SolverSpec(
        name="oos",
        kind="searcher",
        summary="online outcome sampling: regret minimisation aimed at the information set to be decided",
        source="Lisy, Lanctot and Bowling 2015, algorithm 1 with information set targeting",
        make=_make,
        parameters=PARAMETERS,
        check=check,
    ),
)
