# cython: language_level=3
"""What a game of Qu'arz consists of: the tables that never change and the state that does.

Seats are 0 to 3 in speech order. Monster m is the (m % 3)-th of seat m // 3; cells are board
numbers, sets of cells are 64-bit masks; sets of cards are 13-bit masks (bit 0 the ultimate, 1 to 9
the abilities, 10 to 12 Push/Swap).

The rules run on a small stack of frames. A frame is something that is being resolved: a turn, an
attack, an ability, a bonus movement. The top frame says what happens next: by itself, by chance,
or by a decision. Whatever interrupts is pushed on top and what it interrupts goes on afterwards
(rules 51, 52).
"""
from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint16_t, uint64_t

from engine_ext.hexgrid cimport HexEdges, HexGrid

cdef enum:
    SEATS = 4
    MONSTERS = 12
    CELLS = 48
    CARDS = 13
    PUSH_SWAP = 10           # the first Push/Swap card
    DEPTH = 40               # most frames on the stack
    WINDOW_DEPTH = 20        # beyond it no instants are offered, so that the stack stays bounded
    TOKEN_CAP = 3            # most tokens of a kind on a monster, and traps of a mob
    BOOST_CAP = 60           # most bonus damage of a turn
    TRAP_LOSS = 2            # energy a rabbit trap costs
    EPOCH_LIMIT = 60         # the highest epoch of a draw pile; then they are numbered afresh
    CODE_LIMIT = 1024        # instructions of all effect lists
    ALL_CARDS = (1 << CARDS) - 1
    ULTIMATE = 1             # bit of card 0

cdef enum:                   # lasting powers
    SWIM = 1
    CLIMB = 2
    SHARP_EYES = 4
    WALL_STEP = 8
    WALL_SHOT = 16
    LIVING_SHIELD = 32
    CRYSTAL_THROW = 64
    SECOND_SHRINE = 128

cdef enum:                   # how ability or attack damage arrives
    STRIKE = 0
    SHOOT = 1
    PLAIN = 2
    CONTEXT = 3

cdef enum:
    WHO_SELF = 0
    WHO_FRIEND = 1
    WHO_ALL = 2

cdef enum:
    TRIGGER_NONE = 0
    TRIGGER_ATTACKED = 1
    TRIGGER_HURT = 2
    TRIGGER_ARRIVED = 3
    TRIGGER_FREE = 4

cdef enum:                   # effects
    OP_DAMAGE = 0
    OP_SPLASH = 1
    OP_HEAL = 2
    OP_DRAW = 3
    OP_MOVE = 4
    OP_PUSH = 5
    OP_SWAP = 6
    OP_STUN = 7
    OP_POISON = 8
    OP_FROST = 9
    OP_SHIELD = 10
    OP_TRAP = 11
    OP_JUMP = 12
    OP_ROTATE = 13
    OP_TRADE = 14
    OP_SWAP_FRIENDS = 15
    OP_MOVE_ANY = 16
    OP_RECOVER = 17
    OP_SAP = 18
    OP_BOOST = 19
    OP_ATTACK = 20
    OP_EXTRA = 21
    OP_ROLL = 22
    OP_NEGATE = 23
    OP_REDUCE = 24
    OP_MARCH = 25
    OP_CLEANSE = 26
    OP_CHOOSE_OWN = 27
    OP_REGENERATE = 28

cdef enum:                   # frames
    K_NONE = 0
    K_SETUP = 1              # step: the stage
    K_MOB = 2                # b: seat
    K_CAMP = 3
    K_LEAVE = 4
    K_SHRINE_CARD = 5        # a: shrine
    K_TILE = 6               # a: tiles placed; b: seat; c: pattern; d: cell; step 0 pattern, 1 cell, 2 orientation
    K_DRAW = 7               # a: monster; b: cards to come; c: lowest card that may come; d: cards drawn
    K_TIME = 8
    K_ROUND = 9
    K_FAVOR = 10             # b: seat
    K_REVEAL = 11
    K_TURNS = 12             # a: index in the order of the next turn
    K_TURN = 13              # step: the stage
    K_FAVOR_ACTION = 14      # b: seat
    K_ACTION = 15            # b: seat
    K_HAND_LIMIT = 16        # b: seat; c: lowest card number, over the three monsters, that may go
    K_MARCH = 17             # b: seat; c: steps left; d: mask of those that moved
    K_PROG = 18              # prog: instruction; a: self; b: seat; c: context; d: last roll; e: card; f, g: scratch
    K_ATTACK = 19            # a: attacker; b: target; c: reduced by; d: negated; e: blocked
    K_BLOCK = 20             # a: target; b: how many more; c: lowest card that may go
    K_HIT = 21               # a: source; b: victim; c: damage; d: how
    K_STRIP = 22             # a: source; b: carrier; c: 0 strike, 1 push in reach, 2 push, 3 strike from afar
    K_THROW = 23             # a: source; b: former carrier
    K_KO = 24                # a: source; b: victim
    K_BONUS = 25             # a: monster
    K_WINDOW = 26            # a: trigger; b: context; c: subject; d: seats passed; step 1: open; g: who saw an arrival
    K_SLOT = 27              # a: monster; b: seat; c: card
    K_ROLL = 28              # a: monster; the roll goes to the frame below
    K_SAP = 29               # a: monster; b: cards to go

cdef struct Bonus:
    int8_t damage
    int8_t move
    int8_t draw
    int8_t energy
    int8_t carry
    uint16_t flags

cdef struct Effect:
    int8_t op
    int8_t amount            # -1: the last roll
    int8_t kind
    int8_t any               # 1: own monsters may be targets too
    int8_t who
    int8_t flags             # SWIM | CLIMB
    int8_t carry
    int8_t last              # 1: ends its list

cdef struct Card:
    int8_t cost
    int8_t munch_cost
    int8_t trigger
    int8_t mob_scope
    int8_t reactions
    int8_t lock
    int8_t form              # 0 or number of the form
    int16_t prog
    int16_t once             # -1: the munch effect lasts
    Bonus keep

cdef struct Monster:
    int8_t energy
    int8_t damage
    int8_t move
    int8_t shoots
    int8_t die[6]
    Bonus slot2
    Bonus slot3
    uint16_t instants[5]     # by trigger: the cards that react to it
    Card cards[CARDS]

cdef struct Global:          # a time tile while it is visible
    int8_t move
    int8_t damage
    int8_t draw
    int8_t carry
    int8_t start_heal
    int8_t idol_drain
    int8_t shrine_discount
    int8_t hand_limit
    int8_t frozen
    int8_t clear
    int8_t no_march

cdef struct Tables:
    int32_t players
    int32_t squad            # monsters a mob fields
    HexGrid grid
    int32_t altar
    int32_t camps[SEATS]
    uint64_t camp_mask
    int32_t n_shrines
    int8_t shrine_at[CELLS]  # shrine number or -1
    int32_t n_impassable
    int8_t impassable[4]
    uint64_t impassable_mask
    int32_t n_modifiable
    int8_t modifiable[CELLS]
    uint64_t modifiable_mask
    int32_t n_patterns
    uint8_t water[8][6]      # edges of a pattern at an orientation
    uint8_t crystal[8][6]
    int8_t period[8]
    uint8_t pool[8]          # tiles of each pattern that will be placed
    Monster monsters[16]
    Effect code[CODE_LIMIT]
    int16_t favor_options[5][4]   # first instruction, -1 none
    int8_t take_back[5]
    uint8_t favor_mask
    int16_t shrine_prog[4]
    int32_t n_time
    int8_t time_level[16]
    Global globals[17]       # by time tile; the last for none
    int32_t stack[3]         # time tiles by level
    int32_t n_stack
    int32_t spaces
    int32_t turn_limit       # 0: the track decides
    int32_t draft            # 0 fixed, 1 random, 2 by the players
    int32_t placing          # 0 given, 1 random, 2 by the players
    int32_t opening          # cards a monster
    int32_t with_cards
    int32_t strict_sight
    int32_t impassable_sight  # 1: unmelted impassables stop shots (Q31)
    int32_t move_cost
    int32_t march_cost
    int32_t march_steps
    int32_t draw_cost[3]
    int32_t shrine_cost
    int32_t swap_cost
    int32_t hand_limit
    int32_t actions
    int32_t reactions
    int32_t extra_limit
    int32_t shrine_uses
    int32_t shrine_points2   # twice the points, so that 2.5 is an int
    int32_t idol_points2
    int32_t n_laid           # fields that have a tile from the start: all modifiable ones, or none
    uint8_t laid[CELLS]      # that tile: pattern + 1, 0 none
    uint8_t laid_turned[CELLS]

cdef struct Frame:
    int8_t kind
    int8_t step
    int8_t a
    int8_t b
    int8_t c
    int8_t d
    int8_t e
    int8_t f
    int16_t g
    int16_t prog

cdef struct State:
    uint64_t info[SEATS]     # rolling hash of what each seat did and saw
    # ---- board
    HexEdges edges           # what follows from tiles and floes
    uint64_t melted
    uint64_t solid           # unmelted impassable fields
    uint64_t occupied
    uint64_t own[SEATS]      # cells with a monster of the seat
    uint8_t tile[CELLS]      # pattern + 1, 0 none
    uint8_t turned[CELLS]
    uint64_t traps[SEATS]    # cells with a trap of the seat
    # ---- monsters
    int8_t who[MONSTERS]     # 0-15, -1 none
    int8_t at[MONSTERS]      # cell, -1 none
    int8_t pool[MONSTERS]
    int8_t spent[MONSTERS]
    int8_t stun[MONSTERS]
    int8_t poison[MONSTERS]
    int8_t shield[MONSTERS]
    int8_t frost[MONSTERS]
    int8_t boost[MONSTERS]
    int8_t damage[MONSTERS]  # base + lasting bonuses; likewise below
    int8_t move[MONSTERS]
    int8_t draws[MONSTERS]
    int8_t carry[MONSTERS]
    int8_t held[MONSTERS]    # 0, but in a seat's view: cards in the hand
    uint8_t epoch[MONSTERS]  # times the discard was shuffled in
    int8_t slots[MONSTERS][4]
    uint16_t powers[MONSTERS]
    uint16_t hand[MONSTERS]
    uint16_t deck[MONSTERS]
    uint16_t pile[MONSTERS]  # discard
    uint16_t gone[MONSTERS]
    uint16_t table[MONSTERS]  # being played
    uint16_t known[MONSTERS]  # hand cards that all have seen
    uint8_t birth[MONSTERS][16]  # epoch at which a card came into the draw pile
    uint8_t drawn[MONSTERS][16]  # epoch at which a hand card was drawn
    uint16_t resting         # monsters that regenerated this turn
    uint16_t gave_up         # monsters that gave up the second-shrine power
    # ---- seats
    int16_t munched[SEATS]
    uint8_t favor_hand[SEATS]
    int8_t favor[SEATS]      # the card of this round, -1 not yet
    int8_t reactions[SEATS]
    int8_t uses[SEATS][4]    # shrine activations
    int8_t mob[SEATS]
    int8_t camp[SEATS]
    int8_t order[SEATS]
    # ---- the rest of the table
    int16_t turns            # turns finished
    uint16_t time_used
    int8_t time_now          # time tile, -1 none
    int8_t time_left
    int8_t shrine_card[4]
    uint8_t pool_left[8]
    int8_t idol_at
    int8_t idol_by           # monster or -1
    int8_t active            # seat whose turn it is, -1 between turns
    int8_t actions
    int8_t extras
    # ---- the machine
    int8_t depth
    int8_t actor             # what turn() answers
    int8_t winner            # seat, -1 none
    Frame stack[DEPTH]
