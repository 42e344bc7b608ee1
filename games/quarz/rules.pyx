"""`QuarzRules`: parameters and data in, the machine's tables out, and what Python needs to know.

machine.pyx names the files of the rules themselves, state.pxd describes state and frames, README.md the keys of
positions written by hand.
"""
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

from engine_ext.bits cimport bit, count_bits, has_bit
from engine_ext.game cimport HIDDEN_INFORMATION, TERMINAL, ZERO_SUM, hash_bytes
from engine_ext.hexgrid cimport HexBoard
from engine_ext.position cimport Position, Rules, new_position
from games.quarz.field cimport rebuild, recount
from games.quarz.frames cimport push
from games.quarz.hidden cimport view_of
from games.quarz.machine cimport (
    apply, check, clock, estimate, info_bytes, info_key, legal, outcomes, playout, resample, returns, rewind,
    run_chance, sample, settle, state_key, suggest, turn,
)
from games.quarz.moves cimport *
from games.quarz.rounds cimport points2
from games.quarz.soundness cimport broken_rule
from games.quarz.state cimport *
from games.quarz.tableau cimport refresh

import json
from pathlib import Path

from engine_ext.errors import ParameterError, PositionError
from games.quarz import vocabulary
from games.quarz.board import seeded_layout
from games.quarz.cards import DATA
from games.quarz.loading import read_content

_POWERS = {
    "swim": SWIM, "climb": CLIMB, "sharp_eyes": SHARP_EYES, "wall_step": WALL_STEP, "wall_shot": WALL_SHOT,
    "living_shield": LIVING_SHIELD, "crystal_throw": CRYSTAL_THROW, "second_shrine": SECOND_SHRINE,
}
_OPS = {
    "damage": OP_DAMAGE, "splash": OP_SPLASH, "heal": OP_HEAL, "draw": OP_DRAW, "move": OP_MOVE, "push": OP_PUSH,
    "swap": OP_SWAP, "stun": OP_STUN, "poison": OP_POISON, "frost": OP_FROST, "shield": OP_SHIELD, "trap": OP_TRAP,
    "jump": OP_JUMP, "rotate": OP_ROTATE, "trade": OP_TRADE, "swap_friends": OP_SWAP_FRIENDS,
    "move_any": OP_MOVE_ANY, "recover": OP_RECOVER, "sap": OP_SAP, "boost": OP_BOOST, "attack": OP_ATTACK,
    "extra": OP_EXTRA, "roll": OP_ROLL, "negate": OP_NEGATE, "reduce": OP_REDUCE, "march": OP_MARCH,
    "cleanse": OP_CLEANSE, "choose_own": OP_CHOOSE_OWN, "regenerate": OP_REGENERATE,
}
assert _OPS.keys() == vocabulary.VOCABULARY.keys()

_FRAME_NAMES = (
    "", "set-up", "mob", "camp", "leave", "shrine card", "tile", "draw", "time tile", "round", "favor", "reveal",
    "turns", "turn", "favor action", "action", "hand limit", "march", "effect", "attack", "block", "hit", "displace",
    "throw the idol", "knocked out", "bonus movement", "instant", "slot", "roll", "lose cards",
)
_TOKENS = ("stun", "poison", "shield", "frost", "boost")

cdef void _fill_bonus(Bonus *bonus, keep) except *:
    bonus.damage = keep.get("damage", 0)
    bonus.move = keep.get("move", 0)
    bonus.draw = keep.get("draw", 0)
    bonus.energy = keep.get("energy", 0)
    bonus.carry = keep.get("carry", 0)
    bonus.flags = 0
    for name, power in _POWERS.items():
        if keep.get(name):
            bonus.flags |= power


def _bad(field, given, allowed):
    return PositionError(f"quarz: {field} is {given!r}, must be {allowed}")


# key -> (types allowed, type of a list's items or None), so that what follows may rely on it
_NONE = type(None)
_SHAPES = {
    "mobs": ((list,), dict), "tiles": ((dict,), None), "melted": ((list,), list), "traps": ((dict,), None),
    "idol": ((list, tuple), int), "carrier": ((list, tuple, _NONE), int), "shrine_cards": ((list,), (str, _NONE)),
    "time": ((dict,), None), "order": ((list,), int), "turn": ((int, _NONE), None), "actions": ((int,), None),
    "extras": ((int,), None), "moment": ((str,), None), "pending": ((dict,), None), "recall": ((list,), str),
    "epochs": ((list,), list),
}
_MOB_SHAPES = {
    "mob": ((str, _NONE), None), "camp": ((int, _NONE), None), "favor_hand": ((list,), int),
    "favor": ((int, _NONE), None), "reactions": ((int,), None), "munched": ((int,), None), "shrines": ((list,), int),
    "monsters": ((list,), dict),
}
_MONSTER_SHAPES = {
    "name": ((str,), None), "at": ((list, tuple), int), "energy": ((int, _NONE), None), "spent": ((int, _NONE), None),
    "hand": ((list,), str), "draw": ((list,), str), "discard": ((list,), str), "slots": ((list,), str),
    "removed": ((list, str), str), "playing": ((list,), str), "stun": ((int,), None), "poison": ((int,), None),
    "shield": ((int,), None), "frost": ((int,), None), "boost": ((int,), None), "resting": ((bool,), None),
    "melted": ((bool,), None),
}
_TIME_SHAPES = {"tile": ((str, _NONE), None), "left": ((int,), None), "turns": ((int,), None), "used": ((list,), str)}


def _check_shape(where, table, shapes):
    """Every field of a table has a type that the reader can work with."""
    for key, value in table.items():
        if key not in shapes:
            raise PositionError(f"quarz: {where}unknown field {key!r}; allowed: {', '.join(shapes)}")
        kinds, item = shapes[key]
        names = " or ".join("null" if kind is _NONE else kind.__name__ for kind in kinds)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise _bad(f"{where}{key}", value, f"of type {names}")
        if item is not None and isinstance(value, (list, tuple)):
            for part in value:
                if not isinstance(part, item) or (isinstance(part, bool) and item is int):
                    raise _bad(f"{where}{key}", value, f"{names} of {getattr(item, '__name__', 'names or null')}")


def _check_shapes(position):
    _check_shape("", position, _SHAPES)
    _check_shape("time.", position.get("time", {}), _TIME_SHAPES)
    for seat, mob in enumerate(position.get("mobs", [])):
        _check_shape(f"mobs[{seat}].", mob, _MOB_SHAPES)
        for k, monster in enumerate(mob.get("monsters", [])):
            _check_shape(f"mobs[{seat}].monsters[{k}].", monster, _MONSTER_SHAPES)


cdef class QuarzRules(Rules):
    """The rules of Qu'arz under the parameters of `games/quarz/__init__.py`.

    Attributes:
        content: all data in use (`games.quarz.cards.Content`).
        board: the board (`games.quarz.board.Board`).
        instructions: for each instruction of the machine, by number, the effect it was compiled from and where that
            stands: ("swap",), ("card" or "munch", monster, card), ("favor", value, option) or ("shrine", shrine).
    """
    cdef Tables data
    cdef readonly object content
    cdef readonly object board
    cdef readonly list instructions
    cdef HexBoard hexes
    cdef object _layout

    def __init__(self, dict parameters, start=None):
        super().__init__(parameters, start)
        self.name = "quarz"
        cdef Tables *t = &self.data
        memset(t, 0, sizeof(Tables))
        p = parameters
        self._check_words(p)
        folder = Path(p["data"]) if p["data"] else DATA
        self.content = read_content(folder)
        players = p["players"]
        layout = self._named_layout(p, players)
        name = p["board"] or (layout.board if layout else f"{players}p")
        self.board = self.content.boards.get(name)
        if self.board is None or self.board.players != players:
            fitting = ", ".join(b.name for b in self.content.boards.values() if b.players == players)
            raise ParameterError(f"quarz: board is {name!r}, there are for {players} players: {fitting}")
        self.digest = self.content.digest
        self._fill_parameters(p, players)
        self._fill_board(p)
        if layout:
            self._layout = dict(layout.tiles)
        self._fill_content()
        self._fill_header(players)
        self.seal()

    def _check_words(self, p):
        for key, allowed in (("length", ("", "short", "medium", "long")), ("draft", ("players", "random", "fixed")),
                             ("tiles", ("placed", "random", "seed", "none")), ("sight", ("spine", "strict"))):
            if p[key] not in allowed:
                raise ParameterError(f"quarz: {key} is {p[key]!r}, allowed are {', '.join(map(repr, allowed))}")
        for key, low, high in (("players", 2, 4), ("squad", 1, 3), ("actions", 1, 4), ("turns", 0, 500)):
            if not low <= p[key] <= high:
                raise ParameterError(f"quarz: {key} is {p[key]}, allowed are {low} to {high}")
        if p["tile_seed"] < 0:
            raise ParameterError(f"quarz: tile_seed is {p['tile_seed']}, allowed are 0 and up")
        if p["tile_seed"] and p["tiles"] != "seed":
            raise ParameterError(
                f"quarz: tile_seed is {p['tile_seed']}, which only tiles=seed looks at; tiles is {p['tiles']!r}")

    def _named_layout(self, p, players):
        """The layout the parameter `layout` names, or None."""
        if not p["layout"]:
            return None
        layout = self.content.layouts.get(p["layout"])
        if layout is None or layout.players != players:
            fitting = ", ".join(each.name for each in self.content.layouts.values() if each.players == players)
            raise ParameterError(
                f"quarz: layout is {p['layout']!r}, there are for {players} players: {fitting or 'none'}")
        if p["board"] not in ("", layout.board):
            raise ParameterError(f"quarz: layout {layout.name!r} is of the board {layout.board}, not {p['board']!r}")
        if p["tiles"] != "placed":
            raise ParameterError(
                f"quarz: layout {layout.name!r} says where the tiles lie; leave out tiles={p['tiles']}")
        return layout

    def _fill_parameters(self, p, players):
        cdef Tables *t = &self.data
        c = self.content
        t.players = players
        t.squad = p["squad"]
        t.draft = {"fixed": 0, "random": 1, "players": 2}[p["draft"]] if t.squad == 3 else 0
        t.placing = 0 if p["layout"] else {"none": 0, "seed": 0, "random": 1, "placed": 2}[p["tiles"]]
        t.with_cards = p["cards"]
        t.opening = c.limits["opening_hand"] if t.with_cards else 0
        t.strict_sight = p["sight"] == "strict"
        t.impassable_sight = p["impassable_sight"]
        t.actions = p["actions"] if p["actions"] != 2 else c.limits["actions"]
        t.turn_limit = p["turns"]
        length = p["length"] or ("medium" if players == 4 else "short")     # rule 21
        for level in range(3):
            t.stack[level] = c.stack[length][level] if not t.turn_limit else 0
            t.n_stack += t.stack[level]
        t.spaces = c.spaces[players]
        t.move_cost, t.march_cost, t.shrine_cost, t.swap_cost = (
            c.costs["move"], c.costs["march"], c.costs["shrine"], c.costs["swap"])
        for k in range(3):
            t.draw_cost[k] = c.costs["draw"][k]
        t.march_steps = c.limits["march_steps"]
        t.hand_limit, t.reactions, t.shrine_uses = c.limits["hand"], c.limits["reactions"], c.limits["shrine_uses"]
        t.extra_limit = c.extra_actions
        t.shrine_points2 = int(2 * c.limits["shrine_points"])
        t.idol_points2 = int(2 * c.limits["idol_points"])

    def _fill_board(self, p):
        cdef Tables *t = &self.data
        board = self.board
        self.hexes = HexBoard(board.cells)
        t.grid = self.hexes.grid
        number = board.number
        t.altar = number[board.altar]
        for cell in range(CELLS):
            t.shrine_at[cell] = -1
        for i, cell in enumerate(board.camps):
            t.camps[i] = number[cell]
            t.camp_mask |= bit(t.camps[i])
        t.n_shrines = len(board.shrines)
        for i, cell in enumerate(board.shrines):
            t.shrine_at[<int32_t>number[cell]] = i
        t.n_impassable = len(board.impassable)
        for i, cell in enumerate(board.impassable):
            t.impassable[i] = number[cell]
            t.impassable_mask |= bit(t.impassable[i])
        t.n_modifiable = len(board.modifiable)
        for i, cell in enumerate(sorted(board.modifiable, key=lambda c: number[c])):
            t.modifiable[i] = number[cell]
            t.modifiable_mask |= bit(t.modifiable[i])
        patterns = self.content.patterns
        t.n_patterns = len(patterns)
        for k, pattern in enumerate(patterns):
            t.period[k] = pattern.period
            for turned in range(6):
                mask = sum(1 << (side + turned) % 6 for side in pattern.edges)
                t.water[k][turned] = mask if pattern.kind == "water" else 0
                t.crystal[k][turned] = mask if pattern.kind == "crystal" else 0
        pool = self._pool()
        for k in pool:
            t.pool[<int32_t>k] += 1
        self._layout = {}
        if p["tiles"] == "seed":
            self._layout = seeded_layout(board, pool, [pattern.period for pattern in patterns], p["tile_seed"])

    def _pool(self):
        """Pattern numbers of the tiles to place: those the player count uses, from the stock in file
        order (rules 15-17); a practice board takes empty tiles."""
        board, patterns = self.board, self.content.patterns
        if board.practice:
            empty = next(k for k, pattern in enumerate(patterns) if pattern.kind == "empty")
            return [empty] * len(board.modifiable)
        pool = []
        for kind, count in self.content.used[board.players].items():
            stock = [k for k, pattern in enumerate(patterns) for _ in range(pattern.count) if pattern.kind == kind]
            # the used share of the stock, spread evenly over its patterns
            pool += [stock[i * len(stock) // count] for i in range(count)]
        if len(pool) != len(board.modifiable):
            raise ParameterError(f"quarz: board {board.name} has {len(board.modifiable)} fields to fill, "
                                 f"the data use {len(pool)} tiles for {board.players} players")
        return sorted(pool)

    def _fill_content(self):
        cdef Tables *t = &self.data
        cdef Monster *mon
        cdef Card *card
        cdef Global *g
        c = self.content
        code = []
        self.instructions = []

        def compile_list(effects, source):
            start = len(code)
            for i, e in enumerate(effects):
                self.instructions.append((e, source))
                kind = vocabulary.KINDS.index(e["kind"]) if "kind" in e else 0
                amount = e.get("amount", e.get("count", 0))
                code.append((
                    _OPS[e["do"]], -1 if amount == "die" else amount, kind, e.get("target") == "any",
                    vocabulary.WHO.index(e["who"]) if "who" in e else 0,
                    (SWIM if e.get("swim") else 0) | (CLIMB if e.get("climb") else 0), e.get("carry", 0),
                    i == len(effects) - 1))
            return start

        compile_list([{"do": "swap", "kind": "strike", "target": "any"}], ("swap",))   # instruction 0: the Swap card
        forms = sorted({record.munch.form for monster in c.monsters for record in monster.cards} - {""})
        for i, monster in enumerate(c.monsters):
            mon = &t.monsters[<int32_t>i]
            mon.energy, mon.damage, mon.move = monster.energy, monster.damage, monster.move
            mon.shoots = monster.attack == "shoot"
            for k, face in enumerate(monster.die):
                mon.die[<int32_t>k] = face
            _fill_bonus(&mon.slot2, monster.slot2)
            _fill_bonus(&mon.slot3, monster.slot3)
            for k, record in enumerate(monster.cards):
                card = &mon.cards[<int32_t>k]
                card.cost, card.munch_cost = record.cost, record.munch.cost
                card.trigger = vocabulary.TRIGGERS.index(record.trigger)
                card.mob_scope = record.scope == "mob"
                card.reactions = record.reactions
                card.lock = record.munch.lock
                card.form = forms.index(record.munch.form) + 1 if record.munch.form else 0
                card.prog = compile_list(record.effects, ("card", i, k))
                card.once = compile_list(record.munch.once, ("munch", i, k)) if record.munch.once else -1
                _fill_bonus(&card.keep, record.munch.keep)
                if card.trigger:
                    mon.instants[card.trigger] |= 1 << <int32_t>k
        for favor in c.favors:
            t.take_back[<int32_t>favor.value] = favor.take_back
            for k in range(4):
                t.favor_options[<int32_t>favor.value][<int32_t>k] = (
                    compile_list(favor.options[k].effects, ("favor", favor.value, k)) if k < len(favor.options) else -1)
        t.favor_mask = (1 << len(c.favors)) - 1
        for k, shrine in enumerate(c.shrines):
            t.shrine_prog[<int32_t>k] = compile_list(shrine.effects, ("shrine", k))
        t.n_time = len(c.time_tiles)
        for k, tile in enumerate(c.time_tiles):
            t.time_level[<int32_t>k] = tile.level
            g = &t.globals[<int32_t>k]
            w = tile.while_visible
            g.move, g.damage = w.get("move", 0), w.get("damage", 0)
            g.draw, g.carry = w.get("draw", 0), w.get("carry", 0)
            g.start_heal, g.idol_drain = w.get("start_heal", 0), w.get("idol_drain", 0)
            g.shrine_discount, g.hand_limit = w.get("shrine_discount", 0), w.get("hand_limit", 0)
            g.frozen, g.clear, g.no_march = (
                w.get("frozen_water", False), w.get("clear_sight", False), w.get("no_march", False))
        if len(code) > CODE_LIMIT:
            raise ParameterError(f"quarz: the data hold {len(code)} effects, at most {CODE_LIMIT} are allowed")
        for i, (op, amount, kind, any_side, who, flags, carry, last) in enumerate(code):
            t.code[<int32_t>i] = Effect(op, amount, kind, any_side, who, flags, carry, last)

    def _fill_header(self, players):
        cdef Tables *t = &self.data
        turns = t.turn_limit or (t.n_stack - 1) * t.spaces + t.spaces // 2
        self.tables = &self.data
        self.ops.game_version = 2
        self.ops.state_size = self.ops.info_size = sizeof(State)
        self.ops.n_players = players
        self.ops.n_actions, self.ops.n_outcomes = N_ACTIONS, N_OUTCOMES
        self.ops.max_legal, self.ops.max_outcomes = 512, 64
        # A turn has at most 4 actions, and every instant, block or further effect uses up a card.
        self.ops.max_decisions = 200 + 400 * turns
        self.ops.max_chances = 200 + 200 * turns
        self.ops.flags = HIDDEN_INFORMATION | ZERO_SUM
        self.ops.max_utility, self.ops.min_utility = 1.0, -1.0 / (players - 1)
        self.ops.turn, self.ops.legal, self.ops.outcomes, self.ops.sample = turn, legal, outcomes, sample
        self.ops.apply, self.ops.returns, self.ops.state_key = apply, returns, state_key
        self.ops.info_key, self.ops.info_bytes, self.ops.resample = info_key, info_bytes, resample
        self.ops.run_chance, self.ops.playout, self.ops.clock = run_chance, playout, clock
        self.ops.suggest, self.ops.estimate, self.ops.check = suggest, estimate, check
        self.ops.rewind = rewind

    cdef void write_start(self, void *state) noexcept:
        cdef State *s = <State *>state
        cdef int32_t scratch[N_ACTIONS]
        self._clear(s)
        push(s, K_SETUP, 0, 0, 0)
        settle(&self.data, s, scratch)

    cdef void _clear(self, State *s) noexcept:
        """The box before the set-up."""
        cdef Tables *t = &self.data
        cdef int32_t i
        memset(s, 0, sizeof(State))
        for i in range(MONSTERS):
            s.who[i] = s.at[i] = -1
            s.slots[i][0] = s.slots[i][1] = s.slots[i][2] = -1
        for i in range(SEATS):
            s.favor_hand[i] = t.favor_mask if i < t.players else 0
            s.favor[i] = s.mob[i] = s.camp[i] = -1
            s.order[i] = i                                                  # Q9
            s.shrine_card[i] = -1
            if i < t.players:
                s.reactions[i] = t.reactions
        s.time_now = s.active = s.winner = s.idol_by = -1
        s.idol_at = t.altar                                                 # rule 13
        if t.placing:
            memcpy(s.pool_left, t.pool, sizeof(s.pool_left))
        for cell, (pattern, turned) in self._layout.items():
            i = self.board.number[cell]
            s.tile[i], s.turned[i] = pattern + 1, turned
        rebuild(t, s)

    # ---- names ---------------------------------------------------------------------------------

    def cell_name(self, cell):
        """A cell number in words."""
        if cell < len(self.board.cells):
            q, r = self.board.cells[cell]
            return f"({q},{r})"
        return f"(no cell {cell})"

    def action_name(self, action):
        a = action
        if a == A_PASS:
            return "pass"
        if a < A_MOVE:
            return f"favor {a - A_FAVOR}"
        if a < A_ATTACK:
            return f"move {(a - A_MOVE) // 48 + 1} {self.cell_name((a - A_MOVE) % 48)}"
        if a < A_MARCH:
            return f"attack {(a - A_ATTACK) // 12 + 1} {self._monster_name((a - A_ATTACK) % 12)}"
        if a < A_DRAW:
            return f"march {a - A_MARCH + 1}"
        if a < A_PLAY:
            return f"draw {(a - A_DRAW) // 3 + 1} {(a - A_DRAW) % 3 + 1}"
        if a < A_SWAP:
            return f"play {(a - A_PLAY) // 13 + 1} {(a - A_PLAY) % 13}"
        if a < A_MUNCH:
            return f"swap {(a - A_SWAP) // 3 + 1} {PUSH_SWAP + (a - A_SWAP) % 3}"
        if a < A_SHRINE:
            return f"munch {(a - A_MUNCH) // 13 + 1} {(a - A_MUNCH) % 13}"
        if a < A_REGENERATE:
            return f"shrine {a - A_SHRINE + 1}"
        if a < A_MELT:
            return f"regenerate {(a - A_REGENERATE) // 2 + 1}" + (" shuffle" if (a - A_REGENERATE) % 2 else "")
        if a < A_REACT:
            return f"melt {(a - A_MELT) // 4 + 1} {(a - A_MELT) % 4}"
        if a < A_TARGET:
            return f"react {(a - A_REACT) // 13 + 1} {(a - A_REACT) % 13}"
        if a < A_CELL:
            return f"target {self._monster_name(a - A_TARGET)}"
        if a < A_TURN:
            return f"cell {self.cell_name(a - A_CELL)}"
        if a < A_CARD:
            return f"turn {a - A_TURN}"
        if a < A_SLOT:
            return f"card {a - A_CARD}"
        if a < A_CHOICE:
            return f"slot {a - A_SLOT}"
        if a < A_DISCARD:
            return f"choice {a - A_CHOICE}"
        if a < A_MOB:
            return f"discard {(a - A_DISCARD) // 13 + 1} {(a - A_DISCARD) % 13}"
        if a < A_CAMP:
            return f"mob {a - A_MOB}"
        if a < A_LEAVE:
            return f"camp {a - A_CAMP}"
        return f"leave {a - A_LEAVE}"

    def _monster_name(self, m):
        return f"P{m // 3 + 1}.{m % 3 + 1}"

    def outcome_name(self, outcome):
        o = outcome
        for base, word in ((O_LEAVE, "leave"), (O_MOB, "mob"), (O_SHRINE, "shrine card"), (O_TIME, "time tile"),
                           (O_FACE, "face"), (O_TURN, "turn"), (O_PATTERN, "pattern"), (O_CARD, "card")):
            if o >= base:
                return f"{word} {o - base}"

    # ---- positions as dicts --------------------------------------------------------------------

    def _labels(self, who, mask):
        cards = self.content.monsters[who].cards
        return [cards[card].label for card in range(CARDS) if mask >> card & 1]

    cdef dict _export(self, State *s):
        cdef Tables *t = &self.data
        cdef int32_t seat, m, i, k
        cells = self.board.cells
        mobs = []
        for seat in range(t.players):
            monsters = []
            for m in range(3 * seat, 3 * seat + 3):
                if s.who[m] < 0:
                    continue
                who = s.who[m]
                cards = self.content.monsters[who].cards
                entry = {
                    "name": self.content.monsters[who].name, "at": list(cells[s.at[m]]), "energy": s.pool[m],
                    "spent": s.spent[m], "hand": self._labels(who, s.hand[m]), "draw": self._labels(who, s.deck[m]),
                    "discard": self._labels(who, s.pile[m]),
                    "slots": [cards[s.slots[m][k]].label for k in range(3) if s.slots[m][k] >= 0],
                    "removed": self._labels(who, s.gone[m]), "playing": self._labels(who, s.table[m]),
                    "stun": s.stun[m], "poison": s.poison[m], "shield": s.shield[m], "frost": s.frost[m],
                    "boost": s.boost[m], "resting": bool(s.resting >> m & 1), "melted": bool(s.gave_up >> m & 1),
                }
                monsters.append(entry)
            mobs.append({
                "mob": self.content.mobs[s.mob[seat]] if s.mob[seat] >= 0 else None,
                "camp": s.camp[seat] if s.camp[seat] >= 0 else None,
                "favor_hand": [k for k in range(5) if s.favor_hand[seat] >> k & 1],
                "favor": s.favor[seat] if s.favor[seat] >= 0 else None,
                "reactions": s.reactions[seat], "munched": s.munched[seat],
                "shrines": [s.uses[seat][k] for k in range(t.n_shrines)], "monsters": monsters,
            })
        patterns = self.content.patterns
        return {
            "mobs": mobs,
            "tiles": {f"{q},{r}": [patterns[s.tile[i] - 1].name, s.turned[i]]
                      for i, (q, r) in enumerate(cells) if s.tile[i]},
            "melted": [list(cell) for i, cell in enumerate(cells) if has_bit(s.melted, i)],
            "traps": {f"{q},{r}": seat for seat in range(t.players)
                      for i, (q, r) in enumerate(cells) if has_bit(s.traps[seat], i)},
            "idol": list(cells[s.idol_at]),
            "carrier": [s.idol_by // 3, s.idol_by % 3] if s.idol_by >= 0 else None,
            "shrine_cards": [self.content.shrines[s.shrine_card[k]].name if s.shrine_card[k] >= 0 else None
                             for k in range(t.n_shrines)],
            "time": {
                "tile": self.content.time_tiles[s.time_now].name if s.time_now >= 0 else None,
                "left": s.time_left, "turns": s.turns,
                "used": [tile.name for k, tile in enumerate(self.content.time_tiles) if s.time_used >> k & 1],
            },
            "order": [s.order[k] for k in range(t.players)],
            "turn": [s.order[k] for k in range(t.players)].index(s.active) if s.active >= 0 else None,
            "actions": s.actions, "extras": s.extras,
        }

    def export(self, Position position):
        cdef State *s = <State *>position.state
        cdef int32_t k, m
        cdef Frame *f
        made = self._export(s)
        frames = []
        for k in range(s.depth):
            f = &s.stack[k]
            frames.append([f.kind, f.step, f.a, f.b, f.c, f.d, f.e, f.f, f.g, f.prog])
        made["pending"] = {"frames": frames, "actor": s.actor, "winner": s.winner, "active": s.active,
                           "tiles_left": [s.pool_left[k] for k in range(8)],
                           "seal": f"{hash_bytes(s, sizeof(State), 0):016x}"}
        made["recall"] = [f"{s.info[k]:016x}" for k in range(self.data.players)]
        made["epochs"] = [
            [s.epoch[m], [s.birth[m][k] for k in range(CARDS)], [s.drawn[m][k] for k in range(CARDS)],
             [k for k in range(CARDS) if s.known[m] >> k & 1]]
            for m in range(3 * self.data.players)]
        return made

    def restore(self, dict position):
        cdef Position made = new_position(self, self.start) if self.start != NULL else None
        cdef State *s = <State *>made.state
        cdef Tables *t = &self.data
        cdef int32_t scratch[N_ACTIONS]
        cdef int32_t k, rule
        _check_shapes(position)
        for key in ("recall", "epochs"):
            if key in position and "pending" not in position:
                raise PositionError(f"quarz: {key} goes with pending: leave it out of a position by hand")
        self._clear(s)
        self._restore_board(s, position)
        self._restore_mobs(s, position)
        self._restore_table(s, position)
        for k in range(t.players):
            recount(t, s, k)
        for k in range(t.players):
            if s.traps[k] & s.occupied & ~s.own[k]:
                raise PositionError(f"quarz: traps: one of seat {k} lies under a monster of another mob, it has sprung")
        if "pending" in position:
            self._restore_pending(s, position["pending"])
        else:
            self._restore_moment(s, position)
        if s.idol_by < 0 and not self._idol_loose(s):
            for k in range(3 * t.players):
                if s.at[k] == s.idol_at and position.get("carrier", 0) == 0:
                    s.idol_by = k
        self._restore_memory(s, position)
        if "pending" in position and position["pending"]["seal"] != f"{hash_bytes(s, sizeof(State), 0):016x}":
            # What is pending belongs to this one position: only so can it not contradict the rest.
            raise PositionError("quarz: pending belongs to another position: after changing a position by hand, leave "
                                "pending, recall and epochs out")
        rule = broken_rule(t, s)
        if rule:
            raise PositionError(f"quarz: the position breaks rule {rule}: {_RULES.get(rule, '')}")
        if "pending" not in position:
            settle(t, s, scratch)
        return made

    cdef bint _idol_loose(self, State *s):
        cdef int32_t k
        for k in range(s.depth):
            if s.stack[k].kind == K_STRIP or s.stack[k].kind == K_THROW:
                return True
        return False

    def _cell_number(self, field, value):
        if isinstance(value, str):
            try:
                cell = [int(part) for part in value.split(",")]
            except ValueError:
                raise _bad(field, value, "a cell") from None
            if value != ",".join(map(str, cell)):
                raise _bad(field, value, "a cell, written \"q,r\"")
            value = cell
        if (not isinstance(value, (list, tuple)) or not all(type(part) is int for part in value)
                or tuple(value) not in self.board.number):
            raise _bad(field, value, f"a cell [q, r] of the board {self.board.name}")
        return self.board.number[tuple(value)]

    def _int(self, field, value, low, high):
        if type(value) is not int or not low <= value <= high:
            raise _bad(field, value, f"an int of {low} to {high}")
        return value

    cdef _restore_board(self, State *s, dict position):
        cdef Tables *t = &self.data
        cdef int32_t cell, k
        tiles = position.get("tiles", {})
        names = [pattern.name for pattern in self.content.patterns]
        if "tiles" in position:
            memset(s.tile, 0, sizeof(s.tile))
            memset(s.turned, 0, sizeof(s.turned))
        if not t.placing or "tiles" in position:
            memset(s.pool_left, 0, sizeof(s.pool_left))
        for key, value in tiles.items():
            cell = self._cell_number(f"tiles.{key}", key)
            if not has_bit(t.modifiable_mask, cell):
                raise PositionError(f"quarz: tiles.{key}: the field is not modifiable")
            if not isinstance(value, (list, tuple)) or len(value) != 2 or value[0] not in names:
                raise _bad(f"tiles.{key}", value, f"[pattern, orientation] with a pattern of {', '.join(names)}")
            s.tile[cell] = names.index(value[0]) + 1
            s.turned[cell] = self._int(f"tiles.{key}[1]", value[1], 0, t.period[s.tile[cell] - 1] - 1)
        if "pending" not in position and not position.get("tiles") and not self._layout:
            empty = next((k for k, pattern in enumerate(self.content.patterns) if pattern.kind == "empty"), None)
            for k in range(t.n_modifiable):
                s.tile[t.modifiable[k]] = 0 if empty is None else empty + 1
            memset(s.pool_left, 0, sizeof(s.pool_left))
        elif "pending" not in position and not self._layout:
            empty = names.index(next(p.name for p in self.content.patterns if p.kind == "empty"))
            for k in range(t.n_modifiable):
                if not s.tile[t.modifiable[k]]:
                    s.tile[t.modifiable[k]] = empty + 1
        for value in position.get("melted", []):
            cell = self._cell_number("melted", value)
            if not has_bit(t.impassable_mask, cell):
                raise PositionError(f"quarz: melted: {value!r} is not an impassable field")
            if has_bit(s.melted, cell):
                raise PositionError(f"quarz: melted: {value!r} is listed twice")
            s.melted |= bit(cell)
        for key, value in position.get("traps", {}).items():
            cell = self._cell_number(f"traps.{key}", key)
            if not has_bit(t.modifiable_mask, cell):
                raise PositionError(f"quarz: traps.{key}: traps lie on modifiable fields (Q21)")
            k = self._int(f"traps.{key}", value, 0, t.players - 1)
            s.traps[k] |= bit(cell)
            if count_bits(s.traps[k]) > TOKEN_CAP:
                raise PositionError(f"quarz: traps: a fourth one of seat {k}, a mob has at most three (Q89)")
        if "idol" in position:
            s.idol_at = self._cell_number("idol", position["idol"])
            # Only a game that is won, which `pending` tells, has it in a camp.
            if "pending" not in position and has_bit((t.impassable_mask & ~s.melted) | t.camp_mask, s.idol_at):
                raise _bad("idol", position["idol"], "off camps and unmelted impassable fields (rule 56, Q57)")

    cdef _restore_mobs(self, State *s, dict position):
        cdef Tables *t = &self.data
        cdef int32_t seat, k, j
        mobs = position.get("mobs", [{}] * t.players)
        if not isinstance(mobs, list) or len(mobs) != t.players:
            raise _bad("mobs", mobs, f"a list of {t.players} tables")
        setting_up = "pending" in position
        for seat, mob in enumerate(mobs):
            where = f"mobs[{seat}]"
            name = mob.get("mob", self.content.mobs[seat])
            if name is not None and name not in self.content.mobs:
                raise _bad(f"{where}.mob", name, f"one of {', '.join(self.content.mobs)}")
            s.mob[seat] = self.content.mobs.index(name) if name is not None else -1
            camp = mob.get("camp", seat)
            s.camp[seat] = -1 if camp is None else self._int(f"{where}.camp", camp, 0, t.players - 1)
            if (name is None or camp is None) and not setting_up:
                raise PositionError(f"quarz: {where}: mob and camp may be null during the set-up only")
            for k in range(seat):
                if (s.mob[k] == s.mob[seat] and s.mob[seat] >= 0) or (s.camp[k] == s.camp[seat] and s.camp[seat] >= 0):
                    raise PositionError(f"quarz: {where}: mob or camp is that of seat {k}")
            value = mob.get("favor")
            s.favor[seat] = -1 if value is None else self._int(f"{where}.favor", value, 0, 4)
            held = mob.get("favor_hand", [k for k in range(5) if k != value or t.take_back[k]])
            s.favor_hand[seat] = 0
            for k in held:
                s.favor_hand[seat] |= 1 << <int32_t>self._int(f"{where}.favor_hand", k, 0, 4)
            if len(set(held)) != len(held):
                raise _bad(f"{where}.favor_hand", held, "different values")
            if not setting_up and value is not None and value in held and not t.take_back[<int32_t>value]:
                raise PositionError(f"quarz: {where}.favor {value} is in favor_hand as well (rule 30)")
            s.reactions[seat] = self._int(f"{where}.reactions", mob.get("reactions", t.reactions), 0, t.reactions)
            uses = mob.get("shrines", [0] * t.n_shrines)
            if not isinstance(uses, list) or len(uses) != t.n_shrines:
                raise _bad(f"{where}.shrines", uses, f"a list of {t.n_shrines} ints")
            for k in range(t.n_shrines):
                s.uses[seat][k] = self._int(f"{where}.shrines[{k}]", uses[k], 0, t.shrine_uses)
            if s.mob[seat] < 0:
                s.munched[seat] = self._int(f"{where}.munched", mob.get("munched", 0), 0, 200)
                continue
            own = [self.content.monsters[4 * s.mob[seat] + j].name for j in range(4)]
            monsters = mob.get("monsters", [{"name": own[j]} for j in range(t.squad)])
            if not isinstance(monsters, list) or (len(monsters) != t.squad and not (setting_up and not monsters)):
                raise _bad(f"{where}.monsters", monsters, f"a list of {t.squad} tables")
            if monsters and s.camp[seat] < 0:
                raise _bad(f"{where}.camp", camp, "a camp, once the mob has its monsters")
            names = []
            for k, monster in enumerate(monsters):
                here = f"{where}.monsters[{k}]"
                name = monster.get("name", own[k])
                if name not in own or name in names:
                    raise _bad(f"{here}.name", name, f"one of {', '.join(own)}, each once")
                names.append(name)
                self._restore_monster(s, 3 * seat + k, 4 * s.mob[seat] + own.index(name), monster, here)
                if monster.get("playing") and not setting_up:
                    raise PositionError(f"quarz: {here}.playing: cards are played only while something is pending")
            eaten = sum(len(monster.get("slots", [])) for monster in monsters)
            s.munched[seat] = self._int(f"{where}.munched", mob.get("munched", eaten), 0, 200)
            if s.munched[seat] < eaten:
                raise _bad(f"{where}.munched", s.munched[seat], f"at least {eaten}, the cards in slots (Q62)")

    cdef _restore_monster(self, State *s, int32_t m, int32_t who, dict monster, str here):
        cdef Tables *t = &self.data
        cdef int32_t k, capacity
        tableau_ = self.content.monsters[who]
        s.who[m] = who
        camp = self.board.camps[s.camp[m // 3]]
        s.at[m] = self._cell_number(f"{here}.at", monster.get("at", list(camp)))
        numbers = {card.label: i for i, card in enumerate(tableau_.cards)}
        seen = {}

        def read(zone):
            cards = monster.get(zone, [])
            if isinstance(cards, str):
                raise _bad(f"{here}.{zone}", cards, "a list of card labels, or for removed \"rest\"")
            for label in cards:
                if label not in numbers:
                    raise _bad(f"{here}.{zone}", label, f"a card of {tableau_.name}: {', '.join(numbers)}")
                if label in seen:
                    raise PositionError(f"quarz: {here}.{zone}: {label!r} is in {seen[label]} already (rule 132)")
                seen[label] = zone
            return [numbers[label] for label in cards]

        slots = read("slots")
        if len(slots) > 3:
            raise _bad(f"{here}.slots", monster["slots"], "at most three cards")
        for k, card in enumerate(slots):
            if not tableau_.cards[card].munch.keep:
                raise PositionError(f"quarz: {here}.slots: {tableau_.cards[card].label!r} has no lasting munch effect")
            s.slots[m][k] = card
        masks = {}
        rest_removed = monster.get("removed") == "rest"
        for zone in ("hand", "discard", "removed", "playing", "draw"):
            masks[zone] = 0 if zone == "removed" and rest_removed else sum(1 << card for card in read(zone))
        listed = sum(1 << numbers[label] for label in seen)
        if len(slots) < 2 and listed & ULTIMATE:
            raise PositionError(f"quarz: {here}: the ultimate is under the third slot until two are filled (rule 97)")
        rest = ALL_CARDS & ~listed & ~ULTIMATE
        if rest_removed or ("removed" not in monster and not t.with_cards):
            masks["removed"] |= rest
        elif "draw" not in monster:
            masks["draw"] |= rest
        elif rest:
            raise PositionError(f"quarz: {here}: {self._labels(who, rest)} are nowhere (rule 132)")
        if len(slots) >= 2 and not listed & ULTIMATE:
            if t.with_cards and not rest_removed:
                masks["hand"] |= ULTIMATE
                s.known[m] |= ULTIMATE
        s.hand[m], s.pile[m], s.gone[m] = masks["hand"], masks["discard"], masks["removed"]
        s.table[m], s.deck[m] = masks["playing"], masks["draw"]
        if monster.get("melted"):
            if len(slots) < 3:
                raise PositionError(f"quarz: {here}.melted: only a third slot gives the power to melt (rule 118)")
            s.gave_up |= 1 << m
        if monster.get("resting"):
            s.resting |= 1 << m
        for key, limit in (("stun", TOKEN_CAP), ("poison", TOKEN_CAP), ("shield", TOKEN_CAP), ("frost", TOKEN_CAP),
                           ("boost", BOOST_CAP)):
            value = self._int(f"{here}.{key}", monster.get(key, 0), 0, limit)
            if key == "stun":
                s.stun[m] = value
            elif key == "poison":
                s.poison[m] = value
            elif key == "shield":
                s.shield[m] = value
            elif key == "frost":
                s.frost[m] = value
            else:
                s.boost[m] = value
        s.pool[m] = s.spent[m] = 0
        refresh(t, s, m)
        capacity = s.pool[m]
        energy, spent = monster.get("energy"), monster.get("spent")
        if energy is None:
            energy = capacity - self._int(f"{here}.spent", 0 if spent is None else spent, 0, capacity)
        self._int(f"{here}.energy", energy, 0, capacity)
        if spent is not None and energy + spent != capacity:
            raise PositionError(
                f"quarz: {here}: energy {energy} and spent {spent} make {energy + spent}, not {capacity} (rule 131)")
        s.pool[m], s.spent[m] = energy, capacity - energy

    cdef _restore_table(self, State *s, dict position):
        cdef Tables *t = &self.data
        cdef int32_t k
        names = [shrine.name for shrine in self.content.shrines]
        cards = position.get("shrine_cards", names[:t.n_shrines])
        if not isinstance(cards, list) or len(cards) != t.n_shrines:
            raise _bad("shrine_cards", cards, f"a list of {t.n_shrines} names")
        given = [name for name in cards if name is not None]
        if len(set(given)) != len(given):
            raise _bad("shrine_cards", cards, "different names")
        for k, name in enumerate(cards):
            if name is not None and name not in names:
                raise _bad(f"shrine_cards[{k}]", name, f"one of {', '.join(names)}")
            s.shrine_card[k] = -1 if name is None else names.index(name)
        time = position.get("time", {})
        tiles = [tile.name for tile in self.content.time_tiles]
        for name in [*time.get("used", []), time.get("tile")]:
            if name is not None and name not in tiles:
                raise _bad("time", name, f"one of {', '.join(tiles)}")
        s.time_now = -1 if time.get("tile") is None else tiles.index(time["tile"])
        if len(set(time.get("used", []))) != len(time.get("used", [])):
            raise _bad("time.used", time["used"], "different names")
        for name in time.get("used", []):
            s.time_used |= 1 << <int32_t>tiles.index(name)
        if s.time_now >= 0:
            s.time_used |= 1 << s.time_now
        s.turns = self._int("time.turns", time.get("turns", 0), 0, 5000)
        left = t.n_stack - (s.turns // t.spaces if not t.turn_limit and t.n_stack else 0)
        s.time_left = self._int("time.left", time.get("left", left if "pending" not in position else 0), 0, 16)
        if "pending" not in position:
            self._check_stack(s)
        last = t.turn_limit or (t.n_stack - 1) * t.spaces + t.spaces // 2
        if "pending" not in position and s.turns >= last:
            raise _bad("time.turns", s.turns, f"below {last}, where the game ends")
        order = position.get("order", list(range(t.players)))
        if not isinstance(order, list) or sorted(order) != list(range(t.players)):
            raise _bad("order", order, f"the seats 0 to {t.players - 1}, each once")
        for k in range(t.players):
            s.order[k] = order[k]
        s.actions = self._int("actions", position.get("actions", t.actions), 0, 8)
        s.extras = self._int("extras", position.get("extras", 0), 0, 8)
        carrier = position.get("carrier")
        if carrier is not None:
            if not isinstance(carrier, (list, tuple)) or len(carrier) != 2:
                raise _bad("carrier", carrier, "[seat, monster] or null")
            k = 3 * self._int("carrier[0]", carrier[0], 0, t.players - 1) + self._int("carrier[1]", carrier[1], 0, 2)
            if s.at[k] != s.idol_at:
                raise PositionError(f"quarz: carrier {carrier!r} does not stand on the idol (rule 134)")
            s.idol_by = k
        rebuild(t, s)

    cdef _check_stack(self, State *s):
        """The tiles that are not used up must do for the rest of the stack (rule 20)."""
        cdef Tables *t = &self.data
        cdef int32_t level, before = 0, shown = t.n_stack - s.time_left + 1
        for level in range(3):
            due = max(0, t.stack[level] - max(0, shown - before))
            free = sum(t.time_level[i] == level + 1 and not s.time_used >> i & 1 for i in range(t.n_time))
            if free < due:
                used = [tile.name for i, tile in enumerate(self.content.time_tiles) if s.time_used >> i & 1]
                raise _bad("time.used", used, f"so few that {due} tiles of level {level + 1} are left for the stack")
            before += t.stack[level]

    cdef _restore_moment(self, State *s, dict position):
        cdef Frame *f
        cdef int32_t at, k, seat
        moment = position.get("moment", "action")
        if moment not in ("action", "favor"):
            raise _bad("moment", moment, "'action' or 'favor'")
        for k in range(self.data.n_shrines):
            if s.shrine_card[k] < 0:
                raise PositionError(f"quarz: shrine_cards[{k}] may be null during the set-up only")
        if moment == "favor":
            if position.get("turn") is not None:
                raise _bad("turn", position["turn"], "null or left out where a round begins")
            for k in range(self.data.players):
                if not s.favor_hand[k]:
                    raise PositionError(f"quarz: mobs[{k}].favor_hand is empty, a round needs a favor card of everyone")
            push(s, K_ROUND, 0, 0, 0)
            return
        at = self._int("turn", position.get("turn", 0), 0, self.data.players - 1)
        s.active = s.order[at]
        for k in range(at + 1, self.data.players):      # who has yet to play this round has played a card
            if s.favor[s.order[k]] < 0:
                s.favor[s.order[k]] = 4
                s.favor_hand[s.order[k]] &= ~16
        for k in range(self.data.players):
            seat = s.order[k]
            if not s.favor_hand[seat] and not (k > at and self.data.take_back[s.favor[seat]]):
                raise PositionError(f"quarz: mobs[{seat}].favor_hand is empty, the next round needs a card of everyone")
        push(s, K_TURNS, at + 1, 0, 0)
        f = push(s, K_TURN, 0, 0, 0)
        f.step = 2
        push(s, K_ACTION, 0, s.active, 0)

    cdef _restore_pending(self, State *s, pending):
        cdef Frame *f
        cdef int32_t k
        keys = {"frames", "actor", "winner", "active", "tiles_left", "seal"}
        if not isinstance(pending, dict) or set(pending) != keys:
            raise _bad("pending", pending, f"a table with {', '.join(sorted(keys))}")
        frames = pending["frames"]
        if (not isinstance(frames, list) or len(frames) > DEPTH or not all(
                isinstance(values, list) and len(values) == 10 and all(type(v) is int for v in values)
                and 1 <= values[0] <= K_SAP and all(-128 <= v < 128 for v in values[:8])
                and all(-1 <= v < CODE_LIMIT for v in values[8:]) for values in frames)):
            raise _bad("pending.frames", "...", f"at most {DEPTH} lists of ten ints, as to_dict writes them")
        for values in frames:
            f = push(s, values[0], values[2], values[3], values[4])
            f.step, f.d, f.e, f.f, f.g, f.prog = values[1], values[5], values[6], values[7], values[8], values[9]
        s.actor = self._int("pending.actor", pending["actor"], TERMINAL, self.data.players - 1)
        s.winner = self._int("pending.winner", pending["winner"], -1, self.data.players - 1)
        s.active = self._int("pending.active", pending["active"], -1, self.data.players - 1)
        left = pending["tiles_left"]
        if not isinstance(left, list) or len(left) != 8:
            raise _bad("pending.tiles_left", left, "eight ints")
        for k in range(8):
            s.pool_left[k] = self._int(f"pending.tiles_left[{k}]", left[k], 0, 32)

    cdef _restore_memory(self, State *s, dict position):
        cdef Tables *t = &self.data
        cdef int32_t m, k
        recall = position.get("recall")
        if recall is not None:
            if len(recall) != t.players:
                raise _bad("recall", recall, f"{t.players} hexadecimal numbers")
            try:
                for k in range(t.players):
                    s.info[k] = int(recall[k], 16)
            except (TypeError, ValueError, IndexError):
                raise _bad("recall", recall, f"{t.players} hexadecimal numbers") from None
        epochs = position.get("epochs")
        if epochs is None:
            return
        if len(epochs) != 3 * t.players or not all(
                len(entry) == 4 and all(isinstance(part, list) for part in entry[1:])
                and len(entry[1]) == len(entry[2]) == CARDS for entry in epochs):
            raise _bad("epochs", "...", "what to_dict writes")
        try:
            for m in range(3 * t.players):
                epoch, birth, drawn, known = epochs[m]
                s.epoch[m] = self._int(f"epochs[{m}]", epoch, 0, EPOCH_LIMIT)
                s.known[m] = 0
                for k in range(CARDS):
                    s.birth[m][k] = self._int(f"epochs[{m}]", birth[k], 0, epoch)
                    s.drawn[m][k] = self._int(f"epochs[{m}]", drawn[k], 0, epoch)
                for k in known:
                    s.known[m] |= 1 << <int32_t>self._int(f"epochs[{m}]", k, 0, CARDS - 1)
        except (TypeError, ValueError, IndexError) as error:
            if isinstance(error, PositionError):
                raise
            raise _bad("epochs", "...", "what to_dict writes") from None

    # ---- what a seat sees ----------------------------------------------------------------------

    def scene(self, Position position, observer):
        """What a seat sees, as a dict like `to_dict`'s, with `held` (hand cards) for each monster, and
        `unseen` (cards in hand or draw pile) for rivals; observer -1 sees everything."""
        cdef State v
        cdef int32_t m
        cdef State *s = <State *>position.state
        if observer < 0:
            v = s[0]
            for m in range(MONSTERS):
                v.held[m] = count_bits(s.hand[m])
        else:
            view_of(&self.data, s, observer, &v)
        made = self._export(&v)
        for seat, mob in enumerate(made["mobs"]):
            for k, monster in enumerate(mob["monsters"]):
                m = 3 * seat + k
                monster["held"] = v.held[m]
                monster["figures"] = {"damage": v.damage[m], "move": v.move[m], "draw": v.draws[m], "carry": v.carry[m],
                                      "powers": [name for name, power in _POWERS.items() if v.powers[m] & power]}
                monster["form"] = ""                                        # rule 104: that of the last one munched
                cards = self.content.monsters[v.who[m]].cards
                for label in monster["slots"]:
                    for card in cards:
                        if card.label == label and card.munch.form:
                            monster["form"] = card.munch.form
                if observer >= 0 and seat != observer:
                    monster["unseen"] = monster.pop("draw")
        made["to_move"] = v.actor
        made["doing"] = "over" if v.actor == TERMINAL else _FRAME_NAMES[v.stack[v.depth - 1].kind] if v.depth else ""
        made["frame"] = [v.stack[v.depth - 1].a, v.stack[v.depth - 1].b, v.stack[v.depth - 1].c,
                         v.stack[v.depth - 1].step, v.stack[v.depth - 1].f] if v.depth else []
        made["points"] = [points2(&self.data, &v, seat) / 2.0 for seat in range(self.data.players)]
        return made

    def describe(self, Position position):
        return _text(self.scene(position, -1))

    def observe(self, Position position, observer):
        return _text(self.scene(position, observer))

    def tensor_shape(self):
        return [_TENSOR]

    def observe_tensor(self, Position position, observer, float[::1] out):
        """One vector, seats counted from the observer: the terrain (48 cells x 6 sides x water, crystal),
        solid and frozen cells, the idol, camps and traps; for each of 12 monsters identity, place, figures
        and tokens; own hand cards; favor cards, order, points, time; the kind of decision."""
        cdef State v
        cdef Tables *t = &self.data
        cdef int32_t i, k, m, seat, o = 0
        view_of(t, <State *>position.state, observer, &v)
        for i in range(CELLS):
            for k in range(6):
                out[o + 12 * i + k] = v.edges.water[i] >> k & 1
                out[o + 12 * i + 6 + k] = v.edges.crystal[i] >> k & 1
        o += 12 * CELLS
        for i in range(CELLS):
            out[o + i] = v.solid >> i & 1
            out[o + CELLS + i] = v.melted >> i & 1
            out[o + 2 * CELLS + i] = v.idol_at == i
        o += 3 * CELLS
        for k in range(t.players):
            seat = (observer + k) % t.players
            for m in range(3 * seat, 3 * seat + 3):
                if v.who[m] >= 0:
                    out[o + v.who[m]] = 1
                    out[o + 16 + v.at[m]] = 1
                    values = (v.pool[m] / 12.0, v.spent[m] / 12.0, v.damage[m] / 4.0, v.move[m] / 4.0, v.stun[m] / 3.0,
                              v.poison[m] / 3.0, v.shield[m] / 3.0, v.frost[m] / 3.0, v.held[m] / 6.0, v.boost[m] / 4.0,
                              v.idol_by == m, v.resting >> m & 1)
                    for i, value in enumerate(values):
                        out[o + 16 + CELLS + i] = value
                    for i in range(8):
                        out[o + 28 + CELLS + i] = v.powers[m] >> i & 1
                    for i in range(3):
                        if v.slots[m][i] >= 0:
                            out[o + 36 + CELLS + v.slots[m][i]] = 1
                o += 49 + CELLS
            for i in range(5):
                out[o + i] = v.favor_hand[seat] >> i & 1
                out[o + 5 + i] = v.favor[seat] == i
            for i in range(4):
                out[o + 10 + i] = v.order[i] == seat
                out[o + 14 + i] = v.uses[seat][i] / 2.0
                if v.camp[seat] >= 0:
                    out[o + 18 + v.camp[seat]] = 1
            out[o + 22] = v.reactions[seat] / 2.0
            out[o + 23] = v.munched[seat] / 10.0
            out[o + 24] = v.active == seat
            out[o + 25] = v.actor == seat
            o += 26
        o = 15 * CELLS + 4 * (3 * (49 + CELLS) + 26)
        for k in range(3):
            for i in range(CARDS):
                out[o + CARDS * k + i] = v.hand[3 * observer + k] >> i & 1
        o += 3 * CARDS
        if v.time_now >= 0:
            out[o + v.time_now] = 1
        out[o + 16] = v.time_left / 6.0
        out[o + 17] = v.turns / 60.0
        out[o + 18] = v.actions / 2.0
        if v.depth:
            out[o + 19 + v.stack[v.depth - 1].kind] = 1
        for i in range(4):
            if v.shrine_card[i] >= 0:
                out[o + 49 + 4 * i + v.shrine_card[i]] = 1


_TENSOR = 15 * CELLS + 4 * (3 * (49 + CELLS) + 26) + 3 * CARDS + 65

_RULES = {
    80: "too many tokens of a kind on a monster", 97: "the ultimate is hidden until two slots are filled",
    103: "slots are filled from the left", 112: "shrine uses", 131: "pool and spent energy make the capacity",
    132: "every card is in one place", 133: "one monster a hex, and every piece on the board",
    134: "a monster on the idol controls it", 135: "tiles are conserved", 137: "time tiles follow the turns",
    138: "favor cards", 139: "no monster in a foreign camp", 140: "no monster on an impassable field",
    144: "reaction tokens",
}


def _text(scene):
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
            tokens = " ".join(f"{name} {monster[name]}" for name in _TOKENS if monster[name])
            hidden = f"unseen {monster['unseen']}" if "unseen" in monster else f"draw {monster['draw']}"
            lines.append(
                f"  P{seat + 1}.{k + 1} {monster['name']} at {monster['at']} "
                f"energy {monster['energy']}+{monster['spent']} {tokens} {monster['figures']}"
                f"{' resting' if monster['resting'] else ''}{' melted' if monster['melted'] else ''} "
                f"hand of {monster['held']} {monster['hand']} {hidden} "
                f"discard {monster['discard']} slots {monster['slots']} removed {monster['removed']} "
                f"playing {monster['playing']}")
    return "\n".join(lines)
