"""The policy a searcher induces, and its exploitability, against known figures."""

from __future__ import annotations

import pytest

from engine_ext.errors import SpecError, UnsuitableGameError
from solvers.best_response import exploitability
from solvers.contract import ActionStats, Limit, SearchResult
from solvers.extraction import as_game
from solvers.induced import FIGURE, Curve, measure, measure_all, search_policy, self_play_policy
from solvers.specs import make_searcher


@pytest.fixture(scope="module")
def kuhn():
    return as_game("kuhn_poker")


class Folder:
    """Always takes the first legal action: pass in Kuhn poker, fold in Leduc poker."""

    def search(self, position, *, seed, limit=None):
        legal = position.legal_actions()
        actions = tuple(ActionStats(action, 1, 0.0, float(i == 0)) for i, action in enumerate(legal))
        return SearchResult(legal[0], (0.0, 0.0), actions, 1, 1, 0.0)

    def reset(self):
        pass


@pytest.mark.parametrize(("game", "uniform"), [("kuhn_poker", 11 / 24), ("leduc_poker", 4.747222222222222 / 2)])
def test_exploitability_of_random_and_folding_players(game, uniform):
    """NashConv of uniform and of always-fold play, as in OpenSpiel's exploitability_test.py."""
    rules = as_game(game)
    policy = search_policy(rules, make_searcher("random"), seed=1)
    assert exploitability(policy) == pytest.approx(uniform, abs=1e-12)
    assert exploitability(search_policy(rules, Folder(), seed=1)) == pytest.approx(1.0, abs=1e-12)


def test_the_searcher_is_asked_in_every_information_set(kuhn):
    """With 12 sets, and the average strategies of a search as its answer."""
    seen = []
    searcher = make_searcher("smooth_uct(simulations=100)")
    policy = search_policy(kuhn, searcher, seed=3, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(i, 12) for i in range(1, 13)]
    assert policy.probabilities.min() > 0.0
    again = search_policy(kuhn, searcher, seed=3)
    other = search_policy(kuhn, searcher, seed=4)
    assert (policy.probabilities == again.probabilities).all()
    assert (policy.probabilities != other.probabilities).any()


def test_self_play_of_a_long_search_beats_a_short_one(kuhn):
    for spec in ("smooth_uct", "oos"):
        short, long = (
            exploitability(self_play_policy(kuhn, make_searcher(spec), seed=1, limit=Limit(simulations=n))[0])
            for n in (300, 300_000)
        )
        assert long < 0.1 * short
    with pytest.raises(UnsuitableGameError, match="read it by search"):
        self_play_policy(kuhn, make_searcher("random"), seed=1)


def test_the_figure_on_kuhn(kuhn):
    """Every curve has its points; those that learn by self-play fall below those that do not."""
    points = list(measure_all(kuhn, (100, 30_000), seeds=(1, 2)))
    assert len(points) == 2 * 2 * len(FIGURE)
    last: dict[str, list[float]] = {}
    for point in points:
        assert point.seconds > 0.0
        assert point.searches == (12 if point.curve.reading == "search" else 1)
        if point.simulations == 30_000:
            last.setdefault(point.curve.label, []).append(point.exploitability)
    assert set(last) == {curve.label for curve in FIGURE}
    for good in ("Smooth UCT", "OOS, one search"):
        for bad in ("UCT", "IS-MCTS"):
            assert max(last[good]) < min(last[bad])
    few = list(measure_all(kuhn, (100, 1000), most_simulations=1000))
    assert all(point.simulations * point.searches <= 1000 for point in few)
    assert any(point.simulations == 1000 for point in few)


def test_errors_name_the_cause(kuhn):
    with pytest.raises(SpecError, match="reading is 'guess'"):
        measure(kuhn, Curve("x", "ismcts", "guess"), 10, 1)
    with pytest.raises(UnsuitableGameError, match="mcts"):
        measure(kuhn, Curve("x", "mcts", "search"), 10, 1)
