# cython: language_level=3
"""The state of a game of Pentaquest, the tables behind it, and the numbers of its actions.

Cards are bits: interchangeable cards (a *kind*) stand together, and of a kind the lowest bit is
always dealt first and beaten first. So a set of cards has one form only, whatever the order in
which its cards came: equal situations have equal bytes.

Dice are the keepers of engine_ext.dice: 462 multisets of at most five dice, of which the last
252 are rolls of all five.
"""
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from engine_ext.dice cimport RollTable


cdef enum:
    CARD_LIMIT = 64
    SEAT_LIMIT = 8
    N_SYMBOLS = 5
    N_DICE = 5
    N_ROLLS = 252       # multisets of five dice
    N_KEEPERS = 462     # multisets of at most five dice
    FIRST_ROLL = 210    # keeper that keeps roll 0 whole
    N_CHANGES = 26      # ways a card changes one die
    NO_ROLL = 255       # in Tables.changed: this change cannot be made
    NO_KEEPER = 65535   # in Tables.more and Tables.less: no such keeper
    ROLL_WORDS = 4      # 64-bit words that hold a bit for each roll
    N_SPENT = 35        # ways to spend at most three army cards that change dice
    N_KNOTS = 10        # numbers of cards left at which the outlook's weights are given
    N_TERMS = 18        # terms of a seat's outlook

cdef enum:              # symbols, and their bytes in a purse
    ADD = 0
    SUB = 1
    ADDSUB = 2
    REROLL = 3
    MIRROR = 4
    DISCARDED = 5       # the byte of a purse that counts discarded cards

cdef enum:              # State.step
    DRAW = 0            # chance: a card of the deck fills the quest area (phase 1)
    ROLL = 1            # chance: the dice that are not kept are rolled (phases 2, 3, 4)
    ACT = 2             # decision: beat, reroll, use a card, or pass (phases 2 to 5)
    FORFEIT = 3         # decision: which army card goes after a failed turn (P12, original)
    OVER = 4

cdef enum:              # decision ids
    PASS = 0            # end the turn without a card
    BEAT = 1            # + kind
    KEEP = 65           # + keeper: the free reroll of all other dice
    AGAIN = 527         # + keeper: the same by a reroll card
    CHANGE = 989        # + change
    GIVE = 1015         # + symbol: discard that army card (original)
    N_DECISIONS = 1020

cdef enum:              # changes: the card used and the die it is used on
    ADD_TO = 0          # + face - 1, faces 1 to 5
    SUB_FROM = 5        # + face - 2, faces 2 to 6
    ADDSUB_UP = 10      # + face - 1, faces 1 to 5
    ADDSUB_DOWN = 15    # + face - 2, faces 2 to 6
    MIRROR_OF = 20      # + face - 1

cdef enum:              # chance ids
    DEAL = 0            # + kind
    SHOW = 64           # + keeper: what the rolled dice show
    N_CHANCES = 526


cdef struct State:
    uint64_t deck               # cards face down; bit = card
    uint64_t quest              # cards in the quest area
    uint64_t purse[SEAT_LIMIT]  # by seat: byte s counts army cards of symbol s, byte DISCARDED the discards
    # Turns finished; the running turn is that of seat turn % players. Among several, once all had
    # their first turn, it stays in players .. 2 * players - 1.
    uint32_t turn
    uint16_t dice               # ACT, FORFEIT: the five dice; ROLL: those kept; else 0; a keeper
    uint8_t step
    uint8_t seat                # whose turn it is
    uint8_t rerolls             # free rerolls left this turn; a used army card ends them (P5)
    uint8_t in_deck             # cards of the deck
    uint8_t in_quest            # cards of the quest area
    uint8_t unused[5]           # always 0: the struct has no padding


cdef struct Tables:
    const RollTable *rolls      # five dice; owned by the module
    uint64_t beats[N_ROLLS]     # cards that a roll beats
    uint64_t twins              # bit i: card i is of the same kind as card i - 1
    uint64_t kind_cards[CARD_LIMIT]      # by kind: its cards
    uint8_t kind_of[CARD_LIMIT]          # by card
    uint8_t symbol_of[CARD_LIMIT]        # by kind
    uint32_t changes[N_ROLLS]            # bit c: change c can be made on this roll (P9)
    uint8_t changed[N_CHANGES][N_ROLLS]  # the roll after the change, or NO_ROLL
    uint32_t symbol_changes[N_SYMBOLS]   # bit c: change c is made with this symbol
    uint8_t change_symbol[N_CHANGES]
    int32_t n_cards
    int32_t n_kinds
    int32_t area                # size of the quest area
    int32_t players
    int32_t long_turns          # the first so many turns of the game have two free rerolls (P11)
    bint original               # a failed turn costs an army card, and only the army scores (P12)
    bint by_score               # utility is the lead in points, not the win
    uint64_t key_mask           # bytes of a purse that matter to the future
    # ---- the game's own judgement (plan.pyx) ---------------------------------------------
    const uint16_t *price[CARD_LIMIT]    # by kind: [N_STOCKS][N_ROLLS], price of the changes that beat it
    # By kind, free rerolls left, keeper: best chance to beat it without army cards; of a keeper of
    # fewer than five dice, once the others are rolled.
    float chance[CARD_LIMIT][3][N_KEEPERS]
    double ease[CARD_LIMIT]     # by kind: chance to beat it from a fresh roll with one reroll
    double gain[CARD_LIMIT]     # by kind: army cards that beating it leaves over, on average
    uint16_t more[N_KEEPERS][6]          # the keeper with one more die of a face, or NO_KEEPER
    uint16_t less[N_KEEPERS][6]          # the keeper with one less, or NO_KEEPER
    # ---- the outlook among several (outlook.pyx) ------------------------------------------
    # By kind: [N_SPENT][ROLL_WORDS], bit r: spending just these cards beats it from roll r.
    const uint64_t *reach[CARD_LIMIT]
    double knots[N_KNOTS]                # cards left
    double outlook[N_TERMS][N_KNOTS]     # weights of a seat's score, linear between the knots


cdef struct DieChange:          # what a card changes
    int32_t symbol              # of the card
    int32_t before              # the face that lies there
    int32_t after               # and the one that will


cdef inline DieChange die_change(int32_t change) noexcept nogil:
    """What the number of a change means."""
    if change >= MIRROR_OF:
        return DieChange(MIRROR, change - MIRROR_OF + 1, 6 - (change - MIRROR_OF))
    if change >= ADDSUB_DOWN:
        return DieChange(ADDSUB, change - ADDSUB_DOWN + 2, change - ADDSUB_DOWN + 1)
    if change >= ADDSUB_UP:
        return DieChange(ADDSUB, change - ADDSUB_UP + 1, change - ADDSUB_UP + 2)
    if change >= SUB_FROM:
        return DieChange(SUB, change - SUB_FROM + 2, change - SUB_FROM + 1)
    return DieChange(ADD, change - ADD_TO + 1, change - ADD_TO + 2)


cdef inline int32_t lowest(uint64_t cards) noexcept nogil:
    """Number of the lowest card of a set that is not empty."""
    return count_trailing_zeros(cards)


cdef inline uint64_t heads(const Tables *t, uint64_t cards) noexcept nogil:
    """One card of each kind in a set of cards: the lowest. A kind's cards in the deck, or in the
    quest area, have neighbouring bits."""
    return cards & ~((cards << 1) & t.twins)


cdef inline int32_t army_count(uint64_t purse, int32_t symbol) noexcept nogil:
    """Army cards of a symbol; with DISCARDED, the discarded cards."""
    return <int32_t>(purse >> (8 * symbol) & 255)


cdef inline int32_t army_size(uint64_t purse) noexcept nogil:
    """Army cards of all symbols."""
    return <int32_t>(((purse & <uint64_t>0xFFFFFFFFFFu) * <uint64_t>0x0101010101010101u) >> 56)


cdef inline uint32_t usable_changes(const Tables *t, uint64_t purse, int32_t roll) noexcept nogil:
    """Bit c: the army holds a card for change c, and the roll a die for it."""
    cdef uint32_t held = 0
    if not purse & <uint64_t>0xFFFFFFFFFFu:
        return 0
    if purse & 0xFF:
        held |= t.symbol_changes[ADD]
    if purse & 0xFF00:
        held |= t.symbol_changes[SUB]
    if purse & 0xFF0000:
        held |= t.symbol_changes[ADDSUB]
    if purse & <uint64_t>0xFF00000000u:
        held |= t.symbol_changes[MIRROR]
    return held & t.changes[roll]


cdef extern from *:
    """
    #include <stdint.h>
    #if defined(__GNUC__) || defined(__clang__)
    static inline int quandary_ctz64(uint64_t x) { return __builtin_ctzll(x); }
    #else
    static inline int quandary_ctz64(uint64_t x) {
        int n = 0;
        while (!(x & 1)) { x >>= 1; n++; }
        return n;
    }
    #endif
    """
    int count_trailing_zeros "quandary_ctz64" (uint64_t x) noexcept nogil
