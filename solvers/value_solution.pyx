"""The values of all states of a game below one position, or bounds of them: value iteration itself.

All reachable states are listed with their steps and put in the order of their strongly connected components
(state_graph.pyx), which are solved one after the other, those that a component leads to before it, so that only states
on a common cycle are ever swept twice. Within a component: Gauss-Seidel sweeps (value_sweeps.pxd), successors before
predecessors where the cycle allows, until what is still to come (the last change, extrapolated by the rate at which
changes shrink) is below the tolerance.

Seats maximise their own utility: minimax for two players with a zero sum, max^n beyond, where
sweeps need not settle; then the game is refused. Play that never ends is worth 0 to everyone, which
is where sweeps begin.

A run that is cut short, by time or by a number of sweeps, still answers with bounds that hold: what has not settled
begins anew from the least and the greatest utility there is, and is swept over from either (value_bounds.pxd).
"""
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

cimport cython

from engine_ext.position cimport Position
from solvers.pace cimport FOREVER, Pace
from solvers.state_graph cimport StateGraph
from solvers.value_bounds cimport Bounds, begin_bounds, update_bounds
from solvers.value_sweeps cimport Sweeps, begin_sweeps, sweep_on

from engine_ext.errors import UnsuitableGameError

cdef enum:
    SWEEP_LIMIT = 1000000       # sweeps of one component
    VECTOR_SWEEP_LIMIT = 10000  # where they need not settle

# Of the time that listing the states took: ordering the components takes about so much more, and then one sweep for
# bounds over all of it.
_ORDER_SHARE = 0.3
_BOUND_SHARE = 0.2


@cython.final
cdef class Solution:
    """What is known of the game below a position; `run` finds it out.

    Args:
        position: where to begin.
        max_bytes: most memory for states and steps.
        seconds: to stop after, from now on; None for no such limit.
        nodes: states listed, or states updated, to stop after; None for no such limit.

    Attributes:
        stage: listing, cutting, solving, bounding, or done.
        whole: whether every component has settled.
    """

    cdef StateGraph graph
    cdef Pace pace
    cdef Sweeps at_work
    cdef Bounds bounds
    cdef readonly str stage
    cdef readonly bint whole
    cdef readonly int64_t sweeps       # of the component that took most
    cdef readonly double change        # largest change of the last sweep of any component
    cdef int32_t settled               # components that have, before the first that has not

    def __cinit__(self, Position position not None, int64_t max_bytes, seconds=None, nodes=None):
        self.stage = "listing"
        self.pace = Pace(seconds, nodes)
        self.graph = StateGraph(position, max_bytes)
        self.bounds.least = min(0.0, position.ops.min_utility)
        self.bounds.greatest = max(0.0, position.ops.max_utility)
        self.bounds.low = self.bounds.high = NULL

    def __dealloc__(self):
        free(self.bounds.low)
        free(self.bounds.high)

    def run(self, Position position not None, double tolerance, sweeps=None):
        """List the states and solve them, as far as the limits allow. Once only.

        Args:
            position: as for the class.
            tolerance: how far a value may be from where the sweeps lead.
            sweeps: most of one component; None for as many as it takes.

        Raises:
            TooLargeError: more than fits into memory.
            UnsuitableGameError: values that do not settle, without a limit in sweeps.
        """
        cdef double began_s = self.pace.spent_s(), listed_s, last_s
        if not self.graph.list_from(position, self.pace):
            return
        listed_s = self.pace.spent_s() - began_s
        self.stage = "cutting"
        if not self.graph.cut(self.pace) or self.pace.left_s() < _ORDER_SHARE * listed_s:
            return
        self.graph.rearrange()
        self.stage = "solving"
        last_s, self.pace.deadline_s = self.pace.deadline_s, self.pace.deadline_s - _BOUND_SHARE * listed_s
        self.solve(tolerance, FOREVER if sweeps is None else sweeps)
        self.pace.deadline_s = last_s
        self.whole = self.settled == self.graph.n_components
        if not self.whole:
            self.stage = "bounding"
            self.bound(tolerance, 1 if sweeps is None else sweeps)
        self.stage = "done"

    cdef bint is_late(self) except -1:
        """Whether a limit is reached."""
        return self.pace.is_late(max(self.graph.table.n_states, self.at_work.updates))

    cdef int solve(self, double tolerance, int64_t most_sweeps) except -1:
        """Solve component by component, until a limit; raises UnsuitableGameError where one does not settle."""
        cdef StateGraph g = self.graph
        cdef Sweeps *s = &self.at_work
        cdef int32_t part
        cdef int64_t limit = SWEEP_LIMIT if g.n_values == 1 else VECTOR_SWEEP_LIMIT
        cdef int64_t looked = 0         # updates at the last look at the limits
        cdef bint settled, all_settled = True
        for part in range(g.n_components):
            begin_sweeps(g, s, part)
            settled = False
            while not settled:
                with nogil:
                    settled = sweep_on(g, s, part, tolerance, most_sweeps, self.pace.chunk)
                if not settled:
                    looked = s.updates
                    if self.is_late():
                        return 0
                    if s.count >= most_sweeps:
                        all_settled = False     # and what hangs on it cannot be exact either
                        break
                    if s.count > limit:
                        raise UnsuitableGameError(
                            f"{g.table.rules.name}: the values of {g.component[part + 1] - g.component[part]} states "
                            f"on common cycles still change by {s.change:.3g} after {s.count} sweeps; with more than "
                            "two players, or without a zero sum, they need not settle")
            self.sweeps = max(self.sweeps, s.count)
            self.change = max(self.change, s.change)
            if all_settled:
                self.settled = part + 1
            if s.updates - looked > self.pace.chunk or not part & 0xFFF:
                looked = s.updates
                if self.is_late():
                    return 0
        return 0

    cdef int bound(self, double tolerance, int64_t sweeps) except -1:
        """Fill in bounds: so many sweeps over either in all components from the first unsettled one on,
        or fewer where time ends, which leaves wider bounds that hold as well."""
        cdef StateGraph g = self.graph
        cdef int64_t n = g.table.n_states * g.n_values, _sweep, looked = 0
        cdef int32_t part, state
        self.bounds.low = <double *>malloc(n * sizeof(double))
        self.bounds.high = <double *>malloc(n * sizeof(double))
        if self.bounds.low == NULL or self.bounds.high == NULL:
            raise MemoryError
        with nogil:
            begin_bounds(g, &self.bounds, self.settled, tolerance)
        for part in range(self.settled, g.n_components):
            for _sweep in range(sweeps if g.component[part + 1] - g.component[part] > 1 else 1):
                for state in range(g.component[part], g.component[part + 1]):
                    update_bounds(g, &self.bounds, state)
                    looked += 1
                    if looked >= self.pace.chunk:
                        looked = 0
                        if self.pace.is_past():
                            return 0
        return 0

    # ---- answers ---------------------------------------------------------------------------

    @property
    def status(self):
        """How far it has come, for a reader."""
        cdef int64_t n_states = self.graph.table.n_states
        if self.stage == "listing":
            return f"{n_states:,} states listed"
        if self.stage == "cutting":
            return f"{n_states:,} states, cut into components"
        return f"{self.settled:,} of {self.graph.n_components:,} components of {n_states:,} states"

    @property
    def n_states(self):
        """States found."""
        return self.graph.table.n_states

    @property
    def n_edges(self):
        """Steps between them found."""
        return self.graph.n_steps

    @property
    def parts(self):
        """Strongly connected components."""
        return self.graph.n_components

    @property
    def updates(self):
        """States updated, all sweeps together."""
        return self.at_work.updates

    @property
    def most_states(self):
        """How many states fit into the memory allowed, if each had one step."""
        return self.graph.most_states()

    def number_of(self, Position position not None):
        """The state's place, -1 where it was not reached or places are not known yet."""
        return self.graph.place_of(position)

    def turn_of(self, int64_t number):
        """Seat, CHANCE or TERMINAL."""
        return self.graph.turn[number]

    def steps_of(self, int64_t number):
        """[(id, probability, place of the state it leads to)]; a decision's probabilities are 1."""
        cdef StateGraph g = self.graph
        return [(g.action[step], g.prob[step], g.target[step]) for step in range(g.first[number], g.first[number + 1])]

    def value_of(self, int64_t number):
        """Utility per seat."""
        cdef StateGraph g = self.graph
        values = [g.values[number * g.n_values + i] for i in range(g.n_values)]
        if g.n_values == 1 and g.ops.n_players == 2:
            values.append(-values[0])
        return tuple(values)

    def bounds_of(self, int64_t number):
        """((low, high) of each seat's utility), which hold also where the run was cut short."""
        cdef StateGraph g = self.graph
        cdef Bounds *b = &self.bounds
        cdef int64_t i
        pairs = []
        for i in range(number * g.n_values, (number + 1) * g.n_values):
            pairs.append((g.values[i], g.values[i]) if b.low == NULL else (b.low[i], b.high[i]))
        if g.n_values == 1 and g.ops.n_players == 2:
            pairs.append((-pairs[0][1], -pairs[0][0]))
        return tuple(pairs)
