"""What a seat sees of a position: a scene (a dict), its text, a vector of numbers."""
from libc.stdint cimport int32_t

from engine_ext.bits cimport count_bits
from engine_ext.game cimport TERMINAL
from games.quarz.hidden cimport view_of
from games.quarz.positions cimport write_table
from games.quarz.rounds cimport points2
from games.quarz.state cimport *
from games.quarz.tables cimport QuarzTables

import json

from games.quarz.tables import POWERS

_FRAME_NAMES = (
    "", "set-up", "mob", "camp", "leave", "shrine card", "tile", "draw", "time tile", "round", "favor", "reveal",
    "turns", "turn", "favor action", "action", "hand limit", "march", "effect", "attack", "block", "hit", "displace",
    "throw the idol", "knocked out", "bonus movement", "instant", "slot", "roll", "lose cards",
)
_TOKENS = ("stun", "poison", "shield", "frost", "boost")


# ---- the scene -----------------------------------------------------------------------------------

cdef dict scene_of(QuarzTables rules, const State *s, int32_t observer):
    """What lies on the table, as `write_table` has it, and what follows from it and a player wants to read.

    Observer -1 sees everything. Each monster has `held` (hand cards), `figures` and `form` besides; a rival's has
    `unseen` (the cards in hand or draw pile) in place of `draw`. `doing` and `frame` say what is going on.
    """
    cdef const Frame *f
    cdef State seen
    cdef int32_t m
    if observer < 0:
        seen = s[0]
        for m in range(MONSTERS):
            seen.held[m] = count_bits(s.hand[m])
    else:
        view_of(&rules.data, s, observer, &seen)
    made = write_table(rules, &seen)
    for seat, mob in enumerate(made["mobs"]):
        for k, monster in enumerate(mob["monsters"]):
            m = 3 * seat + k
            monster["held"] = seen.held[m]
            monster["figures"] = {
                "damage": seen.damage[m], "move": seen.move[m], "draw": seen.draws[m], "carry": seen.carry[m],
                "powers": [name for name, power in POWERS.items() if seen.powers[m] & power]}
            monster["form"] = ""                                            # rule 104: that of the last one munched
            cards = {card.label: card for card in rules.content.monsters[seen.who[m]].cards}
            for label in monster["slots"]:
                monster["form"] = cards[label].munch.form or monster["form"]
            if observer >= 0 and seat != observer:
                monster["unseen"] = monster.pop("draw")
    made["to_move"] = seen.actor
    made["doing"], made["frame"] = "", []
    if seen.depth:
        f = &seen.stack[seen.depth - 1]
        made["doing"], made["frame"] = _FRAME_NAMES[f.kind], [f.a, f.b, f.c, f.step, f.f]
    if seen.actor == TERMINAL:
        made["doing"] = "over"
    made["points"] = [points2(&rules.data, &seen, seat) / 2.0 for seat in range(rules.data.players)]
    return made


def scene_text(scene):
    """A scene as lines of text: every fact of it, nothing else."""
    lines = [f"to move {scene['to_move']}, {scene['doing']} {scene['frame']}, order {scene['order']}, "
             f"turn {scene['turn']}, actions {scene['actions']}+{scene['extras']}"]
    time = scene["time"]
    lines.append(f"time: {time['tile']}, {time['left']} left, {time['turns']} turns, used {', '.join(time['used'])}")
    lines.append(f"idol {scene['idol']} carrier {scene['carrier']}, shrines {scene['shrine_cards']}")
    lines.append(f"tiles {json.dumps(scene['tiles'], sort_keys=True)} melted {scene['melted']} traps {scene['traps']}")
    for seat, mob in enumerate(scene["mobs"]):
        lines.append(f"P{seat + 1} {mob['mob']} camp {mob['camp']} points {scene['points'][seat]:g} "
                     f"favor {mob['favor']} of {mob['favor_hand']} reactions {mob['reactions']} "
                     f"munched {mob['munched']} shrines {mob['shrines']}")
        for k, monster in enumerate(mob["monsters"]):
            tokens = " ".join([f"{name} {monster[name]}" for name in _TOKENS if monster[name]])
            hidden = f"unseen {monster['unseen']}" if "unseen" in monster else f"draw {monster['draw']}"
            lines.append(
                f"  P{seat + 1}.{k + 1} {monster['name']} at {monster['at']} "
                f"energy {monster['energy']}+{monster['spent']} {tokens} {monster['figures']}"
                f"{' resting' if monster['resting'] else ''}{' melted' if monster['melted'] else ''} "
                f"hand of {monster['held']} {monster['hand']} {hidden} "
                f"discard {monster['discard']} slots {monster['slots']} removed {monster['removed']} "
                f"playing {monster['playing']}")
    return "\n".join(lines)


# ---- the vector ----------------------------------------------------------------------------------

cdef enum:                    # numbers that each part takes
    FOR_CELL = 12 + 3         # sides with water and with crystal; solid, melted, the idol
    FOR_MONSTER = 16 + CELLS + 12 + 8 + CARDS     # who, where, figures, powers, cards in slots
    FOR_SEAT = 26
    FOR_TABLE = 16 + 3 + 30 + 16    # time tile, figures, kind of frame, shrine cards


cdef int32_t tensor_size() noexcept:
    return FOR_CELL * CELLS + SEATS * (3 * FOR_MONSTER + FOR_SEAT) + 3 * CARDS + FOR_TABLE


cdef void fill_tensor(QuarzTables rules, const State *s, int32_t observer, float *out) noexcept:
    """One vector over zeros, seats counted from the observer: the terrain (48 cells x 6 sides x water, crystal),
    solid and melted cells, the idol; for each seat its monsters (identity, place, figures and tokens, powers,
    slots), favor cards, order, shrines and camp; own hand cards; time tile and figures, the kind of decision, shrine
    cards."""
    cdef State seen
    cdef int32_t k, m, card, seat
    view_of(&rules.data, s, observer, &seen)
    fill_cells(&seen, out)
    out += FOR_CELL * CELLS
    for k in range(rules.data.players):
        seat = (observer + k) % rules.data.players
        for m in range(3):
            if seen.who[3 * seat + m] >= 0:
                fill_monster(&seen, 3 * seat + m, out + (3 * FOR_MONSTER + FOR_SEAT) * k + FOR_MONSTER * m)
        fill_seat(&seen, seat, out + (3 * FOR_MONSTER + FOR_SEAT) * k + 3 * FOR_MONSTER)
    out += SEATS * (3 * FOR_MONSTER + FOR_SEAT)
    for k in range(3):
        for card in range(CARDS):
            out[CARDS * k + card] = seen.hand[3 * observer + k] >> card & 1
    fill_table(&seen, out + 3 * CARDS)


cdef void fill_cells(const State *v, float *out) noexcept:
    cdef int32_t cell, side
    for cell in range(CELLS):
        for side in range(6):
            out[12 * cell + side] = v.edges.water[cell] >> side & 1
            out[12 * cell + 6 + side] = v.edges.crystal[cell] >> side & 1
        out[12 * CELLS + cell] = v.solid >> cell & 1
        out[13 * CELLS + cell] = v.melted >> cell & 1
        out[14 * CELLS + cell] = v.idol_at == cell


cdef void fill_monster(const State *v, int32_t m, float *out) noexcept:
    cdef int32_t i
    out[v.who[m]] = 1
    out += 16
    out[v.at[m]] = 1
    out += CELLS
    out[0], out[1] = v.pool[m] / 12.0, v.spent[m] / 12.0
    out[2], out[3] = v.damage[m] / 4.0, v.move[m] / 4.0
    out[4], out[5], out[6], out[7] = v.stun[m] / 3.0, v.poison[m] / 3.0, v.shield[m] / 3.0, v.frost[m] / 3.0
    out[8], out[9] = v.held[m] / 6.0, v.boost[m] / 4.0
    out[10], out[11] = v.idol_by == m, v.resting >> m & 1
    out += 12
    for i in range(8):
        out[i] = v.powers[m] >> i & 1
    out += 8
    for i in range(3):
        if v.slots[m][i] >= 0:
            out[v.slots[m][i]] = 1


cdef void fill_seat(const State *v, int32_t seat, float *out) noexcept:
    cdef int32_t i
    for i in range(5):
        out[i] = v.favor_hand[seat] >> i & 1
        out[5 + i] = v.favor[seat] == i
    for i in range(4):
        out[10 + i] = v.order[i] == seat
        out[14 + i] = v.uses[seat][i] / 2.0
    if v.camp[seat] >= 0:
        out[18 + v.camp[seat]] = 1
    out[22], out[23] = v.reactions[seat] / 2.0, v.munched[seat] / 10.0
    out[24], out[25] = v.active == seat, v.actor == seat


cdef void fill_table(const State *v, float *out) noexcept:
    cdef int32_t k
    if v.time_now >= 0:
        out[v.time_now] = 1
    out[16], out[17], out[18] = v.time_left / 6.0, v.turns / 60.0, v.actions / 2.0
    if v.depth:
        out[19 + v.stack[v.depth - 1].kind] = 1
    for k in range(4):
        if v.shrine_card[k] >= 0:
            out[49 + 4 * k + v.shrine_card[k]] = 1
