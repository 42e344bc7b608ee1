"""Quarriors: draw dice, roll them, summon creatures, attack everybody, buy better dice."""

from games.quarriors.rules import QuarriorsRules
from games.quarriors.view import records, sections
from games.quarriors.words import WORDS
from games.spec import GameSpec

GAME = GameSpec(
    name="quarriors",
    long_name="Quarriors!",
    package=__name__,
    rules=QuarriorsRules,
    parameters={
        "edition": "base",
        "players": 2,
        "qladiator": False,
        "mixed": False,
        "wilds": "",
        "quantity_capture": False,
        "utility": "win",
        "max_turns": 100,
        "data": "",
    },
    parameter_help={
        "edition": "base or light_vs_dark",
        "qladiator": "true adds the cards and dice with Lock faces of Quest of the Qladiator",
        "mixed": "true adds the base set's creatures and spells to light_vs_dark",
        "quantity_capture": "true allows two captures a turn in light_vs_dark",
        "players": "2 to 4",
        "wilds": "names of cards in the Wilds, separated by ';'; the rest is dealt",
        "utility": "win, or glory: own Glory (up to the goal) minus the mean of the others'",
        "max_turns": "rounds after which the game ends by Glory, 1 to 1000",
        "data": "path of a further set file; its dice and cards are added, or replace those of the same name",
    },
    variants={
        "Quarriors!": {},
        "Quarriors! with Quest of the Qladiator": {"qladiator": True},
        "Light vs. Dark": {"edition": "light_vs_dark"},
        "Light vs. Dark with Quest of the Qladiator": {"edition": "light_vs_dark", "qladiator": True},
    },
    players=(2, 4),
    hidden_information=False,
    view=sections,
    steady=("wilds",),
    words=WORDS,
    records=records,
)
