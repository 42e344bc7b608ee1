"""Pig: roll as long as you dare. The calibration game with a known exact answer."""

from games.pig.rules import PigRules
from games.pig.words import WORDS, view
from games.spec import GameSpec

GAME = GameSpec(
    name="quandary_pig",  # OpenSpiel has a pig of its own
    long_name="Pig",
    package=__name__,
    rules=PigRules,
    parameters={"goal": 100},
    parameter_help={"goal": "points that win, 2 to 1000"},
    players=(2, 2),
    hidden_information=False,
    view=view,
    words=WORDS,
)
