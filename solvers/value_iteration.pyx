"""Value iteration: exact values of games whose positions can come again, and of all others.

All reachable states are listed, told apart byte by byte, with their steps. The graph is cut into
strongly connected components (Tarjan, 1972), which are solved in the order in which they hang on
each other, so that only states on a common cycle are ever swept twice. Within a component:
Gauss-Seidel sweeps, successors before predecessors where the cycle allows, until what is still to come
(the last change, extrapolated by the rate at which changes shrink) is below the tolerance.

Seats maximise their own utility: minimax for two players with a zero sum, max^n beyond, where
sweeps need not settle; then the game is refused. Play that never ends is worth 0 to everyone, which
is where sweeps begin.

A run that is cut short, by time or by a number of sweeps, still answers with bounds that hold: what has not
settled begins anew from the least and the greatest utility there is, and a sweep over either never passes the
true value, because a greater value of a successor never makes a state's smaller (Haddad and Monmege, 2018,
sweep both from the start).

Sources: Shapley 1953; Bertsekas, "Dynamic Programming and Optimal Control", for the sweeps;
Neller and Presser 2004, who solve pig component by component; Haddad and Monmege, "Interval iteration
algorithm for MDPs and IMDPs", Theoretical Computer Science 735 (2018), for the bounds.
"""
import time

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

cimport cython

from engine_ext.game cimport (
    CHANCE, LEGAL_LIMIT, OUTCOME_LIMIT, PLAYER_LIMIT, TERMINAL, GameOps,
)
from engine_ext.position cimport Position, Rules
from solvers.common cimport StateBuffer, one_value
from solvers.state_table cimport StateTable
from solvers.stopping cimport look_up

from engine_ext.errors import SpecError, TooLargeError, UnsuitableGameError
from engine_ext.rng import Stream
from solvers.contract import ActionStats, Limit, Parameter, SearchResult, SolverSpec, require_open
from solvers.state_table import require_room

cdef enum:
    SWEEP_LIMIT = 1000000       # sweeps of one component
    VECTOR_SWEEP_LIMIT = 10000  # where they need not settle
    CHUNK = 1 << 18             # steps or states between two looks for signals
    TIMED_CHUNK = 1 << 8        # and between two looks at the clock, under a limit, to begin with
    FOREVER = 0x7FFFFFFFFFFFFFFF

# Of the time that listing the states took: ordering the components takes about so much more, and then one sweep for
# bounds over all of it. Of a limit in seconds: what passes between two looks at the clock, and what may go into a look
# at how many states there are.
_ORDER_SHARE = 0.3
_BOUND_SHARE = 0.2
_LOOK_SHARE = 0.01
_ROOM_SHARE = 0.1


cdef void *permuted(void *array, const int64_t *source, int64_t count, size_t size) except NULL:
    """The array whose item i is item source[i] of the old one, which is freed."""
    cdef unsigned char *fresh = <unsigned char *>malloc(max(<size_t>1, count * size))
    cdef int64_t i, begin = 0, end
    if fresh == NULL:
        raise MemoryError
    try:
        while begin < count:
            end = min(count, begin + 16 * CHUNK)
            with nogil:
                for i in range(begin, end):
                    memcpy(fresh + i * size, <unsigned char *>array + source[i] * size, size)
            begin = end
            look_up()
    except BaseException:
        free(fresh)
        raise
    free(array)
    return fresh


cdef struct Path:       # how far Tarjan's algorithm has come
    int32_t n_met       # states met
    int32_t n_held      # of those whose component is not known yet
    int32_t n_calls     # on the way to the current state
    int32_t n_ordered   # whose component is known


@cython.final
cdef class Graph:
    """All states reachable from one, their steps and their values. Not for use from Python.

    Args:
        position: where to begin; its number is 0.
        max_bytes: most memory for states and steps.
    """

    cdef StateTable table
    cdef const GameOps *ops
    cdef int32_t n_values       # values a state: 1 where seat 0's says all
    cdef int64_t max_bytes
    cdef int64_t n_steps, step_room, state_room
    # While listing, states go by their number in the table; solve() puts them by place in `order`,
    # so that the states of a component, which are swept together, lie together.
    cdef int64_t *first         # [n_states + 1] where a state's steps begin
    cdef signed char *turn      # [n_states]
    cdef int32_t *target        # [n_steps]
    cdef int32_t *action        # [n_steps]
    cdef double *prob           # [n_steps] chance: probability; decision: 1
    cdef double *values         # [n_states, n_values]
    cdef int32_t *order         # [n_states] components one after the other, those they hang on first
    cdef int32_t *place         # [n_states] where each number stands in `order`
    cdef int32_t *component     # [n_components + 1] where each begins in `order`
    cdef int32_t n_components
    cdef readonly int64_t sweeps       # of the component that took most
    cdef readonly double change        # largest change of the last sweep of any component
    cdef readonly int64_t updates      # states updated, all sweeps together
    # a run with limits
    cdef readonly str stage            # listing, cutting, solving, bounding, or done
    cdef readonly bint whole           # whether every component has settled
    cdef int32_t settled               # components that have, before the first that has not
    cdef int64_t node_limit, chunk
    cdef double deadline_s             # by time.perf_counter
    cdef double pace_s, looked_s       # between two looks at it; the last one
    cdef double *low                   # [n_states, n_values] bounds, of a run that was cut short
    cdef double *high
    cdef double least, greatest        # utilities there are, and that of play without end

    def __cinit__(self, Position position not None, int64_t max_bytes, seconds=None, nodes=None):
        self.stage = "listing"
        self.deadline_s = float("inf") if seconds is None else time.perf_counter() + seconds
        self.node_limit = FOREVER if nodes is None else nodes
        self.chunk = CHUNK if seconds is None and nodes is None else TIMED_CHUNK
        self.pace_s = 0.02 if seconds is None else min(0.02, _LOOK_SHARE * seconds)
        self.looked_s = time.perf_counter()
        self.low = self.high = NULL
        self.least, self.greatest = min(0.0, position.ops.min_utility), max(0.0, position.ops.max_utility)
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
        free(self.low)
        free(self.high)

    @property
    def status(self):
        """How far it has come, for a reader."""
        if self.stage == "listing":
            return f"{self.table.n_states:,} states listed"
        if self.stage == "cutting":
            return f"{self.table.n_states:,} states, cut into components"
        return f"{self.settled:,} of {self.n_components:,} components of {self.table.n_states:,} states"

    cdef bint is_late(self):
        """Whether a limit is reached; lets signals through, and sets the chunks to the pace."""
        cdef double now_s = time.perf_counter()
        look_up()
        if self.chunk < CHUNK and now_s - self.looked_s < self.pace_s / 2:
            self.chunk *= 2
        elif self.chunk > TIMED_CHUNK and now_s - self.looked_s > self.pace_s:
            self.chunk //= 2
        self.looked_s = now_s
        return (self.table.n_states >= self.node_limit or self.updates >= self.node_limit or now_s >= self.deadline_s)

    def run(self, Position position not None, double tolerance, sweeps=None):
        """List the states and solve them, as far as the limits allow.

        Args:
            position: as for the class.
            tolerance: see `PARAMETERS`.
            sweeps: most of one component; None for as many as it takes.

        Raises:
            TooLargeError: more than fits into memory.
            UnsuitableGameError: values that do not settle, without a limit in sweeps.
        """
        cdef double began_s = time.perf_counter(), listed_s
        if not self.enumerate_from(position):
            return
        listed_s = time.perf_counter() - began_s
        self.stage = "cutting"
        if not self.cut() or self.deadline_s - time.perf_counter() < _ORDER_SHARE * listed_s:
            return
        self.rearrange()
        self.stage = "solving"
        last_s, self.deadline_s = self.deadline_s, self.deadline_s - _BOUND_SHARE * listed_s
        self.solve(tolerance, FOREVER if sweeps is None else sweeps)
        self.deadline_s = last_s
        self.whole = self.settled == self.n_components
        if not self.whole:
            self.stage = "bounding"
            self.bound(tolerance, 1 if sweeps is None else sweeps)
        self.stage = "done"

    @property
    def n_states(self):
        return self.table.n_states

    @property
    def n_edges(self):
        return self.n_steps

    @property
    def parts(self):
        return self.n_components

    # ---- listing ---------------------------------------------------------------------------

    cdef int64_t bytes_used(self) noexcept nogil:
        """Memory for what is listed so far, with everything that solving adds."""
        return self.table.n_states * (self.table.size + 8 + 8 + 8 + 1 + 8 * self.n_values + 24) + self.n_steps * 16

    cdef double most_states(self):
        """How many states fit, if each had one step."""
        return <double>self.max_bytes / (self.table.size + 49 + 8 * self.n_values + 16)

    cdef bint enumerate_from(self, Position position) except -1:
        """False where a limit came first."""
        cdef bint fresh
        cdef int64_t at = 0
        cdef int trouble = 0
        self.table.intern(position.state, &fresh)
        while at < self.table.n_states:
            with nogil:
                trouble = self.list_steps(&at)
            if trouble:
                raise TooLargeError(
                    f"{position.rules.name}: {self.table.n_states} states and {self.n_steps} steps were found, "
                    f"{self.bytes_used() >> 20} MB, and {self.table.n_states - at} of those states are still to be "
                    f"looked into; {self.max_bytes >> 20} MB are allowed (max_mb). Use mcts, or a smaller scenario")
            if self.is_late() and at < self.table.n_states:
                return False
        self.first[self.table.n_states] = self.n_steps
        return True

    cdef int list_steps(self, int64_t *at) noexcept nogil:
        """List the steps of the next states; nonzero when memory ends."""
        cdef int32_t ids[LEGAL_LIMIT + OUTCOME_LIMIT]
        cdef double probs[OUTCOME_LIMIT]
        cdef double returns[PLAYER_LIMIT]
        cdef StateBuffer here, there
        cdef int64_t number, last = self.n_steps + self.chunk, found
        cdef int32_t seat, count, i
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
                count = self.ops.outcomes(self.table.tables, here.bytes, ids, probs)
            else:
                count = self.ops.legal(self.table.tables, here.bytes, ids)
            for i in range(count):
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

    cdef bint cut(self) except -1:
        """Fill `order` and `component`; False where a limit came first."""
        cdef int64_t n = self.table.n_states
        cdef int32_t *work = NULL
        cdef int64_t *steps = NULL
        cdef Path path
        self.order = <int32_t *>realloc(self.order, n * sizeof(int32_t))
        self.component = <int32_t *>realloc(self.component, (n + 1) * sizeof(int32_t))
        work = <int32_t *>malloc(4 * n * sizeof(int32_t))
        steps = <int64_t *>malloc(n * sizeof(int64_t))
        try:
            if self.order == NULL or self.component == NULL or work == NULL or steps == NULL:
                raise MemoryError
            path.n_met = path.n_held = path.n_calls = 1
            path.n_ordered = 0
            with nogil:
                memset(work, 0, n * sizeof(int32_t))
                memcpy(steps, self.first, n * sizeof(int64_t))
            work[0] = work[n] = 1               # state 0 reaches all others
            work[2 * n] = work[3 * n] = 0
            self.n_components = 0
            while path.n_calls:
                with nogil:
                    self.tarjan(work, steps, &path)
                if self.is_late():
                    return False
            self.component[self.n_components] = path.n_ordered
        finally:
            free(work)
            free(steps)
        return True

    cdef void tarjan(self, int32_t *work, int64_t *steps, Path *path) noexcept nogil:
        """Some way on with Tarjan's algorithm, on an own stack; at its end no call is left. Components
        come out with those they lead to first."""
        cdef int64_t n = self.table.n_states, left = 4 * self.chunk
        cdef int32_t *met = work            # number in order of meeting, from 1; 0: not met; -1: done
        cdef int32_t *low = work + n        # lowest number reached from here
        cdef int32_t *held = work + 2 * n   # states met whose component is not known yet
        cdef int32_t *calls = work + 3 * n  # the path to the current state
        cdef int32_t state, child
        while path.n_calls and left > 0:
            left -= 1
            state = calls[path.n_calls - 1]
            if steps[state] < self.first[state + 1]:
                child = self.target[steps[state]]
                steps[state] += 1
                if met[child] == 0:
                    path.n_met += 1
                    met[child] = low[child] = path.n_met
                    held[path.n_held] = calls[path.n_calls] = child
                    path.n_held += 1
                    path.n_calls += 1
                elif met[child] > 0:
                    low[state] = min(low[state], met[child])
                continue
            path.n_calls -= 1
            if path.n_calls:
                low[calls[path.n_calls - 1]] = min(low[calls[path.n_calls - 1]], low[state])
            if low[state] == met[state]:
                self.component[self.n_components] = path.n_ordered
                self.n_components += 1
                while True:
                    path.n_held -= 1
                    child = held[path.n_held]
                    met[child] = -1
                    self.order[path.n_ordered] = child
                    path.n_ordered += 1
                    if child == state:
                        break

    cdef int rearrange(self) except -1:
        """Put states and steps by place in `order`."""
        cdef int64_t n = self.table.n_states, at
        cdef int32_t i, state
        cdef int64_t *first = <int64_t *>malloc((n + 1) * sizeof(int64_t))
        cdef int64_t *step_of = <int64_t *>malloc(max(n, self.n_steps) * sizeof(int64_t))
        self.place = <int32_t *>malloc(n * sizeof(int32_t))
        try:
            if first == NULL or step_of == NULL or self.place == NULL:
                raise MemoryError
            with nogil:
                first[0] = 0
                for i in range(n):
                    state = self.order[i]
                    self.place[state] = i
                    first[i + 1] = first[i] + self.first[state + 1] - self.first[state]
                    for at in range(first[i], first[i + 1]):
                        step_of[at] = self.first[state] + at - first[i]
                for at in range(self.n_steps):
                    self.target[at] = self.place[self.target[at]]
            self.target = <int32_t *>permuted(self.target, step_of, self.n_steps, sizeof(int32_t))
            self.action = <int32_t *>permuted(self.action, step_of, self.n_steps, sizeof(int32_t))
            self.prob = <double *>permuted(self.prob, step_of, self.n_steps, sizeof(double))
            for i in range(n):
                step_of[i] = self.order[i]
            self.turn = <signed char *>permuted(self.turn, step_of, n, 1)
            self.values = <double *>permuted(self.values, step_of, n, self.n_values * sizeof(double))
            self.first, first = first, self.first
        finally:
            free(first)
            free(step_of)
        return 0

    # ---- solving ---------------------------------------------------------------------------

    cdef int solve(self, double tolerance, int64_t most_sweeps) except -1:
        """Solve component by component, until a limit; raises UnsuitableGameError where one does not settle."""
        cdef int32_t part
        cdef int64_t sweeps, limit = SWEEP_LIMIT if self.n_values == 1 else VECTOR_SWEEP_LIMIT
        cdef int64_t looked = 0         # updates at the last look at the limits
        cdef int32_t at
        cdef double change, before
        cdef bint settled, all_settled = True
        for part in range(self.n_components):
            sweeps = 0
            at = self.component[part]
            change = before = 0.0
            settled = False
            while not settled:
                with nogil:
                    settled = self.sweep_part(part, tolerance, most_sweeps, &at, &sweeps, &change, &before)
                if not settled:
                    looked = self.updates
                    if self.is_late():
                        return 0
                    if sweeps >= most_sweeps:
                        all_settled = False     # and what hangs on it cannot be exact either
                        break
                    if sweeps > limit:
                        raise UnsuitableGameError(
                            f"{self.table.rules.name}: the values of "
                            f"{self.component[part + 1] - self.component[part]} states on common cycles still change "
                            f"by {change:.3g} after {sweeps} sweeps; with more than two players, or without a zero "
                            "sum, they need not settle")
            self.sweeps = max(self.sweeps, sweeps)
            self.change = max(self.change, change)
            if all_settled:
                self.settled = part + 1
            if self.updates - looked > self.chunk or not part & 0xFFF:
                looked = self.updates
                if self.is_late():
                    return 0
        return 0

    cdef bint sweep_part(self, int32_t part, double tolerance, int64_t most_sweeps, int32_t *at, int64_t *sweeps,
                         double *change, double *before) noexcept nogil:
        """Some way on with sweeps over one component; whether it has settled.

        Args:
            most_sweeps: to stop after.
            at: the state to update next.
            sweeps: made so far.
            change: largest change of a value in this sweep.
            before: and in the one before.
        """
        cdef int32_t begin = self.component[part], end = self.component[part + 1], last
        cdef int64_t step, left = self.chunk
        cdef double rate
        cdef bint circle = end - begin > 1
        if not circle:
            for step in range(self.first[begin], self.first[begin + 1]):
                circle = circle or self.target[step] == begin
            if not circle:
                sweeps[0] = 1
                self.update(begin)
                return True
        while left > 0:
            if at[0] == begin:
                before[0] = change[0]
                change[0] = 0.0
            last = <int32_t>min(<int64_t>end, at[0] + left)
            left -= last - at[0]
            while at[0] < last:
                change[0] = max(change[0], self.update(at[0]))
                at[0] += 1
            if last < end:
                return False
            at[0] = begin
            sweeps[0] += 1
            if change[0] == 0.0:
                return True
            if sweeps[0] > 2 and change[0] < before[0]:
                rate = change[0] / before[0]
                if change[0] <= tolerance and change[0] * rate / (1.0 - rate) <= tolerance:
                    return True
            elif change[0] < 1e-15 and sweeps[0] > 2:   # the last bit flickers
                return True
            if sweeps[0] >= most_sweeps:
                return False
        return False

    cdef double update(self, int32_t state) noexcept nogil:
        """Renew one state's value from its successors'; returns the largest change of a seat."""
        cdef int64_t first = self.first[state], last = self.first[state + 1], step, best
        cdef int32_t n_values = self.n_values, seat = self.turn[state], i
        cdef double *own = &self.values[<int64_t>state * n_values]
        cdef const double *values = self.values
        cdef double fresh[PLAYER_LIMIT]
        cdef double change = 0.0, value, sign
        if seat == TERMINAL:
            return 0.0
        self.updates += 1
        if seat == CHANCE:
            for i in range(n_values):
                fresh[i] = 0.0
            for step in range(first, last):
                for i in range(n_values):
                    fresh[i] += self.prob[step] * values[<int64_t>self.target[step] * n_values + i]
        else:
            sign = 1.0
            if n_values > 1:
                values += seat
            elif seat == 1:
                sign = -1.0
            best = first
            value = sign * values[<int64_t>self.target[first] * n_values]
            for step in range(first + 1, last):
                if sign * values[<int64_t>self.target[step] * n_values] > value:
                    best = step
                    value = sign * values[<int64_t>self.target[step] * n_values]
            memcpy(fresh, &self.values[<int64_t>self.target[best] * n_values], n_values * sizeof(double))
        for i in range(n_values):
            change = max(change, fabs(fresh[i] - own[i]))
            own[i] = fresh[i]
        return change

    # ---- bounds of what is not solved --------------------------------------------------------

    cdef int bound(self, double tolerance, int64_t sweeps) except -1:
        """Fill `low` and `high`: so many sweeps over either in all components from the first unsettled one on,
        or fewer where time ends, which leaves wider bounds that hold as well."""
        cdef int64_t n = self.table.n_states * self.n_values, i, _sweep, looked = 0
        cdef int64_t solved = <int64_t>self.component[self.settled] * self.n_values
        cdef int32_t part, state
        self.low = <double *>realloc(self.low, max(<int64_t>1, n) * sizeof(double))
        self.high = <double *>realloc(self.high, max(<int64_t>1, n) * sizeof(double))
        if self.low == NULL or self.high == NULL:
            raise MemoryError
        with nogil:
            for i in range(n):
                self.low[i] = self.least
                self.high[i] = self.greatest
                if i < solved or self.turn[i // self.n_values] == TERMINAL:
                    self.low[i] = max(self.least, self.values[i] - tolerance)
                    self.high[i] = min(self.greatest, self.values[i] + tolerance)
        for part in range(self.settled, self.n_components):
            for _sweep in range(sweeps if self.component[part + 1] - self.component[part] > 1 else 1):
                for state in range(self.component[part], self.component[part + 1]):
                    self.update_bounds(state)
                    looked += 1
                    if looked >= self.chunk:
                        looked = 0
                        look_up()
                        if time.perf_counter() >= self.deadline_s:
                            return 0
        return 0

    cdef void update_bounds(self, int32_t state) noexcept nogil:
        """Renew one state's bounds from its successors'."""
        cdef int64_t first = self.first[state], last = self.first[state + 1], step
        cdef int32_t n_values = self.n_values, seat = self.turn[state], i
        cdef double *low = &self.low[<int64_t>state * n_values]
        cdef double *high = &self.high[<int64_t>state * n_values]
        cdef const double *child_low
        cdef const double *child_high
        cdef double fresh_low[PLAYER_LIMIT]
        cdef double fresh_high[PLAYER_LIMIT]
        cdef bint lowest = n_values == 1 and seat == 1
        cdef int32_t own = 0 if n_values == 1 else seat
        cdef double sure = -1e300       # what the seat that moves has for certain; in its own sign
        if seat == TERMINAL:
            return
        for i in range(n_values):
            fresh_low[i] = 0.0 if seat == CHANCE else 1e300
            fresh_high[i] = 0.0 if seat == CHANCE else -1e300
        if seat != CHANCE:
            for step in range(first, last):
                i = self.target[step]
                sure = max(sure, -self.high[i] if lowest else self.low[<int64_t>i * n_values + own])
        for step in range(first, last):
            child_low = &self.low[<int64_t>self.target[step] * n_values]
            child_high = &self.high[<int64_t>self.target[step] * n_values]
            if seat == CHANCE:
                for i in range(n_values):
                    fresh_low[i] += self.prob[step] * child_low[i]
                    fresh_high[i] += self.prob[step] * child_high[i]
            elif (-child_low[0] if lowest else child_high[own]) >= sure:
                # It may be what the seat plays; what others get then lies within its bounds.
                for i in range(n_values):
                    fresh_low[i] = min(fresh_low[i], child_low[i])
                    fresh_high[i] = max(fresh_high[i], child_high[i])
        if seat != CHANCE:
            if lowest:
                fresh_high[0] = -sure
            else:
                fresh_low[own] = sure
        for i in range(n_values):
            low[i] = max(low[i], fresh_low[i])
            high[i] = min(high[i], fresh_high[i])

    # ---- answers ---------------------------------------------------------------------------

    def bounds_of(self, int64_t number):
        """((low, high) of each seat's utility), which hold also where the run was cut short."""
        cdef int64_t i
        pairs = []
        for i in range(number * self.n_values, (number + 1) * self.n_values):
            pairs.append((self.values[i], self.values[i]) if self.low == NULL else (self.low[i], self.high[i]))
        if self.n_values == 1 and self.ops.n_players == 2:
            pairs.append((-pairs[0][1], -pairs[0][0]))
        return tuple(pairs)

    def number_of(self, Position position not None):
        """The state's place, -1 where it was not reached or places are not known yet."""
        if self.place == NULL:
            return -1
        cdef int64_t number = self.table.find(position.state)
        return -1 if number < 0 else self.place[number]

    def value_of(self, int64_t number):
        """Utility per seat."""
        values = [self.values[number * self.n_values + i] for i in range(self.n_values)]
        if self.n_values == 1 and self.ops.n_players == 2:
            values.append(-values[0])
        return tuple(values)

    def steps_of(self, int64_t number):
        """[(id, probability, place of the state it leads to)]; a decision's probabilities are 1."""
        return [(self.action[step], self.prob[step], self.target[step])
                for step in range(self.first[number], self.first[number + 1])]

    def turn_of(self, int64_t number):
        """Seat, CHANCE or TERMINAL."""
        return self.turn[number]


# ---- the searcher ------------------------------------------------------------------------------

class ValueIterationSearcher:
    """Solves the whole game below the first position asked for, then answers from what it solved.

    A run that a limit cuts short is not kept: the next search begins anew.

    Raises:
        SpecError: an unknown parameter.
        LimitError: a limit out of range.
    """

    def __init__(self, **parameters):
        unknown = set(parameters) - set(PARAMETERS)
        if unknown:
            raise SpecError(f"value_iteration has no parameter {min(unknown)!r}; it has: {', '.join(PARAMETERS)}")
        self.parameters = {key: parameter.default for key, parameter in PARAMETERS.items()} | parameters
        self.limit = None if self.parameters["seconds"] is None else Limit(seconds=self.parameters["seconds"])
        self.graph = None
        self._rules = None
        self._at_work = None

    def reset(self):
        """Nothing to forget: what was solved stays true."""

    @property
    def status(self):
        """How far the search at work has come; empty where none is."""
        graph = self._at_work
        return "" if graph is None else graph.status

    def search(self, position, *, seed=0, limit=None):
        """The exact value and best action; nothing is random, and the seed does not matter.

        Under a limit that comes first: bounds that hold, in `actions` and as `error_bound`, the value in their
        middle where the sweeps say nothing, and a `note` that it is not solved.

        Args:
            position: where to search from.
            seed: ignored.
            limit: overrides the searcher's own; its `seconds`, and its `nodes` as states listed and as states updated.
                Simulations and depth do not apply.

        Raises:
            TooLargeError: the game does not fit into `max_mb`; says how far it got.
            UnsuitableGameError: hidden information, or values that do not settle.
        """
        start_s = time.perf_counter()
        check(position.rules, self.parameters)
        limit = self.limit if limit is None else limit
        graph, number, updates = self.graph, -1, 0
        if self._rules is not None and (<Rules>self._rules)._stamp == (<Rules>position.rules)._stamp:
            number = graph.number_of(position)
        if number < 0:
            graph = self._solved(position, limit, start_s)
            number, updates = graph.number_of(position), max(1, graph.updates)
            if graph.whole:
                self.graph, self._rules = graph, position.rules
        if number < 0:
            return _unsolved(position, graph, start_s, limit)
        return _answer(position, graph, number, updates, start_s, limit)

    def _solved(self, Position position, limit, start_s):
        """The graph below a position, solved as far as the limit allows."""
        seconds = nodes = None
        if limit is not None:
            nodes = limit.nodes
            if limit.seconds is not None:
                seconds = limit.seconds - (time.perf_counter() - start_s)
        cdef Graph graph = Graph(position, <int64_t>self.parameters["max_mb"] << 20, seconds, nodes)
        if nodes is None:     # else they end it
            require_room(position, graph.most_states(), f"max_mb={self.parameters['max_mb']}",
                         None if seconds is None else _ROOM_SHARE * seconds)
        self._at_work = graph
        try:
            graph.run(position, self.parameters["tolerance"], self.parameters["sweeps"])
        finally:
            self._at_work = None
        return graph


def _answer(position, graph, number, updates, start_s, limit):
    """What a graph says of one of its states."""
    seat = graph.turn_of(number)
    values = tuple(_within(value, *bounds) for value, bounds in zip(graph.value_of(number), graph.bounds_of(number)))
    stats, best, note, error_bound = [], None, "", None
    if seat >= 0:
        found = []
        for action, _, child in graph.steps_of(number):
            bounds = graph.bounds_of(child)[seat]
            found.append((bounds[0], _within(graph.value_of(child)[seat], *bounds), -action, bounds))
        best = -max(found)[2]   # what is certain first
        stats = [ActionStats(-action, 1, value, float(-action == best), bounds) for _, value, action, bounds in found]
    if not graph.whole:
        error_bound = max(max(high - value, value - low)
                          for value, (low, high) in zip(values, graph.bounds_of(number)))
        note = f"not solved: {graph.status} had settled when the limit came"
    return SearchResult(
        action=best,
        values=values,
        actions=tuple(stats),
        simulations=0,
        nodes=updates,
        seconds=time.perf_counter() - start_s,
        principal_variation=_variation(graph, number),
        exact=graph.whole,
        reproducible=limit is None or limit.reproducible,
        error_bound=error_bound,
        note=note,
    )


def _within(value, low, high):
    """The value, or where it lies outside what is certain, the middle of that."""
    return value if low <= value <= high else (low + high) / 2


def _unsolved(position, graph, start_s, limit):
    """The answer where not even the graph is known: the game's own suggestion, and the utilities there are."""
    low, high = min(0.0, position.rules.min_utility()), max(0.0, position.rules.max_utility())
    middle = (low + high) / 2
    action, stats = None, ()
    if position.is_player_node():
        legal = position.legal_actions()
        action = position.suggest(Stream(0)) if "suggest" in position.rules.abilities else legal[0]
        stats = tuple(ActionStats(each, 0, middle, float(each == action), (low, high)) for each in legal)
    return SearchResult(
        action=action,
        values=(middle,) * position.num_players(),
        actions=stats,
        simulations=0,
        nodes=max(1, graph.n_states),
        seconds=time.perf_counter() - start_s,
        principal_variation=() if action is None else (action,),
        reproducible=limit is None or limit.reproducible,
        error_bound=high - middle,
        note=f"not solved: there was too little time to list and order the states ({graph.n_states:,} were found)",
    )


def _variation(graph, number):
    """The best line through the likeliest outcomes, up to the first position that comes again."""
    line, met = [], set()
    while number not in met and graph.turn_of(number) != TERMINAL and len(line) < 64:
        met.add(number)
        seat = graph.turn_of(number)
        steps = graph.steps_of(number)
        if seat == CHANCE:
            id, _, number = max(steps, key=lambda step: (step[1], -step[0]))
        else:
            id, _, number = max(steps, key=lambda step: (graph.value_of(step[2])[seat], -step[0]))
        line.append(id)
    return tuple(line)


def check(Rules rules, parameters):
    """Raises UnsuitableGameError where a property of the game rules it out."""
    require_open(rules, "value_iteration", "use cfr+ to solve it where its tree fits, or ismcts to play it")


PARAMETERS = {
    "seconds": Parameter(None, "stop after this much time, with bounds instead of the value", kind=float, low=1e-6,
                         high=1e8),
    "sweeps": Parameter(None, "most sweeps over one component, then bounds instead of the value", kind=int, low=1),
    "tolerance": Parameter(1e-10, "how far a value may be from where the sweeps lead", low=1e-14, high=1.0),
    "max_mb": Parameter(4096, "most memory for states and steps, MB", low=1, high=1 << 20),
}


def _make(parameters):
    return ValueIterationSearcher(**parameters)


SOLVERS = (
    SolverSpec(
        name="value_iteration",
        kind="searcher",
        summary="exact values of the whole game, also where positions come again",
        source="Shapley 1953; Tarjan 1972; Neller and Presser 2004",
        make=_make,
        parameters=PARAMETERS,
        check=check,
    ),
)
