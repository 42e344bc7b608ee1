"""The 20 invariants of the rules (131 to 150), watched step by step over a random game.

Those of one position (131 to 135, 137, 139, 140, and the caps of 103, 112, 138, 144) are the engine's own
`check`. The others are looked at from outside: they are about two positions, about what is offered, or
about what a whole action did.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from engine_ext.position import Position, Rules
from engine_ext.rng import Stream

Scene = dict[str, Any]
PLAIN = ("mobs", "tiles", "melted", "traps", "idol", "carrier", "shrine_cards", "time")  # a position by hand


def distance(a: list[int], b: list[int]) -> int:
    """Steps on the endless lattice."""
    dq, dr = a[0] - b[0], a[1] - b[1]
    return max(abs(dq), abs(dr), abs(dq + dr))


def cell_of(text: str) -> list[int]:
    return [int(part) for part in text.strip("()").split(",")]


class Watch:
    """Watches one game; `step` plays an action and raises AssertionError where an invariant breaks.

    Attributes:
        seen: how often each invariant was put to the test.
    """

    def __init__(self, rules: Rules, position: Position, seen: Counter[str]) -> None:
        self.rules, self.position, self.seen = rules, position, seen
        self.content = rules.content
        self.board = rules.board
        self.printed = {monster.name: monster for monster in self.content.monsters}
        self.now: Scene = rules.scene(position, -1)
        self.opened = False
        self.used: dict[int, int] = {}  # reaction tokens used since the own turn
        self.attack: tuple[Scene, int, int] | None = None  # before it, attacker, target
        self.march: tuple[Scene, int] | None = None  # before it, seat
        self.turns_to_cross = 0

    def step(self, action: int) -> None:
        position, before = self.position, self.now
        chance = position.is_chance_node()
        name = (self.rules.outcome_name if chance else self.rules.action_name)(action)
        seat = position.current_player()
        if not chance:
            self.offer(before, seat, position.legal_actions())
        position.apply_action(action)
        assert position.check() == 0
        after = self.now = self.rules.scene(position, -1)
        self.standing(after)
        if not self.opened and after["doing"] == "favor":
            self.opening(after)
        self.tokens(before, after, seat, name)
        if not chance:
            self.costs(before, after, seat, name)
        self.actions(before, after, seat, name)

    def standing(self, now: Scene) -> None:
        """136, 138, 141: what holds in every position."""
        players = len(now["mobs"])
        carrier = now["carrier"]
        for seat, mob in enumerate(now["mobs"]):
            idol = 2.5 if carrier is not None and carrier[0] == seat else 0.0
            assert now["points"][seat] == sum(mob["shrines"]) + idol, "136"
            played = [] if mob["favor"] is None else [mob["favor"]]
            assert set(mob["favor_hand"]) <= {0, 1, 2, 3, 4}, "138"
            assert now["doing"] != "action" or mob["favor_hand"] or now["to_move"] != seat or played == [0], "138"
        assert len(now["shrine_cards"]) == len(self.board.shrines) == len(self.board.camps) == players, "141"

    def opening(self, now: Scene) -> None:
        """150: before the first round."""
        self.opened = True
        assert now["idol"] == list(self.board.altar)
        assert now["carrier"] is None
        assert now["points"] == [0.0] * len(now["mobs"])
        for mob in now["mobs"]:
            assert sum(monster["held"] for monster in mob["monsters"]) == 6
            for monster in mob["monsters"]:
                assert (len(monster["draw"]), monster["energy"]) == (10, self.printed[monster["name"]].energy)
        self.seen["150"] += 1

    def offer(self, now: Scene, seat: int, actions: list[int]) -> None:
        """142, 149, and 146, 147 among the monsters of the mob that acts: what may be chosen."""
        names = [self.rules.action_name(action).split(" ") for action in actions]
        own = now["mobs"][seat]["monsters"]
        if now["doing"] == "instant":
            assert all(own[int(word[1]) - 1]["energy"] > 0 for word in names if word[0] == "react"), "142"
            self.seen["142"] += 1
        if now["doing"] != "action":
            return
        self.turns_to_cross += 1
        if self.turns_to_cross % 25 == 0:
            self.across(now)
        tired = {str(k + 1) for k, monster in enumerate(own) if monster["energy"] == 0}
        for word in names:
            assert word[0] in ("pass", "regenerate") or word[1] not in tired, "142"
        self.seen["142"] += bool(tired)
        carrier = now["carrier"]
        if carrier is not None and carrier[0] == seat:
            steps = 1 + own[carrier[1]]["figures"]["carry"] + (now["time"]["tile"] == "Light Idol")
            for word in names:
                if word[0] == "move" and int(word[1]) - 1 == carrier[1] and not now["melted"]:
                    assert distance(cell_of(word[2]), now["idol"]) <= steps, "149"
                    self.seen["149"] += 1
        aims = {(int(word[1]) - 1, word[2]) for word in names if word[0] == "attack"}
        for a in range(3):
            for b in range(a):
                if self.comparable(now, seat, a, b):
                    assert ((a, f"P{seat + 1}.{b + 1}") in aims) == ((b, f"P{seat + 1}.{a + 1}") in aims), "146, 147"
                    self.seen["146" if self.printed[own[a]["name"]].attack == "strike" else "147"] += 1

    def across(self, now: Scene) -> None:
        """146, 147 between mobs: the same board with all fresh, once for each seat to act."""
        table = {key: value for key, value in self.position.to_dict().items() if key in PLAIN}
        players = len(now["mobs"])
        for mob in table["mobs"]:
            for monster in mob["monsters"]:
                monster.update(energy=monster["energy"] + monster["spent"], spent=0, resting=False)
            mob.update(favor_hand=[0, 1, 2, 3, 4], favor=None)
        aims: set[tuple[str, str]] = set()
        for seat in range(players):
            order = [seat, *(other for other in range(players) if other != seat)]
            view = self.rules.from_dict({**table, "order": order, "turn": 0, "actions": 2})
            names = [self.rules.action_name(action).split(" ") for action in view.legal_actions()]
            aims |= {(f"P{seat + 1}.{word[1]}", word[2]) for word in names if word[0] == "attack"}
        alike: dict[str, list[str]] = {"strike": [], "shoot": []}
        for seat, mob in enumerate(now["mobs"]):
            powers = {power for monster in mob["monsters"] for power in monster["figures"]["powers"]}
            if not powers & {"sharp_eyes", "wall_shot"}:
                for k, monster in enumerate(mob["monsters"]):
                    alike[self.printed[monster["name"]].attack].append(f"P{seat + 1}.{k + 1}")
        for kind, monsters in alike.items():
            for one in monsters:
                for other in monsters:
                    assert ((one, other) in aims) == ((other, one) in aims), "146, 147"
            self.seen["146" if kind == "strike" else "147"] += 1

    def comparable(self, now: Scene, seat: int, a: int, b: int) -> bool:
        """Whether both may attack in one way, and no power makes their eyes unlike."""
        own = [now["mobs"][seat]["monsters"][k] for k in (a, b)]
        kinds = {self.printed[monster["name"]].attack for monster in own}
        powers = [p for monster in now["mobs"][seat]["monsters"] for p in monster["figures"]["powers"]]
        able = all(m["energy"] >= max(1, self.printed[m["name"]].damage) and not m["resting"] for m in own)
        return len(kinds) == 1 and able and not ({"sharp_eyes", "wall_shot"} & set(powers))

    def tokens(self, before: Scene, after: Scene, seat: int, name: str) -> None:
        """144: at most two reaction tokens between two own turns; they come back with the own turn only."""
        turning = after["turn"] is not None and after["turn"] != before["turn"]
        fresh = after["order"][after["turn"]] if turning else -1
        if turning:
            self.used[fresh] = 0
        elif name.startswith("react"):
            self.used[seat] = self.used.get(seat, 0) + (
                before["mobs"][seat]["reactions"] - after["mobs"][seat]["reactions"]
            )
            assert self.used[seat] <= 2, "144"
            self.seen["144"] += 1
        for k in range(len(after["mobs"])):
            grown = after["mobs"][k]["reactions"] > before["mobs"][k]["reactions"]
            assert not grown or k == fresh, "144"

    def costs(self, before: Scene, after: Scene, seat: int, name: str) -> None:
        """145: an attack costs the printed damage, whatever the bonuses."""
        word = name.split(" ")
        if word[0] != "attack":
            return
        k = int(word[1]) - 1
        old, new = (table["mobs"][seat]["monsters"][k] for table in (before, after))
        if after["traps"] == before["traps"] and after["time"]["turns"] == before["time"]["turns"]:
            assert new["energy"] == old["energy"] - self.printed[old["name"]].damage, "145"
            self.seen["145"] += 1
            self.seen["145 with a bonus"] += old["figures"]["damage"] + old["boost"] > self.printed[old["name"]].damage

    def actions(self, before: Scene, after: Scene, seat: int, name: str) -> None:
        """143, 148: what a whole attack or march did; begun, followed, judged when the next action is due."""
        word = name.split(" ")
        if before["doing"] == "action" and word[0] == "attack":
            self.attack = (before, 3 * seat + int(word[1]) - 1, 3 * (int(word[2][1]) - 1) + int(word[2][3]) - 1)
        elif self.attack is not None and not (before["doing"] == "block" or name == "pass"):
            self.attack = None  # an instant, a guard: more than blocks
        if before["doing"] == "action" and word[0] == "march":
            self.march = (before, seat)
        elif before["doing"] not in ("march", "instant") or name.startswith("react"):
            self.march = None  # a bonus movement, a push: more than the march moved somebody
        if after["doing"] != "action" or after["time"]["turns"] != before["time"]["turns"]:
            if after["doing"] in ("favor", "over") or after["time"]["turns"] != before["time"]["turns"]:
                self.attack = self.march = None
            return
        if self.attack is not None:
            self.judge_attack(*self.attack, after)
        if self.march is not None and after["carrier"] == self.march[0]["carrier"]:
            self.judge_march(*self.march, after)
        self.attack = self.march = None

    def judge_march(self, old: Scene, seat: int, new: Scene) -> None:
        """148: all three have moved, 4 steps together; a floe makes a step longer."""
        was, now = (table["mobs"][seat]["monsters"] for table in (old, new))
        ways = [distance(a["at"], b["at"]) for a, b in zip(was, now, strict=True)]
        assert all(ways), "148"
        if not new["melted"]:
            assert max(ways) <= 2, "148"
            assert sum(ways) <= 4, "148"
        self.seen["148"] += 1

    def judge_attack(self, old: Scene, attacker: int, target: int, new: Scene) -> None:
        """143: an attack that did no damage changes the attacker's energy and the target's cards (and shields)."""
        was, now = ([m for mob in table["mobs"] for m in mob["monsters"]] for table in (old, new))
        if any(a["energy"] != b["energy"] for k, (a, b) in enumerate(zip(was, now, strict=True)) if k != attacker):
            return
        if was[target]["energy"] == 0:  # Q46: damage counts where there is nothing left to lose
            return
        for key in old.keys() - {"mobs", "actions", "frame", "to_move", "doing"}:
            assert old[key] == new[key], ("143", key)
        for k, (a, b) in enumerate(zip(was, now, strict=True)):
            free = {"energy", "spent"} if k == attacker else set()
            free |= {"hand", "discard", "held", "shield"} if k == target else set()
            assert all(a[key] == b[key] for key in a.keys() - free), "143"
        self.seen["143"] += 1


def watched_steps(rules: Rules, stream: Stream, steps: int) -> Counter[str]:
    """Random games, watched, until so many steps are done; how often each invariant was put to the test."""
    seen = Counter[str]()
    while seen["steps"] < steps:
        position = rules.initial_position()
        watch = Watch(rules, position, seen)
        while not position.is_terminal():
            if position.is_chance_node():
                action = position.sample(stream)
            else:
                actions = position.legal_actions()
                action = actions[stream.below(len(actions))]
            watch.step(action)
            seen["steps"] += 1
        seen["games"] += 1
    return seen
