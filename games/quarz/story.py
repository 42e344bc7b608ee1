"""The story: decisions, what dice and piles brought, and what came of it, as a seat saw it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

from games.quarz.options import favor_choice
from games.quarz.table import TOKENS, Table, monster_number, sides
from games.quarz.texts import describe_effects, describe_munch, describe_time
from games.words import NOBODY, Line, Step, count, has, join, tally, whose


def tell(steps: Sequence[Step], seat: int) -> list[Line]:
    """The steps as a seat saw them: decisions and what came of them, draws of one monster together."""
    lines: list[Line] = []
    drawn: tuple[int, list[str]] | None = None
    for step in steps:
        before = Table(step.before, seat)
        if step.seat == NOBODY and before.scene["doing"] == "draw":
            m = before.scene["frame"][0]
            card = before.card(m, step.action).label if seat in (m // 3, NOBODY) else ""
            if drawn is None or drawn[0] != m:
                lines += _drawn(before, drawn)
                drawn = (m, [])
            drawn[1].append(card)
        else:
            lines += _drawn(before, drawn)
            drawn = None
            lines += _happened(step, before)
        after = Table(step.after, seat)
        changes = _changes(before, after)
        if changes and drawn is not None:
            lines += _drawn(before, drawn)
            drawn = None
        lines += changes
    if steps:
        lines += _drawn(Table(steps[-1].after, seat), drawn)
    return lines


def _drawn(t: Table, drawn: tuple[int, list[str]] | None) -> list[Line]:
    if drawn is None:
        return []
    m, cards = drawn
    name = t.monster(m)["name"]
    what = join(cards) if t.seat in (m // 3, NOBODY) else count(len(cards), "card")
    return [Line(m // 3, f"{name} drew {what}")]


def _happened(step: Step, before: Table) -> list[Line]:
    """The decision or the outcome itself."""
    doing = before.scene["doing"]
    if step.seat == NOBODY:
        return _outcome(step, before, doing)
    if step.action == 0 and _asked_in_secret(step, before):
        return []  # that somebody could have answered is not known
    if step.name is None:
        return [Line(step.seat, "chose a favor card in secret")]
    if doing == "favor":
        return [Line(step.seat, f"chose favor card {step.name.split()[1]} in secret")]
    mover = Table(step.before, step.seat)
    if step.seat == before.seat:
        mover = before
    text = _told(mover, step.name, step.seat != before.seat)
    return [Line(step.seat, text)] if text else []


def _asked_in_secret(step: Step, before: Table) -> bool:
    """Whether nothing is told of doing nothing: of an instant to the others, after the last action to all (Q91)."""
    scene = Table(step.before, step.seat).scene
    if scene["doing"] == "instant":
        return step.seat != before.seat
    return bool(scene["doing"] == "action" and scene["actions"] <= 0)


def _told(t: Table, name: str, foreign: bool) -> str:
    """A decision in the past tense. Every decision that is told is seen by all, card included."""
    verb, *rest = name.split(" ")
    doing = t.scene["doing"]
    if verb == "pass":
        return {"action": "ended the actions", "instant": "did not answer", "block": "did not block"}.get(doing, "")
    if verb in ("cell", "target", "turn", "choice", "card", "slot"):
        return _told_part(t, verb, rest, doing)
    m = 3 * t.seat + int(rest[0]) - 1 if verb not in ("mob", "camp", "leave", "favor") else 0
    if verb == "move":
        return f"{t.own(m % 3)} moved from {t.place(m)} to {t.board.field_names[t.cell(rest[1])]}"
    if verb == "attack":
        verb = "shot at" if t.tableau(m).attack == "shoot" else "struck at"
        target = t.monster(monster_number(rest[1]))["name"]
        return f"{t.own(m % 3)} {verb} {target} for {t.damage(m)}"
    if verb == "march":
        return f"began a Mob March, paid by {t.own(m % 3)}"
    if verb == "draw":
        return ""  # the draw itself is told
    if verb in ("play", "react"):
        card = t.card(m, int(rest[1]))
        return f"{t.own(m % 3)} played {card.label}: {describe_effects(card.effects)}"
    if verb == "swap":
        return f"{t.own(m % 3)} played {t.card(m, int(rest[1])).label} as Swap"
    if verb == "munch":
        card = t.card(m, int(rest[1]))
        return f"{t.own(m % 3)} munched {card.label}: {describe_munch(card)}"
    if verb == "shrine":
        number = t.board.shrines.index(cast(Any, tuple(t.monster(m)["at"])))
        return f"{t.own(m % 3)} used the {t.scene['shrine_cards'][number]}"
    if verb == "regenerate":
        return f"{t.own(m % 3)} regenerated" + (" and shuffled its discard in" if rest[-1] == "shuffle" else "")
    if verb == "melt":
        cell = t.board.number[t.board.impassable[int(rest[1])]]
        return f"{t.own(m % 3)} melted the impassable field {t.board.field_names[cell]}"
    if verb == "discard":
        return ""  # all that go are told by what lies in the discards afterwards
    number = int(rest[0])
    if verb == "mob":
        return f"took the {t.content.mobs[number]}"
    if verb == "camp":
        return f"took the camp on {t.board.field_names[t.board.number[t.board.camps[number]]]}"
    if verb == "leave":
        mob = t.content.mobs.index(t.scene["mobs"][t.seat]["mob"])
        return f"left {t.content.monsters[4 * mob + number].name} at home"
    return f"chose favor card {number}" if not foreign else ""


def _told_part(t: Table, verb: str, rest: list[str], doing: str) -> str:
    """A choice within something that goes on."""
    if verb == "target":
        name = t.monster(monster_number(rest[0]))["name"]
        if doing == "effect" and t.rules.instructions[t.frame[9]][0]["do"] == "choose_own":
            return f"{t.source(t.frame[9])}: {name} {t.of_chosen(t.frame[9])}"
        if doing == "effect":
            return f"{t.source(t.frame[9])}: {name}"
        return f"{name} took the damage" if doing == "hit" else f"chose {name}"
    if verb == "cell":
        field = t.board.field_names[t.cell(rest[0])]
        if doing in ("knocked out", "displace"):
            return f"drove {t.monster(t.frame[3])['name']} to {field}"
        if doing == "bonus movement":
            return f"{t.monster(t.frame[2])['name']} moved on to {field}"
        if doing == "throw the idol":
            return f"the idol flew to {field}"
        if doing == "tile":
            return "" if t.content.patterns[t.frame[4]].edges else f"put an empty tile on {field}"
        return f"{t.source(t.frame[9])}: {field}" if doing == "effect" else f"chose {field}"
    if verb == "turn":
        if doing == "tile":
            pattern = t.content.patterns[t.frame[4]]
            field = t.board.field_names[t.frame[5]]
            return f"put the {pattern.name} tile on {field}: {sides(pattern, int(rest[0]))}"
        field = t.board.field_names[t.frame[7]]
        return f"turned the tile on {field}: {sides(t.pattern_at(t.frame[7]), int(rest[0]))}"
    if verb == "card":
        label = t.card(t.frame[2], int(rest[0])).label
        return f"{t.monster(t.frame[2])['name']} blocked with {label}" if doing == "block" else f"took back {label}"
    if verb == "slot":
        return f"{t.monster(t.frame[2])['name']} gave up {t.monster(t.frame[2])['slots'][int(rest[0])]}"
    if doing == "favor action":
        return f"used favor card {t.scene['mobs'][t.seat]['favor']}: {favor_choice(t, rest)}"
    return ""


def _outcome(step: Step, t: Table, doing: str) -> list[Line]:
    """What dice and piles brought."""
    frame = t.frame
    number = int(str(t.rules.outcome_name(step.action)).rsplit(" ", 1)[1])
    if doing == "lose cards":
        name = t.monster(frame[2])["name"]
        return [Line(frame[2] // 3, f"{name} lost {t.card(frame[2], number).label} by chance")]
    if doing == "roll":
        return [Line(frame[2] // 3, f"{t.monster(frame[2])['name']} rolled {t.tableau(frame[2]).die[number]}")]
    if doing == "tile":
        if frame[1] == 2:
            pattern = t.content.patterns[frame[4]]
            return [Line(NOBODY, f"{pattern.name} tile on {t.board.field_names[frame[5]]}: {sides(pattern, number)}")]
        placed = t.rules.parameters["tiles"] == "placed"
        return [Line(frame[3], f"drew the {t.content.patterns[number].name} tile")] if placed else []
    if doing == "time tile":
        tile = t.content.time_tiles[number]
        return [Line(NOBODY, f"time tile {tile.name}: {describe_time(tile)}")]
    if doing == "shrine card":
        cell = t.board.number[t.board.shrines[frame[2]]]
        shrine = t.content.shrines[number]
        return [Line(NOBODY, f"{shrine.name} lies on {t.board.field_names[cell]}: {describe_effects(shrine.effects)}")]
    if doing == "mob":
        return [Line(frame[3], f"got the {t.content.mobs[number]}")]
    if doing == "leave":
        mob = t.content.mobs.index(t.scene["mobs"][frame[3]]["mob"])
        return [Line(frame[3], f"left {t.content.monsters[4 * mob + number].name} at home")]
    return []


def _changes(before: Table, after: Table) -> list[Line]:
    """What a step brought about, as far as the seat sees it: energy, tokens, the idol, points, turns."""
    turns = _turns(before, after)
    begun, starting = _turn_starts(before, after)
    monsters = _over_the_limit(before, after) + _monsters(before.scene, begun)
    # A round begins with the favor cards; elsewhere what happened belongs to the turn that ends.
    lines = turns + monsters if turns and turns[0].text.startswith("favor cards") else monsters + turns
    lines += starting
    if after.scene["doing"] == "over":
        lines.append(Line(NOBODY, _end(after)))
    return lines


def _turn_starts(before: Table, after: Table) -> tuple[Mapping[str, Any], list[Line]]:
    """What the start of a turn does by itself (Q93), told with its cause, and the scene without it.

    One step may end a turn and begin the next one: what lies between is found by undoing the start of the turn; of
    several scenes that it leads from to the scene afterwards, the one that is nearest to the scene before.
    """
    new = after.scene
    if not _begins_turn(before, after):
        return new, []
    active = new["order"][new["turn"]]
    tile = next((t for t in after.content.time_tiles if t.name == new["time"]["tile"]), None)
    heal, drain = (int(tile.while_visible.get(key, 0)) if tile else 0 for key in ("start_heal", "idol_drain"))
    lines, monsters = [], []
    for k, is_ in enumerate(new["mobs"][active]["monsters"]):
        was = before.scene["mobs"][active]["monsters"][k]
        most = is_["energy"] + is_["spent"]
        drained = drain if new["carrier"] == [active, k] else 0
        _, energy, poison = min(
            (abs(energy - was["energy"]) + abs(poison - was["poison"]), energy, poison)
            for energy in range(most + 1)
            for poison in (is_["poison"], is_["poison"] + 1)
            if _started(energy, poison, most, heal, drained) == (is_["energy"], is_["poison"])
        )
        monsters.append({**is_, "energy": energy, "spent": most - energy, "poison": poison})
        parts = [f"energy {energy} to {is_['energy']}"] if energy != is_["energy"] else []
        parts += [f"poison {poison} to {is_['poison']}"] if poison != is_["poison"] else []
        causes = [f"time tile {tile.name}"] if tile and (drained or (heal and energy < most)) else []
        causes += ["poison"] if poison else []
        if parts:
            lines.append(Line(active, f"{is_['name']}: {', '.join(parts)} (start of the turn: {join(causes)})"))
    mobs = [{**mob, "monsters": monsters} if seat == active else mob for seat, mob in enumerate(new["mobs"])]
    return {**new, "mobs": mobs}, lines


def _started(energy: int, poison: int, most: int, heal: int, drained: int) -> tuple[int, int]:
    """Energy and poison tokens of a monster after the start of its turn: recovery, poison, the idol's drain (Q93)."""
    energy = min(most, energy + heal)
    if poison:
        energy, poison = max(0, energy - 1), poison - 1
    return max(0, energy - drained), poison


def _begins_turn(before: Table, after: Table) -> bool:
    old, new = before.scene, after.scene
    return new["turn"] is not None and (new["turn"], new["time"]["turns"]) != (old["turn"], old["time"]["turns"])


def _over_the_limit(before: Table, after: Table) -> list[Line]:
    """Cards that go by the hand limit; the last ones of several go without a choice."""
    if before.scene["doing"] != "hand limit":
        return []
    lines = []
    for seat, (old, new) in enumerate(zip(before.scene["mobs"], after.scene["mobs"], strict=True)):
        for was, is_ in zip(old["monsters"], new["monsters"], strict=True):
            gone = list((Counter(is_["discard"]) - Counter(was["discard"])).elements())
            if gone:
                lines.append(Line(seat, f"{is_['name']} discarded {join(gone)} (hand limit)"))
    return lines


def _monsters(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Line]:
    """Energy, tokens, who has the idol, points."""
    lines = []
    for seat, (mob, now) in enumerate(zip(old["mobs"], new["mobs"], strict=True)):
        for was, is_ in zip(mob["monsters"], now["monsters"], strict=False):
            parts = []
            if was["energy"] + was["spent"] and was["energy"] != is_["energy"]:
                parts.append(f"energy {was['energy']} to {is_['energy']}")
            parts += [f"{name} {was[name]} to {is_[name]}" for name in TOKENS if was[name] != is_[name]]
            if parts:
                lines.append(Line(seat, f"{is_['name']}: {', '.join(parts)}"))
    if new["carrier"] != old["carrier"]:
        if new["carrier"] is not None:
            seat, k = new["carrier"]
            lines.append(Line(seat, f"{new['mobs'][seat]['monsters'][k]['name']} has the idol"))
        else:
            lines.append(Line(NOBODY, "nobody has the idol"))
    elif new["points"] != old["points"]:
        scored = [seat for seat, points in enumerate(new["points"]) if points != old["points"][seat]]
        lines += [Line(seat, f"{count(new['points'][seat], 'point')} now") for seat in scored]
    return lines


def _turns(before: Table, after: Table) -> list[Line]:
    """Favor cards that are shown, and whose turn begins."""
    lines = []
    old, new = before.scene, after.scene
    shown = [mob["favor"] for mob in new["mobs"]]
    if None not in shown and None in [mob["favor"] for mob in old["mobs"]]:
        cards = join([f"{has(seat, after.seat)} {favor}" for seat, favor in enumerate(shown)])
        lines.append(Line(NOBODY, f"favor cards: {cards}"))
    if _begins_turn(before, after):
        seat = new["order"][new["turn"]]
        begins = "your turn" if seat == after.seat else f"the turn of seat {seat}"
        lines.append(Line(NOBODY, f"turn {new['time']['turns'] + 1}: {begins}"))
    return lines


def _end(t: Table) -> str:
    """Why the game is over."""
    scene = t.scene
    if scene["carrier"] is not None:
        seat, k = scene["carrier"]
        mob = scene["mobs"][seat]
        if tuple(scene["idol"]) == t.board.camps[mob["camp"]]:
            return f"{mob['monsters'][k]['name']} brought the idol home"
    lying = [seat for seat, mob in enumerate(scene["mobs"]) if t.board.camps[mob["camp"]] == tuple(scene["idol"])]
    if lying:
        return f"the idol came to lie in {whose(lying[0], t.seat)} camp"
    points = tally(scene["points"], t.seat, "point")
    munched = tally([mob["munched"] for mob in scene["mobs"]], t.seat, "card", done="munched")
    return f"the time is up: {points}; {munched}"
