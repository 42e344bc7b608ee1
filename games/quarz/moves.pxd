# cython: language_level=3
"""Action and outcome ids: one id, one meaning, in every state."""

cdef enum:
    A_PASS = 0
    A_FAVOR = 1              # + value
    A_MOVE = 6               # + 48 * own monster + cell
    A_ATTACK = 150           # + 12 * own monster + target
    A_MARCH = 186            # + own monster
    A_DRAW = 189             # + 3 * own monster + cards - 1
    A_PLAY = 198             # + 13 * own monster + card
    A_SWAP = 237             # + 3 * own monster + card - 10
    A_MUNCH = 246            # + 13 * own monster + card
    A_SHRINE = 285           # + own monster
    A_REGENERATE = 288       # + 2 * own monster + shuffle
    A_MELT = 294             # + 4 * own monster + impassable field
    A_REACT = 306            # + 13 * own monster + card
    A_TARGET = 345           # + monster
    A_CELL = 357             # + cell
    A_TURN = 405             # + orientation
    A_CARD = 411             # + card
    A_SLOT = 424             # + slot
    A_CHOICE = 427           # + option
    A_DISCARD = 435          # + 13 * own monster + card
    A_MOB = 474              # + mob
    A_CAMP = 478             # + camp
    A_LEAVE = 482            # + monster of the mob
    N_ACTIONS = 486

cdef enum:
    O_CARD = 0               # + card drawn or lost
    O_PATTERN = 13           # + pattern of the tile drawn
    O_TURN = 21              # + orientation
    O_FACE = 27              # + place of the die's face, lowest of equal faces
    O_TIME = 33              # + time tile
    O_SHRINE = 49            # + shrine card
    O_MOB = 53               # + mob
    O_LEAVE = 57             # + monster of the mob that stays out
    N_OUTCOMES = 61
