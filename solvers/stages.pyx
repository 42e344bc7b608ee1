"""Stages of simultaneous choices: several seats choose in secret, then all choices are shown.

A stage whose continuations are valued is a game in normal form, one cell for each joint choice.
`OneShot` solves such a game by CFR+: every seat keeps its regrets, never below zero, plays in
proportion to them, and its policies are averaged with the number of the iteration for weight. With
two seats of a zero sum the averages approach an equilibrium. With more seats, or another sum, no
seat regrets its average much, and nothing else is promised.

`Stage` is the stage at the root of a search. It deals simulations out to the cells, keeps the mean
return of each, and solves the game of those means. Every cell is met once before any is met again.
From then on one seat, a different one by chance each time, tries its actions alike, while the others
follow the solution so far: regrets need all actions of a seat against what the others really play,
and no more.

Sources: Tammelin, "Solving large imperfect information games using CFR+", 2014; Lanctot, Lisy,
Winands, "Monte Carlo tree search in simultaneous move games with applications to Goofspiel", 2013;
Lisy, Kovarik, Lanctot, Bosansky, "Convergence of Monte Carlo tree search in simultaneous move games",
NIPS 2013; Bosansky, Lisy, Lanctot, Cermak, Winands, "Algorithms for computing strategies in two-player
simultaneous move games", Artificial Intelligence 237 (2016).
"""
import math

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memcpy, memset

from engine_ext.game cimport LEGAL_LIMIT, PLAYER_LIMIT, GameOps
from engine_ext.position cimport Position
from engine_ext.rng cimport Rng, rng_below, rng_double, rng_seed_keys
from solvers.common cimport StateBuffer
from solvers.stopping cimport look_up

from engine_ext.errors import ParameterError, UnsuitableGameError
from engine_ext.seeds import check_seed
from solvers.budget import batches

cdef enum:
    CELL_LIMIT = 1 << 20      # most joint choices of a stage
    SHUFFLE_STREAM = 3        # key of the random stream that orders the cells' first visits
    INTERIM_ITERATIONS = 200  # of CFR+, while simulations go on

cdef double SLACK = 0.1       # share of uniform choices of a seat that follows the solution so far


cdef class OneShot:
    """A game in normal form and its solution by CFR+.

    Args:
        payoffs: float64[n_seats, actions of seat 0, actions of seat 1, ...], utility of each seat.

    Raises:
        ParameterError: payoffs of another shape, without an action, or not finite.
    """

    def __cinit__(self):
        self.payoff = self.regret = self.policy = self.total = self.utility = NULL
        self.place = NULL

    def __init__(self, payoffs):
        table = np.asarray(payoffs, dtype=np.float64)
        if table.ndim < 2 or table.shape[0] != table.ndim - 1 or 0 in table.shape or table.shape[0] > PLAYER_LIMIT:
            raise ParameterError(
                f"payoffs have the shape {table.shape}; it must be one table a seat, of one axis a seat, "
                f"with 1 to {PLAYER_LIMIT} seats and at least one action each")
        if not np.isfinite(table).all():
            raise ParameterError("payoffs must be finite numbers")
        self._lay_out(list(table.shape[1:]), list(range(table.shape[0])), table.shape[0])
        cdef double[:, ::1] rows = np.ascontiguousarray(np.moveaxis(table, 0, -1).reshape(-1, self.n_seats))
        memcpy(self.payoff, &rows[0, 0], self.n_cells * self.width * sizeof(double))
        self.least_regret = 1e-12 * float(np.abs(table).max())

    cdef _lay_out(self, list counts, list seats, int32_t width):
        """Room for a game of so many actions a seat, of these seats among `width` in all."""
        cdef int64_t cell, rest
        cdef int32_t i
        cells = math.prod(counts)
        if cells > CELL_LIMIT:
            raise UnsuitableGameError(f"a stage of {' x '.join(map(str, counts))} joint choices is too wide to be "
                                      f"solved whole; at most {CELL_LIMIT} are allowed")
        self.n_seats, self.n_cells, self.width = len(counts), cells, width
        for i in range(self.n_seats):
            self.seats[i].seat, self.seats[i].count, self.seats[i].first = seats[i], counts[i], self.n_actions
            self.n_actions += self.seats[i].count
        self.payoff = <double *>calloc(self.n_cells * self.width, sizeof(double))
        self.place = <int32_t *>malloc(self.n_cells * self.n_seats * sizeof(int32_t))
        self.regret = <double *>malloc(self.n_actions * sizeof(double))
        self.policy = <double *>malloc(self.n_actions * sizeof(double))
        self.total = <double *>malloc(self.n_actions * sizeof(double))
        self.utility = <double *>malloc(self.n_actions * sizeof(double))
        if (self.payoff == NULL or self.place == NULL or self.regret == NULL or self.policy == NULL
                or self.total == NULL or self.utility == NULL):
            raise MemoryError
        for cell in range(self.n_cells):
            rest = cell
            for i in range(self.n_seats - 1, -1, -1):
                self.place[cell * self.n_seats + i] = self.seats[i].first + <int32_t>(rest % self.seats[i].count)
                rest //= self.seats[i].count
        self.restart()

    def __dealloc__(self):
        free(self.payoff)
        free(self.place)
        free(self.regret)
        free(self.policy)
        free(self.total)
        free(self.utility)

    # ---- for Python ----------------------------------------------------------------------------

    def solve(self, int64_t iterations):
        """The average policies of that many iterations of CFR+ from the uniform policy.

        Returns:
            One list of probabilities a seat, by action.
        """
        if iterations < 1:
            raise ParameterError(f"iterations is {iterations}, it must be at least 1")
        cdef int64_t size
        self.restart()
        for size in batches(iterations, None):
            with nogil:
                self.run(size)
            look_up()
        return self.average()

    def average(self):
        """The average policy of each seat: a list of lists of probabilities, by action."""
        made = []
        for i in range(self.n_seats):
            first, count = self.seats[i].first, self.seats[i].count
            weight = sum(self.total[first + k] for k in range(count))
            made.append([self.total[first + k] / weight if weight else 1.0 / count for k in range(count)])
        return made

    def action_values(self, policies):
        """What each action brings the seat that takes it when the others play these policies.

        Args:
            policies: one list of probabilities a seat, as `solve` returns them.

        Returns:
            One list of utilities a seat, by action.
        """
        cdef double[::1] flat = np.array([p for policy in policies for p in policy], dtype=np.float64)
        if [len(policy) for policy in policies] != [self.seats[i].count for i in range(self.n_seats)]:
            raise ParameterError("there must be one probability for each action of each seat")
        for i in range(self.n_seats):
            self.value_actions(i, &flat[0])
        return [[self.utility[self.seats[i].first + k] for k in range(self.seats[i].count)]
                for i in range(self.n_seats)]

    # ---- CFR+ ----------------------------------------------------------------------------------

    cdef void restart(self) noexcept nogil:
        """No regrets, no average, the uniform policy."""
        cdef int32_t i, k
        self.iterations = 0
        memset(self.regret, 0, self.n_actions * sizeof(double))
        memset(self.total, 0, self.n_actions * sizeof(double))
        for i in range(self.n_seats):
            for k in range(self.seats[i].count):
                self.policy[self.seats[i].first + k] = 1.0 / <double>self.seats[i].count

    cdef void run(self, int64_t count) noexcept nogil:
        """More iterations, the seats updated one after the other."""
        cdef int64_t _k
        cdef int32_t i
        for _k in range(count):
            self.iterations += 1
            for i in range(self.n_seats):
                self.update(i)

    cdef void update(self, int32_t i) noexcept nogil:
        """Add the i-th seat's policy to its average, then its regrets and the policy that follows."""
        cdef int32_t count = self.seats[i].count, k
        cdef double *policy = self.policy + self.seats[i].first
        cdef double *regret = self.regret + self.seats[i].first
        cdef double *total = self.total + self.seats[i].first
        cdef double *utility = self.utility + self.seats[i].first
        cdef double mean = 0.0, positive = 0.0
        self.value_actions(i, self.policy)
        for k in range(count):
            total[k] += <double>self.iterations * policy[k]
            mean += policy[k] * utility[k]
        for k in range(count):
            regret[k] = max(0.0, regret[k] + utility[k] - mean)
            positive += regret[k]
        for k in range(count):
            # Rounding must not decide between actions that are exactly alike.
            policy[k] = regret[k] / positive if positive > self.least_regret else 1.0 / <double>count

    cdef void value_actions(self, int32_t i, const double *policies) noexcept nogil:
        """Expected utility of each action of the i-th seat, into its block of `utility`."""
        cdef const int32_t *place = self.place
        cdef const double *payoff = self.payoff + self.seats[i].seat
        cdef int64_t _cell
        cdef int32_t j
        cdef double reach
        memset(self.utility + self.seats[i].first, 0, self.seats[i].count * sizeof(double))
        for _cell in range(self.n_cells):
            reach = 1.0
            for j in range(self.n_seats):
                if j != i:
                    reach *= policies[place[j]]
            self.utility[place[i]] += reach * payoff[0]
            place += self.n_seats
            payoff += self.width


cdef class Stage(OneShot):
    """The stage of simultaneous choices that a decision belongs to, and what simulations found of it.

    Args:
        position: a decision of a stage, at whatever seat's turn in it.
        seed, thread: of the search; they order the first visits.

    Raises:
        UnsuitableGameError: it belongs to no stage, or there are too many joint choices.
    """

    def __cinit__(self):
        self.actions = NULL
        self.order = self.visits = NULL
        self.sums = NULL

    def __init__(self, Position position not None, *, seed, thread):
        cdef const GameOps *ops = position.ops
        cdef int32_t legal[LEGAL_LIMIT]
        cdef StateBuffer buffer, ahead
        cdef unsigned char *state = buffer.bytes
        cdef unsigned char *again = ahead.bytes
        cdef Rng rng
        cdef int64_t cell, other
        cdef int32_t k
        self.rules, self.ops, self.tables = position.rules, ops, position.tables
        self.n_players = ops.n_players
        memcpy(state, position.state, ops.state_size)
        if ops.rewind == NULL or ops.rewind(self.tables, state) < 0:
            raise UnsuitableGameError(f"{self.rules.name}: this decision is no stage of simultaneous choices")
        seats, actions = [], []
        while True:
            seats.append(ops.turn(self.tables, state))
            count = ops.legal(self.tables, state, legal)
            actions.append([legal[k] for k in range(count)])
            ops.apply(self.tables, state, legal[0])
            memcpy(again, state, ops.state_size)
            if len(seats) == self.n_players or ops.rewind(self.tables, again) != len(seats):
                break
        self._lay_out([len(each) for each in actions], seats, self.n_players)
        self.least_regret = 1e-12 * (ops.max_utility - ops.min_utility)
        self.actions = <int32_t *>malloc(self.n_actions * sizeof(int32_t))
        self.order = <int64_t *>malloc(self.n_cells * sizeof(int64_t))
        self.visits = <int64_t *>calloc(self.n_cells, sizeof(int64_t))
        self.sums = <double *>calloc(self.n_cells * self.n_players, sizeof(double))
        if self.actions == NULL or self.order == NULL or self.visits == NULL or self.sums == NULL:
            raise MemoryError
        for k, action in enumerate(action for each in actions for action in each):
            self.actions[<int32_t>k] = action
        rng_seed_keys(&rng, check_seed(seed), SHUFFLE_STREAM, thread, 0)
        for cell in range(self.n_cells):
            other = rng_below(&rng, <int32_t>cell + 1)
            self.order[cell] = self.order[other]
            self.order[other] = cell
        self.next_solution = self.n_cells

    def __dealloc__(self):
        free(self.actions)
        free(self.order)
        free(self.visits)
        free(self.sums)

    # ---- for Python ----------------------------------------------------------------------------

    @property
    def turns(self):
        """The seats that choose, in their order."""
        return [self.seats[i].seat for i in range(self.n_seats)]

    @property
    def choices(self):
        """The action ids each of them chooses from, a list of lists."""
        return [[self.actions[self.seats[i].first + k] for k in range(self.seats[i].count)]
                for i in range(self.n_seats)]

    @property
    def cell_visits(self):
        """Simulations of each joint choice: int64[actions of the first seat, of the second, ...]."""
        flat = np.array([self.visits[cell] for cell in range(self.n_cells)], dtype=np.int64)
        return flat.reshape([self.seats[i].count for i in range(self.n_seats)])

    @property
    def payoffs(self):
        """Mean returns: float64[n_players, actions of the first seat, of the second, ...]."""
        self.average_cells()
        flat = np.array([self.payoff[k] for k in range(self.n_cells * self.width)], dtype=np.float64)
        return np.moveaxis(flat.reshape([*(self.seats[i].count for i in range(self.n_seats)), self.width]), -1, 0)

    def check(self):
        """Raises UnsuitableGameError when states that the root could be had different choices in the
        stage: it then has no single table."""
        if self.differs:
            raise UnsuitableGameError(
                f"{self.rules.name}: what a seat may choose in this stage depends on what others cannot see, so it "
                "has no single table of joint choices; search without favor=cfr+")

    def add(self, Stage other not None):
        """Add what the simulations of another search of the same stage found."""
        cdef int64_t k
        for k in range(self.n_cells):
            self.visits[k] += other.visits[k]
        for k in range(self.n_cells * self.n_players):
            self.sums[k] += other.sums[k]
        self.simulations += other.simulations

    def solution(self, int64_t iterations):
        """Solve the game of mean returns.

        Returns:
            (policies, values): one {action: probability} for each seat of `turns`, and the expected
            utility of every seat of the game under them, a tuple.
        """
        self.average_cells()
        policies = self.solve(iterations)
        shares = np.ones(1)
        for policy in policies:
            shares = np.multiply.outer(shares, policy)
        axes = tuple(range(1, self.n_seats + 1))
        values = (self.payoffs * shares[0]).sum(axis=axes)
        return ([dict(zip(ids, policy)) for ids, policy in zip(self.choices, policies)],
                tuple(float(value) for value in values))

    # ---- for the simulations -------------------------------------------------------------------

    cdef bint take(self, unsigned char *state, int64_t cell) noexcept nogil:
        """From the stage's first decision, all seats' choices of a cell; False where they differ."""
        cdef int32_t legal[LEGAL_LIMIT]
        cdef const Choices *choices
        cdef int32_t i
        for i in range(self.n_seats):
            choices = &self.seats[i]
            if (self.ops.turn(self.tables, state) != choices.seat
                    or self.ops.legal(self.tables, state, legal) != choices.count
                    or memcmp(legal, self.actions + choices.first, choices.count * sizeof(int32_t)) != 0):
                self.differs = True
                return False
            self.ops.apply(self.tables, state, self.actions[self.place[cell * self.n_seats + i]])
        return True

    cdef int64_t draw(self, Rng *rng) noexcept nogil:
        """The cell of the next simulation."""
        cdef const double *total
        cdef int64_t cell = 0
        cdef int32_t i, k, count, chosen, explorer
        cdef double left
        if self.simulations < self.n_cells:
            return self.order[self.simulations]
        if self.simulations >= self.next_solution:
            self.average_cells()
            self.restart()
            self.run(INTERIM_ITERATIONS)
            self.next_solution = self.simulations + max(self.n_cells, self.simulations // 4)
        explorer = rng_below(rng, self.n_seats)
        for i in range(self.n_seats):
            count = self.seats[i].count
            if i == explorer or rng_double(rng) < SLACK:
                chosen = rng_below(rng, count)
            else:
                total = self.total + self.seats[i].first
                left = 0.0
                for k in range(count):
                    left += total[k]
                left *= rng_double(rng)
                chosen = 0
                for k in range(count):
                    if total[k] > 0.0:
                        chosen = k
                        left -= total[k]
                        if left < 0.0:
                            break
            cell = cell * count + chosen
        return cell

    cdef void credit(self, int64_t cell, const double *values) noexcept nogil:
        """Add the returns of a simulation that began with a cell."""
        cdef int32_t seat
        self.visits[cell] += 1
        self.simulations += 1
        for seat in range(self.n_players):
            self.sums[cell * self.n_players + seat] += values[seat]

    cdef void average_cells(self) noexcept nogil:
        """The mean return of every cell into `payoff`. A cell never met gets the mean of all, moved by
        what each of its actions did on average elsewhere."""
        cdef int64_t cell, met = 0
        cdef int32_t seat, n = self.n_players
        for cell in range(self.n_cells):
            if self.visits[cell]:
                met += 1
                for seat in range(n):
                    self.payoff[cell * n + seat] = (
                        self.sums[cell * n + seat] / <double>self.visits[cell])
        if met == 0 or met == self.n_cells:
            return
        for seat in range(n):
            self.fill_gaps(seat, met)

    cdef void fill_gaps(self, int32_t seat, int64_t met) noexcept nogil:
        """What `average_cells` says of cells never met, for one seat's returns."""
        cdef double *marginal = self.utility       # by action, the mean over cells that were met
        cdef double *count = self.policy
        cdef double mean = 0.0, guess
        cdef int64_t cell
        cdef int32_t i, k
        memset(marginal, 0, self.n_actions * sizeof(double))
        memset(count, 0, self.n_actions * sizeof(double))
        for cell in range(self.n_cells):
            if self.visits[cell]:
                mean += self.payoff[cell * self.width + seat] / <double>met
                for i in range(self.n_seats):
                    k = self.place[cell * self.n_seats + i]
                    marginal[k] += self.payoff[cell * self.width + seat]
                    count[k] += 1.0
        for cell in range(self.n_cells):
            if self.visits[cell]:
                continue
            guess = mean
            for i in range(self.n_seats):
                k = self.place[cell * self.n_seats + i]
                if count[k] > 0.0:
                    guess += marginal[k] / count[k] - mean
            self.payoff[cell * self.width + seat] = min(max(guess, self.ops.min_utility), self.ops.max_utility)
