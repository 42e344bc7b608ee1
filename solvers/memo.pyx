"""Exact values of games without cycles: every reachable state once, values kept.

Expectimax (max^n for more than two seats) by depth-first search with a memo of all states, each
compared byte by byte. A tie between actions goes to the lowest id, also where it matters to others.
The search keeps its own stack, so that long games cannot exhaust the machine's, and it can be
left and taken up again, so that Ctrl-C works.
"""
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

cimport cython

from engine_ext.game cimport CHANCE, PLAYER_LIMIT, TERMINAL
from engine_ext.position cimport Position, Rules
from solvers.common cimport StateBuffer
from solvers.state_table cimport StateTable
from solvers.stopping cimport look_up

from engine_ext.errors import TooLargeError, UnsuitableGameError
from solvers.contract import cycle_advice

cdef enum:
    NO_ACTION = -1      # a chance node, done
    RUNNING = -2        # on the stack
    CHUNK = 1 << 16     # steps between two looks for signals


@cython.final
cdef class Memo:
    """Exact values of all states reachable from those asked for; grows with each question.

    Args:
        rules: a game without cycles and without hidden information (the caller has checked).
        max_states: most states kept.
    """

    def __cinit__(self, Rules rules not None, int64_t max_states):
        self.table = StateTable(rules, max_states)
        self.ops = &rules.ops
        self.n_players = rules.ops.n_players
        self.values = NULL
        self.best = NULL
        self.frames = NULL
        self.ids = NULL
        self.probs = NULL

    def __dealloc__(self):
        free(self.values)
        free(self.best)
        free(self.frames)
        free(self.ids)
        free(self.probs)

    @property
    def rules(self):
        """The game."""
        return self.table.rules

    @property
    def n_states(self):
        """Non-terminal states solved so far."""
        return self.table.n_states

    def value(self, Position position not None):
        """Utility per seat, a tuple of float.

        Raises:
            TooLargeError: more states than `max_states`; the memo starts afresh.
            UnsuitableGameError: a state came again on its own path: the game has cycles.
        """
        cdef double out[PLAYER_LIMIT]
        cdef int32_t i
        self.solve(position, out)
        return tuple([out[i] for i in range(self.n_players)])

    def action(self, Position position not None):
        """The best action of a decision, None elsewhere; errors as `value`."""
        cdef double out[PLAYER_LIMIT]
        cdef int64_t number
        if position.ops.turn(position.tables, position.state) < 0:
            return None
        self.solve(position, out)
        number = self.table.find(position.state)
        return self.best[number]

    cdef solve(self, Position position, double *out):
        cdef int64_t number
        cdef bint fresh
        cdef Trouble trouble = FINE
        if self.ops.turn(self.table.tables, position.state) == TERMINAL:
            self.ops.returns(self.table.tables, position.state, out)
            return
        number = self.table.find(position.state)
        if number < 0:
            number = self.table.intern(position.state, &fresh)
            if number < 0 or not self.push(number):
                trouble = FULL
            try:
                while self.n_frames and trouble == FINE:
                    with nogil:
                        trouble = self.run(CHUNK)
                    look_up()
            except BaseException:
                self.forget()
                raise
            if trouble != FINE:
                states = self.table.n_states
                self.forget()
                if trouble == CIRCLE:
                    raise UnsuitableGameError(
                        f"{self.table.rules.name}: a position comes again in one game, so expectimax without a depth "
                        f"limit would never end; {cycle_advice(self.table.rules)}")
                raise TooLargeError(
                    f"{self.table.rules.name} has more than the {states} states that fit "
                    f"({states * (self.table.size + 20 + 8 * self.n_players) >> 20} MB): "
                    + ("give a depth limit, or raise max_states" if self.ops.estimate != NULL else "raise max_states"))
        memcpy(out, &self.values[number * self.n_players], self.n_players * sizeof(double))

    cdef forget(self):
        """Back to an empty memo: half-solved states must not be taken for solved ones."""
        self.table = StateTable(self.table.rules, self.table.limit)
        self.n_frames = self.n_ids = 0

    cdef bint push(self, int64_t number) noexcept nogil:
        """Begin with a state that has just been interned; False without memory."""
        cdef int32_t count, i
        cdef int64_t wanted
        cdef Frame *frame
        cdef void *block
        cdef const void *state = self.table.states + number * self.table.size
        if self.table.room > self.room:
            block = realloc(self.values, self.table.room * self.n_players * sizeof(double))
            if block == NULL:
                return False
            self.values = <double *>block
            block = realloc(self.best, self.table.room * sizeof(int32_t))
            if block == NULL:
                return False
            self.best = <int32_t *>block
            self.room = self.table.room
        if self.n_frames == self.frame_room:
            wanted = max(256, 2 * self.frame_room)
            block = realloc(self.frames, wanted * sizeof(Frame))
            if block == NULL:
                return False
            self.frames = <Frame *>block
            self.frame_room = wanted
        wanted = self.n_ids + max(self.ops.max_legal, self.ops.max_outcomes)
        if wanted > self.id_room:
            wanted *= 2
            block = realloc(self.ids, wanted * sizeof(int32_t))
            if block == NULL:
                return False
            self.ids = <int32_t *>block
            block = realloc(self.probs, wanted * sizeof(double))
            if block == NULL:
                return False
            self.probs = <double *>block
            self.id_room = wanted
        frame = &self.frames[self.n_frames]
        self.n_frames += 1
        frame.number = number
        frame.pending = -1
        frame.ids = self.n_ids
        frame.turn = self.ops.turn(self.table.tables, state)
        if frame.turn == CHANCE:
            count = self.ops.outcomes(self.table.tables, state, self.ids + self.n_ids, self.probs + self.n_ids)
        else:
            count = self.ops.legal(self.table.tables, state, self.ids + self.n_ids)
        self.n_ids += count
        frame.count = count
        frame.at = 0
        frame.best = NO_ACTION
        self.best[number] = RUNNING
        for i in range(self.n_players):
            self.values[number * self.n_players + i] = 0.0
        return True

    cdef void combine(self, Frame *frame, const double *child) noexcept nogil:
        """Fold the value of the child at frame.at into the frame's state, and go to the next."""
        cdef double *own = &self.values[frame.number * self.n_players]
        cdef double probability
        cdef int32_t i
        if frame.turn == CHANCE:
            probability = self.probs[frame.ids + frame.at]
            for i in range(self.n_players):
                own[i] += probability * child[i]
        elif frame.best == NO_ACTION or child[frame.turn] > own[frame.turn]:
            frame.best = self.ids[frame.ids + frame.at]
            memcpy(own, child, self.n_players * sizeof(double))
        frame.at += 1

    cdef Trouble run(self, int64_t most_steps) noexcept nogil:
        """So many steps, or until the stack is empty or there is trouble."""
        cdef StateBuffer buffer
        cdef void *state = buffer.bytes
        cdef double returns[PLAYER_LIMIT]
        cdef int64_t child, _step
        cdef bint fresh
        cdef Frame *frame
        for _step in range(most_steps):
            if self.n_frames == 0:
                break
            frame = &self.frames[self.n_frames - 1]
            if frame.pending >= 0:
                self.combine(frame, &self.values[frame.pending * self.n_players])
                frame.pending = -1
            if frame.at == frame.count:
                self.best[frame.number] = frame.best
                self.n_ids = frame.ids
                self.n_frames -= 1
                continue
            memcpy(state, self.table.states + frame.number * self.table.size, self.table.size)
            self.ops.apply(self.table.tables, state, self.ids[frame.ids + frame.at])
            self.steps += 1
            if self.ops.turn(self.table.tables, state) == TERMINAL:
                self.ops.returns(self.table.tables, state, returns)
                self.combine(frame, returns)
                continue
            child = self.table.intern(state, &fresh)
            if child < 0:
                return FULL
            if fresh:
                frame.pending = child
                if not self.push(child):
                    return FULL
            elif self.best[child] == RUNNING:
                return CIRCLE
            else:
                self.combine(frame, &self.values[child * self.n_players])
        return FINE
