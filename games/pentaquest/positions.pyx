"""Positions of Pentaquest in words and as dicts, both ways."""
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memset

from engine_ext.dice cimport roll_keeper_id
from games.pentaquest.names cimport list_dice, list_kinds, name_army, name_dice, name_kind
from games.pentaquest.play cimport fail_turn, fill_quest, show_dice
from games.pentaquest.state cimport (
    CARD_LIMIT, DISCARDED, FIRST_ROLL, N_SYMBOLS, OVER, ROLL, State, Tables, army_count,
)
from games.pentaquest.tables cimport PentaquestTables

from engine_ext.errors import PositionError
from games.pentaquest.cards import DICE, SYMBOLS

_STEPS = ("draw", "roll", "act", "forfeit", "over")
_FIELDS = ("deck", "quest", "armies", "discards", "turn", "seat", "step", "dice", "rerolls")


# ---- writing -----------------------------------------------------------------------------------

cdef str describe(PentaquestTables rules, const State *s):
    """The position in words, a line a thing."""
    cdef const Tables *t = &rules.data
    lines = [f"{_STEPS[s.step]}, player {s.seat}, turns {s.turn}"]
    if s.dice:
        lines[0] += f", dice {name_dice(t, s.dice)}" + (" kept" if s.step == ROLL else "")
    lines[0] += f", free rerolls {s.rerolls}"
    lines.append("quest: " + (", ".join(card_text(rules, kind) for kind in list_kinds(t, s.quest)) or "empty"))
    for seat in range(t.players):
        lines.append(f"player {seat}: army {name_army(s.purse[seat])}, "
                     f"discards {army_count(s.purse[seat], DISCARDED)}")
    lines.append(f"deck of {s.in_deck}: "
                 + (", ".join(name_kind(rules, kind) for kind in list_kinds(t, s.deck)) or "empty"))
    return "\n".join(lines)


cdef str card_text(PentaquestTables rules, int32_t kind):
    """A card with what it requires and what it helps with."""
    card = rules.kinds[kind][0]
    return f"{card.name} [{' or '.join(str(part) for part in card.requires)}; {card.symbol}]"


cdef dict write_dict(PentaquestTables rules, const State *s):
    """The position as `read_dict` takes it."""
    cdef const Tables *t = &rules.data
    seats = range(t.players)
    return {
        "deck": [name_kind(rules, kind) for kind in list_kinds(t, s.deck)],
        "quest": [name_kind(rules, kind) for kind in list_kinds(t, s.quest)],
        "armies": [{name: army_count(s.purse[seat], symbol) for symbol, name in enumerate(SYMBOLS)
                    if army_count(s.purse[seat], symbol)} for seat in seats],
        "discards": [army_count(s.purse[seat], DISCARDED) for seat in seats],
        "turn": s.turn, "seat": s.seat, "step": _STEPS[s.step], "dice": list_dice(t, s.dice), "rerolls": s.rerolls,
    }


# ---- reading -----------------------------------------------------------------------------------

cdef read_dict(PentaquestTables rules, State *s, dict position):
    """Fill the state with a position composed by hand. Every field may be left out: what is missing follows from the
    rest.

    Fields: `deck` and `quest`, card names (`deck` by default: all cards that are not in the quest
    area); `armies`, a table of symbol counts a seat; `discards`, a number a seat; `turn`,
    turns finished (among several, taken round by the number of players once everyone had the
    first turn); `seat`; `step`, one of draw, roll, act, forfeit,
    over; `dice`, all five or those kept for a roll; `rerolls`, free rerolls left.
    """
    cdef const Tables *t = &rules.data
    cdef int32_t kind, i
    memset(s, 0, sizeof(State))
    for field in position:
        if field not in _FIELDS:
            raise PositionError(f"pentaquest: unknown field {field!r}; allowed: {', '.join(_FIELDS)}")
    quest = count_names(rules, "quest", position.get("quest", []))
    if "deck" in position:
        deck = count_names(rules, "deck", position["deck"])
    else:
        deck = [max(0, len(cards) - quest[kind]) for kind, cards in enumerate(rules.kinds)]
    first = 0
    captured_symbols = [0] * N_SYMBOLS
    for kind, cards in enumerate(rules.kinds):
        captured = len(cards) - quest[kind] - deck[kind]
        if captured < 0:
            field = "quest" if quest[kind] > len(cards) else "deck"
            raise PositionError(
                f"pentaquest: {field} and the rest hold {cards[0].name!r} {quest[kind] + deck[kind]} times; "
                f"the deck has {len(cards)} of that kind")
        captured_symbols[t.symbol_of[kind]] += captured
        for i in range(captured, captured + quest[kind]):
            s.quest |= <uint64_t>1 << (first + i)
        for i in range(captured + quest[kind], len(cards)):
            s.deck |= <uint64_t>1 << (first + i)
        first += len(cards)
    s.in_deck, s.in_quest = sum(deck), sum(quest)
    if s.in_quest > t.area:
        raise PositionError(f"pentaquest: quest holds {s.in_quest} cards; the quest area has room for {t.area}")
    read_armies(t, s, position, captured_symbols)
    read_turn(t, s, position, sum(captured_symbols))
    read_step(t, s, position)


cdef list count_names(PentaquestTables rules, str field, names):
    """How many cards of each kind a list of names holds."""
    if not isinstance(names, (list, tuple)):
        raise PositionError(f"pentaquest: {field} is {names!r}, must be a list of card names")
    kind_of = {card.name: kind for kind, cards in enumerate(rules.kinds) for card in cards}
    counts = [0] * len(rules.kinds)
    for name in names:
        kind = kind_of.get(name) if isinstance(name, str) else None
        if kind is None:
            raise PositionError(f"pentaquest: {field} holds {name!r}, no card of the deck {rules.deck.path.name}")
        counts[kind] += 1
    return counts


cdef read_armies(const Tables *t, State *s, dict position, list captured):
    """Armies and discards, which hold all captured cards between them; those are counted by symbol."""
    cdef int32_t seat, symbol
    players = t.players
    armies = position.get("armies", [{}] * players)
    if not isinstance(armies, (list, tuple)) or len(armies) != players:
        raise PositionError(f"pentaquest: armies is {armies!r}, must be a list of {players} tables, one a seat")
    held = [0] * N_SYMBOLS
    for seat, army in enumerate(armies):
        if not isinstance(army, dict):
            raise PositionError(f"pentaquest: armies holds {army!r}, must be tables of counts by symbol")
        for name, count in army.items():
            if name not in SYMBOLS:
                raise PositionError(f"pentaquest: armies holds {name!r}; symbols are {', '.join(SYMBOLS)}")
            symbol = SYMBOLS.index(name)
            count = _whole("armies", count, 0, CARD_LIMIT)
            held[symbol] += count
            if held[symbol] > captured[symbol]:
                raise PositionError(
                    f"pentaquest: armies hold {held[symbol]} or more {name} cards; of the captured cards "
                    f"(neither in deck nor in quest) {captured[symbol]} have that symbol")
            s.purse[seat] += <uint64_t>count << (8 * symbol)
    used = sum(captured) - sum(held)
    discards = position.get("discards", [used] if players == 1 else [0] * players)
    if not isinstance(discards, (list, tuple)) or len(discards) != players:
        raise PositionError(
            f"pentaquest: discards is {discards!r}, must be a list of {players} numbers, one a seat")
    for seat, count in enumerate(discards):
        s.purse[seat] += <uint64_t>_whole("discards", count, 0, CARD_LIMIT) << (8 * DISCARDED)
    if sum(discards) != used:
        raise PositionError(
            f"pentaquest: discards sum to {sum(discards)}; {sum(captured)} cards are neither in deck nor in quest, "
            f"{sum(held)} of them in armies, so it must be {used}")


cdef read_turn(const Tables *t, State *s, dict position, captured):
    """Turns finished and the seat, where so many cards were captured."""
    players = t.players
    over = position.get("step") == "over" or s.in_deck + s.in_quest == 0
    lost = players == 1 and over and s.in_deck + s.in_quest > 0
    seat = _whole("seat", position.get("seat", 0), 0, players - 1)
    turn = captured + lost
    if players > 1:
        while (turn - over) % players != seat and ("seat" in position or "turn" not in position):
            turn += 1
    turn = _whole("turn", position.get("turn", turn), 0, 2**31 - 1)
    if players == 1 and turn != captured + lost:
        raise PositionError(
            f"pentaquest: turn is {turn}; alone, {captured} captured cards mean {captured + lost} turns")
    if turn < captured and turn < players:
        raise PositionError(f"pentaquest: turn is {turn}; {captured} captured cards need at least as many turns")
    if "seat" in position and (turn - over) % players != seat:
        raise PositionError(
            f"pentaquest: seat is {seat}, but with {turn} turns finished by {players} players "
            f"it is {(turn - over) % players}")
    if players > 1 and turn >= 2 * players:
        turn = players + turn % players
    s.turn, s.seat = turn, (turn - over) % players


cdef read_step(const Tables *t, State *s, dict position):
    """Step, dice and rerolls; then what the engine does by itself, so that a choice is left."""
    dice = position.get("dice", [])
    if (not isinstance(dice, (list, tuple)) or len(dice) > DICE
            or any(type(die) is not int or not 1 <= die <= 6 for die in dice)):
        raise PositionError(f"pentaquest: dice is {dice!r}, must be a list of at most {DICE} numbers 1 to 6")
    empty = s.in_deck + s.in_quest == 0
    step = position.get("step", "over" if empty else "act" if len(dice) == DICE else "roll" if dice else "draw")
    if step not in _STEPS:
        raise PositionError(f"pentaquest: step is {step!r}; allowed: {', '.join(_STEPS)}")
    if step != "over" and empty:
        raise PositionError(f"pentaquest: step is {step!r}, but deck and quest are empty: the game is over")
    if step == "over" and not empty and t.players > 1:
        raise PositionError("pentaquest: step is 'over', but there are cards in deck or quest")
    wanted = {"draw": (0, 0), "roll": (0, 4), "act": (5, 5), "forfeit": (5, 5), "over": (0, 0)}[step]
    if not wanted[0] <= len(dice) <= wanted[1]:
        allowed = str(wanted[0]) if wanted[0] == wanted[1] else f"{wanted[0]} to {wanted[1]}"
        raise PositionError(f"pentaquest: dice is {dice!r}; with step {step!r} there are {allowed} dice")
    if step not in ("draw", "over") and s.in_deck and s.in_quest < t.area:
        raise PositionError(
            f"pentaquest: quest holds {s.in_quest} of {t.area} cards and the deck {s.in_deck}; "
            f"before step {step!r} the quest area is filled")
    most = 0 if step in ("over", "forfeit") else 2 if <int32_t>s.turn < t.long_turns else 1
    s.rerolls = _whole("rerolls", position.get("rerolls", most), 0, most)
    if step == "draw" and s.rerolls != most:
        raise PositionError(f"pentaquest: rerolls is {s.rerolls}; before the first roll of this turn it is {most}")
    if step == "over":
        s.step = OVER
    elif step == "draw":
        fill_quest(t, s)
    elif step == "forfeit":
        if not t.original or t.players == 1:
            raise PositionError("pentaquest: step is 'forfeit', which only original=true with several players has")
        s.dice = keeper_of(t, dice)
        fail_turn(t, s)
    elif step == "act":
        show_dice(t, s, keeper_of(t, dice) - FIRST_ROLL)
    else:
        s.step, s.dice = ROLL, keeper_of(t, dice)


cdef int32_t keeper_of(const Tables *t, dice):
    """The keeper of a list of dice."""
    cdef uint64_t packed = 0
    for die in dice:
        packed += <uint64_t>1 << (8 * (die - 1))
    return roll_keeper_id(t.rolls, packed)


def _whole(field, value, least, most):
    """The value when it is a whole number in range, else PositionError."""
    if type(value) is not int or not least <= value <= most:
        raise PositionError(f"pentaquest: {field} is {value!r}, must be a whole number {least} to {most}")
    return value
