# cython: language_level=3
"""THE contract between games and everything that plays, searches or solves them.

A game is a plain C struct (fixed size, no pointers, no padding that is ever read, so a copy is
one memcpy and a save is its bytes) and a `GameOps` table of `noexcept nogil` functions over it.
Immutable tables (cards, dice, a board) live behind the `tables` pointer and are shared by all
states of one `Rules` object. A search fetches the table once and never touches Python inside.

A *step* is one `apply`: one decision or one chance node. Node kinds use OpenSpiel's numbers.
A decision with a single legal action, and a chance node with a single outcome, are not nodes:
`apply` takes them itself, so `turn` never shows one.
"""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from engine_ext.rng cimport Rng, quandary_mulhi64, rng_below, rng_mix


cdef enum:
    CHANCE = -1              # turn(): a chance node
    TERMINAL = -4            # turn(): the game is over
    CONTRACT_VERSION = 1     # raised whenever this file changes meaning
    PLAYER_LIMIT = 10        # most seats of any game
    STATE_LIMIT = 8192       # largest state struct, bytes: search code keeps states on its stack
    LEGAL_LIMIT = 2048       # most legal actions of one decision: likewise
    OUTCOME_LIMIT = 2048     # most outcomes of one chance node: likewise
    INFO_LIMIT = 16384       # largest info_bytes, bytes

cdef enum:                   # flags
    HIDDEN_INFORMATION = 1   # some seat does not know the whole state; info_key differs from state_key
    ZERO_SUM = 2             # returns sum to 0 in every terminal state
    CYCLIC = 4               # a state (by state_key) may come again in one game


ctypedef struct GameOps:
    # ---- header: constant for one Rules object -------------------------------------------
    int32_t contract_version
    int32_t game_version     # raised whenever the game's behaviour changes
    int32_t state_size       # bytes of the state struct
    int32_t n_players        # seats 0 .. n_players - 1
    int32_t n_actions        # decision ids are 0 .. n_actions - 1, one id one meaning
    int32_t n_outcomes       # chance ids are 0 .. n_outcomes - 1, one id one meaning
    int32_t max_legal        # bound on the legal actions of one decision
    int32_t max_outcomes     # bound on the outcomes of one chance node
    int32_t max_decisions    # bound on the decisions of one game (OpenSpiel's max_game_length)
    int32_t max_chances      # bound on the chance nodes of one game
    int32_t info_size        # bound on info_bytes, bytes
    int32_t flags            # HIDDEN_INFORMATION | ZERO_SUM | CYCLIC
    double min_utility       # tight bounds on every seat's return
    double max_utility
    # ---- required ------------------------------------------------------------------------
    # The seat to decide, CHANCE, or TERMINAL.
    int32_t (*turn)(const void *tables, const void *state) noexcept nogil
    # Legal actions of this decision, ascending, into out[max_legal]; returns their count.
    int32_t (*legal)(const void *tables, const void *state, int32_t *out) noexcept nogil
    # Outcomes of this chance node, ascending, with their probabilities (sum 1); returns the count.
    int32_t (*outcomes)(const void *tables, const void *state, int32_t *ids, double *probs) noexcept nogil
    # One outcome of this chance node, drawn by its probability without listing them all.
    int32_t (*sample)(const void *tables, const void *state, Rng *rng) noexcept nogil
    # One step, in place. The id must be legal: callers check, this does not.
    void (*apply)(const void *tables, void *state, int32_t id) noexcept nogil
    # Utility per seat into out[n_players]; all 0 before the end.
    void (*returns)(const void *tables, const void *state, double *out) noexcept nogil
    # Markov key: equal when the future game is equal (transpositions, value iteration).
    uint64_t (*state_key)(const void *tables, const void *state) noexcept nogil
    # ---- required with HIDDEN_INFORMATION, else null ---------------------------------------
    # Perfect recall: a hash of that observer's own actions and observations so far.
    uint64_t (*info_key)(const void *tables, const void *state, int32_t observer) noexcept nogil
    # The exact content behind info_key, into out[info_size]; returns its length in bytes.
    int32_t (*info_bytes)(const void *tables, const void *state, int32_t observer, uint8_t *out) noexcept nogil
    # Replace the state by one the observer cannot tell from it, drawn by chance weight over what
    # is consistent with the observer's history; rivals' hidden choices uniform over the legal ones.
    void (*resample)(const void *tables, void *state, int32_t observer, Rng *rng) noexcept nogil
    # ---- optional: null where a game has nothing better than the generic way ----------------
    # Play a whole chain of chance nodes to the next decision or the end; returns the steps.
    int32_t (*run_chance)(const void *tables, void *state, Rng *rng) noexcept nogil
    # A legal action, uniformly at random, without listing them.
    int32_t (*random_action)(const void *tables, const void *state, Rng *rng) noexcept nogil
    # Play uniformly at random to the end in the game's own loop; returns the steps. Must equal
    # the generic loop in distribution.
    int64_t (*playout)(const void *tables, void *state, Rng *rng) noexcept nogil
    # The game's own greedy policy at a decision. It may read only what the seat to move can see.
    int32_t (*suggest)(const void *tables, const void *state, Rng *rng) noexcept nogil
    # Heuristic utility per seat into out[n_players], within the bounds; exact when TERMINAL.
    void (*estimate)(const void *tables, const void *state, double *out) noexcept nogil
    # A number that names the running turn and the seat whose turn it is (equal through all the
    # events of one turn), so that recorded games can give a turn the same dice whoever sits there.
    int64_t (*clock)(const void *tables, const void *state) noexcept nogil
    # Invariants: 0 when the state is sound, else the number of the broken invariant (rule number
    # where the rules have one). For tests and debug builds.
    int32_t (*check)(const void *tables, const void *state) noexcept nogil
    # Games in which several seats choose in secret before anything comes to light (a stage of
    # simultaneous choices, each seat once, among choices that all seats know): back to the stage's
    # first decision, in place, its choices so far taken back. Returns how many decisions were, or
    # -1, the state unchanged, where no decision of a stage is to be made.
    int32_t (*rewind)(const void *tables, void *state) noexcept nogil


cdef inline uint64_t hash_bytes(const void *data, int32_t size, uint64_t seed) noexcept nogil:
    """64-bit hash of a block of memory: multiply-and-fold over 8-byte words (the wyhash scheme)."""
    cdef const uint8_t *p = <const uint8_t *>data
    cdef uint64_t key = seed ^ (<uint64_t>size * <uint64_t>0x9E3779B97F4A7C15u)
    cdef uint64_t word, low, high
    cdef int32_t i = 0
    while i + 8 <= size:
        memcpy(&word, p + i, 8)
        high = quandary_mulhi64(key ^ <uint64_t>0xA0761D6478BD642Fu, word ^ <uint64_t>0xE7037ED1A0B428DBu, &low)
        key = (high ^ low) + <uint64_t>0x8EBC6AF09C88C6E3u
        i += 8
    if i < size:
        word = 0
        memcpy(&word, p + i, size - i)
        high = quandary_mulhi64(key ^ <uint64_t>0x589965CC75374CC3u, word ^ <uint64_t>0x1D8E4E27C47D124Fu, &low)
        key = high ^ low
    return rng_mix(key)


cdef inline int32_t ops_run_chance(const GameOps *ops, const void *tables, void *state, Rng *rng) noexcept nogil:
    """Play all chance nodes up to the next decision or the end; returns the steps."""
    cdef int32_t steps = 0
    if ops.run_chance != NULL:
        return ops.run_chance(tables, state, rng)
    while ops.turn(tables, state) == CHANCE:
        ops.apply(tables, state, ops.sample(tables, state, rng))
        steps += 1
    return steps


cdef inline int32_t ops_random_action(const GameOps *ops, const void *tables, const void *state,
                                      Rng *rng) noexcept nogil:
    """A uniformly random legal action of a decision."""
    cdef int32_t legal[LEGAL_LIMIT]
    if ops.random_action != NULL:
        return ops.random_action(tables, state, rng)
    return legal[rng_below(rng, ops.legal(tables, state, legal))]


cdef inline int64_t ops_generic_playout(const GameOps *ops, const void *tables, void *state, Rng *rng) noexcept nogil:
    """Play uniformly at random to the end, one pointer call a question; returns the steps."""
    cdef int64_t steps = 0
    cdef int32_t seat = ops.turn(tables, state)
    while seat != TERMINAL:
        if seat == CHANCE:
            steps += ops_run_chance(ops, tables, state, rng)
        else:
            ops.apply(tables, state, ops_random_action(ops, tables, state, rng))
            steps += 1
        seat = ops.turn(tables, state)
    return steps


cdef inline int64_t ops_playout(const GameOps *ops, const void *tables, void *state, Rng *rng) noexcept nogil:
    """Play uniformly at random to the end, in the game's own loop where it has one; returns the steps."""
    if ops.playout != NULL:
        return ops.playout(tables, state, rng)
    return ops_generic_playout(ops, tables, state, rng)


cdef inline uint64_t ops_info_key(const GameOps *ops, const void *tables, const void *state,
                                  int32_t observer) noexcept nogil:
    """The observer's information-set key; with perfect information, the state key."""
    if ops.info_key != NULL:
        return ops.info_key(tables, state, observer)
    return ops.state_key(tables, state)


cdef inline int32_t ops_info_bytes(const GameOps *ops, const void *tables, const void *state,
                                   int32_t observer, uint8_t *out) noexcept nogil:
    """The exact content behind `ops_info_key`; with perfect information, the state's bytes."""
    if ops.info_bytes != NULL:
        return ops.info_bytes(tables, state, observer, out)
    memcpy(out, state, ops.state_size)
    return ops.state_size
