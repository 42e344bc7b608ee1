"""Pentaquest: beat a deck of creatures with five dice, and keep the army that helps you."""

from games.pentaquest.rules import PentaquestRules
from games.pentaquest.view import records, sections
from games.pentaquest.words import WORDS
from games.spec import GameSpec

GAME = GameSpec(
    name="pentaquest",
    long_name="Pentaquest",
    package=__name__,
    rules=PentaquestRules,
    parameters={
        "deck": "default",
        "players": 1,
        "quest_area": 5,
        "distinct": False,
        "original": False,
        "first_turn_rerolls": "all",
        "utility": "win",
    },
    parameter_help={
        "deck": "a deck shipped with the game, or the path of a deck file (.toml)",
        "players": "1 to 8",
        "quest_area": "cards that lie face up, 1 to 64",
        "distinct": "suns and moons of one card must be different numbers (superseded rule)",
        "original": "several players: a failed turn costs an army card, and only the army scores",
        "first_turn_rerolls": "several players: two free rerolls in the first turn of 'all' or of the 'first' only",
        "utility": "several players: 'win', or 'score', the lead over the mean of the others",
    },
    players=(1, 8),
    hidden_information=False,
    view=sections,
    words=WORDS,
    records=records,
)
