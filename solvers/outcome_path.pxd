# cython: language_level=3
"""Outcome sampling: the path of one sampled game, and what it teaches the walking player.

Lanctot et al., NIPS 2009, section 3.1, with epsilon-on-policy exploration of the walking player alone.
"""
from libc.stdint cimport int32_t

from engine_ext.game cimport PLAYER_LIMIT
from engine_ext.rng cimport Rng, rng_below, rng_double
from solvers.regrets cimport draw


cdef struct Step:             # one decision of the game
    double *regret            # [count] of its information set; NULL where the set has no regrets
    double prob               # of the action under the mover's policy
    double others             # reach of everyone but the walking player, chance left out
    double average            # weight with which the policy there is still to be added to the average; 0: none
    int32_t count
    int32_t action            # index
    int32_t mover


cdef struct Walk:
    double reach[PLAYER_LIMIT]    # of each seat, so far
    double others             # reach of everyone but the walking player, chance left out
    double sampled            # probability with which the decisions so far were sampled


cdef inline void begin_walk(Walk *walk, int32_t n_players) noexcept nogil:
    cdef int32_t seat
    for seat in range(n_players):
        walk.reach[seat] = 1.0
    walk.others = walk.sampled = 1.0


cdef inline int32_t take_step(Walk *walk, Step *step, double *regret, const double *policy, int32_t count,
                              int32_t mover, bint walking, double epsilon, Rng *rng) noexcept nogil:
    """Sample an action, the walking player's with exploration; fills in all of the step but its `average`.

    Args:
        policy: double[count], the mover's.
        walking: whether the mover is the walking player.

    Returns:
        The action's index.
    """
    cdef int32_t action
    cdef double prob
    if walking and rng_double(rng) < epsilon:
        action = rng_below(rng, count)
    else:
        action = draw(policy, count, rng)
    prob = policy[action]
    step.regret, step.count, step.action, step.mover = regret, count, action, mover
    step.prob, step.others = prob, walk.others
    walk.reach[mover] *= prob
    if walking:
        walk.sampled *= epsilon / <double>count + (1.0 - epsilon) * prob
    else:
        walk.sampled *= prob
        walk.others *= prob
    return action


cdef inline void learn(const Step *path, int32_t length, int32_t player, double weight) noexcept nogil:
    """Add the sampled regrets of the walking player's decisions.

    Args:
        path: Step[length], from the root.
        weight: the player's utility over the probability of the sample.
    """
    cdef double tail = 1.0    # probability of the rest of the game, from behind the step
    cdef int32_t a
    cdef const Step *step
    while length > 0:
        length -= 1
        step = path + length
        if step.mover == player and step.regret != NULL:
            for a in range(step.count):
                step.regret[a] -= weight * step.others * tail * step.prob
            step.regret[step.action] += weight * step.others * tail
        tail *= step.prob
