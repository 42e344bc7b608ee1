"""Exact best responses, NashConv, exploitability and expected values on flat trees.

A best response is found in one walk down the tree (chance's and the others' reach) and one pass
over the player's information sets from the last to the first: with perfect recall, the value of a
set is the greatest, over its actions, of what terminals right after the action earn plus the values
of the sets reached next. The player must have perfect recall (without it the problem is NP-hard);
the others need not.

Values are utilities per game. Sources: Lanctot, "Further developments of extensive-form replicator
dynamics using the sequence-form representation", AAMAS 2014, for NashConv; exploitability is
NashConv divided by the number of players, as in OpenSpiel.
"""
import numpy as np

from libc.stdint cimport int32_t, int64_t

from engine_ext.game cimport CHANCE, TERMINAL
from solvers.sequence_form cimport SequenceForm
from solvers.tree cimport NO_SEQUENCE, FlatTree, TreeTables

from engine_ext.errors import ParameterError, UnsuitableGameError
from solvers.policies import TabularPolicy


cdef void reach_down(const TreeTables *t, int32_t player, const double *policy, double *reach,
                     int32_t *last) noexcept nogil:
    """Counterfactual reach of every node, and the player's own last sequence there."""
    cdef int32_t node, i, child, mover
    cdef const double *weight
    reach[0] = 1.0
    last[0] = NO_SEQUENCE
    for node in range(t.n_nodes):
        mover = t.player[node]
        if mover == TERMINAL:
            continue
        child = t.first[node]
        if mover == player:
            for i in range(t.count[node]):
                reach[child + i] = reach[node]
                last[child + i] = t.info_first[t.infoset[node]] + i
            continue
        weight = t.prob + child if mover == CHANCE else policy + t.info_first[t.infoset[node]]
        for i in range(t.count[node]):
            reach[child + i] = reach[node] * weight[i]
            last[child + i] = last[node]


cdef double respond(const TreeTables *t, int32_t player, const double *reach, const int32_t *last, double *gain,
                    double *policy) noexcept nogil:
    """The best response's value; its choices are written to `policy` (null: not wanted).

    Args:
        gain: float64[n_sequences + 1], zeroed scratch; entry 0 is the empty sequence's.
    """
    cdef int32_t node, infoset, s, best
    cdef double *after = gain + 1
    for node in range(t.n_nodes):
        if t.player[node] == TERMINAL:
            after[last[node]] += reach[node] * t.utility[<int64_t>t.infoset[node] * t.n_players + player]
    for infoset in range(t.n_infosets - 1, -1, -1):
        if t.info_player[infoset] != player:
            continue
        best = t.info_first[infoset]
        for s in range(best + 1, t.info_first[infoset + 1]):
            if after[s] > after[best]:
                best = s
        if policy != NULL:
            for s in range(t.info_first[infoset], t.info_first[infoset + 1]):
                policy[s] = 1.0 if s == best else 0.0
        after[t.info_parent[infoset]] += after[best]
    return gain[0]


def _require(FlatTree tree, player):
    if not 0 <= player < tree.n_players:
        raise ParameterError(f"player is {player}, allowed are 0 to {tree.n_players - 1}")
    if tree.tables.target != NULL:
        raise UnsuitableGameError(f"{tree.name}: best responses need a tree; equal states were merged")
    if not tree.perfect_recall[player]:
        raise UnsuitableGameError(
            f"{tree.name}: player {player} lacks perfect recall, without which a best response is NP-hard to find")


def best_response(policy, int32_t player):
    """A player's best response to the others' policies.

    Args:
        policy: a TabularPolicy; the player's own part is not read.
        player: seat.

    Returns:
        (value to the player, TabularPolicy: the policy with the player's part replaced by the best
        response, in each set the lowest action of the best)

    Raises:
        UnsuitableGameError: the player lacks perfect recall.
    """
    cdef FlatTree tree = policy.tree
    _require(tree, player)
    cdef double[::1] out = policy.probabilities.copy()
    value = _value(tree, policy.probabilities, player, out)
    return value, TabularPolicy(tree, np.asarray(out))


cdef double _value(FlatTree tree, const double[::1] probabilities, int32_t player, double[::1] out) except? -1:
    cdef double[::1] reach = np.empty(tree.tables.n_nodes)
    cdef int32_t[::1] last = np.empty(tree.tables.n_nodes, dtype=np.int32)
    cdef double[::1] gain = np.zeros(tree.tables.n_sequences + 1)
    cdef const double *weights = &probabilities[0] if probabilities.shape[0] else NULL
    cdef double *choice = &out[0] if out is not None and out.shape[0] else NULL
    cdef double value
    with nogil:
        reach_down(&tree.tables, player, weights, &reach[0], &last[0])
        value = respond(&tree.tables, player, &reach[0], &last[0], &gain[0], choice)
    return value


def best_response_values(policy, *, SequenceForm sequences=None):
    """Value to each player of its best response to the others, float64[n_players].

    Args:
        policy: a TabularPolicy.
        sequences: the tree's SequenceForm, where there is one already: faster, the same to rounding.

    Raises:
        UnsuitableGameError: a player lacks perfect recall.
    """
    cdef FlatTree tree = policy.tree
    cdef int32_t player
    for player in range(tree.n_players):
        _require(tree, player)
    if sequences is not None:
        if sequences.tree is not tree:
            raise ParameterError("the sequence form is of another tree than the policy")
        plans = [sequences.plan(player, sequences.to_slots(player, policy.probabilities))
                 for player in range(tree.n_players)]
        return np.array([sequences.best_response(player, plans)[0] for player in range(tree.n_players)])
    return np.array([_value(tree, policy.probabilities, player, None) for player in range(tree.n_players)])


def expected_values(policy):
    """Expected utility per player when everyone follows the policy, float64[n_players]."""
    cdef FlatTree tree = policy.tree
    cdef const TreeTables *t = &tree.tables
    cdef const double[::1] probabilities = policy.probabilities
    cdef const double *policy_pointer = &probabilities[0] if probabilities.shape[0] else NULL
    cdef double[::1] reach = np.zeros(tree.tables.n_nodes)
    cdef double[::1] out = np.zeros(tree.n_players)
    cdef int32_t node, i, child, player
    cdef const double *weight
    with nogil:
        reach[0] = 1.0
        for node in range(t.n_nodes):
            if t.player[node] == TERMINAL:
                for player in range(t.n_players):
                    out[player] += reach[node] * t.utility[<int64_t>t.infoset[node] * t.n_players + player]
                continue
            weight = (t.prob + t.first[node] if t.player[node] == CHANCE
                      else policy_pointer + t.info_first[t.infoset[node]])
            for i in range(t.count[node]):
                child = t.first[node] + i
                if t.target != NULL:
                    child = t.target[child]
                reach[child] += reach[node] * weight[i]
    return np.asarray(out)


def backward_induction(FlatTree tree not None):
    """Exact play of a game of perfect information: every player takes what is best for itself.

    With two players and utilities that sum to zero this is the game's value. Ties go to the lowest
    action. Trees with merged states are accepted.

    Returns:
        (float64[n_players] values of the root, TabularPolicy)

    Raises:
        UnsuitableGameError: the game hides information.
    """
    if tree.hidden_information:
        raise UnsuitableGameError(f"{tree.name}: backward induction needs perfect information")
    cdef const TreeTables *t = &tree.tables
    cdef double[:, ::1] value = np.zeros((tree.n_nodes, tree.n_players))
    choice = np.zeros(tree.n_sequences)
    cdef double[::1] policy = choice
    cdef int32_t node, child, best, best_edge, edge, player, seat, first
    with nogil:
        for node in range(t.n_nodes - 1, -1, -1):
            seat = t.player[node]
            first = t.first[node]
            if seat == TERMINAL:
                for player in range(t.n_players):
                    value[node, player] = t.utility[<int64_t>t.infoset[node] * t.n_players + player]
                continue
            best, best_edge = -1, first
            for edge in range(first, first + t.count[node]):
                child = edge if t.target == NULL else t.target[edge]
                if seat == CHANCE:
                    for player in range(t.n_players):
                        value[node, player] += t.prob[edge] * value[child, player]
                elif best < 0 or value[child, seat] > value[best, seat]:
                    best, best_edge = child, edge
            if seat != CHANCE:
                for player in range(t.n_players):
                    value[node, player] = value[best, player]
                # States of one set are one position: they all choose alike.
                for edge in range(t.info_first[t.infoset[node]], t.info_first[t.infoset[node] + 1]):
                    policy[edge] = 0.0
                policy[t.info_first[t.infoset[node]] + best_edge - first] = 1.0
    return np.asarray(value)[0].copy(), TabularPolicy(tree, choice)


def nash_conv(policy, *, sequences=None):
    """Sum over the players of what each would gain by its best response.

    Args, raises: as `best_response_values`.
    """
    return float(np.sum(best_response_values(policy, sequences=sequences) - expected_values(policy)))


def exploitability(policy, *, sequences=None):
    """NashConv divided by the number of players; for two-player zero-sum games the distance from an
    equilibrium.

    Args, raises: as `best_response_values`.
    """
    return nash_conv(policy, sequences=sequences) / policy.tree.n_players
