"""The values of all states of a game below one position, or bounds of them: value iteration itself.

All reachable states are listed with their steps and put in the order of their strongly connected components
(state_graph.pyx), which are swept one after the other, those that a component leads to before it, so that only states
on a common cycle are ever swept twice.

Bounds close in on the values from the least and the greatest utility there is (value_bounds.pxd). A component is swept
until what is still to come (the last change, extrapolated by the rate at which changes shrink) is a tenth of the
tolerance. Where all bounds have met, within the tolerance, the game is solved, and the error is proven. Under a limit
there are rounds over all components, each until a tenth is still to come of what was after the one before, so that a
run that is cut short has narrow bounds everywhere, not closed ones at the ends of the game.

Seats maximise their own utility: minimax for two players with a zero sum, max^n beyond. Bounds need not meet where
play can go on for ever because nobody wants to end it, or where the seat that moves is indifferent and others are not.
Then values are swept as such, once, from 0: play that never ends is worth that to everyone, and of actions alike the
lowest is played. With more than two players, or without a zero sum, they need not settle; then the game is refused.
"""
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

cimport cython

from engine_ext.position cimport Position
from solvers.pace cimport Pace
from solvers.state_graph cimport StateGraph
from solvers.value_bounds cimport Bounds, begin_bounds, take_middles, update_bounds, widest
from solvers.value_sweeps cimport Sweeps, begin_sweeps, sweep_on

from engine_ext.errors import UnsuitableGameError

cdef enum:
    SWEEP_LIMIT = 1000000       # sweeps of one component
    VECTOR_SWEEP_LIMIT = 10000  # where they need not settle

_CLOSER = 0.1               # how much is still to come after a round, of what was after the one before

# Of the time that listing the states took: ordering the components takes about so much more, and then one sweep over
# all bounds.
_ORDER_SHARE = 0.3
_BOUND_SHARE = 0.05


@cython.final
cdef class Solution:
    """What is known of the game below a position; `run` finds it out.

    Args:
        position: where to begin.
        max_bytes: most memory for states and steps.
        seconds: to stop after, from now on; None for no such limit.
        nodes: states listed, or states updated, to stop after; None for no such limit.

    Attributes:
        stage: listing, cutting, narrowing (bounds), sweeping (values); done where the game is solved.
        whole: whether it is.
    """

    cdef StateGraph graph
    cdef Pace pace
    cdef Sweeps at_work
    cdef Bounds bounds
    cdef readonly str stage
    cdef readonly bint whole
    cdef readonly int64_t sweeps       # of the component that took most in one round
    cdef int32_t settled               # components that have in this round, before the first that has not
    cdef double aim                    # of this round: what may still be to come

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
            tolerance: how far a value may be from the true one; where bounds do not meet, from where the sweeps lead.
            sweeps: most of one component; None for as many as it takes.

        Raises:
            TooLargeError: more than fits into memory.
            UnsuitableGameError: values that do not settle, without a limit in sweeps.
        """
        cdef double began_s = self.pace.spent_s(), listed_s
        cdef bint in_time, met
        if not self.graph.list_from(position, self.pace):
            return
        listed_s = self.pace.spent_s() - began_s
        self.stage = "cutting"
        if not self.graph.cut(self.pace) or self.pace.left_s() < _ORDER_SHARE * listed_s:
            return
        self.graph.rearrange()
        self.stage = "narrowing"
        in_time = self.narrow(tolerance, sweeps, _BOUND_SHARE * listed_s)
        met = self.whole
        if in_time and not met:
            self.stage = "sweeping"
            self.aim = tolerance
            self.whole = self.sweep(NULL, sweeps) and self.settled == self.graph.n_components
        if met or not self.whole:
            take_middles(self.graph, &self.bounds)
        if self.whole:
            self.stage = "done"

    cdef bint narrow(self, double tolerance, sweeps, double last_sweep_s) except -1:
        """Narrow the bounds until they have met, and the game is solved, or move no more; False where a limit came
        first.

        Args:
            tolerance, sweeps: as for `run`.
            last_sweep_s: what a last sweep over all bounds takes.
        """
        cdef StateGraph g = self.graph
        cdef Bounds *b = &self.bounds
        cdef int64_t n = g.table.n_states * g.n_values
        cdef double last = _CLOSER * tolerance      # for what is left adds up from component to component
        cdef bint in_time
        b.low = <double *>malloc(n * sizeof(double))
        b.high = <double *>malloc(n * sizeof(double))
        if b.low == NULL or b.high == NULL:
            raise MemoryError
        with nogil:
            begin_bounds(g, b)
        self.aim = max(last, _CLOSER * (b.greatest - b.least)) if self.pace.limited and sweeps is None else last
        while True:
            self.at_work.moved = 0.0
            self.pace.deadline_s -= last_sweep_s
            in_time = self.sweep(b, sweeps)
            self.pace.deadline_s += last_sweep_s
            if not in_time:
                self.pass_on()
                return False
            self.whole = widest(g, b) <= 2.0 * tolerance
            if self.whole or self.aim == last or self.at_work.moved <= last:
                return True
            self.aim = max(last, _CLOSER * self.aim)

    cdef bint sweep(self, const Bounds *b, sweeps) except -1:
        """Sweep over all components, one after the other, as far as the aim says; False where a limit came first.

        Args:
            b: what is swept over; NULL: the values.
            sweeps: as for `run`.

        Raises:
            UnsuitableGameError: values that do not settle, without a limit in sweeps.
        """
        cdef StateGraph g = self.graph
        cdef Sweeps *s = &self.at_work
        cdef int64_t most_sweeps = SWEEP_LIMIT if g.n_values == 1 else VECTOR_SWEEP_LIMIT
        cdef int64_t looked = s.updates     # at the last look at the limits
        cdef int32_t part
        cdef bint settled, all_settled = True
        if sweeps is not None:
            most_sweeps = sweeps
        self.settled = 0
        for part in range(g.n_components):
            begin_sweeps(g, s, part)
            settled = False
            while not settled and s.count < most_sweeps:
                with nogil:
                    settled = sweep_on(g, b, s, part, self.aim, most_sweeps, self.pace.chunk)
                if not settled:
                    looked = s.updates
                    if self.is_late():
                        return False
            self.sweeps = max(self.sweeps, s.count)
            if not settled and b == NULL and sweeps is None:
                raise UnsuitableGameError(
                    f"{g.table.rules.name}: the values of {g.component[part + 1] - g.component[part]} states on common "
                    f"cycles still change by {s.change:.3g} after {s.count} sweeps; with more than two players, or "
                    "without a zero sum, they need not settle")
            all_settled = all_settled and settled   # what hangs on one that has not cannot be exact either
            if all_settled:
                self.settled = part + 1
            if s.updates - looked > self.pace.chunk or not part & 0xFFF:
                looked = s.updates
                if self.is_late():
                    return False
        return True

    cdef bint is_late(self) except -1:
        """Whether a limit is reached, by updates as nodes."""
        return self.pace.is_late(self.at_work.updates)

    cdef int pass_on(self) except -1:
        """Sweep once over the bounds of all components from the first unsettled one on, for what this round has won
        in those before; as far as time allows."""
        cdef StateGraph g = self.graph
        cdef int64_t at = g.component[self.settled], last
        cdef int32_t state
        while at < g.table.n_states and not self.pace.is_past():
            last = min(g.table.n_states, at + self.pace.chunk)
            with nogil:
                for state in range(<int32_t>at, <int32_t>last):
                    update_bounds(g, &self.bounds, state)
            at = last
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
        done = f"{self.settled:,} of {self.graph.n_components:,} components of {n_states:,} states"
        return f"bounds of {done} narrowed to {self.aim:.0e}" if self.stage == "narrowing" else f"{done} settled"

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

    @property
    def bytes_used(self):
        """Memory that the states found and their steps take at most."""
        return self.graph.bytes_used()

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
        """Utility per seat; where the game is not solved, the middle between its bounds."""
        cdef StateGraph g = self.graph
        values = [g.values[number * g.n_values + i] for i in range(g.n_values)]
        if g.n_values == 1 and g.ops.n_players == 2:
            values.append(-values[0])
        return tuple(values)

    def bounds_of(self, int64_t number):
        """((low, high) of each seat's utility): the value twice where the game is solved."""
        cdef StateGraph g = self.graph
        cdef const double *low = g.values if self.whole else self.bounds.low
        cdef const double *high = g.values if self.whole else self.bounds.high
        cdef int64_t i
        pairs = [(low[i], high[i]) for i in range(number * g.n_values, (number + 1) * g.n_values)]
        if g.n_values == 1 and g.ops.n_players == 2:
            pairs.append((-pairs[0][1], -pairs[0][0]))
        return tuple(pairs)
