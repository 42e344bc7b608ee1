# cython: language_level=3
"""One value, best first: Star2 without a transposition table.

Every node that was opened keeps bounds on its value and goes on where it was left. `improve` works
at a node until its bounds leave a window, as alpha-beta does, but returns as soon as the caller
would rather go on elsewhere. `side` is the bound that the whole search is after: 1 lowers upper
bounds (what a maximising root needs of all actions but one), -1 raises lower ones.
"""
from libc.math cimport NAN, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport realloc

from engine_ext.game cimport CHANCE, TERMINAL
from solvers.expectimax_depth_first cimport search_value
from solvers.expectimax_search cimport *


cdef struct Twig:           # a node of the best-first search's tree
    int64_t children        # first of a block of twigs; NONE while there is none
    double low              # proven bounds of its value; met when it is solved
    double high
    double guess            # what it is worth as far as is seen; nan before it is seen at all
    double prob             # of the outcome that leads here; 1 after an action
    int32_t id              # action or outcome that leads here
    int32_t count           # children
    int32_t turn

cdef struct TwigTree:
    Twig *twigs             # [n_twigs] of twig_room; they move when they need more
    int64_t n_twigs, twig_room, twig_limit
    double scale            # 1 / utility range
    double level_sum[PLIES + 3]     # of the values of the nodes solved at each level
    int64_t level_count[PLIES + 3]

cdef struct Window:         # in which a child is worth going on with; 1e300 and -1e300 are no bounds
    double floor            # its upper bound is above
    double ceiling          # its lower bound is below
    double patience         # side * guess of a chance node is no more


cdef inline int64_t add_twigs(Search *s, TwigTree *tree, int32_t count) noexcept nogil:
    """A block of fresh twigs, its first; NONE where memory is spent."""
    cdef int64_t first = tree.n_twigs, room = max(2 * tree.twig_room, 1024), i
    cdef void *block
    if first + count > tree.twig_room:
        room = min(max(room, first + count), tree.twig_limit)
        if first + count > room:
            return NONE
        block = realloc(tree.twigs, room * sizeof(Twig))
        if block == NULL:
            return NONE
        tree.twigs = <Twig *>block
        tree.twig_room = room
    tree.n_twigs += count
    for i in range(first, first + count):
        tree.twigs[i].children = NONE
        tree.twigs[i].count = 0
        tree.twigs[i].turn = TERMINAL
        tree.twigs[i].low, tree.twigs[i].high = s.ops.min_utility, s.ops.max_utility
        tree.twigs[i].guess = NAN
        tree.twigs[i].prob = 1.0
    return first


cdef inline bint open_twig(Search *s, TwigTree *tree, int32_t level, int32_t depth, int64_t at) noexcept nogil:
    """Visit the state of plies[level] for the first time: bounds where it ends here or is known,
    else its children. False where there is no memory for those, or a limit was reached."""
    cdef Ply *ply = &s.plies[level]
    cdef Twig *twig = &tree.twigs[at]
    cdef int32_t turn = s.ops.turn(s.tables, ply.state), count, i
    cdef int64_t children
    twig.turn = turn
    if turn == TERMINAL or depth == 0:
        if not enter(s):
            return False
        twig.low = twig.high = twig.guess = leaf_value(s, ply.state, turn)
        note(tree, level, twig.low)
        return True
    if turn == CHANCE:
        count = s.ops.outcomes(s.tables, ply.state, ply.ids, ply.scores)
        sort_outcomes(ply.ids, ply.scores, count)   # the likeliest first: they move the bounds most
    else:
        count = order_actions(s, ply, turn, depth, NONE)
        for i in range(count):
            next_action(ply, i, count)
    children = add_twigs(s, tree, count)
    if children == NONE or not enter(s):
        return False
    twig = &tree.twigs[at]
    twig.children, twig.count = children, count
    for i in range(count):
        tree.twigs[children + i].id = ply.ids[i]
        if turn == CHANCE:
            tree.twigs[children + i].prob = ply.scores[i]
    if turn == CHANCE:
        gather(s, tree, level, at)
    return True


cdef inline void note(TwigTree *tree, int32_t level, double value) noexcept nogil:
    """A node of this level was solved."""
    tree.level_sum[level] += value
    tree.level_count[level] += 1


cdef inline double expected(const TwigTree *tree, int32_t level) noexcept nogil:
    """What nodes of a level were worth so far; nan where none was solved."""
    return tree.level_sum[level] / <double>tree.level_count[level] if tree.level_count[level] else NAN


cdef inline void gather(Search *s, TwigTree *tree, int32_t level, int64_t at) noexcept nogil:
    """Bounds and guess of a node from those of its children."""
    cdef Twig *twig = &tree.twigs[at]
    cdef const Twig *child = &tree.twigs[twig.children]
    cdef const Twig *last = child + twig.count
    cdef double low = 0.0, high = 0.0, guess = 0.0, fresh = NAN, sign = 1.0 if twig.turn == 0 else -1.0
    cdef bint solved = True
    if twig.turn == CHANCE:
        fresh = expected(tree, level + 1)
        if fresh != fresh:
            fresh = 0.5 * (s.ops.min_utility + s.ops.max_utility)
        while child < last:
            low += child.prob * child.low
            high += child.prob * child.high
            guess += child.prob * (child.guess if child.guess == child.guess else fresh)
            solved = solved and child.low >= child.high
            child += 1
        if solved:      # the same sum as the plain search's, to the bit
            high = low
    else:
        low = high = guess = -1e300
        while child < last:     # from the seat's view: the best of each
            low = max(low, child.low if sign > 0 else -child.high)
            high = max(high, child.high if sign > 0 else -child.low)
            if sign * child.guess > guess:
                guess = sign * child.guess
            child += 1
        if sign < 0:
            low, high = -high, -low
        guess *= sign
    twig.low, twig.high = low, max(low, high)
    if twig.low >= twig.high:
        guess = low
        note(tree, level, low)
    twig.guess = min(max(guess, low), twig.high)


cdef inline void improve(Search *s, TwigTree *tree, int32_t level, int32_t depth, int64_t at, int32_t side,
                         double target, double stop, double patience) noexcept nogil:
    """Work below plies[level].state until its bounds leave the window, or other work promises more.

    Args:
        at: its twig, not solved.
        side: 1 to lower the upper bound, -1 to raise the lower one.
        target: return when the upper bound is no more than this.
        stop: return when the lower bound is no less than this.
        patience: at a chance node, return when side * guess is more than this.

    What lies below a node that is solved is given back: all that was added since the call is below it.
    """
    cdef Twig *twig
    cdef int64_t pick = NONE, before = tree.n_twigs
    cdef Window window
    cdef bint moved = False     # something was done: every call gets on, however little its window asks for
    if tree.twigs[at].children == NONE:
        moved = open_twig(s, tree, level, depth, at)
        if not moved and not s.aborted:
            search_below(s, tree, level, depth, at, target, stop)
    if s.aborted or tree.twigs[at].children == NONE:
        return
    twig = &tree.twigs[at]
    if twig.turn >= 0 and target <= -1e300 and stop >= 1e300:   # wanted exactly, for its own sake
        side = 1 if twig.turn == 0 else -1
    while twig.low < twig.high and (not moved or (
            twig.high > target and twig.low < stop and not (twig.turn == CHANCE and side * twig.guess > patience))):
        moved = True
        window.patience = 1e300
        if twig.turn == CHANCE:
            pick = widest(tree, twig, side, target, stop, &window)
        elif (twig.turn == 0) == (side > 0):
            pick = outermost(tree, twig, side, target, stop, &window)
        else:
            pick = favourite(tree, level, twig, side, target, stop, &window)
        step(s, level, tree.twigs[pick].id)
        improve(s, tree, level + 1, depth - 1, pick, side, window.floor, window.ceiling, window.patience)
        if s.aborted:
            return
        gather(s, tree, level, at)
        twig = &tree.twigs[at]
    if pick != NONE and twig.turn >= 0 and (twig.low >= stop if twig.turn == 0 else twig.high <= target):
        credit_cut(s, twig.turn, tree.twigs[pick].id, depth)
    if level and twig.low >= twig.high:
        tree.n_twigs = before
        twig.children = NONE


cdef inline void search_below(Search *s, TwigTree *tree, int32_t level, int32_t depth, int64_t at, double target,
                              double stop) noexcept nogil:
    """Memory is spent: search a node depth first, in the window that matters."""
    cdef Twig *twig = &tree.twigs[at]
    cdef double floor = max(twig.low, target), ceiling = min(twig.high, stop), value
    if floor >= ceiling:
        floor, ceiling = twig.low, twig.high
    value = search_value(s, level, depth, floor, ceiling)
    if s.aborted:
        return
    if floor < value < ceiling:
        twig.low = twig.high = value
    elif value >= ceiling:      # a lower bound
        twig.low = min(max(twig.low, value), twig.high)
    else:
        twig.high = max(min(twig.high, value), twig.low)
    twig.guess = value
    if twig.low >= twig.high:
        note(tree, level, value)


# ---- which child to go on with, and the window in which that child is still the one ----------------

cdef inline bint helps(const Twig *twig, int32_t side) noexcept nogil:
    """Whether the seat to move there wants what `side` wants."""
    return twig.turn == (1 if side > 0 else 0)


cdef inline int64_t widest(const TwigTree *tree, const Twig *twig, int32_t side, double target, double stop,
                           Window *window) noexcept nogil:
    """Of a chance node: the outcome whose bounds weigh most. Those of a seat that works for `side`
    shrink fast while they are wide, so width counts twice there."""
    cdef const Twig *child = &tree.twigs[twig.children]
    cdef double gain, width, best = -1.0, second = -1.0, first_width
    cdef int32_t i, pick = 0
    for i in range(twig.count):
        width = child[i].high - child[i].low
        if width <= 0.0:
            continue
        gain = child[i].prob * width * (width * tree.scale if helps(&child[i], side) else 1.0)
        if gain > best:
            second = best
            best = gain
            pick = i
        elif gain > second:
            second = gain
    child += pick
    window.floor, window.ceiling = -1e300, 1e300
    if target > -1e300:
        window.floor = child.high - (twig.high - target) / child.prob
    if stop < 1e300:
        window.ceiling = child.low + (stop - twig.low) / child.prob
    if second > 0.0 and (target > -1e300 or stop < 1e300):      # else all must be solved: one by one
        first_width = second / child.prob
        if helps(child, side):
            first_width = sqrt(first_width / tree.scale)
        window.floor = max(window.floor, child.low + first_width)
        window.ceiling = min(window.ceiling, child.high - first_width)
    return twig.children + pick


cdef inline int64_t outermost(const TwigTree *tree, const Twig *twig, int32_t side, double target, double stop,
                              Window *window) noexcept nogil:
    """Of a decision whose bound is that of its best action: that action, until another one is."""
    cdef const Twig *child = &tree.twigs[twig.children]
    cdef double bound, best = -1e300, second = -1e300
    cdef int32_t i, pick = 0
    for i in range(twig.count):
        bound = child[i].high if side > 0 else -child[i].low
        if bound > best and child[i].low < child[i].high:
            second = best
            best = bound
            pick = i
        elif bound > second:
            second = bound
    window.floor, window.ceiling = target, stop
    if side > 0:
        window.floor = max(target, second)
    else:
        window.ceiling = min(stop, -second)
    return twig.children + pick


cdef inline int64_t favourite(const TwigTree *tree, int32_t level, const Twig *twig, int32_t side, double target,
                              double stop, Window *window) noexcept nogil:
    """Of a decision where one good action brings the bound down: the most promising one. A chance node
    that looks worse than one not begun is left for it, until that looks worse in turn."""
    cdef const Twig *child = &tree.twigs[twig.children]
    cdef double looks, best = 1e300, second = 1e300, fresh = side * expected(tree, level + 2)
    cdef int32_t i, pick = -1, untried = -1
    cdef bint begun = False
    for i in range(twig.count):
        if child[i].low >= child[i].high or (child[i].low >= twig.high if side > 0 else child[i].high <= twig.low):
            continue
        if child[i].children == NONE:
            if untried < 0:
                untried = i
                continue
            looks = fresh if fresh == fresh else 1e300
        elif child[i].turn != CHANCE:
            if not begun:
                pick, begun = i, True
            continue
        else:
            looks = side * child[i].guess
        if looks < best and child[i].children != NONE:
            second = best
            best = looks
            if not begun:
                pick = i
        elif looks < second:
            second = looks
    if not begun and untried >= 0:
        looks = fresh if fresh == fresh else 1e300
        if pick < 0 or looks < best:
            second = min(best, second)
            pick = untried
        elif looks < second:
            second = looks
    window.patience = second
    window.floor, window.ceiling = target, stop
    if side > 0:
        window.ceiling = min(stop, twig.high)
    else:
        window.floor = max(target, twig.low)
    return twig.children + pick
