"""Qu'arz: mobs of monsters fight for the crystal idol on a hex board."""

from engine_ext.position import Rules
from games.quarz.cards import records
from games.quarz.rules import QuarzRules
from games.quarz.view import draw_board, picture, sections
from games.quarz.words import WORDS
from games.spec import GameSpec


def _records(rules: Rules) -> list[dict[str, str]]:
    assert isinstance(rules, QuarzRules)
    return records(rules.content)


def _layouts(rules: Rules) -> list[tuple[str, str]]:
    assert isinstance(rules, QuarzRules)
    return [
        (f"layout={layout.name}", f"{layout.players} players, board {layout.board}: {layout.description}")
        for layout in rules.content.layouts.values()
    ]


GAME = GameSpec(
    name="quarz",
    long_name="Qu'arz",
    package=__name__,
    rules=QuarzRules,
    parameters={
        "players": 2,
        "board": "",
        "length": "",
        "draft": "players",
        "layout": "",
        "tiles": "placed",
        "tile_seed": 0,
        "squad": 3,
        "cards": True,
        "actions": 2,
        "turns": 0,
        "sight": "spine",
        "impassable_sight": True,
        "data": "",
    },
    parameter_help={
        "players": "2 to 4",
        "board": "a board of data/boards.toml; empty: the usual one for the players",
        "length": "short, medium or long; empty: medium for four players, else short",
        "draft": "who chooses mobs, camps and monsters: players, random, or fixed (by seat number)",
        "layout": "a quick set-up by name, see below: which tile lies where; empty: as `tiles` says",
        "tiles": "how modifiable fields are filled: placed (by the players), random, seed (by tile_seed), or none",
        "tile_seed": "the layout of tiles=seed, 0 and up",
        "squad": "monsters a mob fields, 1 to 3; below 3 the draft is fixed",
        "cards": "whether monsters have their decks",
        "actions": "actions a turn, 1 to 4",
        "turns": "the game ends after so many turns, without time tiles; 0: by the time track",
        "sight": "reading of the line of sight: spine or strict",
        "impassable_sight": "whether unmelted impassable fields stop shots",
        "data": "a folder of your own data files; empty: the game's",
    },
    players=(2, 4),
    hidden_information=True,
    ties_are_wins=False,  # rule 129
    view=sections,
    words=WORDS,
    picture=picture,
    draw_board=draw_board,
    records=_records,
    setups=_layouts,
)
