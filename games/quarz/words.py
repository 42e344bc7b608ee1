"""What Qu'arz says to people: question, options, story (in modules of their own), and what can be looked up."""

from __future__ import annotations

from collections.abc import Mapping

from engine_ext.position import Position, Rules
from games.quarz.asking import ask
from games.quarz.cards import TimeTile, card_provenance, munch_provenance
from games.quarz.options import describe_monster, favor_card, options
from games.quarz.story import tell
from games.quarz.table import Table
from games.quarz.texts import describe_bonus, describe_card, describe_effects, describe_time
from games.words import Words, count, join


def look_up(position: Position, seat: int) -> Mapping[str, str]:
    """Mobs, monsters, their cards, favor cards, shrines, time tiles, and every field of the board. While mobs and
    monsters are still chosen, all of them; then those that fight."""
    t = Table(position, seat)
    known: dict[str, str] = {}
    choosing = t.scene["doing"] in ("mob", "camp", "leave")
    playing = {mob["mob"] for mob in t.scene["mobs"]}
    for mob, provenance in zip(t.content.mobs, t.content.mob_provenance, strict=True):
        if choosing or mob in playing:
            of_mob = [monster.name for monster in t.content.monsters if monster.mob == mob]
            named = f"; its name is {provenance}" if _marked(provenance) else ""
            known[mob] = f"a mob: {', '.join(of_mob)}{named}"
    fighting = [entry["name"] for mob in t.scene["mobs"] for entry in mob["monsters"]]
    for name in t.monsters if choosing else fighting:
        monster = t.monsters[name]
        known[monster.name] = (
            f"{describe_monster(monster).split(': ', 1)[1]}; with two slots filled "
            f"{describe_bonus(monster.slot2)}, with three {describe_bonus(monster.slot3)}; {monster.provenance}. "
            f"Cards: {', '.join(dict.fromkeys(card.ability for card in monster.cards))}"
        )
        for card in monster.cards:
            key = card.label if card.label not in known else f"{card.label} of {monster.name}"
            text = describe_card(card).removeprefix(card.label + " ")
            whole, eaten = card_provenance(t.content, card), munch_provenance(t.content, card)
            marked = _marked(whole) or (f"; its munch effect is {eaten}" if _marked(eaten) else "")
            known[key] = f"card of {monster.name}: {text}{marked}"
    for favor in t.content.favors:
        known[f"favor card {favor.value}"] = favor_card(t, [str(favor.value)]).split(": ", 1)[1] + _marked(
            favor.provenance
        )
    for shrine in t.content.shrines:
        known[shrine.name] = describe_effects(shrine.effects) + _marked(shrine.provenance)
    for tile in t.content.time_tiles if t.scene["time"]["left"] else ():
        known[f"time tile {tile.name}"] = f"{_state_of(t, tile)}: {describe_time(tile)}{_marked(tile.provenance)}"
    for cell in range(len(t.board.cells)):
        known[t.board.field_names[cell]] = _field(t, cell)
    return known


def _state_of(t: Table, tile: TimeTile) -> str:
    """Where a time tile is: all players know all of them, and which have been seen (rules 20, 23)."""
    time = t.scene["time"]
    if tile.name == time["tile"]:
        return f"level {tile.level}, open now"
    if tile.name in time["used"]:
        return f"level {tile.level}, gone"
    return f"level {tile.level}, not seen yet"


def _field(t: Table, cell: int) -> str:
    """What is on a field, and what of it is reconstructed: where it lies on the board, the edges of its tile."""
    place = t.board.cells[cell]
    facts = t.notes(cell) or ["nobody there"]
    made = ["board"] if _marked(t.board.provenance) else []
    if place in t.board.modifiable:
        facts.append(t.tile_at(cell))
        if f"{place[0]},{place[1]}" in t.scene["tiles"] and _marked(t.pattern_at(cell).provenance):
            made.append("tile pattern")
    return ", ".join(facts) + (f"; {join(made)} reconstructed" if made else "")


def _marked(provenance: str) -> str:
    """What is not published says so."""
    return f"; {provenance}" if provenance == "reconstructed" else ""


def aim(rules: Rules) -> str:
    """The course of a round, and what wins."""
    actions = count(rules.parameters["actions"], "action")
    return (
        "Who brings the crystal idol from the altar into the own camp wins at once; else points decide when the time "
        "is up: shrines bring them, and so does standing on the idol at the end; a tie goes to who has munched most "
        "cards, and if that is a tie, too, nobody wins. Each round all choose a favor card "
        f"in secret; the highest plays first. On your turn you have {actions}: your monsters move, attack, draw, play "
        "or munch cards, use shrines, or regenerate. Nearly all of it costs the monster that acts some of its "
        "energy; one that has none left can only regenerate, which brings all of it back. A card that is munched "
        "leaves the game for something its monster gains."
    )


WORDS = Words(ask=ask, options=options, tell=tell, look_up=look_up, aim=aim)
