"""Positions of Quarriors as dicts, both ways (games/quarriors/README.md, section 4)."""
from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memcpy, memset

from engine_ext.game cimport TERMINAL
from games.quarriors.attack cimport begin_attack
from games.quarriors.chance cimport deal, survey
from games.quarriors.reading cimport *
from games.quarriors.state cimport *
from games.quarriors.tables cimport QuarriorsTables
from games.quarriors.turn cimport begin_turn, push
from games.quarriors.zones cimport add_quid, att_add, pool_add, readied_add, record_key, sort_all

from engine_ext.errors import PositionError
from games.quarriors import cards as data

_OP_NAMES = (
    "deal", "recopy", "score", "cullspells", "scored", "ability", "cull", "begin", "use", "ready", "surcharge",
    "main", "attack", "next", "between", "quake", "window", "total", "defend", "capture", "clean", "end", "draw",
    "roll", "reroll", "event", "kills", "aside", "steps", "target", "host", "copy", "rotate", "swap", "take",
    "culltake", "fetch", "return", "zero", "spellhost", "pay", "summoned", "captured", "anchored", "unlocked",
    "lock", "cullup", "fresh", "draws", "together", "joins", "waits", "order",
)
_MARKS = {"safe": F_SAFE, "recopied": F_RECOPIED, "zero": F_ZERO, "doomed": F_DOOMED, "keep": F_KEEP, "mark": F_MARK,
          "aside": F_ASIDE}
_PHASES = {1: P_RECOPY, 2: P_DRAW, 3: P_READY, 4: P_ATTACK, 5: P_CAPTURE, 6: P_CLEAN}
_PHASES_LVD = {1: P_RECOPY, 2: P_DRAW, 3: P_ATTACK, 4: P_CAPTURE, 5: P_CLEAN}
_SCRATCH = ("discount", "scored", "culls", "foes_hit", "flags", "decisions", "cursor", "defender",
            "first_kill", "ev_cause", "ev_level", "ev_defense", "ev_killer", "rem", "bonus")
# What the arguments of a frame are: d die, l slot, s seat, o offset of a seat, i step, f flavour, n a number.
_FRAME_ARGUMENTS = {
    P_NEXT: "o", P_SURCHARGE: "o", P_WINDOW: "o", Q_DRAW: "ns", Q_EVENT: "no", Q_ASIDE: "ln", Q_STEPS: "di",
    Q_TARGET: "iod", Q_HOST: "d", Q_COPY: "s", Q_SWAP: "l", Q_FETCH: "ln", Q_RETURN: "ds", Q_ZERO: "ds",
    Q_SPELLHOST: "sd", Q_FRESH: "dn", Q_PAY: "nf", Q_SUMMONED: "d", Q_CAPTURED: "l", Q_ANCHORED: "l", Q_UNLOCKED: "s",
    Q_DRAWS: "ns", Q_JOINS: "d", Q_WAITS: "d",
}
_IN_ATTACK = (P_BETWEEN, P_QUAKE, P_WINDOW, P_TOTAL, P_DEFEND)
_BOTTOM = (P_DEAL, P_RECOPY, P_SCORE, P_CULLSPELLS, P_SCORED, P_CULL, P_DRAW, P_USE, P_READY, P_MAIN, P_ATTACK, P_NEXT,
           P_CAPTURE, P_CLEAN, P_END)


def _whole(name, value, low, high):
    """A whole number of a hand-made position."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise PositionError(f"quarriors: {name} is {value!r}, must be a whole number from {low} to {high}")
    return value


def _fields(name, table, allowed):
    """A table of a hand-made position, with no key but these."""
    if not isinstance(table, dict):
        raise PositionError(f"quarriors: {name} is {table!r}, must be a table")
    for key in table:
        if key not in allowed:
            raise PositionError(f"quarriors: unknown field {key!r} in {name}; allowed: {', '.join(allowed)}")
    return table


def _rows(name, value):
    if not isinstance(value, list):
        raise PositionError(f"quarriors: {name} is {value!r}, must be a list")
    return value


cdef dict die_of(QuarriorsTables rules, const State *s, int32_t die):
    return {"die": name_of(rules, s, die >> 3), "face": die & 7}


cdef str name_of(QuarriorsTables rules, const State *s, int32_t slot):
    return rules.class_names[rules.data.card[s.card[slot]].cls]


cdef dict zone_of(QuarriorsTables rules, const State *s, const uint8_t *zone):
    return {name_of(rules, s, slot): zone[slot] for slot in range(SLOTS) if zone[slot]}


cdef dict creature_of(QuarriorsTables rules, const State *s, const Creature *c):
    cdef Tables *T = rules.data
    made = die_of(rules, s, c.die)
    attached = []
    for j in range(SPELL_SLOTS):
        for kind in range(2):
            if att_get(T, c, j, kind):
                attached += [die_of(rules, s, spell_die(T, s, j, kind))] * att_get(T, c, j, kind)
    if attached:
        made["attached"] = attached
    if c.copy != NONE:
        made["copy"] = die_of(rules, s, c.copy)
    if c.atk:
        made["attack"] = c.atk
    if c.dfn:
        made["defense"] = c.dfn
    marks = [name for name, bit in _MARKS.items() if c.flags & bit]
    if marks:
        made["marks"] = marks
    if c.rec:
        made["record"] = c.rec
    return made


cdef dict write_dict(QuarriorsTables rules, const State *s):
    """The position as `from_dict` takes it."""
    cdef const Player *p
    cdef Tables *T = rules.data
    players = []
    for seat in range(T.n_players):
        p = &s.player[seat]
        made = {"glory": p.glory, "turns": p.turns, "bag": zone_of(rules, s, p.bag), "used": zone_of(rules, s, p.used),
                "spent": zone_of(rules, s, p.spent)}
        active = []
        for slot in range(SLOTS):
            active += [{"die": name_of(rules, s, slot), "face": None}] * p.wait[slot] if p.wait[slot] else []
            if seat == s.active:
                active += [{"die": name_of(rules, s, slot), "face": None, "waits": True}] * s.pool[slot][IDLE]
                for face in range(6):
                    active += [die_of(rules, s, slot * 8 + face)] * s.pool[slot][face] if s.pool[slot][face] else []
        made["active"] = active
        ready = [creature_of(rules, s, &p.ready[i]) for i in range(p.n_ready) if unlocked(&p.ready[i])]
        for j in range(SPELL_SLOTS):
            for kind in range(2):
                if readied(p, j, kind):
                    ready += [die_of(rules, s, spell_die(T, s, j, kind))] * readied(p, j, kind)
        made["ready"] = ready
        locked = locked_index(p)
        if locked >= 0:
            made["locked"] = creature_of(rules, s, &p.ready[locked])
        made["aside"] = [name_of(rules, s, slot) for slot in range(SLOTS) for _ in range(p.aside[slot])]
        if p.charm:
            made["charm"] = True
        players.append(made)
    pending = {name: value for name, value in (
        ("discount", s.discount), ("scored", s.scored), ("culls", s.culls), ("foes_hit", s.foes_hit),
        ("flags", s.flags), ("decisions", s.decisions), ("cursor", s.cursor),
        ("defender", s.defender), ("first_kill", s.first_kill), ("ev_cause", s.ev_cause), ("ev_level", s.ev_level),
        ("ev_defense", s.ev_defense), ("ev_killer", s.ev_killer), ("rem", s.rem), ("bonus", s.bonus)) if value}
    pending["stack"] = [[_OP_NAMES[s.stack[i].op], s.stack[i].a, s.stack[i].b, s.stack[i].c]
                        for i in range(s.n_stack)]
    limited = {name_of(rules, s, slot): summons(s, slot) for slot in range(FIRST_SPELL) if summons(s, slot)}
    if limited:
        pending["summoned"] = limited
    if s.n_pend:
        pending["abilities"] = [[die_of(rules, s, s.pend[i][0]), die_of(rules, s, s.pend[i][1] & ~LEFT)]
                                + [True] * (s.pend[i][1] & LEFT != 0) for i in range(s.n_pend)]
    if s.n_rec:
        pending["records"] = [[s.rec[i].value, s.rec[i].level, die_of(rules, s, s.rec[i].die), s.rec[i].zero]
                              for i in range(s.n_rec)]
    if s.winners:
        pending["winners"] = [seat for seat in range(T.n_players) if s.winners >> seat & 1]
    return {
        "edition": rules.parameters["edition"], "turn": s.turn, "phase": s.phase, "active": s.active,
        "quiddity": {name: s.quid[i] for i, name in enumerate(data.FLAVOURS) if s.quid[i]},
        "captures": s.captures,
        "wilds": [{"card": rules.card_names[s.card[slot]], "dice": s.wilds[slot]} for slot in range(SLOTS)
                  if s.card[slot] != NONE and not (T.lvd and slot == 0)],
        "players": players, "pending": pending,
    }


cdef int32_t first_loss(const Tables *T, const State *s):
    """What the defender's first loss has added to the attack: by now, or once the total is fixed."""
    if not s.first_kill:
        return 0
    return s.bonus if find_frame(s, P_DEFEND) else firstkill_bonus(T, s, s.defender)


cdef list write_forecast(QuarriorsTables rules, const State *s):
    """For each seat what the active seat's creatures would count against it if they attacked now, and what they would
    add at its first loss (A34); None for a seat that has nothing to defend with, and where it is not certain: creatures
    of it fall before the total is fixed, or somebody can still weaken an attacker or copy another creature (W1)."""
    cdef const Tables *T = rules.data
    cdef const Player *p
    cdef State copy
    cdef int32_t seat, i, j, kind, level
    cdef bint weakened = False
    found = [None] * T.n_players
    if s.node == TERMINAL or s.n_stack == 0 or s.stack[s.n_stack - 1].op != P_MAIN:
        return found
    memcpy(&copy, s, sizeof(State) - (MAX_SEATS - T.n_players) * sizeof(Player))
    begin_attack(T, &copy)
    for seat in range(T.n_players):
        p = &copy.player[seat]
        for j in range(SPELL_SLOTS):
            for kind in range(2):
                if seat != s.active and readied(p, j, kind):
                    weakened |= face_of(T, &copy, spell_die(T, &copy, j, kind)).react_zero != 0
    for seat in range(T.n_players):
        p = &copy.player[seat]
        if seat == s.active or count_unlocked(p) == 0 or copy.n_rec == 0 or weakened:
            continue
        deals_quake(T, &copy, seat, &level)
        for i in range(p.n_ready):
            if (unlocked(&p.ready[i]) and level_of(T, &copy, &p.ready[i]) <= level) or may_recopy(T, &copy, seat,
                                                                                                  &p.ready[i]):
                break
        else:
            found[seat] = (attack_total(T, &copy, seat), firstkill_bonus(T, &copy, seat))
    return found


cdef object write_use(QuarriorsTables rules, const State *s, int32_t option):
    """What `QuarriorsRules.use_of` tells."""
    cdef const Use *use
    cdef int32_t family = option >> SHIFT
    if not A_USE0 <= family <= A_USE2:
        return None
    use = &face_of(rules.data, s, option & 0xFFFF).uses[family - A_USE0]
    return {"spent": bool(use.spend), "quiddity": use.quid, "flavour": data.FLAVOURS[use.flavour], "draw": use.draw,
            "itself": bool(use.itself), "others": use.others, "captures": use.captures}


cdef object write_targets(QuarriorsTables rules, const State *s, int32_t option):
    """What `QuarriorsRules.targets_of` tells."""
    cdef const Tables *T = rules.data
    cdef const FaceTable *face
    cdef const Op *op
    cdef const Player *p
    cdef int32_t i, k, h, j, kind, n
    if option >> SHIFT == A_CAST:
        face = face_of(T, s, option & 0xFFFF)
    elif option >> SHIFT == A_ANCHORED:
        face = &T.card[s.card[option & 0xFFFF]].face[6]
    else:
        return None
    if face.attach:
        return None
    for k in range(face.n_ops):
        op = &face.ops[k]
        if op.code in (O_QUIDDITY, O_GLORY, O_CAPTURES, O_DRAWROLL, O_CULL, O_CULL_SPENT):   # change no creature
            continue
        does = {O_DESTROY_ONE: "destroy", O_ROTATE_OWN: "rotate", O_ROTATE_ANY: "rotate",
                O_DESTROYSPELL: "discard"}.get(op.code)
        if does is None:
            return None
        found = []
        for h in range(T.n_players):
            p = &s.player[h]
            for i in range(p.n_ready):
                if does == "discard" or (op.code == O_ROTATE_OWN and h != s.active):
                    break
                if legal_target(T, s, op, h, &p.ready[i]):
                    found.append((h, creature_of(rules, s, &p.ready[i])))
            for j in range(SPELL_SLOTS):
                for kind in range(2):
                    if does != "discard" or s.card[FIRST_SPELL + j] == NONE:
                        continue
                    n = readied(p, j, kind)
                    if h == s.active and option >> SHIFT == A_CAST and option & 0xFFFF == spell_die(T, s, j, kind):
                        n -= 1                                            # A55: itself it is not
                    for i in range(p.n_ready):
                        n += att_get(T, &p.ready[i], j, kind)
                    if n:
                        found += [(h, die_of(rules, s, spell_die(T, s, j, kind)))] * n
        return does, found
    return None


cdef dict write_figures(QuarriorsTables rules, const State *s):
    """What `QuarriorsRules.figures` tells."""
    cdef const Tables *T = rules.data
    cdef const Player *p
    cdef int32_t seat, i
    values, recopiers = [], []
    for seat in range(T.n_players):
        p = &s.player[seat]
        free = [i for i in range(p.n_ready) if unlocked(&p.ready[i])]
        recopiers.append([k for k, i in enumerate(free) if may_recopy(T, s, seat, &p.ready[i])])
        values.append([(attack_of(T, s, seat, &p.ready[i]), defense_of(T, s, seat, &p.ready[i]))
                       for i in free])
    cause = None
    if s.n_stack:
        frame = s.stack[s.n_stack - 1]
        for kind, value in zip(_FRAME_ARGUMENTS.get(frame.op, ""), (frame.a, frame.b, frame.c)):
            if kind == "d":
                cause = die_of(rules, s, value)
    return {"values": values, "recopiers": recopiers, "surcharge": surcharge(T, s, s.active), "cause": cause,
            "entering": [name_of(rules, s, s.stack[i].a >> 3) for i in range(s.n_stack)
                         if s.stack[i].op == Q_SUMMONED or s.stack[i].op == Q_JOINS],
            "bought": [name_of(rules, s, s.stack[i].a) for i in range(s.n_stack) if s.stack[i].op == Q_CAPTURED],
            "moving": [die_of(rules, s, s.stack[i].a) for i in range(s.n_stack)
                       if s.stack[i].op in (Q_SUMMONED, Q_JOINS, Q_HOST)],
            "forecast": write_forecast(rules, s),
            "against": [attack_total(T, s, seat) + (first_loss(T, s) if seat == s.defender else 0)
                        for seat in range(T.n_players)],
            "available": {name: s.avail[i] for i, name in enumerate(data.FLAVOURS)}}


cdef int32_t slot_named(QuarriorsTables rules, const State *s, where, name) except -1:
    """The slot of a class that is in the Wilds."""
    for slot in range(SLOTS):
        if s.card[slot] != NONE and name_of(rules, s, slot) == name:
            return slot
    raise PositionError(f"quarriors: {where} names {name!r}; the classes in the Wilds are "
                        + ", ".join(name_of(rules, s, slot) for slot in range(SLOTS) if s.card[slot] != NONE))


cdef int32_t read_die(QuarriorsTables rules, const State *s, where, table) except -1:
    """slot * 8 + face of {die, face}."""
    _fields(where, table, ("die", "face", "attached", "copy", "attack", "defense", "marks", "record"))
    slot = slot_named(rules, s, where, table.get("die"))
    face = _whole(f"{where}: face", table.get("face"), 0, 5)
    return slot * 8 + rules.data.card[s.card[slot]].canon[face]


cdef read_zone(QuarriorsTables rules, const State *s, where, value, uint8_t *zone):
    if not isinstance(value, dict):
        raise PositionError(f"quarriors: {where} is {value!r}, must be a table of class names with counts")
    for name, count in value.items():
        slot = slot_named(rules, s, where, name)
        zone[slot] = _whole(f"{where}: {name}", count, 0, 60)


cdef read_dict(QuarriorsTables rules, State *s, dict position):
    """Fill a state from a dict.

    Raises:
        PositionError: a field that is unknown, out of range or contradicts another.
    """
    cdef Tables *T = rules.data
    _fields("the position", position, ("edition", "turn", "phase", "active", "quiddity", "captures", "wilds",
                                       "players", "pending"))
    memset(s, 0, rules.ops.state_size)
    memset(s.card, NONE, SLOTS)
    if position.get("edition", rules.parameters["edition"]) != rules.parameters["edition"]:
        raise PositionError(f"quarriors: edition is {position['edition']!r}, these rules are for "
                            f"{rules.parameters['edition']!r}")
    s.phase = _whole("phase", position.get("phase", 1), 0, 6)
    s.turn = _whole("turn", position.get("turn", 0), 0, 4000)
    s.active = _whole("active", position.get("active", 0), 0, T.n_players - 1)
    read_wilds(rules, s, position)
    begin_phase = s.phase
    begin_turn(T, s)
    s.phase = begin_phase
    s.captures = _whole("captures", position.get("captures", T.captures), 0, 60)
    quiddity = _fields("quiddity", position.get("quiddity", {}), data.FLAVOURS)
    for i, flavour in enumerate(data.FLAVOURS):
        add_quid(s, i, _whole(f"quiddity: {flavour}", quiddity.get(flavour, 0), 0, 100))
    players = _rows("players", position.get("players", [{}] * T.n_players))
    if len(players) != T.n_players:
        raise PositionError(f"quarriors: players has {len(players)} entries, these rules are for {T.n_players}")
    for seat, table in enumerate(players):
        read_player(rules, s, seat, table)
    read_pending(rules, s, position.get("pending", {}))
    check_records(rules, s)
    count_dice(rules, s)
    if s.phase:
        survey(T, s)


cdef read_wilds(QuarriorsTables rules, State *s, position):
    cdef Tables *T = rules.data
    if "wilds" not in position:
        raise PositionError("quarriors: the field 'wilds' is missing")
    for slot in range(3):
        s.card[slot] = T.basic[slot] if T.basic[slot] >= 0 else NONE
    numbers = {}
    for table in _rows("wilds", position["wilds"]):
        _fields("wilds", table, ("card", "dice"))
        name = table.get("card")
        if name not in rules.sets.cards:
            raise PositionError(f"quarriors: wilds names {name!r}, which is no card of the sets in use")
        number = rules.card_names.index(name)
        cls = rules.sets.cards[name].die
        for other in numbers:
            if rules.sets.cards[other].die == cls:
                raise PositionError(f"quarriors: wilds has {other!r} and {name!r}, two cards of class {cls!r} (B7)")
        numbers[name] = _whole(f"wilds: dice of {name}", table.get("dice", 0), 0, rules.sets.dice[cls].count)
        if T.card[number].kind:
            places = {1: (FIRST_CREATURE, FIRST_SPELL), 2: (FIRST_SPELL, SLOTS), 3: (1, 2)}
            first, last = places[T.card[number].kind]
            if s.card[last - 1] != NONE:
                raise PositionError(f"quarriors: wilds has more than {last - first} "
                                    f"{'creature' if T.card[number].kind == 1 else 'spell'} cards")
            deal(T, s, number)
    if s.card[1] == NONE and s.phase:
        raise PositionError("quarriors: wilds names no Assistant card (D2)")
    for slot in range(SLOTS):
        if s.card[slot] != NONE:
            s.wilds[slot] = numbers.get(rules.card_names[s.card[slot]], 0)


cdef read_player(QuarriorsTables rules, State *s, int32_t seat, table):
    cdef Tables *T = rules.data
    cdef Player *p = &s.player[seat]
    where = f"players[{seat}]"
    _fields(where, table, ("glory", "turns", "bag", "used", "spent", "active", "ready", "locked", "aside", "charm"))
    p.glory = _whole(f"{where}: glory", table.get("glory", 0), 0, 255)
    p.turns = _whole(f"{where}: turns", table.get("turns", 0), 0, 4000)
    p.charm = bool(table.get("charm", False))
    read_zone(rules, s, f"{where}: bag", table.get("bag", {}), p.bag)
    read_zone(rules, s, f"{where}: used", table.get("used", {}), p.used)
    read_zone(rules, s, f"{where}: spent", table.get("spent", {}), p.spent)
    if zone_sum(p.spent) and not T.lvd:
        raise PositionError(f"quarriors: {where}: spent: the base edition has no Spent Pile")
    if table.get("locked") is not None:
        read_creature(rules, s, p, f"{where}: locked", table["locked"],
                      read_die(rules, s, f"{where}: locked", table["locked"]), True)
    for entry in _rows(f"{where}: active", table.get("active", [])):
        _fields(f"{where}: active", entry, ("die", "face", "waits"))
        if entry.get("waits"):
            if seat != s.active or entry.get("face") is not None:
                raise PositionError(f"quarriors: {where}: active has {entry!r}; only an unrolled die of the active "
                                    "seat waits for the end of the turn")
            s.pool[slot_named(rules, s, f"{where}: active", entry.get("die"))][IDLE] += 1
        elif entry.get("face") is None:
            p.wait[slot_named(rules, s, f"{where}: active", entry.get("die"))] += 1
        elif seat != s.active:
            raise PositionError(f"quarriors: {where}: active: only the active seat has rolled dice (I6)")
        else:
            pool_add(T, s, read_die(rules, s, f"{where}: active", entry))
    for entry in _rows(f"{where}: ready", table.get("ready", [])):
        die = read_die(rules, s, f"{where}: ready", entry)
        if die >> 3 >= FIRST_SPELL:
            if not face_of(T, s, die).kind & IS_SPELL or len(set(entry) - {"die", "face"}):
                raise PositionError(f"quarriors: {where}: ready has {entry!r}; a readied spell shows a spell icon "
                                    "that is not immediate (I9) and carries nothing")
            if readied(p, (die >> 3) - FIRST_SPELL, spell_kind(T, s, die)) == 15:
                raise PositionError(f"quarriors: {where}: ready has too many {entry['die']} dice")
            readied_add(p, (die >> 3) - FIRST_SPELL, spell_kind(T, s, die), 1)
        else:
            read_creature(rules, s, p, f"{where}: ready", entry, die, False)
    for name in _rows(f"{where}: aside", table.get("aside", [])):
        p.aside[slot_named(rules, s, f"{where}: aside", name)] += 1


cdef read_creature(QuarriorsTables rules, State *s, Player *p, where, entry, int32_t die, bint locked):
    cdef Tables *T = rules.data
    cdef Creature *c
    if locked and not face_of(T, s, die).kind & IS_LOCK:
        raise PositionError(f"quarriors: {where} has {entry!r}, whose face shows no Lock symbol")
    if not locked and not face_of(T, s, die).kind & IS_CREATURE:
        raise PositionError(f"quarriors: {where} has {entry!r}, whose face shows no creature (I9)")
    if p.n_ready == MAX_READY:
        raise PositionError(f"quarriors: {where} has more than {MAX_READY} creatures")
    c = &p.ready[p.n_ready]
    p.n_ready += 1
    c.die, c.copy, c.flags = die, NONE, F_LOCKED if locked else 0
    if entry.get("copy") is not None:
        if not face_of(T, s, die).copy_enter:
            raise PositionError(f"quarriors: {where}: {entry['die']} cannot be a copy")
        c.copy = read_die(rules, s, f"{where}: copy", entry["copy"])
        if not face_of(T, s, c.copy).kind & IS_CREATURE:
            raise PositionError(f"quarriors: {where}: copy {entry['copy']!r} shows no creature")
    c.atk = _whole(f"{where}: attack", entry.get("attack", 0), 0, 255)
    c.dfn = _whole(f"{where}: defense", entry.get("defense", 0), 0, 255)
    c.rec = _whole(f"{where}: record", entry.get("record", 0), 0, MAX_READY)
    for mark in _rows(f"{where}: marks", entry.get("marks", [])):
        if mark not in _MARKS:
            raise PositionError(f"quarriors: {where}: mark {mark!r}; allowed: {', '.join(_MARKS)}")
        c.flags |= _MARKS[mark]
    for spell in _rows(f"{where}: attached", entry.get("attached", [])):
        attached = read_die(rules, s, f"{where}: attached", spell)
        if attached >> 3 < FIRST_SPELL or not face_of(T, s, attached).attach:
            raise PositionError(f"quarriors: {where}: attached {spell!r} is no attach spell")
        j = (attached >> 3) - FIRST_SPELL
        if att_get(T, c, j, 0) + att_get(T, c, j, 1) == 5:
            raise PositionError(f"quarriors: {where}: more than five {spell['die']} dice attached")
        att_add(T, c, j, spell_kind(T, s, attached), 1)


cdef read_pending(QuarriorsTables rules, State *s, pending):
    cdef Tables *T = rules.data
    cdef uint8_t limited[SLOTS]
    memset(limited, 0, SLOTS)
    if pending is None:
        pending = {}
    _fields("pending", pending, ("stack", "rolled", "abilities", "records", "winners", "summoned", *_SCRATCH))
    numbers = {name: _whole(f"pending: {name}", pending.get(name, 0), -4000 if name in ("rem", "bonus") else 0,
                            4000 if name in ("rem", "bonus", "decisions") else 255) for name in _SCRATCH}
    (s.discount, s.scored, s.culls, s.foes_hit, s.flags, s.decisions, s.cursor, s.defender,
     s.first_kill, s.ev_cause, s.ev_level, s.ev_defense, s.ev_killer, s.rem, s.bonus) = (
        numbers[name] for name in _SCRATCH)
    if s.cursor >= SLOTS or s.defender >= T.n_players or (s.ev_killer >= T.n_players and s.ev_killer != NONE):
        raise PositionError("quarriors: pending: cursor, defender or ev_killer is out of range")
    read_zone(rules, s, "pending: summoned", pending.get("summoned", {}), limited)
    for slot in range(SLOTS):
        if limited[slot] and not (slot < FIRST_SPELL and T.card[s.card[slot]].features & FEAT_LIMIT):
            raise PositionError(f"quarriors: pending: summoned names {name_of(rules, s, slot)!r}, whose card sets "
                                "no limit")
        if limited[slot] > 15:
            raise PositionError(f"quarriors: pending: summoned is {limited[slot]} of {name_of(rules, s, slot)!r}, "
                                "at most 15 are counted")
        if limited[slot]:
            s.summoned[slot >> 1] |= limited[slot] << 4 * (slot & 1)
    for entry in _rows("pending: abilities", pending.get("abilities", [])):
        if s.n_pend == MAX_PEND or not isinstance(entry, list) or len(entry) not in (2, 3):
            raise PositionError(f"quarriors: pending: abilities must be at most {MAX_PEND} pairs of dice, with a third "
                                "entry, true, where the second has left the Used Pile")
        s.pend[s.n_pend][0] = read_die(rules, s, "pending: abilities", entry[0])
        s.pend[s.n_pend][1] = read_die(rules, s, "pending: abilities", entry[1])
        if len(entry) == 3 and entry[2]:
            s.pend[s.n_pend][1] |= LEFT
        s.n_pend += 1
    for entry in _rows("pending: records", pending.get("records", [])):
        if s.n_rec == MAX_READY or not isinstance(entry, list) or len(entry) != 4:
            raise PositionError(f"quarriors: pending: records must be at most {MAX_READY} lists of four")
        s.rec[s.n_rec].value = _whole("pending: records", entry[0], 0, 255)
        s.rec[s.n_rec].level = _whole("pending: records", entry[1], 0, 9)
        s.rec[s.n_rec].die = read_die(rules, s, "pending: records", entry[2])
        s.rec[s.n_rec].zero = _whole("pending: records", entry[3], 0, 1)
        s.n_rec += 1
    for seat in _rows("pending: winners", pending.get("winners", [])):
        s.winners |= 1 << _whole("pending: winners", seat, 0, T.n_players - 1)
    if s.winners:
        s.node = TERMINAL
    stack = _rows("pending: stack", pending.get("stack", []))
    if len(stack) > MAX_STACK:
        raise PositionError(f"quarriors: pending: stack has {len(stack)} frames, allowed are {MAX_STACK}")
    for frame in stack:
        if not isinstance(frame, list) or len(frame) != 4 or frame[0] not in _OP_NAMES:
            raise PositionError(f"quarriors: pending: stack has the frame {frame!r}, which is none")
        a, b, c = (_whole("pending: stack", value, 0, 255) for value in frame[1:])
        check_frame(rules, s, frame)
        push(s, _OP_NAMES.index(frame[0]), a, b, c)
    if stack and s.stack[0].op not in _BOTTOM:
        raise PositionError(f"quarriors: pending: stack begins with {stack[0]!r}, which only follows another frame")
    for i in range(1, s.n_stack):
        if s.stack[i].op in _IN_ATTACK and s.stack[0].op != P_NEXT:
            raise PositionError(f"quarriors: pending: stack has {stack[i]!r} outside an attack")
        if s.stack[i].op in _BOTTOM:
            raise PositionError(f"quarriors: pending: stack has {stack[i]!r} above another frame")
    if not stack:
        if s.phase == 0:
            push(s, P_DEAL, 0, 0, 0)
        elif s.phase == 2 and pending.get("rolled"):
            push(s, P_MAIN if T.lvd else P_USE, 0, 0, 0)
        elif s.phase not in (_PHASES_LVD if T.lvd else _PHASES):
            raise PositionError(f"quarriors: phase is {s.phase}, edition {rules.parameters['edition']} has 5 phases")
        else:
            push(s, (_PHASES_LVD if T.lvd else _PHASES)[s.phase], 0, 0, 0)
        if s.phase >= (4 if T.lvd else 5):
            s.flags |= S_ATTACKED


cdef check_frame(QuarriorsTables rules, const State *s, frame):
    """The arguments of a frame name dice, slots and seats that are there."""
    cdef int32_t value
    op = _OP_NAMES.index(frame[0])
    for kind, number in zip(_FRAME_ARGUMENTS.get(op, ""), frame[1:], strict=False):
        value = number
        if kind == "d":
            fine = value >> 3 < SLOTS and s.card[value >> 3] != NONE and (value & 7) < 7
        elif kind == "l":
            fine = value < SLOTS and s.card[value] != NONE
        elif kind == "f":
            fine = value < len(data.FLAVOURS)
        else:
            players = rules.data.n_players
            fine = value < {"s": players, "o": players + 1, "i": MAX_OPS + 1, "n": 256}[kind]
        if not fine:
            raise PositionError(f"quarriors: pending: stack: {number} in {frame!r} is out of range")


cdef check_records(QuarriorsTables rules, State *s):
    """Each record has one attacker at most, and equal attackers have equal records (I24)."""
    cdef Player *p = &s.player[s.active]
    numbers = [p.ready[i].rec for i in range(p.n_ready) if p.ready[i].rec]
    others = [s.player[seat].ready[i].rec for seat in range(rules.data.n_players) if seat != s.active
              for i in range(s.player[seat].n_ready)]
    if len(set(numbers)) < len(numbers) or max(numbers, default=0) > s.n_rec or any(others):
        raise PositionError("quarriors: record names an entry of pending: records, of the active seat's creatures "
                            "only, no entry twice")
    sort_all(rules.data, s)
    for i in range(1, p.n_ready):
        if (p.ready[i].rec and alike(&p.ready[i], &p.ready[i - 1])
                and record_key(&s.rec[p.ready[i].rec - 1]) != record_key(&s.rec[p.ready[i - 1].rec - 1])):
            raise PositionError("quarriors: pending: records: equal attackers have unequal records")


cdef count_dice(QuarriorsTables rules, State *s):
    """Totals of dice (I1), and what no position of a game shows (A130)."""
    cdef Tables *T = rules.data
    for slot in range(SLOTS):
        if s.card[slot] == NONE:
            continue
        count = dice_of(T, s, slot)
        name = name_of(rules, s, slot)
        if T.lvd and slot == 0:
            check_large(rules, s)
        if s.phase and count > rules.sets.dice[name].count:
            raise PositionError(f"quarriors: the position has {count} dice of class {name!r}, the box has "
                                f"{rules.sets.dice[name].count} (I1)")
        s.total[slot] = count
    if s.node != TERMINAL:
        for seat in range(T.n_players):
            if s.player[seat].glory >= T.goal:
                raise PositionError(f"quarriors: players[{seat}]: glory is {s.player[seat].glory}, but {T.goal} "
                                    "wins at once (I12)")


cdef check_large(QuarriorsTables rules, const State *s):
    """Large dice lie aside, in the pool or in the Spent Pile, two for each seat at most (D6, D8, I14)."""
    cdef const Player *p
    for seat in range(rules.data.n_players):
        p = &s.player[seat]
        name, count = name_of(rules, s, 0), p.aside[0] + p.wait[0] + p.spent[0]
        if seat == s.active:
            count += sum(s.pool[0][face] for face in range(6))
        if p.bag[0] or p.used[0]:
            raise PositionError(f"quarriors: players[{seat}]: {name!r} is in the bag or the Used Pile; allowed are "
                                "aside, active and spent (I14)")
        if count > 2:
            raise PositionError(f"quarriors: players[{seat}] has {count} dice of {name!r}, allowed are 2 (I14)")
