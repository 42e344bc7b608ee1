"""The sequence form: a game as a sparse payoff matrix between the players' sequences.

A sequence of a player is what it did so far: the last pair (information set, action). With
perfect recall a terminal has one last sequence per player, and a strategy is a *plan*: the product
of a player's own probabilities along each sequence. A terminal then adds
`chance reach * utility * product of the plans`, so all terminals with the same sequences fold into
one number, and CFR, best response and linear programming need no tree.

What makes it fast is the order of sequences. `SequenceForm` packs four information sets of like
place and equally many actions into a tile (in card games, one betting history with four private
cards): then their own last sequences, their actions and their payoffs against one rival's sequence
stand side by side in memory and are worked on as one vector (solvers/sequence_kernels.h).

Sources: von Stengel, "Efficient computation of behavior strategies", Games and Economic Behavior
14 (1996); Zinkevich et al., "Regret minimization in games with incomplete information", NIPS
2007. The packing is our own.
"""
import itertools
import time

import numpy as np

cimport cython
from libc.stdint cimport int8_t, int32_t, int64_t, uint64_t

from engine_ext.game cimport CHANCE, TERMINAL
from engine_ext.rng cimport rng_combine
from solvers.tree cimport NO_SEQUENCE, FlatTree, TreeTables

from engine_ext.errors import ParameterError, UnsuitableGameError

_LEAST_FILL = 1.6   # mean lanes in use below which single terms are smaller and faster than vectors
_OPEN_TILES = 16    # tiles of one parent run that a group of sets is tried on


def require_perfect_recall(FlatTree tree, what):
    """Raise UnsuitableGameError, naming the players, unless nobody forgets its own past.

    Args:
        what: what needs it, the subject of the message.
    """
    if tree.tables.target != NULL:
        raise UnsuitableGameError(
            f"{tree.name}: {what} needs perfect recall; equal states were merged, so positions forget how they arose")
    forgetful = [player for player, recalls in enumerate(tree.perfect_recall) if not recalls]
    if forgetful:
        raise UnsuitableGameError(
            f"{tree.name}: {what} needs perfect recall; player{'s' if len(forgetful) > 1 else ''} "
            f"{', '.join(map(str, forgetful))} forget{'' if len(forgetful) > 1 else 's'} own earlier actions")


cdef class SequenceForm:
    """A perfect-recall tree as payoffs between sequences, any number of players.

    Args:
        tree: the FlatTree.
        base_only: use the kernels of the base architecture (the results are the same).

    Raises:
        UnsuitableGameError: a player lacks perfect recall.
    """

    def __init__(self, FlatTree tree not None, *, base_only=False):
        began = time.perf_counter()
        require_perfect_recall(tree, "the sequence form")
        self.tree = tree
        self.n_players = tree.n_players
        self.kernels = choose_kernels(base_only)
        self.slot_of = np.zeros(tree.n_sequences, dtype=np.int32)
        self.arrays = [{} for _ in range(tree.n_players)]
        self.least = least_regrets(tree)
        places = _places(tree)
        for player in range(self.n_players):
            self._pack(player, *places)
        self._fold()
        for player in range(self.n_players):
            self._bind(player)
        self.seconds = time.perf_counter() - began

    # ---- tiles -------------------------------------------------------------------------------

    def _pack(self, player, level, label, steps):
        """Give every sequence of a player its slot."""
        tree = self.tree
        own = np.flatnonzero(tree.arrays["info_player"] == player).astype(np.int32)
        first = tree.arrays["info_first"]
        count = np.diff(first)
        parent = tree.arrays["info_parent"]
        # Where a parent's run begins is known once its level is packed.
        cdef int32_t[::1] slot_of = self.slot_of
        cdef _Packer packer
        segments = []                  # (tiles, slot, actions, regular, first index into parents, first tile)
        parents, packed = [], []
        n_slots, n_parents, n_tiles = LANES, 0, 0
        order = np.argsort(level[own], kind="stable")
        own = own[order]
        bounds = np.flatnonzero(np.diff(level[own], prepend=-1, append=1 << 30)) if len(own) else [0]
        for begin, end in itertools.pairwise(bounds):
            packer = _Packer(own[begin:end], first, count, parent, label, steps, slot_of)
            for actions, regular, members, roots in packer.tiles():
                tiles = len(members) // LANES
                segments.append((tiles, n_slots, actions, regular, n_parents, n_tiles))
                parents.append(roots)
                packed.append(members)
                n_tiles += tiles
                n_parents += len(roots)
                _number(members, actions, n_slots, first, slot_of)
                n_slots += tiles * actions * LANES
                if n_slots >= 2**31:
                    raise UnsuitableGameError(
                        f"{tree.name}: player {player} has too many sequences for the sequence form")
        columns = np.array(segments, dtype=np.int32).reshape(-1, 6)
        self.sides[player].n_slots = n_slots
        self.arrays[player].update(
            segment_tiles=columns[:, 0].copy(), segment_slot=columns[:, 1].copy(), segment_actions=columns[:, 2].copy(),
            segment_regular=columns[:, 3].copy(), segment_parent=columns[:, 4].copy(),
            segment_tile=columns[:, 5].copy(),
            # An empty lane, -1, gets any number: it has no regret.
            least=_aligned(self.least[np.concatenate(packed)]) if packed else np.zeros(0),
            parents=np.concatenate(parents).astype(np.int32) if parents else np.zeros(0, np.int32),
        )

    # ---- payoffs -------------------------------------------------------------------------------

    def _fold(self):
        """Sum the terminals by the players' slots, and lay the sums out for each player."""
        cdef int32_t player
        slots, reach = _terminal_slots(self.tree, self.slot_of)
        for player in range(self.n_players):
            rivals = [rival for rival in range(self.n_players) if rival != player]
            self.arrays[player].update(
                class_runs=np.zeros(0, np.int32), class_entries=np.zeros(0, np.int32), run_slot=np.zeros(0, np.int32),
                column=np.zeros(0, np.int32), entry=np.zeros(0), row_slot=np.zeros(0, np.int32),
                row_start=np.zeros(1, np.int64), term_slots=np.zeros(0, np.int32), term=np.zeros(0),
            )
            if len(rivals) != 1 or not self._lay_out_entries(player, rivals[0], slots, reach):
                self._lay_out_terms(player, rivals, slots, reach)

    @cython.boundscheck(False)   # terminals and their slots come from the tree
    def _lay_out_entries(self, int32_t player, int32_t rival, list slots, const double[::1] reach):
        """Two players: vectors of LANES payoffs. Does nothing and returns False where lanes fill badly."""
        cdef const double[:, ::1] utility = self.tree.arrays["utility"]
        cdef const int32_t[::1] own = slots[player]
        cdef const int32_t[::1] other = slots[rival]
        # The rival's slots descend within a run.
        by_rival = _sorted_by(_paying(utility, player), other, self.n_slots(rival), 1)[::-1].copy()
        cdef const int32_t[::1] order = _sorted_by(by_rival, own, self.n_slots(player) // LANES, LANES)
        cdef int64_t n = order.shape[0], i, at, n_entries = 0, n_terms = 0
        cdef int32_t run, column = -1, last = -1, used = 0, terminal
        sizes = np.zeros(self.n_slots(player) // LANES, dtype=np.int32)    # entries of each run
        cdef int32_t[::1] size = sizes
        for i in range(n):
            terminal = order[i]
            run = own[terminal] // LANES
            if run != last or other[terminal] != column:
                last, column, used = run, other[terminal], 0
                n_entries += 1
                size[run] += 1
            if not used >> own[terminal] % LANES & 1:
                used |= 1 << own[terminal] % LANES
                n_terms += 1
        if n_terms < _LEAST_FILL * n_entries:
            return False
        # The runs by their number of entries.
        runs = np.flatnonzero(sizes)
        runs = runs[np.argsort(sizes[runs], kind="stable")]
        starts = np.zeros(len(sizes), dtype=np.int64)
        starts[runs] = np.cumsum(sizes[runs], dtype=np.int64) - sizes[runs]
        columns, entries = np.zeros(n_entries, dtype=np.int32), _aligned_zeros(n_entries * LANES)
        cdef const int64_t[::1] start = starts
        cdef int32_t[::1] column_of = columns
        cdef double[::1] entry = entries
        last, at = -1, 0
        for i in range(n):
            terminal = order[i]
            run = own[terminal] // LANES
            if run != last:
                last, at = run, start[run]
                column_of[at] = other[terminal]
            elif other[terminal] != column_of[at]:
                at += 1
                column_of[at] = other[terminal]
            entry[at * LANES + own[terminal] % LANES] += reach[terminal] * utility[terminal, player]
        lengths, counts = np.unique(sizes[runs], return_counts=True)
        self.arrays[player].update(
            class_runs=counts.astype(np.int32), class_entries=lengths.astype(np.int32),
            run_slot=(runs * LANES).astype(np.int32), column=columns, entry=entries,
        )
        return True

    @cython.boundscheck(False)   # terminals and their slots come from the tree
    def _lay_out_terms(self, int32_t player, rivals, list slots, const double[::1] reach):
        """Any number of players: one product a term, terms with the same slots summed."""
        cdef const double[:, ::1] utility = self.tree.arrays["utility"]
        cdef const int32_t *keys[PLAYER_LIMIT]      # own slots, then the rivals'
        cdef const int32_t[::1] key
        cdef int32_t n_keys = 0, q, terminal
        cdef int64_t i, n_terms = 0, n_rows = 0
        kept = _paying(utility, player)
        for rival in reversed(rivals):
            kept = _sorted_by(kept, slots[rival], self.n_slots(rival), 1)
        kept = _sorted_by(kept, slots[player], self.n_slots(player), 1)
        cdef const int32_t[::1] order = kept
        if order.shape[0] == 0:
            return
        for seat in [player, *rivals]:
            key = slots[seat]
            keys[n_keys] = &key[0]
            n_keys += 1
        for i in range(order.shape[0]):
            q = _first_difference(keys, n_keys, order[i], order[i - 1]) if i else 0
            n_terms += q < n_keys
            n_rows += q == 0
        terms, places = np.zeros(n_terms), np.zeros((n_terms, n_keys - 1), dtype=np.int32)
        row_slots, row_starts = np.zeros(n_rows, dtype=np.int32), np.full(n_rows + 1, n_terms, dtype=np.int64)
        cdef double[::1] term = terms
        cdef int32_t[:, ::1] place = places
        cdef int32_t[::1] row_slot = row_slots
        cdef int64_t[::1] row_start = row_starts
        cdef int64_t at = -1, row = -1
        for i in range(order.shape[0]):
            terminal = order[i]
            q = _first_difference(keys, n_keys, terminal, order[i - 1]) if i else 0
            if q < n_keys:
                at += 1
                if q == 0:
                    row += 1
                    row_slot[row], row_start[row] = keys[0][terminal], at
                for q in range(1, n_keys):
                    place[at, q - 1] = keys[q][terminal]
            term[at] += reach[terminal] * utility[terminal, player]
        self.arrays[player].update(row_slot=row_slots, row_start=row_starts, term_slots=places.reshape(-1), term=terms)

    def _bind(self, int32_t player):
        cdef Side *side = &self.sides[player]
        arrays = self.arrays[player]
        side.n_segments = len(arrays["segment_tiles"])
        side.segment_tiles = <const int32_t *><size_t>arrays["segment_tiles"].ctypes.data
        side.segment_slot = <const int32_t *><size_t>arrays["segment_slot"].ctypes.data
        side.segment_actions = <const int32_t *><size_t>arrays["segment_actions"].ctypes.data
        side.segment_regular = <const int32_t *><size_t>arrays["segment_regular"].ctypes.data
        side.segment_parent = <const int32_t *><size_t>arrays["segment_parent"].ctypes.data
        side.parents = <const int32_t *><size_t>arrays["parents"].ctypes.data
        side.segment_tile = <const int32_t *><size_t>arrays["segment_tile"].ctypes.data
        side.least = <const double *><size_t>arrays["least"].ctypes.data
        side.n_classes = len(arrays["class_runs"])
        side.class_runs = <const int32_t *><size_t>arrays["class_runs"].ctypes.data
        side.class_entries = <const int32_t *><size_t>arrays["class_entries"].ctypes.data
        side.run_slot = <const int32_t *><size_t>arrays["run_slot"].ctypes.data
        side.column = <const int32_t *><size_t>arrays["column"].ctypes.data
        side.entry = <const double *><size_t>arrays["entry"].ctypes.data
        side.n_rows = len(arrays["row_slot"])
        side.n_rivals = self.n_players - 1
        side.row_slot = <const int32_t *><size_t>arrays["row_slot"].ctypes.data
        side.row_start = <const int64_t *><size_t>arrays["row_start"].ctypes.data
        side.term_slots = <const int32_t *><size_t>arrays["term_slots"].ctypes.data
        side.term = <const double *><size_t>arrays["term"].ctypes.data

    cdef void rivals(self, int32_t player, double **plans, const double **out) noexcept nogil:
        """The plans of everyone else, in ascending order of seat; the own one for a single player."""
        cdef int32_t other, n = 0
        out[0] = plans[player]
        for other in range(self.n_players):
            if other != player:
                out[n] = plans[other]
                n += 1

    # ---- for Python ----------------------------------------------------------------------------

    def n_slots(self, player):
        """Length of a player's vectors: LANES for the empty sequence, and its tiles."""
        return self.sides[player].n_slots

    def vector(self, player, double value=0.0):
        """A new vector over a player's slots, aligned for the kernels, filled with a value."""
        out = _aligned_zeros(self.sides[player].n_slots)
        if value:
            out[:] = value
        return out

    @property
    def fill(self):
        """Per player, the mean share of lanes in use, of tiles' slots."""
        used = [int(np.sum(np.diff(self.tree.arrays["info_first"])[self.tree.arrays["info_player"] == player]))
                for player in range(self.n_players)]
        return tuple(used[player] / max(1, self.sides[player].n_slots - LANES) for player in range(self.n_players))

    @cython.boundscheck(False)   # lengths are checked, and the indices come from the tree
    def to_slots(self, int32_t player, policy):
        """A behaviour policy over the tree's sequences, float64[n_sequences], as a player's vector.
        Unused lanes are 0."""
        cdef const TreeTables *t = &self.tree.tables
        cdef const double[::1] given = np.ascontiguousarray(policy, dtype=np.float64)
        cdef const int32_t[::1] slot_of = self.slot_of
        cdef double[::1] out = self.vector(player)
        cdef int32_t i, s
        if given.shape[0] != t.n_sequences:
            raise ParameterError(f"a policy of {given.shape[0]} sequences; {self.tree.name} has {t.n_sequences}")
        for i in range(t.n_infosets):
            if t.info_player[i] == player:
                for s in range(t.info_first[i], t.info_first[i + 1]):
                    out[slot_of[s]] = given[s]
        return np.asarray(out)

    def from_slots(self, int32_t player, const double[::1] vector not None, double[::1] out not None):
        """Write a player's vector into `out`, float64[n_sequences], at its sequences."""
        cdef const TreeTables *t = &self.tree.tables
        cdef const int32_t[::1] slot_of = self.slot_of
        cdef int32_t i, s
        for i in range(t.n_infosets):
            if t.info_player[i] == player:
                for s in range(t.info_first[i], t.info_first[i + 1]):
                    out[s] = vector[slot_of[s]]

    def plan(self, int32_t player, double[::1] policy not None):
        """The plan of a behaviour policy (`to_slots`), a player's vector; the empty sequence's is 1."""
        cdef double[::1] x = self.vector(player)
        x[:LANES] = 1.0
        # With a weight of 0 the sum stays what it is, so that the plan itself can stand in for one.
        self.kernels.plan(&self.sides[player], 0.0, &policy[0], &x[0], &x[0])
        return np.asarray(x)

    def values(self, int32_t player, list plans not None):
        """What each of a player's sequences earns as the last one, against the others' plans.

        Args:
            plans: one vector per player; the player's own is not read.
        """
        cdef double *pointers[PLAYER_LIMIT]
        cdef const double *rivals[PLAYER_LIMIT]
        cdef double[::1] u = self.vector(player)
        cdef double[::1] view
        cdef int32_t other
        for other in range(self.n_players):
            view = plans[other]
            pointers[other] = &view[0]
        self.rivals(player, pointers, rivals)
        self.kernels.values(&self.sides[player], rivals, &u[0])
        return np.asarray(u)

    def best_response(self, int32_t player, list plans not None):
        """(value, pure policy as a vector) of a player's best response to the others' plans."""
        cdef double[::1] u = self.values(player, plans)
        cdef double[::1] policy = self.vector(player)
        self.kernels.best(&self.sides[player], &u[0], &policy[0])
        return float(np.sum(np.asarray(u)[:LANES])), np.asarray(policy)

    def payoff_matrix(self):
        """Two players: their payoffs as two scipy CSR matrices between slots, [rows of player 0].

        Raises:
            UnsuitableGameError: not two players.
        """
        from scipy.sparse import coo_matrix
        if self.n_players != 2:
            raise UnsuitableGameError(f"{self.tree.name}: a payoff matrix needs two players, not {self.n_players}")
        slots, reach = _terminal_slots(self.tree, self.slot_of)
        shape = self.n_slots(0), self.n_slots(1)
        return tuple(coo_matrix((reach * self.tree.arrays["utility"][:, player], (slots[0], slots[1])), shape).tocsr()
                     for player in range(2))

    def time_kernels(self, int64_t repeats=1000):
        """Nanoseconds a call of each kernel takes, a list with one dict per player: `values_ns`,
        `update_ns` (of CFR) and `plan_ns`, with the matrix bytes that `values` reads."""
        cdef double *plans[PLAYER_LIMIT]
        cdef const double *rivals[PLAYER_LIMIT]
        cdef double[::1] u, regret, policy, total, view
        cdef Weights even = Weights(1.0, 1.0, 1.0, 1.0)
        cdef int32_t player
        cdef int64_t _
        uniform = np.repeat(1.0 / np.diff(self.tree.arrays["info_first"]), np.diff(self.tree.arrays["info_first"]))
        held = [self.plan(player, self.to_slots(player, uniform)) for player in range(self.n_players)]
        for player in range(self.n_players):
            view = held[player]
            plans[player] = &view[0]
        out = []
        for player in range(self.n_players):
            u, regret, total = self.vector(player), self.vector(player), self.vector(player)
            policy = self.to_slots(player, uniform)
            self.rivals(player, plans, rivals)
            times = [time.perf_counter_ns()]
            for _ in range(repeats):
                self.kernels.values(&self.sides[player], rivals, &u[0])
            times.append(time.perf_counter_ns())
            for _ in range(repeats):
                self.kernels.update[RULE_CFR](&self.sides[player], &even, &u[0], &regret[0], &policy[0])
            times.append(time.perf_counter_ns())
            for _ in range(repeats):
                self.kernels.plan(&self.sides[player], 1.0, &policy[0], plans[player], &total[0])
            times.append(time.perf_counter_ns())
            arrays = self.arrays[player]
            out.append({
                **{f"{name}_ns": (after - before) / repeats for name, before, after in
                   zip(("values", "update", "plan"), times[:3], times[1:], strict=True)},
                "matrix_bytes": sum(arrays[key].nbytes for key in ("entry", "column", "term", "term_slots")),
            })
        return out

    def __repr__(self):
        return f"<SequenceForm of {self.tree.name}: slots {[self.n_slots(p) for p in range(self.n_players)]}>"


def least_regrets(FlatTree tree not None):
    """Per information set, what rounding can make of a counterfactual regret of 0, float64[n_infosets].

    A counterfactual value sums terms of at most (chance reach of the set) * (greatest utility); some hundred
    units of rounding of that bound are allowed. Actions that are exactly as good must not be told apart
    by rounding: regret matching would turn the least positive regret into certainty.
    """
    cdef const TreeTables *t = &tree.tables
    cdef double[::1] chance = np.zeros(t.n_nodes)
    out = np.zeros(t.n_infosets)
    cdef double[::1] reach = out
    cdef int32_t node, i
    with nogil:
        chance[0] = 1.0
        for node in range(t.n_nodes):
            if t.player[node] >= 0:
                reach[t.infoset[node]] += chance[node]
            for i in range(t.first[node], t.first[node] + t.count[node]):
                chance[i if t.target == NULL else t.target[i]] += chance[node] * (
                    t.prob[i] if t.player[node] == CHANCE else 1.0)
    greatest = np.abs(tree.arrays["utility"]).max(axis=0, initial=0.0)
    return out * greatest[tree.arrays["info_player"]] * 2.0**-44


def _aligned(array):
    """A copy whose data begin at a multiple of 64 bytes."""
    out = _aligned_zeros(len(array))
    out[:] = array
    return out


def _aligned_zeros(length):
    """float64[length] whose data begin at a multiple of 64 bytes."""
    raw = np.zeros(8 * length + 64, dtype=np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start:start + 8 * length].view(np.float64)


@cython.boundscheck(False)   # keys are below n_keys, and what is sorted are indices of them
def _sorted_by(const int32_t[::1] order, const int32_t[::1] key, int64_t n_keys, int32_t divisor):
    """Indices into `key` by ascending `key // divisor` (below n_keys), otherwise in the order they have.

    A counting sort: beside its result it takes one number a key, where sorting by several keys at once
    takes several copies of everything.
    """
    out = np.zeros(order.shape[0], dtype=np.int32)
    cdef int64_t[::1] start = np.zeros(n_keys + 1, dtype=np.int64)
    cdef int32_t[::1] target = out
    cdef int64_t i
    cdef int32_t at
    with nogil:
        for i in range(order.shape[0]):
            start[key[order[i]] // divisor + 1] += 1
        for i in range(n_keys):
            start[i + 1] += start[i]
        for i in range(order.shape[0]):
            at = key[order[i]] // divisor
            target[start[at]] = order[i]
            start[at] += 1
    return out


def _paying(const double[:, ::1] utility, int32_t player):
    """The terminals where a player gets or pays something, int32, ascending."""
    out = np.zeros(np.count_nonzero(np.asarray(utility)[:, player]), dtype=np.int32)
    cdef int32_t[::1] kept = out
    cdef int64_t i, at = 0
    for i in range(utility.shape[0]):
        if utility[i, player] != 0.0:
            kept[at] = <int32_t>i
            at += 1
    return out


cdef inline int32_t _first_difference(const int32_t **keys, int32_t n_keys, int32_t a, int32_t b) noexcept nogil:
    """The first of the keys in which two terminals differ; n_keys where there is none."""
    cdef int32_t q
    for q in range(n_keys):
        if keys[q][a] != keys[q][b]:
            return q
    return n_keys


def _places(FlatTree tree):
    """Where each information set stands: (level, label, steps), int32[n], uint64[n] and float64[n, 2].

    The level counts the player's own earlier decisions. The label hashes what the others and chance did since the
    last of these, on the way to the set's first node; at level 0 only what the others did, so that
    one history with different private cards gives one label. `steps` puts labels in order: chance's steps (column 0)
    and the others' (1), each written as a fraction whose digits are the actions.
    """
    cdef const TreeTables *t = &tree.tables
    levels = np.zeros(tree.n_infosets, dtype=np.int32)
    labels = np.zeros(tree.n_infosets, dtype=np.uint64)
    steps = np.zeros((tree.n_infosets, 2))
    owner = np.repeat(np.arange(tree.n_infosets, dtype=np.int32), np.diff(tree.arrays["info_first"]))
    seen = np.zeros(tree.n_infosets, dtype=np.int8)
    cdef int32_t[::1] level = levels
    cdef uint64_t[::1] label = labels
    cdef double[:, ::1] step = steps
    cdef const int32_t[::1] infoset_of = owner
    cdef int8_t[::1] done = seen
    cdef int32_t node, infoset, walk, parent, edge, kind
    cdef int8_t player
    cdef uint64_t key
    cdef double base[2]        # one more digit than there are actions: a longer path comes after its beginning
    base[0] = base[1] = 2.0
    with nogil:
        for node in range(t.n_nodes):
            kind = t.player[node] != CHANCE
            for edge in range(t.first[node], t.first[node] + t.count[node]):
                base[kind] = max(base[kind], <double>t.action[edge] + 2.0)
        for node in range(t.n_nodes):
            player = t.player[node]
            if player < 0 or done[t.infoset[node]]:
                continue
            infoset = t.infoset[node]
            done[infoset] = 1
            if t.info_parent[infoset] != NO_SEQUENCE:
                level[infoset] = level[infoset_of[t.info_parent[infoset]]] + 1
            key = 0
            walk = node
            while walk > 0:
                parent = t.parent[walk]
                if t.player[parent] == player:
                    break
                if level[infoset] or t.player[parent] != CHANCE:
                    key = rng_combine(key, <uint64_t>(t.player[parent] + 2) << 32 | <uint64_t>t.action[walk])
                    kind = t.player[parent] != CHANCE
                    step[infoset, kind] = (t.action[walk] + 1.0 + step[infoset, kind]) / base[kind]
                walk = parent
            label[infoset] = key
    return levels, labels, steps


def _terminal_slots(FlatTree tree, const int32_t[::1] slot_of):
    """Per player the slot of each terminal's last sequence (0 for the empty one), and the
    terminals' chance reach; terminals by utility row."""
    cdef const TreeTables *t = &tree.tables
    cdef int32_t n = t.n_players, node, child, i, p, player
    cdef int32_t[:, ::1] out = np.zeros((n, t.n_terminals), dtype=np.int32)
    cdef double[::1] reach = np.zeros(t.n_terminals)
    cdef int32_t[:, ::1] last = np.zeros((t.n_nodes, n), dtype=np.int32)
    cdef double[::1] chance = np.ones(t.n_nodes)
    with nogil:
        for node in range(t.n_nodes):
            player = t.player[node]
            if player == TERMINAL:
                reach[t.infoset[node]] = chance[node]
                for p in range(n):
                    out[p, t.infoset[node]] = last[node, p]
                continue
            for i in range(t.count[node]):
                child = t.first[node] + i
                for p in range(n):
                    last[child, p] = last[node, p]
                if player == CHANCE:
                    chance[child] = chance[node] * t.prob[child]
                else:
                    chance[child] = chance[node]
                    last[child, player] = slot_of[t.info_first[t.infoset[node]] + i]
    return list(np.asarray(out)), np.asarray(reach)


def _number(const int32_t[::1] members, int32_t actions, int64_t slot, const int32_t[::1] first, int32_t[::1] slot_of):
    """Slots of the sequences of tiles; -1 among the members is an empty lane."""
    cdef int32_t i, a
    for i in range(members.shape[0]):
        if members[i] >= 0:
            for a in range(actions):
                slot_of[first[members[i]] + a] = <int32_t>(
                    slot + (<int64_t>(i // LANES) * actions + a) * LANES + i % LANES)


cdef class _Packer:
    """Packs the information sets of one player and level into tiles.

    Sets of one tile have equally many actions. Best is a *regular* tile: the own last sequence of
    lane i stands in lane i of one run, so reach and values move as vectors; and sets with the same
    label, which meet the same rival's sequences, share their payoff entries. Sets that would leave
    half a tile or more empty are pooled in irregular tiles.
    """
    cdef object sets, count, run, lane, label

    def __init__(self, sets, first, count, parent, label, steps, const int32_t[::1] slot_of):
        slots = np.zeros(len(sets), dtype=np.int32)
        given = parent[sets] != NO_SEQUENCE
        slots[given] = np.asarray(slot_of)[parent[sets][given]]
        run = slots // LANES
        lane = np.where(given, slots % LANES, -1)     # -1: any lane will do
        # Within a parent's run by what chance and the others did, like sets last first.
        order = np.lexsort((-sets, label[sets], steps[sets, 1], steps[sets, 0], run, count[sets]))
        self.sets, self.count, self.run = sets[order], count[sets][order], run[order].astype(np.int32)
        self.lane, self.label = lane[order].astype(np.int32), label[sets][order]

    def tiles(self):
        """[(actions, regular, members int32[tiles * LANES], parents)]: parents has one slot a
        regular tile, the start of the parent run, and LANES slots an irregular one."""
        out = []
        if len(self.sets) == 0:
            return out
        bounds = np.flatnonzero(np.diff(self.count, prepend=-1, append=-1))
        for begin, end in itertools.pairwise(bounds):
            actions = int(self.count[begin])
            members, parents, left = self._regular(begin, end)
            if len(members):
                out.append((actions, 1, members, parents))
            if len(left):
                places = np.full((len(left) + LANES - 1) // LANES * LANES, -1, dtype=np.int32)
                places[:len(left)] = self.sets[left]
                slots = np.zeros(len(places), dtype=np.int32)
                slots[:len(left)] = self.run[left] * LANES + np.maximum(self.lane[left], 0)
                out.append((actions, 0, places, slots))
        return out

    def _regular(self, int64_t begin, int64_t end):
        """Regular tiles of the sets begin .. end - 1, and the indices of the sets left over."""
        cdef int32_t[::1] run = self.run
        cdef int32_t[::1] lane = self.lane
        cdef int32_t[::1] sets = self.sets
        cdef uint64_t[::1] label = self.label
        cdef int64_t capacity = 4 * (end - begin)
        tile_members = np.full(capacity, -1, dtype=np.int32)
        tile_runs = np.zeros(end - begin, dtype=np.int32)
        tile_of = np.zeros(end - begin, dtype=np.int32)
        cdef int32_t[::1] members = tile_members
        cdef int32_t[::1] runs = tile_runs
        cdef int32_t[::1] home = tile_of
        cdef int32_t n_tiles = 0, first_tile = 0, tile, mask, oldest
        cdef int64_t i = begin, j, m
        cdef bint rooted
        while i < end:
            if i == begin or run[i] != run[i - 1]:
                first_tile = n_tiles             # tiles of another parent run are closed
            # A group: sets of one label, at most one a lane.
            j, mask = i, 0
            rooted = lane[i] >= 0
            while j < end and run[j] == run[i] and label[j] == label[i] and j - i < LANES:
                if rooted:
                    if mask >> lane[j] & 1:
                        break
                    mask |= 1 << lane[j]
                j += 1
            # The first open tile whose lanes are free takes it.
            oldest = max(first_tile, n_tiles - _OPEN_TILES)
            tile = oldest
            while tile < n_tiles and not self._fits(members, tile, mask, <int32_t>(j - i), rooted):
                tile += 1
            if tile == n_tiles:
                runs[tile] = run[i]
                n_tiles += 1
            for m in range(i, j):
                home[m - begin] = tile
                members[tile * LANES + (lane[m] if rooted else self._free_lane(members, tile))] = sets[m]
            i = j
        shape = tile_members[:n_tiles * LANES].reshape(-1, LANES)
        kept = (shape >= 0).sum(axis=1) * 2 > LANES
        if n_tiles == 1 or not _rooted(self.lane, begin, end):
            kept[:] = True      # level 0 has no parents to gather: every tile is regular
        left = begin + np.flatnonzero(~kept[tile_of])
        return shape[kept].reshape(-1).copy(), tile_runs[:n_tiles][kept] * LANES, left

    cdef bint _fits(self, int32_t[::1] members, int32_t tile, int32_t mask, int32_t size, bint rooted):
        cdef int32_t i, free_lanes = 0
        for i in range(LANES):
            if members[tile * LANES + i] < 0:
                free_lanes += 1
            elif rooted and mask >> i & 1:
                return False
        return free_lanes >= size

    cdef int32_t _free_lane(self, int32_t[::1] members, int32_t tile):
        cdef int32_t i = 0
        while members[tile * LANES + i] >= 0:
            i += 1
        return i


def _rooted(lane, begin, end):
    """Whether the sets have own last sequences (a level has them all or none)."""
    return lane[begin] >= 0
