"""Numbers of Pentaquest in words: decisions, outcomes, cards, dice and armies."""
from libc.stdint cimport int32_t, uint64_t

from engine_ext.dice cimport packed_count
from games.pentaquest.state cimport (
    AGAIN, BEAT, CHANGE, DEAL, GIVE, KEEP, SHOW, DieChange, Tables, army_count, die_change,
)
from games.pentaquest.tables cimport PentaquestTables

from games.pentaquest.cards import NO_CARD, SYMBOLS


cdef str name_decision(PentaquestTables rules, int32_t action):
    cdef DieChange made
    if action >= GIVE:
        return f"discard {SYMBOLS[action - GIVE]}"
    if action >= CHANGE:
        made = die_change(action - CHANGE)
        return f"{SYMBOLS[made.symbol]} {made.before} to {made.after}"
    if action >= AGAIN:
        return f"reroll card, keep {name_dice(&rules.data, action - AGAIN)}"
    if action >= KEEP:
        return f"reroll, keep {name_dice(&rules.data, action - KEEP)}"
    return f"beat {name_kind(rules, action - BEAT)}" if action >= BEAT else "pass"


cdef str name_outcome(PentaquestTables rules, int32_t outcome):
    if outcome >= SHOW:
        return f"roll {name_dice(&rules.data, outcome - SHOW)}"
    return f"draw {name_kind(rules, outcome - DEAL)}"


cdef str name_kind(PentaquestTables rules, int32_t kind):
    """Of the interchangeable cards of a kind, the first one's name."""
    return rules.kinds[kind][0].name if kind < len(rules.kinds) else f"{NO_CARD}{kind}"


cdef list list_kinds(const Tables *t, uint64_t cards):
    """The kinds in a set of cards, ascending, a kind as often as it lies there."""
    cdef int32_t card
    return [t.kind_of[card] for card in range(t.n_cards) if cards >> card & 1]


cdef str name_dice(const Tables *t, int32_t keeper):
    return " ".join([str(die) for die in list_dice(t, keeper)]) or "none"


cdef list list_dice(const Tables *t, int32_t keeper):
    """The dice of a keeper, ascending."""
    cdef int32_t face, _
    return [face + 1 for face in range(6) for _ in range(packed_count(t.rolls.packed[keeper], face))]


cdef str name_army(uint64_t purse):
    held = [f"{army_count(purse, symbol)} {name}" for symbol, name in enumerate(SYMBOLS) if army_count(purse, symbol)]
    return ", ".join(held) or "none"
