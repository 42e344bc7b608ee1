"""All states that can be reached from one, and the steps between them.

States are told apart byte by byte. Once all are listed, the graph is cut into strongly connected components
(components.pxd), and states and steps are put in the order in which components hang on each other: those that a
component leads to come before it.
"""
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

cimport cython

from engine_ext.game cimport CHANCE, LEGAL_LIMIT, OUTCOME_LIMIT, PLAYER_LIMIT, TERMINAL
from engine_ext.position cimport Position
from solvers.common cimport StateBuffer, one_value
from solvers.components cimport Cut, begin_cut, cut_on
from solvers.pace cimport CHUNK, Pace
from solvers.state_table cimport StateTable
from solvers.stopping cimport look_up

from engine_ext.errors import TooLargeError

cdef enum:
    STEP_BYTES = 24     # `target`, `action`, `prob`, and one of them once more when it is put in order


@cython.final
cdef class StateGraph:
    """An empty graph; not for use from Python.

    Args:
        position: of the game.
        max_bytes: most memory for states and steps.
    """

    def __cinit__(self, Position position not None, int64_t max_bytes):
        self.table = StateTable(position.rules, max_bytes // (position.ops.state_size + 40) + 1)
        self.ops = position.ops
        self.n_values = 1 if one_value(position.ops) else position.ops.n_players
        self.max_bytes = max_bytes
        self.first = NULL
        self.turn = NULL
        self.target = self.action = self.order = self.place = self.component = NULL
        self.prob = self.values = NULL

    def __dealloc__(self):
        free(self.first)
        free(self.turn)
        free(self.target)
        free(self.action)
        free(self.prob)
        free(self.values)
        free(self.order)
        free(self.place)
        free(self.component)

    cdef int64_t place_of(self, Position position) noexcept:
        """Where a state stands in `order`; -1 where it was not reached or places are not known yet."""
        cdef int64_t number
        if self.place == NULL:
            return -1
        number = self.table.find(position.state)
        return -1 if number < 0 else self.place[number]

    # ---- listing ---------------------------------------------------------------------------

    cdef int64_t bytes_used(self) noexcept nogil:
        """Memory for what is listed so far, with the most that ordering it and two bounds a value add."""
        cdef int64_t state = self.state_bytes()
        return self.table.n_states * state + 4 * <int64_t>(self.table.slot_mask + 1) + self.n_steps * STEP_BYTES

    cdef double most_states(self) noexcept nogil:
        """How many states fit, if each had one step."""
        return <double>self.max_bytes / (self.state_bytes() + 8 + STEP_BYTES)

    cdef int64_t state_bytes(self) noexcept nogil:
        """A state with its key; `first` twice, `turn`, `order`, `place`, `component`; its value and the bounds."""
        return self.table.size + 8 + 2 * 8 + 1 + 3 * 4 + 3 * 8 * self.n_values

    cdef bint list_from(self, Position position, Pace pace) except -1:
        """List all states from a position on, which gets number 0, and their steps; False where a limit came first.

        Raises:
            TooLargeError: more than fits into memory.
        """
        cdef bint fresh
        cdef int64_t at = 0
        cdef int trouble = 0
        if self.table.intern(position.state, &fresh) < 0:
            raise MemoryError
        while at < self.table.n_states:
            with nogil:
                trouble = self.list_steps(&at, pace.chunk)
            if trouble:
                raise TooLargeError(
                    f"{position.rules.name}: {self.table.n_states} states and {self.n_steps} steps were found, "
                    f"{self.bytes_used() >> 20} MB, and {self.table.n_states - at} of those states are still to be "
                    f"looked into; {self.max_bytes >> 20} MB are allowed (max_mb). Use mcts, or a smaller scenario")
            if pace.is_late(self.table.n_states) and at < self.table.n_states:
                return False
        self.first[self.table.n_states] = self.n_steps
        return True

    cdef int list_steps(self, int64_t *at, int64_t count) noexcept nogil:
        """List about so many steps, those of the next states; nonzero when memory ends."""
        cdef int32_t ids[LEGAL_LIMIT + OUTCOME_LIMIT]
        cdef double probs[OUTCOME_LIMIT]
        cdef double returns[PLAYER_LIMIT]
        cdef StateBuffer here, there
        cdef int64_t number, last = self.n_steps + count, found
        cdef int32_t seat, n_ids, i
        cdef bint fresh
        while at[0] < self.table.n_states and self.n_steps < last:
            number = at[0]
            if not self.make_room(number):
                return 1
            memcpy(here.bytes, self.table.states + number * self.table.size, self.table.size)
            seat = self.ops.turn(self.table.tables, here.bytes)
            self.turn[number] = seat
            self.first[number] = self.n_steps
            for i in range(self.n_values):
                self.values[number * self.n_values + i] = 0.0
            if seat == TERMINAL:
                self.ops.returns(self.table.tables, here.bytes, returns)
                memcpy(&self.values[number * self.n_values], returns, self.n_values * sizeof(double))
                at[0] += 1
                continue
            if seat == CHANCE:
                n_ids = self.ops.outcomes(self.table.tables, here.bytes, ids, probs)
            else:
                n_ids = self.ops.legal(self.table.tables, here.bytes, ids)
            for i in range(n_ids):
                memcpy(there.bytes, here.bytes, self.table.size)
                self.ops.apply(self.table.tables, there.bytes, ids[i])
                found = self.table.intern(there.bytes, &fresh)
                if found < 0:
                    return 1
                self.target[self.n_steps] = <int32_t>found
                self.action[self.n_steps] = ids[i]
                self.prob[self.n_steps] = probs[i] if seat == CHANCE else 1.0
                self.n_steps += 1
            at[0] += 1
            if self.bytes_used() > self.max_bytes:
                return 1
        return 0

    cdef bint make_room(self, int64_t number) noexcept nogil:
        """Room for one more state and its steps."""
        cdef int64_t wanted
        cdef void *block
        if number + 1 >= self.state_room:
            wanted = max(1024, 2 * self.state_room)
            block = realloc(self.first, (wanted + 1) * sizeof(int64_t))
            if block == NULL:
                return False
            self.first = <int64_t *>block
            block = realloc(self.turn, wanted)
            if block == NULL:
                return False
            self.turn = <signed char *>block
            block = realloc(self.values, wanted * self.n_values * sizeof(double))
            if block == NULL:
                return False
            self.values = <double *>block
            self.state_room = wanted
        wanted = self.n_steps + max(self.ops.max_legal, self.ops.max_outcomes)
        if wanted > self.step_room:
            wanted *= 2
            block = realloc(self.target, wanted * sizeof(int32_t))
            if block == NULL:
                return False
            self.target = <int32_t *>block
            block = realloc(self.action, wanted * sizeof(int32_t))
            if block == NULL:
                return False
            self.action = <int32_t *>block
            block = realloc(self.prob, wanted * sizeof(double))
            if block == NULL:
                return False
            self.prob = <double *>block
            self.step_room = wanted
        return True

    # ---- components ------------------------------------------------------------------------

    cdef bint cut(self, Pace pace) except -1:
        """Fill `order` and `component`; False where a limit came first."""
        cdef int64_t n = self.table.n_states
        cdef int32_t *work = NULL
        cdef Cut cut
        cdef bint done = False
        if n >= pace.node_limit:
            return False
        self.order = <int32_t *>realloc(self.order, n * sizeof(int32_t))
        self.component = <int32_t *>realloc(self.component, (n + 1) * sizeof(int32_t))
        work = <int32_t *>malloc(4 * n * sizeof(int32_t))
        cut.steps = <int64_t *>malloc(n * sizeof(int64_t))
        try:
            if self.order == NULL or self.component == NULL or work == NULL or cut.steps == NULL:
                raise MemoryError
            cut.first, cut.target, cut.order, cut.component = self.first, self.target, self.order, self.component
            cut.met, cut.low, cut.held, cut.calls = work, work + n, work + 2 * n, work + 3 * n
            with nogil:
                memset(cut.met, 0, n * sizeof(int32_t))
                memcpy(cut.steps, self.first, n * sizeof(int64_t))
                begin_cut(&cut)
            while not done:
                with nogil:
                    done = cut_on(&cut, 4 * pace.chunk)
                if pace.is_late(0):         # no node is new
                    return False
            self.n_components = cut.n_components
        finally:
            free(work)
            free(cut.steps)
        return True

    cdef int rearrange(self) except -1:
        """Put states and steps by place in `order`."""
        cdef int64_t n = self.table.n_states, at
        cdef int32_t i, state
        cdef int64_t *first = <int64_t *>malloc((n + 1) * sizeof(int64_t))
        self.place = <int32_t *>realloc(self.place, n * sizeof(int32_t))
        try:
            if first == NULL or self.place == NULL:
                raise MemoryError
            with nogil:
                first[0] = 0
                for i in range(n):
                    state = self.order[i]
                    self.place[state] = i
                    first[i + 1] = first[i] + self.first[state + 1] - self.first[state]
                for at in range(self.n_steps):
                    self.target[at] = self.place[self.target[at]]
            self.target = <int32_t *>ordered(self.target, self.order, n, self.first, sizeof(int32_t))
            self.action = <int32_t *>ordered(self.action, self.order, n, self.first, sizeof(int32_t))
            self.prob = <double *>ordered(self.prob, self.order, n, self.first, sizeof(double))
            self.turn = <signed char *>ordered(self.turn, self.order, n, NULL, 1)
            self.values = <double *>ordered(self.values, self.order, n, NULL, self.n_values * sizeof(double))
            self.first, first = first, self.first
        finally:
            free(first)
        return 0


cdef void *ordered(void *array, const int32_t *order, int64_t n, const int64_t *first, size_t size) except NULL:
    """The items of an array in an order of states; the old array is freed.

    Args:
        order: state numbers.
        n: how many.
        first: [n + 1] where each state's items begin; NULL: a state has one.
        size: of an item, bytes.
    """
    cdef size_t length = (n if first == NULL else first[n]) * size, at
    cdef unsigned char *fresh = <unsigned char *>malloc(max(<size_t>1, length))
    cdef unsigned char *to = fresh
    cdef int64_t i, begin = 0, end
    if fresh == NULL:
        raise MemoryError
    try:
        while begin < n:
            end = min(n, begin + 4 * CHUNK)
            with nogil:
                for i in range(begin, end):
                    at = (order[i] if first == NULL else first[order[i]]) * size
                    length = size if first == NULL else first[order[i] + 1] * size - at
                    memcpy(to, <unsigned char *>array + at, length)
                    to += length
            begin = end
            look_up()
    except BaseException:
        free(fresh)
        raise
    free(array)
    return fresh
