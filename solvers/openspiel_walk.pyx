"""The walk through a game of OpenSpiel's, depth first, into the arrays of a flat tree."""
import time

from libc.math cimport fabs
from libc.stdint cimport int8_t, int32_t, int64_t, uint64_t

from engine_ext.game cimport CHANCE, LEGAL_LIMIT, OUTCOME_LIMIT, TERMINAL
from solvers.pools cimport MISMATCH, NO_MEMORY, pool_grow
from solvers.stopping cimport look_up
from solvers.tree cimport NO_SEQUENCE, step_key, text_key
from solvers.tree_builder cimport NODE_LIMIT, Builder, exact_seed

from engine_ext.errors import TooLargeError, UnsuitableGameError
from solvers.game_source import named_errors, stuck
from solvers.tree import history_key


def openspiel_steps(source, Builder builder, Labels labels):
    """A generator that walks an OpenSpiel game: takes (the node count to pause at, the time to pause at), gives whether
    the tree is whole. It pauses at news, too."""
    cdef uint64_t key = history_key(source.state.history())
    pause_at, deadline = yield
    state = source.state.clone()
    if builder.add_nodes(-1, 1) < 0:
        raise MemoryError
    last = [NO_SEQUENCE] * source.n_players
    with named_errors(source.called):
        count, actions, key = open_node(builder, state, 0, last, key, labels)
    stack = [[state, 0, 0, actions, (<int8_t *>builder.player.data)[0], last, key]] if count else []
    while True:
        with named_errors(source.called):
            done = walk_openspiel(builder, stack, labels, pause_at, deadline)
        pause_at, deadline = yield done


cdef bint walk_openspiel(Builder b, list stack, Labels labels, int64_t pause_at, double deadline) except -1:
    """Go on until the tree is whole (True), or has `pause_at` nodes, or there is news or no more time (False).

    Each entry of the stack is [state, node, index of the next edge, actions, player, last, key]."""
    cdef int32_t i, node, count, child, player, steps = 0
    cdef list frame, actions
    cdef uint64_t key
    while stack:
        frame = <list>stack[len(stack) - 1]
        node, i, actions, player = frame[1], frame[2], <list>frame[3], frame[4]
        count = len(actions)
        if b.player.size >= pause_at or b.news:
            return False
        steps += 1
        if not steps & 15 and time.perf_counter() > deadline:
            return False
        look_up()     # a step of a slow game may take milliseconds
        state = frame[0]
        if i == count - 1:
            stack.pop()          # the last child takes over its parent's state
            state.apply_action(actions[i])
        else:
            frame[2] = i + 1
            state = state.child(actions[i])
        child = (<int32_t *>b.first.data)[node] + i
        last = frame[5]
        if player >= 0:
            last = list(last)
            last[player] = (<int32_t *>b.info_first.data)[(<int32_t *>b.infoset.data)[node]] + i
        key = frame[6]
        count, found, key = open_node(b, state, child, last, step_key(key, actions[i]), labels)
        if count:
            stack.append([state, child, 0, found, (<int8_t *>b.player.data)[child], last, key])
    return True


cdef open_node(Builder b, state, int32_t node, last, uint64_t key, Labels labels):
    """Fill in one node from its state, which is moved past forced moves.

    Args:
        last: each player's own last sequence.
        key: of the state's history.

    Returns:
        (count of actions or outcomes, their ids, the key with forced moves)
    """
    cdef int32_t player, count, first, i
    while True:
        player = state.current_player()
        if player == TERMINAL:
            fill_terminal(b, state, node)
            return 0, None, key
        if player == CHANCE:
            pairs = sorted([pair for pair in state.chance_outcomes() if pair[1] > 0])
            actions = [pair[0] for pair in pairs]
        elif player >= 0:
            actions = state.legal_actions()
            actions.sort()
        else:
            raise UnsuitableGameError(f"{labels.game}: a node whose player is {player} cannot be part of a tree")
        if len(actions) != 1:
            break
        state.apply_action(actions[0])
        key = step_key(key, actions[0])
    count = len(actions)
    if count == 0:
        raise stuck(labels.game, state, player)
    first = b.add_nodes(node, count)
    if first == -NO_MEMORY:
        raise MemoryError
    if first < 0:
        raise TooLargeError(f"{labels.game}: the tree has more than {NODE_LIMIT} nodes")
    for i in range(count):
        (<int32_t *>b.action.data)[first + i] = actions[i]
    if player == CHANCE:
        fill_chance(b, state, node, first, pairs, labels)
        labels.name_outcomes(state, actions)
    else:
        labels.name_actions(state, player, actions)
        fill_decision(b, state, node, first, count, player, last[player], key, labels)
    return count, actions, key


cdef fill_terminal(Builder b, state, int32_t node):
    cdef int64_t row = b.utility.size // b.n_players
    cdef double total = 0.0, most = 1.0
    cdef int32_t i
    if pool_grow(&b.utility, b.n_players) < 0:
        raise MemoryError
    for i, value in enumerate(state.returns()):
        (<double *>b.utility.data)[row * b.n_players + i] = value
        total += value
        most = max(most, fabs(value))
    if fabs(total) > 1e-9 * most:
        b.news |= not b.unbalanced
        b.unbalanced = True
    b.set_node(node, TERMINAL, 0, 0, <int32_t>row)


cdef fill_chance(Builder b, state, int32_t node, int32_t first, list pairs, Labels labels):
    """The probabilities of its outcomes."""
    cdef int32_t i, count = len(pairs)
    cdef double total = 0.0
    b.news |= b.widest_chance <= OUTCOME_LIMIT < count
    b.widest_chance = max(b.widest_chance, count)
    for i in range(count):
        (<double *>b.prob.data)[first + i] = pairs[i][1]
        total += pairs[i][1]
    if not 1 - 1e-6 < total < 1 + 1e-6:
        raise UnsuitableGameError(
            f"{labels.game}: the game itself is at fault: after {len(state.history())} moves the probabilities "
            f"of chance sum to {total:.9g}, not to 1, so it has no expected values to solve for")
    b.set_node(node, CHANCE, first, count, -1)


cdef fill_decision(Builder b, state, int32_t node, int32_t first, int32_t count, int32_t player, int32_t last,
                   uint64_t key, Labels labels):
    """Its information set."""
    cdef int32_t infoset
    b.news |= b.widest_decision <= LEGAL_LIMIT < count
    b.widest_decision = max(b.widest_decision, count)
    b.set_node(node, player, first, count, -1)    # find_infoset may meet this very node
    if b.by_node:
        infoset = b.add_infoset(player, last, key, count)
    else:
        text = labels.text(state, player)
        infoset = b.find_infoset(node, player, last, text_key(text, 0), text_key(text, exact_seed()),
                                 (<int32_t *>b.action.data) + first, count)
    if infoset == -NO_MEMORY:
        raise MemoryError
    if infoset == -MISMATCH:
        raise UnsuitableGameError(
            f"{labels.game}: its information-state strings are too coarse: states that seat {player} cannot tell "
            f"apart offer it different actions, after {len(state.history())} moves for one; no policy can be "
            f"written for such a set. What the seat is told: {shortened(labels.text(state, player))!r}")
    b.set_node(node, player, first, count, infoset)


cdef class Labels:
    """What a pyspiel game calls things: the texts of information sets, and action names, gathered on the way."""

    def __init__(self, game, observations):
        self.game = game
        self.action_names, self.outcome_names = {}, {}
        self.observations = observations

    cdef str text(self, state, int32_t player):
        return state.observation_string(player) if self.observations else state.information_state_string(player)

    cdef name_actions(self, state, player, actions):
        for action in actions:
            if action not in self.action_names:
                self.action_names[action] = state.action_to_string(player, action)

    cdef name_outcomes(self, state, outcomes):
        for outcome in outcomes:
            if outcome not in self.outcome_names:
                self.outcome_names[outcome] = state.action_to_string(CHANCE, outcome)


def unique(names):
    """The same texts, with the id appended where two ids share one."""
    seen = {}
    for text in names.values():
        seen[text] = seen.get(text, 0) + 1
    return {key: text if seen[text] == 1 else f"{text} ({key})" for key, text in sorted(names.items())}


def shortened(text):
    """A text that is one line and not too long for a message."""
    line = " ".join(text.split())
    return line if len(line) <= 120 else f"{line[:60]} ... {line[len(line) - 50:]}"
