"""What every seat of a tree knows at the decisions of others."""
import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from engine_ext.game cimport GameOps, ops_info_key
from engine_ext.position cimport Position
from solvers.stopping cimport look_up
from solvers.tree cimport FlatTree, TreeTables

from engine_ext.errors import UnsuitableGameError
from solvers.game_source import named_errors
from solvers.tree import take_forced


def prepare_views(FlatTree tree not None):
    """Give a tree what every seat knows at the decisions of others, by walking its game once more.

    An information set says what a seat knows at its own decisions, which is all that most solvers ask.
    8 bytes a node and player.

    Raises:
        UnsuitableGameError: the tree came from a file, and its game is not at hand; or states were merged.
    """
    if tree.tables.view != NULL:
        return
    if tree.merged:
        raise UnsuitableGameError(f"{tree.name}: equal states were merged, so what a seat knows there is not one thing")
    if tree.native and tree.root is None:
        raise UnsuitableGameError(
            f"{tree.name}: a tree from a file has no game to ask what a seat knows when others move; extract it again")
    view = np.zeros((tree.n_nodes, tree.n_players), dtype=np.uint64)
    if tree.native:
        _view_native(tree, tree.root, view)
    else:
        with named_errors(tree.name):
            _view_spiel(tree, tree.reopened(), view)
    tree.add_views(view)


def _view_native(FlatTree tree, Position root, uint64_t[:, ::1] view):
    """Depth first, one state for each level of the tree."""
    cdef const TreeTables *t = &tree.tables
    cdef const GameOps *ops = root.ops
    cdef int32_t depth = 0, node = 0, seat, next_edge
    cdef int64_t levels = sum(tree.depths()) + 1, steps = 0
    states = np.zeros((levels, ops.state_size), dtype=np.uint8)
    edges = np.zeros(levels, dtype=np.int32)
    nodes = np.zeros(levels, dtype=np.int32)
    cdef uint8_t[:, ::1] state = states
    cdef int32_t[::1] edge = edges
    cdef int32_t[::1] at = nodes
    memcpy(&state[0, 0], root.state, ops.state_size)
    while depth >= 0:
        steps += 1
        if not steps & 0xFFFF:
            look_up()
        node, next_edge = at[depth], edge[depth]
        if next_edge == 0 and t.player[node] >= 0:     # met for the first time
            for seat in range(t.n_players):
                if seat != t.player[node]:
                    # Odd, as no information set's own name is.
                    view[node, seat] = ops_info_key(ops, root.tables, &state[depth, 0], seat) | 1
        if next_edge == t.count[node]:
            depth -= 1
            continue
        edge[depth] = next_edge + 1
        depth += 1
        at[depth], edge[depth] = t.first[node] + next_edge, 0
        memcpy(&state[depth, 0], &state[depth - 1, 0], ops.state_size)
        ops.apply(root.tables, &state[depth, 0], t.action[at[depth]])


def _view_spiel(FlatTree tree, root, uint64_t[:, ::1] view):
    cdef const TreeTables *t = &tree.tables
    cdef int32_t node, seat, edge, end
    texts = {}
    stack = [(0, root.clone())]
    while stack:
        look_up()
        node, state = stack.pop()
        take_forced(state)
        if t.player[node] >= 0:
            for seat in range(t.n_players):
                if seat != t.player[node]:
                    known = texts.setdefault((seat, tree.label_of(state, seat)), len(texts))
                    view[node, seat] = <uint64_t>known << 1 | 1
        end = t.first[node] + t.count[node]
        for edge in range(t.first[node], end):
            child = state if edge == end - 1 else state.clone()
            child.apply_action(t.action[edge])
            stack.append((edge, child))
