"""OpenSpiel's own searches on our games, as docs/openspiel.md has them."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import ismcts, mcts

import games  # noqa: F401  registers them
from solvers.best_response import exploitability
from solvers.extraction import extract
from solvers.policies import TabularPolicy


def test_the_searches_that_docs_openspiel_names_work_on_our_games():
    game = pyspiel.load_game("quandary_pig(goal=6)")
    state = game.new_initial_state()
    bot = pyspiel.MCTSBot(game, pyspiel.RandomRolloutEvaluator(1, 1), 2.0, 20, 10, False, 1, False)
    assert bot.mcts_search(state).best_child().action in state.legal_actions()
    hidden = pyspiel.load_game("quandary_kuhn")
    state = hidden.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    cpp = pyspiel.ISMCTSBot(1, pyspiel.RandomRolloutEvaluator(1, 1), 2.0, 20, -1)
    with pytest.raises(pyspiel.SpielError, match="ResampleFromInfostate"):
        cpp.step_with_policy(state)
    chance = np.random.RandomState(1)
    evaluator = mcts.RandomRolloutEvaluator(random_state=chance)
    python = ismcts.ISMCTSBot(hidden, evaluator, 2.0, 20, random_state=chance)
    assert python.step(state) in state.legal_actions()


def test_a_policy_of_one_of_our_games_gets_into_openspiel_as_docs_solvers_has_it():
    """And both sides agree how far it is from an equilibrium; uniform play of Kuhn poker loses 11/24."""
    policy = TabularPolicy.uniform(extract("quandary_kuhn"))
    game = pyspiel.load_game("quandary_kuhn")
    assert exploitability(policy) == pytest.approx(11 / 24)
    assert pyspiel.exploitability(game, policy.to_openspiel(game)) == pytest.approx(11 / 24)
