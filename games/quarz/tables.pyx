"""The tables of one setting of Qu'arz, made from its parameters and data, and the names of actions and outcomes."""
from libc.stdint cimport int32_t
from libc.string cimport memset

from engine_ext.bits cimport bit
from engine_ext.hexgrid cimport HexBoard
from engine_ext.position cimport Rules
from games.quarz.moves cimport *
from games.quarz.state cimport *

from pathlib import Path

from engine_ext.errors import ParameterError
from games.quarz import vocabulary
from games.quarz.board import seeded_layout
from games.quarz.cards import DATA
from games.quarz.loading import read_content

# What the words of the vocabulary are in the machine.
POWERS = {
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


cdef class QuarzTables(Rules):
    """Parameters, data and tables; rules.pyx adds the rules.

    Attributes:
        content: all data in use (`games.quarz.cards.Content`).
        board: the board (`games.quarz.board.Board`).
        instructions: for each instruction of the machine, by number, the effect it was compiled from and where that
            stands: ("swap",), ("card" or "munch", monster, card), ("favor", value, option) or ("shrine", shrine).
    """

    def __init__(self, dict parameters, start=None):
        super().__init__(parameters, start)
        self.name = "quarz"
        memset(&self.data, 0, sizeof(Tables))
        self._check_parameters(parameters)
        players = parameters["players"]
        self.content = read_content(Path(parameters["data"]) if parameters["data"] else DATA)
        self.digest = self.content.digest
        layout = self._named_layout(parameters, players)
        self.board = self._named_board(parameters["board"] or (layout.board if layout else f"{players}p"), players)
        self._fill_parameters(parameters, players)
        self._fill_board()
        self._fill_tiles(parameters, layout)
        self._fill_content()
        self.tables = &self.data

    def _check_parameters(self, p):
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

    def _named_board(self, name, players):
        board = self.content.boards.get(name)
        if board is None or board.players != players:
            fitting = ", ".join(each.name for each in self.content.boards.values() if each.players == players)
            raise ParameterError(f"quarz: board is {name!r}, there are for {players} players: {fitting}")
        return board

    # ---- tables -------------------------------------------------------------------------------

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

    def _fill_board(self):
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

    def _fill_tiles(self, p, layout):
        """The edge patterns, the tiles to place, and those that lie there from the start."""
        cdef Tables *t = &self.data
        cdef int32_t k
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
            t.pool[k] += 1
        laid = layout.tiles if layout else {}
        if p["tiles"] == "seed":
            laid = seeded_layout(self.board, pool, [pattern.period for pattern in patterns], p["tile_seed"])
        t.n_laid = len(laid)
        for cell, (pattern, turned) in laid.items():
            k = self.board.number[cell]
            t.laid[k], t.laid_turned[k] = pattern + 1, turned

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
        """Monsters, favor cards, shrines and time tiles, and the instructions that their effects become."""
        self.instructions = []
        # Instruction 0 is what a Push/Swap card does that is played as Swap.
        self._compile([{"do": "swap", "kind": "strike", "target": "any"}], ("swap",))
        self._fill_monsters()
        self._fill_favors()
        for k, shrine in enumerate(self.content.shrines):
            self.data.shrine_prog[<int32_t>k] = self._compile(shrine.effects, ("shrine", k))
        self._fill_time()

    cdef int32_t _compile(self, effects, source) except -1:
        """Append a list of effects to the instructions; the number of the first."""
        cdef Effect *made
        start = len(self.instructions)
        if start + len(effects) > CODE_LIMIT:
            raise ParameterError(f"quarz: the data hold more effects than the {CODE_LIMIT} that are allowed")
        for effect in effects:
            made = &self.data.code[len(self.instructions)]
            amount = effect.get("amount", effect.get("count", 0))
            made.op = _OPS[effect["do"]]
            made.amount = -1 if amount == "die" else amount
            made.kind = vocabulary.KINDS.index(effect["kind"]) if "kind" in effect else 0
            made.any = effect.get("target") == "any"
            made.who = vocabulary.WHO.index(effect["who"]) if "who" in effect else 0
            made.flags = (SWIM if effect.get("swim") else 0) | (CLIMB if effect.get("climb") else 0)
            made.carry = effect.get("carry", 0)
            self.instructions.append((effect, source))
        self.data.code[len(self.instructions) - 1].last = 1
        return start

    def _fill_monsters(self):
        cdef Monster *mon
        cdef Card *card
        monsters = self.content.monsters
        forms = sorted({record.munch.form for monster in monsters for record in monster.cards} - {""})
        for i, monster in enumerate(monsters):
            mon = &self.data.monsters[<int32_t>i]
            mon.energy, mon.damage, mon.move = monster.energy, monster.damage, monster.move
            mon.shoots = monster.attack == "shoot"
            for k, face in enumerate(monster.die):
                mon.die[<int32_t>k] = face
            fill_bonus(&mon.slot2, monster.slot2)
            fill_bonus(&mon.slot3, monster.slot3)
            for k, record in enumerate(monster.cards):
                card = &mon.cards[<int32_t>k]
                card.cost, card.munch_cost = record.cost, record.munch.cost
                card.trigger = vocabulary.TRIGGERS.index(record.trigger)
                card.mob_scope = record.scope == "mob"
                card.reactions = record.reactions
                card.lock = record.munch.lock
                card.form = forms.index(record.munch.form) + 1 if record.munch.form else 0
                card.prog = self._compile(record.effects, ("card", i, k))
                card.once = self._compile(record.munch.once, ("munch", i, k)) if record.munch.once else -1
                fill_bonus(&card.keep, record.munch.keep)
                if card.trigger:
                    mon.instants[card.trigger] |= 1 << <int32_t>k

    def _fill_favors(self):
        cdef Tables *t = &self.data
        cdef int32_t k
        for favor in self.content.favors:
            t.take_back[<int32_t>favor.value] = favor.take_back
            for k in range(4):
                t.favor_options[<int32_t>favor.value][k] = -1
            for k, option in enumerate(favor.options):
                t.favor_options[<int32_t>favor.value][k] = self._compile(
                    option.effects, ("favor", favor.value, k))
        t.favor_mask = (1 << len(self.content.favors)) - 1

    def _fill_time(self):
        cdef Tables *t = &self.data
        cdef Global *g
        t.n_time = len(self.content.time_tiles)
        for k, tile in enumerate(self.content.time_tiles):
            t.time_level[<int32_t>k] = tile.level
            g = &t.globals[<int32_t>k]
            seen = tile.while_visible
            g.move, g.damage = seen.get("move", 0), seen.get("damage", 0)
            g.draw, g.carry = seen.get("draw", 0), seen.get("carry", 0)
            g.start_heal, g.idol_drain = seen.get("start_heal", 0), seen.get("idol_drain", 0)
            g.shrine_discount, g.hand_limit = seen.get("shrine_discount", 0), seen.get("hand_limit", 0)
            g.frozen, g.clear, g.no_march = (
                seen.get("frozen_water", False), seen.get("clear_sight", False), seen.get("no_march", False))

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


cdef void fill_bonus(Bonus *bonus, keep) except *:
    bonus.damage = keep.get("damage", 0)
    bonus.move = keep.get("move", 0)
    bonus.draw = keep.get("draw", 0)
    bonus.energy = keep.get("energy", 0)
    bonus.carry = keep.get("carry", 0)
    bonus.flags = 0
    for name, power in POWERS.items():
        if keep.get(name):
            bonus.flags |= power
