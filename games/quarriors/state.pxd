# cython: language_level=3
"""The tables and the state of Quarriors as C structs, and the names of the numbers in them.

A die in play is one byte, slot * 8 + face: the slot is the place of its card in the Wilds (0 Basic
Quiddity or the large dice, 1 Assistant, 2 Portal, 3 to 9 creature classes, 10 to 12 spell classes),
the face is the first of the identical ones. Dice that cannot be told apart are counts.
"""
from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint16_t

cdef enum:
    SLOTS = 13
    FIRST_CREATURE = 3
    FIRST_SPELL = 10
    SUMMON_BYTES = 5         # four bits for each slot before FIRST_SPELL
    SPELL_SLOTS = 3
    MAX_READY = 12       # creatures in one Ready Area
    MAX_STACK = 18       # nested questions
    MAX_PEND = 18        # on-score abilities that wait
    MAX_SEATS = 4
    MAX_CARDS = 256      # number NONE stays an empty card
    MAX_CLASSES = 48
    MAX_OPS = 4
    ROLL_LIMIT = 8       # dice of one class in one chance node
    MAX_DRAW = 20        # dice of one draw
    NONE = 255
    NO_CAP = 127         # a limit that nothing exceeds
    VALUE_TERMS = 24     # summands of the estimate
    IDLE = 7             # no die has this face
    LEFT = 128           # a bit beside a die whose on-score ability waits: it has left the pile since (A67)
    GREEDY_VALUES = 16   # numbers of the greedy player, by the names G_*

cdef enum:               # bits of FaceTable.kind
    IS_CREATURE = 1
    IS_SPELL = 2
    IS_LOCK = 4
    IS_IMMEDIATE = 8

cdef enum:               # steps of a cast or summon, in the order of cards.OPS
    O_NONE, O_ATTACK, O_DEFENSE, O_QUIDDITY, O_GLORY, O_GLORY_SCORED, O_GLORY_FOES, O_DESTROY_ONE, O_DESTROY_PER_FOE,
    O_DESTROY_CLASS, O_DESTROYSPELL, O_ROTATE_ALL, O_ROTATE_OWN, O_ROTATE_ANY, O_DRAWROLL, O_CULL, O_CAPTURES,
    O_DESTROY_FOE, O_CULL_SPENT, O_SUMMON

cdef enum:               # Creature.flags
    F_SAFE = 1           # took its damage in this turn (B72, C5)
    F_RECOPIED = 2
    F_ZERO = 4           # its attack is 0 for the rest of the turn
    F_DOOMED = 8
    F_KEEP = 16          # returns to the Ready Area
    F_LOCKED = 32
    F_MARK = 64          # the one a waiting question is about
    F_ASIDE = 128        # of two destinations, aside was chosen
    F_DECLINED = 128     # outside a destruction: its player did not want it to recopy before this summon (W5)

cdef enum:               # State.flags
    S_ATTACKED = 1       # the attack of this turn is over
    S_IGNORE = 2         # attached spells of defenders do not count in this attack
    S_ANCHORED = 4       # an Anchored Spell was used this turn (D26)
    S_LOCKED = 8         # a die was locked this turn (LK3)

cdef enum:               # State.features
    FEAT_AURA = 1
    FEAT_SURCHARGE = 2
    FEAT_NO_BQ = 4
    FEAT_COPY = 8
    FEAT_ANCHORED = 16
    FEAT_LOCK = 32
    FEAT_DREW = 64
    FEAT_LIMIT = 128         # a card that limits how many of its class are summoned in a turn

cdef enum:               # State.ev_cause: why creatures are about to be destroyed, and what is checked again (W2)
    EV_DAMAGE, EV_LEVEL, EV_SPELL, EV_CLASS, EV_NO_BQ, EV_ABILITY, EV_SPELL_LIGHT, EV_SPELL_DARK

cdef enum:               # Frame.op. The comment gives a, b, c.
    P_DEAL               # chance: the next card
    P_RECOPY             # phase 1: recopy before scoring
    P_SCORE
    P_CULLSPELLS         # glory for each
    P_SCORED             # scored dice to the pile
    P_ABILITY            # the next on-score ability
    P_CULL
    P_DRAW
    P_USE                # immediate faces: 1 once the player has ended it
    P_READY
    P_SURCHARGE          # W5: offset of the rival asked
    P_MAIN               # phase 3: 1 once the player has ended it
    P_ATTACK
    P_NEXT               # next defender: offset, whether one has defended already
    P_BETWEEN            # W4
    P_QUAKE
    P_WINDOW             # W1: position in the order asked
    P_TOTAL
    P_DEFEND
    P_CAPTURE
    P_CLEAN              # 1 once a spell was discarded
    P_END
    Q_DRAW               # chance: left to draw, seat, started
    Q_ROLL               # chance: everything unrolled of the active seat
    Q_REROLL             # how many more
    Q_EVENT              # stage, offset of the owner asked
    Q_KILLS              # creatures with kill_score score at once
    Q_ASIDE              # chance: slot, dice
    Q_STEPS              # die whose steps run, number of the next, whether the last was carried out
    Q_TARGET             # number of the step, offset of the rival asked, die whose step it is
    Q_HOST               # spell die to attach
    Q_COPY               # seat, whether it may decline
    Q_ROTATE             # up, one only
    Q_SWAP               # slot of the die
    Q_TAKE               # 1 spell classes to the bag, 0 any to the pile; highest cost
    Q_CULLTAKE           # how much more it may cost
    Q_FETCH              # slot of the triggering die, whether that has left the pile
    Q_RETURN             # spell die: which doomed creature comes back
    Q_ZERO               # which attacker, seat asked
    Q_SPELLHOST          # seat, spell die: which host loses it
    Q_PAY                # price, flavour of which at least 1 is needed
    Q_SUMMONED           # die: paid for
    Q_CAPTURED           # slot: paid for
    Q_ANCHORED           # slot: paid for
    Q_UNLOCKED           # seat: paid for
    Q_LOCK               # a Lock face must be locked (LK4)
    Q_CULL               # how many at most, whether from the Spent Pile
    Q_FRESH              # immediate face rolled after its time (B39): die, how many of them
    Q_DRAWS              # equal draws one after another: dice of one, seat, how many draws
    Q_TOGETHER           # summons at once (D34): how many more
    Q_JOINS              # die: one of them, paid for
    Q_WAITS              # die: one of them, whose abilities wait
    Q_ORDER              # which of these abilities comes next

cdef enum:               # families of actions; the dense id is offset[family] + argument
    A_DONE, A_POOL, A_ASIDE, A_RECOPY, A_USE0, A_USE1, A_USE2, A_REROLL, A_SUMMON, A_CAST, A_DISCARD, A_COPY, A_ROTATE,
    A_RESOLVE, A_RESOLVE_OF, A_CULL, A_CULL_READY, A_CULL_ATTACHED, A_CULL_POOL, A_TAKE, A_FETCH, A_SWAP, A_CAPTURE,
    A_SPELL, A_ATTACHED, A_CREATURE, A_RETURN, A_READY, A_CAPTURE_DISCOUNTED, A_ANCHORED, A_PAY, A_LOCK, A_LOCK_WITH,
    A_UNLOCK, N_FAMILIES

cdef enum:
    SHIFT = 16           # an action inside the engine: family << SHIFT | argument in slots
    FORCED = 500         # decisions in one turn after which every optional question is declined (A103)
    BUFFER = 512         # most options of one question

cdef enum:               # places in Tables.greedy, in the order of values.GREEDY
    G_WORTH = 0          # two numbers, as the next three have: now, and times the leader's progress
    G_ATTACK = 2
    G_DIE = 4
    G_EXPOSED = 6
    G_SUMMON = 8
    G_STRIKE, G_TOGETHER, G_DRAW, G_SLOPE, G_DANGER, G_SECOND, G_LIVE_DEFENSE

cdef struct Op:          # one step of a cast, a summon or an Anchored Spell
    int8_t code, n, level, defense, flavour, energy, then, spell

cdef struct Use:         # one way to use an immediate face
    int8_t spend, quid, flavour, draw, itself, others, captures, lone, besides

cdef struct FaceTable:   # one face under one card; the fields that cards.compile_face fills
    int8_t kind, level, attack, defense, bursts, quid, flavour
    int8_t n_uses
    Use uses[3]
    int8_t stat_atk, stat_def, def_self, def_others, def_alone, aura_atk, aura_def
    int8_t surcharge, barlevel, capatk, notarget, summonlimit, copy_enter, copy_turn, no_bq
    int8_t lone_atk, ignore_attached, quake, firstkill
    int8_t kill_quid, kill_score, dead_pool, dead_aside, dead_cull, dead_draw, aside_roll
    int8_t score_glory, score_others, score_draw, score_discount, score_captures, score_swap
    int8_t score_fetch, score_free, score_cullspells, score_cull
    int8_t attach, host_atk, host_def, host_glory, host_cullcapture
    int8_t react_pool, react_zero, react_def, react_return
    int8_t locked_draws, locked_fewer, locked_dearer, locked_glory, lock_rival, no_payoff
    int8_t drew_glory, drew_quid
    int8_t n_ops
    Op ops[MAX_OPS]

cdef struct CardTable:
    FaceTable face[8]        # by face number; 6 is the Anchored Spell: its steps, its price in quid and flavour
    uint8_t spell_face[2]    # the readied spell faces of the die; NONE where there are fewer
    uint8_t canon[8]         # face rolled -> face shown
    uint8_t faces[8]         # the distinct faces, ascending
    uint8_t weight[8]        # of six: how many faces show faces[i]
    uint8_t n_faces
    uint8_t cls              # class number, by file order
    uint8_t kind             # 0 basic, assistant or large; 1 creature; 2 spell
    uint8_t creature_die     # whether the die has a creature face
    uint8_t cost, discounted, glory, energy
    int32_t features         # bits FEAT_*
    double worth             # greedy bot: Glory that one roll of the die is good for
    double mean_attack       # attack an average roll brings

cdef struct Tables:
    CardTable card[MAX_CARDS]
    int32_t n_cards, n_classes, n_players, goal, max_turns, draw, captures, glory_utility
    int32_t lvd                          # the rules of Light vs. Dark
    int32_t lock                         # dice with a Lock face are among the sets
    int32_t n_creatures, n_spells        # classes in the Wilds
    int32_t basic[3]                     # cards of slots 0 to 2; -1: none, or dealt
    uint8_t att_a[32]                    # attachment code -> dice of the first spell face
    uint8_t att_b[32]                    # ... of the second
    uint8_t att_code[8][8]
    int32_t offset[40]                   # first action id of each family
    int32_t size[40]
    int32_t roll_offset[MAX_CLASSES][ROLL_LIMIT + 2]   # first outcome id of k dice of a class
    int32_t deal_offset, n_outcomes
    double value_weight[VALUE_TERMS]     # of the estimate
    double greedy[GREEDY_VALUES]         # of the greedy player
    double binomial[80][16]              # n over k
    const uint8_t *multiset              # 8 counts an outcome, by face number
    const double *chance                 # probability of each roll outcome

cdef struct Creature:    # one creature of a Ready Area, or the locked die
    uint8_t die
    uint8_t copy         # the die it is a copy of, or NONE
    uint16_t att         # attached spells: three codes of five bits
    uint8_t atk, dfn     # added for the rest of the turn
    uint8_t flags        # F_*
    uint8_t rec          # 1 + number of its attack record, 0: does not attack

cdef struct Record:      # an attacker, as it was when the attack began
    uint8_t value, level, die, zero   # zero: it counts nothing (A16)

cdef struct Frame:       # a question or step that waits
    uint8_t op, a, b, c

cdef struct Player:
    Creature ready[MAX_READY]
    uint8_t bag[SLOTS]
    uint8_t used[SLOTS]
    uint8_t spent[SLOTS]
    uint8_t wait[SLOTS]      # pool dice that the next roll takes along
    uint8_t aside[SLOTS]
    uint8_t spells[SPELL_SLOTS]   # readied: low four bits the first spell face, high four the second
    uint8_t n_ready
    uint8_t glory
    uint8_t charm            # destroyed creatures go to the pool until the end of the turn
    uint16_t turns

cdef struct State:
    int8_t node              # seat, CHANCE or TERMINAL
    uint8_t active, phase, n_stack
    uint16_t turn            # turns finished
    uint16_t decisions       # in this turn
    int32_t features         # of the cards in the Wilds
    uint8_t card[SLOTS]
    uint8_t wilds[SLOTS]     # dice on the cards
    uint8_t total[SLOTS]     # dice in the game
    uint8_t pool[SLOTS][8]   # the active seat's rolled dice, by face; IDLE: unrolled ones that stay so this turn (A88)
    uint8_t quid[3]          # floating, by flavour
    uint8_t avail[3]         # floating and in the pool
    uint8_t captures, discount, scored, culls, foes_hit, flags, winners
    uint8_t summoned[SUMMON_BYTES]  # this turn, of classes with FEAT_LIMIT (A51); four bits a slot
    uint8_t cursor           # slot of a running draw
    uint8_t n_pend
    uint8_t pend[MAX_PEND][2]     # ability (as a die), the die that has it, with LEFT
    Record rec[MAX_READY]
    uint8_t n_rec
    uint8_t defender, first_kill, ev_cause, ev_level, ev_defense, ev_killer
    int16_t rem              # what is left of the attack
    int16_t bonus            # what this defender's first loss adds, fixed with the total (A34)
    Frame stack[MAX_STACK]
    Player player[MAX_SEATS]  # the state ends after the last seat in play
