"""Positions of Qu'arz as dicts, both ways. README.md has the keys, position_fields.py their types."""
from libc.stdint cimport int8_t, int32_t
from libc.string cimport memset

from engine_ext.bits cimport bit, count_bits, has_bit
from engine_ext.game cimport TERMINAL, hash_bytes
from games.quarz.field cimport rebuild, recount
from games.quarz.frames cimport push
from games.quarz.idol cimport idol_in_the_air
from games.quarz.set_up cimport clear_table
from games.quarz.soundness cimport broken_rule
from games.quarz.state cimport *
from games.quarz.tableau cimport refresh
from games.quarz.tables cimport QuarzTables

from engine_ext.errors import PositionError
from games.quarz.position_fields import bad, check_form, whole

_TOKENS = (("stun", TOKEN_CAP), ("poison", TOKEN_CAP), ("shield", TOKEN_CAP), ("frost", TOKEN_CAP),
           ("boost", BOOST_CAP))
_RULES = {
    80: "too many tokens of a kind on a monster", 97: "the ultimate is hidden until two slots are filled",
    103: "slots are filled from the left", 112: "shrine uses", 131: "pool and spent energy make the capacity",
    132: "every card is in one place", 133: "one monster a hex, and every piece on the board",
    134: "a monster on the idol controls it", 135: "tiles are conserved", 137: "time tiles follow the turns",
    138: "favor cards", 139: "no monster in a foreign camp", 140: "no monster on an impassable field",
    144: "reaction tokens",
}


# ---- writing -------------------------------------------------------------------------------------

cdef dict write_dict(QuarzTables rules, const State *s):
    """The position as `from_dict` takes it, with what brings it back exactly."""
    cdef const Frame *f
    cdef int32_t k, m
    made = write_table(rules, s)
    frames = []
    for k in range(s.depth):
        f = &s.stack[k]
        frames.append([f.kind, f.step, f.a, f.b, f.c, f.d, f.e, f.f, f.g, f.prog])
    made["pending"] = {"frames": frames, "actor": s.actor, "winner": s.winner, "active": s.active,
                       "tiles_left": [s.pool_left[k] for k in range(8)], "seal": seal_of(s)}
    made["recall"] = [f"{s.info[k]:016x}" for k in range(rules.data.players)]
    made["epochs"] = [
        [s.epoch[m], [s.birth[m][k] for k in range(CARDS)], [s.drawn[m][k] for k in range(CARDS)],
         [k for k in range(CARDS) if s.known[m] >> k & 1]]
        for m in range(3 * rules.data.players)]
    return made


cdef str seal_of(const State *s):
    """What ties `pending` to one position: only so can it not contradict the rest."""
    return f"{hash_bytes(s, sizeof(State), 0):016x}"


cdef dict write_table(QuarzTables rules, const State *s):
    """What lies on the table."""
    cdef const Tables *t = &rules.data
    cdef int32_t seat, k
    cells, patterns = rules.board.cells, rules.content.patterns
    order = [s.order[k] for k in range(t.players)]
    return {
        "mobs": [write_mob(rules, s, seat) for seat in range(t.players)],
        "tiles": {f"{q},{r}": [patterns[s.tile[i] - 1].name, s.turned[i]]
                  for i, (q, r) in enumerate(cells) if s.tile[i]},
        "melted": [list(cell) for i, cell in enumerate(cells) if has_bit(s.melted, i)],
        "traps": {f"{q},{r}": seat for seat in range(t.players)
                  for i, (q, r) in enumerate(cells) if has_bit(s.traps[seat], i)},
        "idol": list(cells[s.idol_at]),
        "carrier": [s.idol_by // 3, s.idol_by % 3] if s.idol_by >= 0 else None,
        "shrine_cards": [rules.content.shrines[s.shrine_card[k]].name if s.shrine_card[k] >= 0 else None
                         for k in range(t.n_shrines)],
        "time": {
            "tile": rules.content.time_tiles[s.time_now].name if s.time_now >= 0 else None,
            "left": s.time_left, "turns": s.turns,
            "used": [tile.name for k, tile in enumerate(rules.content.time_tiles) if s.time_used >> k & 1],
        },
        "order": order,
        "turn": order.index(s.active) if s.active >= 0 else None,
        "actions": s.actions, "extras": s.extras,
    }


cdef dict write_mob(QuarzTables rules, const State *s, int32_t seat):
    cdef int32_t k, m
    return {
        "mob": rules.content.mobs[s.mob[seat]] if s.mob[seat] >= 0 else None,
        "camp": s.camp[seat] if s.camp[seat] >= 0 else None,
        "favor_hand": [k for k in range(5) if s.favor_hand[seat] >> k & 1],
        "favor": s.favor[seat] if s.favor[seat] >= 0 else None,
        "reactions": s.reactions[seat], "munched": s.munched[seat],
        "shrines": [s.uses[seat][k] for k in range(rules.data.n_shrines)],
        "monsters": [write_monster(rules, s, m) for m in range(3 * seat, 3 * seat + 3) if s.who[m] >= 0],
    }


cdef dict write_monster(QuarzTables rules, const State *s, int32_t m):
    cdef int32_t k
    printed = rules.content.monsters[s.who[m]]
    return {
        "name": printed.name, "at": list(rules.board.cells[s.at[m]]), "energy": s.pool[m], "spent": s.spent[m],
        "hand": labels(printed, s.hand[m]), "draw": labels(printed, s.deck[m]),
        "discard": labels(printed, s.pile[m]),
        "slots": [printed.cards[s.slots[m][k]].label for k in range(3) if s.slots[m][k] >= 0],
        "removed": labels(printed, s.gone[m]), "playing": labels(printed, s.table[m]),
        "stun": s.stun[m], "poison": s.poison[m], "shield": s.shield[m], "frost": s.frost[m], "boost": s.boost[m],
        "resting": bool(s.resting >> m & 1), "melted": bool(s.gave_up >> m & 1),
    }


cdef list labels(printed, int32_t mask):
    """A set of a monster's cards by label."""
    cdef int32_t card
    return [printed.cards[card].label for card in range(CARDS) if mask >> card & 1]


# ---- reading -------------------------------------------------------------------------------------

cdef read_dict(QuarzTables rules, State *s, dict position):
    """Fill a state from a dict. Without `pending` its top frame has not yet run.

    Raises:
        PositionError: a field that is unknown, out of range or contradicts another, or a rule that is broken.
    """
    cdef const Tables *t = &rules.data
    cdef bint exact = "pending" in position     # to_dict wrote it: anything may be in the midst of going on
    cdef int32_t k, rule
    check_form(position)
    for key in ("recall", "epochs"):
        if key in position and not exact:
            raise PositionError(f"quarz: {key} goes with pending: leave it out of a position by hand")
    clear_table(t, s)
    read_board(rules, s, position, exact)
    read_mobs(rules, s, position, exact)
    read_shrine_cards(rules, s, position)
    read_time(rules, s, position.get("time", {}), exact)
    read_turn_order(rules, s, position)
    read_carrier(rules, s, position.get("carrier"))
    rebuild(t, s)
    for k in range(t.players):
        recount(t, s, k)
    for k in range(t.players):
        if s.traps[k] & s.occupied & ~s.own[k]:
            raise PositionError(f"quarz: traps: one of seat {k} lies under a monster of another mob, it has sprung")
    if exact:
        read_pending(rules, s, position["pending"])
    else:
        read_moment(rules, s, position)
    if s.idol_by < 0 and not idol_in_the_air(s) and position.get("carrier", 0) == 0:
        for k in range(3 * t.players):
            if s.at[k] == s.idol_at:
                s.idol_by = k
    read_recall(rules, s, position.get("recall"))
    read_epochs(rules, s, position.get("epochs"))
    if exact and position["pending"]["seal"] != seal_of(s):
        raise PositionError("quarz: pending belongs to another position: after changing a position by hand, leave "
                            "pending, recall and epochs out")
    rule = broken_rule(t, s)
    if rule:
        raise PositionError(f"quarz: the position breaks rule {rule}: {_RULES.get(rule, '')}")


cdef int32_t read_cell(QuarzTables rules, field, value) except -1:
    """The number of a cell, given as [q, r] or "q,r"."""
    if isinstance(value, str):
        try:
            cell = [int(part) for part in value.split(",")]
        except ValueError:
            raise bad(field, value, "a cell") from None
        if value != ",".join(map(str, cell)):
            raise bad(field, value, "a cell, written \"q,r\"")
        value = cell
    if (not isinstance(value, (list, tuple)) or not all(type(part) is int for part in value)
            or tuple(value) not in rules.board.number):
        raise bad(field, value, f"a cell [q, r] of the board {rules.board.name}")
    return rules.board.number[tuple(value)]


# ---- the board

cdef read_board(QuarzTables rules, State *s, dict position, bint exact):
    cdef const Tables *t = &rules.data
    cdef int32_t cell
    read_tiles(rules, s, position, exact)
    for value in position.get("melted", []):
        cell = read_cell(rules, "melted", value)
        if not has_bit(t.impassable_mask, cell):
            raise PositionError(f"quarz: melted: {value!r} is not an impassable field")
        if has_bit(s.melted, cell):
            raise PositionError(f"quarz: melted: {value!r} is listed twice")
        s.melted |= bit(cell)
    for key, value in position.get("traps", {}).items():
        read_trap(rules, s, key, value)
    if "idol" in position:
        s.idol_at = read_cell(rules, "idol", position["idol"])
        # Only a game that is won, which `pending` tells, has it in a camp.
        if not exact and has_bit((t.impassable_mask & ~s.melted) | t.camp_mask, s.idol_at):
            raise bad("idol", position["idol"], "off camps and unmelted impassable fields (rule 56, Q57)")


cdef read_tiles(QuarzTables rules, State *s, dict position, bint exact):
    """The tiles that are listed; by hand, empty ones on the other fields, unless the rules lay all of them."""
    cdef const Tables *t = &rules.data
    cdef int32_t cell, k
    patterns = rules.content.patterns
    names = [pattern.name for pattern in patterns]
    if "tiles" in position:
        memset(s.tile, 0, sizeof(s.tile))
        memset(s.turned, 0, sizeof(s.turned))
        memset(s.pool_left, 0, sizeof(s.pool_left))
    for key, value in position.get("tiles", {}).items():
        cell = read_cell(rules, f"tiles.{key}", key)
        if not has_bit(t.modifiable_mask, cell):
            raise PositionError(f"quarz: tiles.{key}: the field is not modifiable")
        if not isinstance(value, (list, tuple)) or len(value) != 2 or value[0] not in names:
            raise bad(f"tiles.{key}", value, f"[pattern, orientation] with a pattern of {', '.join(names)}")
        s.tile[cell] = names.index(value[0]) + 1
        s.turned[cell] = whole(f"tiles.{key}[1]", value[1], 0, t.period[s.tile[cell] - 1] - 1)
    if not exact and not t.n_laid:
        empty = [pattern.kind for pattern in patterns].index("empty")
        for k in range(t.n_modifiable):
            if not s.tile[t.modifiable[k]]:
                s.tile[t.modifiable[k]] = empty + 1
        memset(s.pool_left, 0, sizeof(s.pool_left))


cdef read_trap(QuarzTables rules, State *s, key, value):
    cdef int32_t cell = read_cell(rules, f"traps.{key}", key)
    cdef int32_t seat = whole(f"traps.{key}", value, 0, rules.data.players - 1)
    if not has_bit(rules.data.modifiable_mask, cell):
        raise PositionError(f"quarz: traps.{key}: traps lie on modifiable fields (Q21)")
    s.traps[seat] |= bit(cell)
    if count_bits(s.traps[seat]) > TOKEN_CAP:
        raise PositionError(f"quarz: traps: a fourth one of seat {seat}, a mob has at most three (Q89)")


cdef read_carrier(QuarzTables rules, State *s, carrier):
    cdef int32_t m
    if carrier is None:
        return
    if len(carrier) != 2:
        raise bad("carrier", carrier, "[seat, monster] or null")
    m = 3 * whole("carrier[0]", carrier[0], 0, rules.data.players - 1) + whole("carrier[1]", carrier[1], 0, 2)
    if s.at[m] != s.idol_at:
        raise PositionError(f"quarz: carrier {carrier!r} does not stand on the idol (rule 134)")
    s.idol_by = m


# ---- mobs and monsters

cdef read_mobs(QuarzTables rules, State *s, dict position, bint exact):
    cdef const Tables *t = &rules.data
    cdef int32_t seat, other
    mobs = position.get("mobs", [{}] * t.players)
    if len(mobs) != t.players:
        raise bad("mobs", mobs, f"a list of {t.players} tables")
    for seat, mob in enumerate(mobs):
        where = f"mobs[{seat}]"
        name, camp = mob.get("mob", rules.content.mobs[seat]), mob.get("camp", seat)
        if name is not None and name not in rules.content.mobs:
            raise bad(f"{where}.mob", name, f"one of {', '.join(rules.content.mobs)}")
        if (name is None or camp is None) and not exact:
            raise PositionError(f"quarz: {where}: mob and camp may be null during the set-up only")
        s.mob[seat] = -1 if name is None else rules.content.mobs.index(name)
        s.camp[seat] = -1 if camp is None else whole(f"{where}.camp", camp, 0, t.players - 1)
        for other in range(seat):
            if (s.mob[other] == s.mob[seat] and s.mob[seat] >= 0) or (
                    s.camp[other] == s.camp[seat] and s.camp[seat] >= 0):
                raise PositionError(f"quarz: {where}: mob or camp is that of seat {other}")
        read_favor(rules, s, seat, mob, where, exact)
        s.reactions[seat] = whole(f"{where}.reactions", mob.get("reactions", t.reactions), 0, t.reactions)
        uses = mob.get("shrines", [0] * t.n_shrines)
        if len(uses) != t.n_shrines:
            raise bad(f"{where}.shrines", uses, f"a list of {t.n_shrines} ints")
        for k, count in enumerate(uses):
            s.uses[seat][<int32_t>k] = whole(f"{where}.shrines[{k}]", count, 0, t.shrine_uses)
        if s.mob[seat] >= 0:
            read_monsters(rules, s, seat, mob, where, exact)
        else:
            s.munched[seat] = whole(f"{where}.munched", mob.get("munched", 0), 0, 200)


cdef read_favor(QuarzTables rules, State *s, int32_t seat, dict mob, str where, bint exact):
    """The favor card played and those in the hand."""
    cdef const Tables *t = &rules.data
    cdef int32_t k
    played = mob.get("favor")
    s.favor[seat] = -1 if played is None else whole(f"{where}.favor", played, 0, 4)
    held = mob.get("favor_hand", [k for k in range(5) if k != played or t.take_back[k]])
    s.favor_hand[seat] = 0
    for value in held:
        s.favor_hand[seat] |= 1 << <int32_t>whole(f"{where}.favor_hand", value, 0, 4)
    if len(set(held)) != len(held):
        raise bad(f"{where}.favor_hand", held, "different values")
    if not exact and played is not None and played in held and not t.take_back[<int32_t>played]:
        raise PositionError(f"quarz: {where}.favor {played} is in favor_hand as well (rule 30)")


cdef read_monsters(QuarzTables rules, State *s, int32_t seat, dict mob, str where, bint exact):
    cdef const Tables *t = &rules.data
    cdef int32_t k
    own = [rules.content.monsters[4 * s.mob[seat] + k].name for k in range(4)]
    monsters = mob.get("monsters", [{"name": name} for name in own[:t.squad]])
    if len(monsters) != t.squad and not (exact and not monsters):
        raise bad(f"{where}.monsters", monsters, f"a list of {t.squad} tables")
    if monsters and s.camp[seat] < 0:
        raise bad(f"{where}.camp", mob.get("camp", seat), "a camp, once the mob has its monsters")
    names = []
    for k, monster in enumerate(monsters):
        here = f"{where}.monsters[{k}]"
        name = monster.get("name", own[k])
        if name not in own or name in names:
            raise bad(f"{here}.name", name, f"one of {', '.join(own)}, each once")
        names.append(name)
        read_monster(rules, s, 3 * seat + k, 4 * s.mob[seat] + own.index(name), monster, here)
        if monster.get("playing") and not exact:
            raise PositionError(f"quarz: {here}.playing: cards are played only while something is pending")
    eaten = sum(len(monster.get("slots", [])) for monster in monsters)
    s.munched[seat] = whole(f"{where}.munched", mob.get("munched", eaten), 0, 200)
    if s.munched[seat] < eaten:
        raise bad(f"{where}.munched", s.munched[seat], f"at least {eaten}, the cards in slots (Q62)")


cdef read_monster(QuarzTables rules, State *s, int32_t m, int32_t who, dict monster, str where):
    cdef int8_t *tokens[5]
    cdef int32_t k
    tokens[0], tokens[1], tokens[2] = &s.stun[m], &s.poison[m], &s.shield[m]
    tokens[3], tokens[4] = &s.frost[m], &s.boost[m]
    s.who[m] = who
    s.at[m] = read_cell(rules, f"{where}.at", monster.get("at", list(rules.board.camps[s.camp[m // 3]])))
    read_cards(rules, s, m, monster, where)
    if monster.get("melted"):
        if s.slots[m][2] < 0:
            raise PositionError(f"quarz: {where}.melted: only a third slot gives the power to melt (rule 118)")
        s.gave_up |= 1 << m
    if monster.get("resting"):
        s.resting |= 1 << m
    for k, (key, most) in enumerate(_TOKENS):
        tokens[k][0] = whole(f"{where}.{key}", monster.get(key, 0), 0, most)
    read_energy(rules, s, m, monster, where)


cdef read_cards(QuarzTables rules, State *s, int32_t m, dict monster, str where):
    """Where each of a monster's cards is; those not listed are in the draw pile, or removed."""
    cdef int32_t k
    cdef bint with_cards = rules.data.with_cards
    printed = rules.content.monsters[s.who[m]]
    seen = {}             # label -> zone
    slots = read_zone(printed, monster, "slots", where, seen)
    if len(slots) > 3:
        raise bad(f"{where}.slots", monster["slots"], "at most three cards")
    for k, card in enumerate(slots):
        if not printed.cards[card].munch.keep:
            raise PositionError(f"quarz: {where}.slots: {printed.cards[card].label!r} has no lasting munch effect")
        s.slots[m][k] = card
    masks = {}
    rest_removed = monster.get("removed") == "rest"
    for zone in ("hand", "discard", "removed", "playing", "draw"):
        cards = [] if zone == "removed" and rest_removed else read_zone(printed, monster, zone, where, seen)
        masks[zone] = sum([1 << card for card in cards])
    listed = sum([1 << printed.card_number(label) for label in seen])
    if len(slots) < 2 and listed & ULTIMATE:
        raise PositionError(f"quarz: {where}: the ultimate is under the third slot until two are filled (rule 97)")
    rest = ALL_CARDS & ~listed & ~ULTIMATE
    if rest_removed or ("removed" not in monster and not with_cards):
        masks["removed"] |= rest
    elif "draw" not in monster:
        masks["draw"] |= rest
    elif rest:
        raise PositionError(f"quarz: {where}: {labels(printed, rest)} are nowhere (rule 132)")
    if len(slots) >= 2 and not listed & ULTIMATE and with_cards and not rest_removed:
        masks["hand"] |= ULTIMATE
        s.known[m] |= ULTIMATE
    s.hand[m], s.pile[m], s.gone[m] = masks["hand"], masks["discard"], masks["removed"]
    s.table[m], s.deck[m] = masks["playing"], masks["draw"]


cdef list read_zone(printed, dict monster, str zone, str where, dict seen):
    """The numbers of the cards in a zone, which are added to those seen so far (label -> zone)."""
    cards = monster.get(zone, [])
    if isinstance(cards, str):
        raise bad(f"{where}.{zone}", cards, "a list of card labels, or for removed \"rest\"")
    known = [card.label for card in printed.cards]
    for label in cards:
        if label not in known:
            raise bad(f"{where}.{zone}", label, f"a card of {printed.name}: {', '.join(known)}")
        if label in seen:
            raise PositionError(f"quarz: {where}.{zone}: {label!r} is in {seen[label]} already (rule 132)")
        seen[label] = zone
    return [known.index(label) for label in cards]


cdef read_energy(QuarzTables rules, State *s, int32_t m, dict monster, str where):
    """Pool and spent energy, which make the capacity that tableau and slots give."""
    cdef int32_t capacity
    s.pool[m] = s.spent[m] = 0
    refresh(&rules.data, s, m)
    capacity = s.pool[m]
    energy, spent = monster.get("energy"), monster.get("spent")
    if energy is None:
        energy = capacity - whole(f"{where}.spent", 0 if spent is None else spent, 0, capacity)
    whole(f"{where}.energy", energy, 0, capacity)
    if spent is not None and energy + spent != capacity:
        raise PositionError(
            f"quarz: {where}: energy {energy} and spent {spent} make {energy + spent}, not {capacity} (rule 131)")
    s.pool[m], s.spent[m] = energy, capacity - energy


# ---- the rest of the table

cdef read_shrine_cards(QuarzTables rules, State *s, dict position):
    cdef int32_t k
    names = [shrine.name for shrine in rules.content.shrines]
    cards = position.get("shrine_cards", names[:rules.data.n_shrines])
    if len(cards) != rules.data.n_shrines:
        raise bad("shrine_cards", cards, f"a list of {rules.data.n_shrines} names")
    given = [name for name in cards if name is not None]
    if len(set(given)) != len(given):
        raise bad("shrine_cards", cards, "different names")
    for k, name in enumerate(cards):
        if name is not None and name not in names:
            raise bad(f"shrine_cards[{k}]", name, f"one of {', '.join(names)}")
        s.shrine_card[k] = -1 if name is None else names.index(name)


cdef read_time(QuarzTables rules, State *s, dict time, bint exact):
    cdef const Tables *t = &rules.data
    tiles = [tile.name for tile in rules.content.time_tiles]
    shown, used = time.get("tile"), time.get("used", [])
    for name in [*used, shown]:
        if name is not None and name not in tiles:
            raise bad("time", name, f"one of {', '.join(tiles)}")
    if len(set(used)) != len(used):
        raise bad("time.used", used, "different names")
    s.time_now = -1 if shown is None else tiles.index(shown)
    for name in used if shown is None else [*used, shown]:
        s.time_used |= 1 << <int32_t>tiles.index(name)
    s.turns = whole("time.turns", time.get("turns", 0), 0, 5000)
    left = 0 if exact else t.n_stack - (s.turns // t.spaces if not t.turn_limit and t.n_stack else 0)
    s.time_left = whole("time.left", time.get("left", left), 0, 16)
    if exact:
        return
    check_stack(rules, s)
    last = t.turn_limit or (t.n_stack - 1) * t.spaces + t.spaces // 2
    if s.turns >= last:
        raise bad("time.turns", s.turns, f"below {last}, where the game ends")


cdef check_stack(QuarzTables rules, const State *s):
    """The tiles that are not used up must do for the rest of the stack (rule 20)."""
    cdef const Tables *t = &rules.data
    cdef int32_t level, before = 0, shown = t.n_stack - s.time_left + 1
    for level in range(3):
        due = max(0, t.stack[level] - max(0, shown - before))
        free = sum(t.time_level[i] == level + 1 and not s.time_used >> i & 1 for i in range(t.n_time))
        if free < due:
            used = [tile.name for i, tile in enumerate(rules.content.time_tiles) if s.time_used >> i & 1]
            raise bad("time.used", used, f"so few that {due} tiles of level {level + 1} are left for the stack")
        before += t.stack[level]


cdef read_turn_order(QuarzTables rules, State *s, dict position):
    cdef const Tables *t = &rules.data
    cdef int32_t k
    order = position.get("order", list(range(t.players)))
    if sorted(order) != list(range(t.players)):
        raise bad("order", order, f"the seats 0 to {t.players - 1}, each once")
    for k in range(t.players):
        s.order[k] = order[k]
    s.actions = whole("actions", position.get("actions", t.actions), 0, 8)
    s.extras = whole("extras", position.get("extras", 0), 0, 8)


# ---- what goes on

cdef read_moment(QuarzTables rules, State *s, dict position):
    """The frames of a round that begins, or of a turn whose seat acts."""
    cdef const Tables *t = &rules.data
    cdef int32_t k
    moment = position.get("moment", "action")
    if moment not in ("action", "favor"):
        raise bad("moment", moment, "'action' or 'favor'")
    for k in range(t.n_shrines):
        if s.shrine_card[k] < 0:
            raise PositionError(f"quarz: shrine_cards[{k}] may be null during the set-up only")
    if moment == "action":
        begin_turn(rules, s, whole("turn", position.get("turn", 0), 0, t.players - 1))
        return
    if position.get("turn") is not None:
        raise bad("turn", position["turn"], "null or left out where a round begins")
    for k in range(t.players):
        if not s.favor_hand[k]:
            raise PositionError(f"quarz: mobs[{k}].favor_hand is empty, a round needs a favor card of everyone")
    push(s, K_ROUND, 0, 0, 0)


cdef begin_turn(QuarzTables rules, State *s, int32_t turn):
    """The actions of a turn, by its place in the order. Whoever has yet to play this round has played a favor card:
    a 4, where nothing is said."""
    cdef const Tables *t = &rules.data
    cdef Frame *f
    cdef int32_t k, seat
    s.active = s.order[turn]
    for k in range(turn + 1, t.players):
        if s.favor[s.order[k]] < 0:
            s.favor[s.order[k]] = 4
            s.favor_hand[s.order[k]] &= ~(1 << 4)
    for k in range(t.players):
        seat = s.order[k]
        if not s.favor_hand[seat] and not (k > turn and t.take_back[s.favor[seat]]):
            raise PositionError(f"quarz: mobs[{seat}].favor_hand is empty, the next round needs a card of everyone")
    push(s, K_TURNS, turn + 1, 0, 0)
    f = push(s, K_TURN, 0, 0, 0)
    f.step = 2
    push(s, K_ACTION, 0, s.active, 0)


cdef read_pending(QuarzTables rules, State *s, dict pending):
    """The stack and what else `to_dict` says of the machine."""
    cdef Frame *f
    cdef int32_t k, players = rules.data.players
    keys = {"frames", "actor", "winner", "active", "tiles_left", "seal"}
    if set(pending) != keys:
        raise bad("pending", pending, f"a table with {', '.join(sorted(keys))}")
    frames = pending["frames"]
    if (not isinstance(frames, list) or len(frames) > DEPTH or not all(
            isinstance(values, list) and len(values) == 10 and all(type(value) is int for value in values)
            and 1 <= values[0] <= K_SAP and all(-128 <= value < 128 for value in values[:8])
            and all(-1 <= value < CODE_LIMIT for value in values[8:]) for values in frames)):
        raise bad("pending.frames", "...", f"at most {DEPTH} lists of ten ints, as to_dict writes them")
    for values in frames:
        f = push(s, values[0], values[2], values[3], values[4])
        f.step, f.d, f.e, f.f, f.g, f.prog = values[1], values[5], values[6], values[7], values[8], values[9]
    s.actor = whole("pending.actor", pending["actor"], TERMINAL, players - 1)
    s.winner = whole("pending.winner", pending["winner"], -1, players - 1)
    s.active = whole("pending.active", pending["active"], -1, players - 1)
    left = pending["tiles_left"]
    if not isinstance(left, list) or len(left) != 8:
        raise bad("pending.tiles_left", left, "eight ints")
    for k in range(8):
        s.pool_left[k] = whole(f"pending.tiles_left[{k}]", left[k], 0, 32)


cdef read_recall(QuarzTables rules, State *s, recall):
    """The hashes of what the seats did and saw."""
    cdef int32_t k, players = rules.data.players
    if recall is None:
        return
    if len(recall) != players:
        raise bad("recall", recall, f"{players} hexadecimal numbers")
    try:
        for k in range(players):
            s.info[k] = int(recall[k], 16)
    except (OverflowError, ValueError):
        raise bad("recall", recall, f"{players} hexadecimal numbers") from None


cdef read_epochs(QuarzTables rules, State *s, epochs):
    """When each card came into pile and hand, and which hand cards all have seen."""
    cdef int32_t m, k, monsters = 3 * rules.data.players
    if epochs is None:
        return
    if len(epochs) != monsters or not all(
            len(entry) == 4 and all(isinstance(part, list) for part in entry[1:])
            and len(entry[1]) == len(entry[2]) == CARDS for entry in epochs):
        raise bad("epochs", "...", "what to_dict writes")
    for m, (epoch, birth, drawn, known) in enumerate(epochs):
        where = f"epochs[{m}]"
        s.epoch[m] = whole(where, epoch, 0, EPOCH_LIMIT)
        for k in range(CARDS):
            s.birth[m][k] = whole(where, birth[k], 0, epoch)
            s.drawn[m][k] = whole(where, drawn[k], 0, epoch)
        s.known[m] = 0
        for card in known:
            s.known[m] |= 1 << <int32_t>whole(where, card, 0, CARDS - 1)
