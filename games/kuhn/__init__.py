"""Kuhn poker: three cards, one bet. The calibration game with hidden information."""

from games.kuhn.rules import KuhnRules
from games.kuhn.words import WORDS, view
from games.spec import GameSpec

GAME = GameSpec(
    name="quandary_kuhn",  # OpenSpiel has a kuhn_poker of its own
    long_name="Kuhn poker",
    package=__name__,
    rules=KuhnRules,
    parameters={},
    players=(2, 2),
    hidden_information=True,
    provides_recall_tensor=True,
    view=view,
    words=WORDS,
)
