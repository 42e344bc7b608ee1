"""Information-set MCTS and Smooth UCT: against a plain reference, OpenSpiel, known best play, and
their own promises."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pyspiel
import pytest

import games
from engine_ext.errors import LimitError, SpecError, UnsuitableGameError
from engine_ext.rng import Stream
from solvers import ismcts
from solvers.contract import Limit
from solvers.extraction import as_game
from solvers.info_tree import logarithms
from solvers.ismcts import IsmctsSearcher, SmoothUctSearcher
from solvers.specs import make_searcher
from solvers.tree import FlatTree
from solvers.tree_rules import TreeRules
from tests.conformance.instances import game_strings, rules_of
from tests.reference import exact, information_sets

SEARCHERS = [
    IsmctsSearcher(),
    IsmctsSearcher(observer="single"),
    IsmctsSearcher(threads=2, play="sample"),
    IsmctsSearcher(playout="greedy", epsilon=0.2),
    IsmctsSearcher(root="game"),
    SmoothUctSearcher(),
    SmoothUctSearcher(observer="single", play="best"),
    SmoothUctSearcher(root="game", threads=3),
]


def kuhn(cards, bids=""):
    return games.spec("kuhn").make_rules().from_dict({"cards": cards, "bids": bids})


def first_decision(rules):
    position = rules.initial_position()
    while position.is_chance_node():
        position.apply_action(position.legal_actions()[0])
    return position


@pytest.fixture(scope="module")
def leduc():
    return as_game("leduc_poker")


# ---- what it computes --------------------------------------------------------------------------


@pytest.mark.parametrize("single", [False, True], ids=["multiple", "single"])
@pytest.mark.parametrize("smooth", [False, True], ids=["uct", "smooth"])
@pytest.mark.parametrize(("cards", "bids"), [([1, 2], ""), ([0, 1], "p"), ([1, 0], "pb")])
def test_visits_are_those_of_the_plain_reference(single, smooth, cards, bids):
    """Mean visits of an action over many seeds, compiled and plain, within five standard errors."""
    position = kuhn(cards, bids)
    runs, simulations = 250, 60
    observer = "single" if single else "multiple"
    if smooth:
        searcher = SmoothUctSearcher(observer=observer, c=0.5, eta=0.8, gamma=0.3, decay=0.2)
    else:
        searcher = IsmctsSearcher(observer=observer, c=0.5)

    def mix(visits):
        return max(0.3, 0.8 / (1 + 0.2 * math.sqrt(visits))) if smooth else 1.0

    ours, plain = [], []
    for seed in range(runs):
        result = searcher.search(position, seed=seed, limit=Limit(simulations=simulations))
        ours.append(result.actions[1].visits)
        plain.append(information_sets.ismcts(position, simulations, seed, 0.5 * 4.0, single=single, mix=mix)[1])

    def mean_and_variance(sample):
        mean = sum(sample) / runs
        return mean, sum((each - mean) ** 2 for each in sample) / (runs - 1) / runs

    (a, va), (b, vb) = mean_and_variance(ours), mean_and_variance(plain)
    assert abs(a - b) < 5 * math.sqrt(va + vb) + 1e-9


@pytest.mark.parametrize("parameters", [{}, {"observer": "single"}, {"threads": 2}])
@pytest.mark.parametrize(
    ("cards", "bids", "action"),
    [
        ([0, 1], "pb", 0),  # the lowest card never calls
        ([1, 0], "b", 0),
        ([2, 1], "pb", 1),  # the highest always does
        ([1, 2], "b", 1),
        ([1, 2], "p", 1),  # and bets when it may
    ],
)
def test_never_plays_a_dominated_action_of_kuhn(parameters, cards, bids, action):
    result = IsmctsSearcher(simulations=20_000, **parameters).search(kuhn(cards, bids), seed=3)
    assert result.action == action
    assert result.actions[action].probability == 1.0


def test_values_of_certain_kuhn_positions():
    """A fold costs the ante of 1; the highest card called wins 2."""
    result = IsmctsSearcher(simulations=5000).search(kuhn([0, 2], "pb"), seed=1)
    assert result.actions[0].value == -1.0
    assert result.actions[1].value == -2.0
    result = SmoothUctSearcher(simulations=5000).search(kuhn([2, 0], "pb"), seed=1)
    assert result.actions[0].value == -1.0
    assert result.actions[1].value == 2.0


def test_agrees_with_openspiel_on_leduc(leduc):
    """Same search, same game: the visit shares of the root agree where one action is clearly best."""
    state = pyspiel.load_game("leduc_poker").new_initial_state()
    for action in (4, 0, 1):  # a king against a jack, and a call: the second player moves
        state.apply_action(action)
    bot = pyspiel.ISMCTSBot(
        5,
        pyspiel.RandomRolloutEvaluator(1, 5),
        0.7 * 26,
        50_000,
        -1,
        pyspiel.ISMCTSFinalPolicyType.NORMALIZED_VISIT_COUNT,
        False,
        False,
    )
    theirs = dict(bot.step_with_policy(state)[0])
    result = IsmctsSearcher(simulations=50_000, play="sample").search(leduc.position(leduc.tree.node_of(state)), seed=5)
    ours = {each.action: each.probability for each in result.actions}
    assert ours == pytest.approx(theirs, abs=0.05)


def test_perfect_information_is_uct_on_states():
    """Pig to 12: the exact best move, from the state keys alone."""
    rules = games.spec("pig").make_rules({"goal": 12})
    values = exact.value_iteration(rules.initial_position())
    for scores, seat, total in [([6, 4], 1, 3), ([10, 3], 0, 2), ([8, 11], 0, 3)]:
        position = rules.from_dict({"scores": scores, "seat": seat, "total": total})
        sign = 1 if seat == 0 else -1
        options = {action: sign * values[exact.step(position, action)] for action in position.legal_actions()}
        result = IsmctsSearcher(simulations=30_000).search(position, seed=1)
        assert options[result.action] > max(options.values()) - 1e-9


def test_three_players():
    rules = as_game("kuhn_poker(players=3)")
    position = first_decision(rules)
    result = IsmctsSearcher(simulations=2000).search(position, seed=1)
    assert len(result.values) == 3
    assert sum(result.values) == pytest.approx(0.0, abs=1e-9)
    assert sum(each.visits for each in result.actions) == 2000


@pytest.mark.parametrize("players", [2, 3])
def test_a_chance_root_is_self_play_of_the_whole_game(players):
    rules = as_game(f"kuhn_poker(players={players})")
    result = SmoothUctSearcher(simulations=2000).search(rules.initial_position(), seed=1)
    assert result.action is None
    assert result.actions == ()
    assert len(result.values) == players


def test_portable_logarithms():
    """Over all counts a search can meet: within two units in the last place of the C library's, and
    the quick one to 1e-12."""
    for x in [*range(1, 5000), *(int(1.37**k) for k in range(28, 68)), 2**31 - 1]:
        portable, quick = logarithms(x)
        assert abs(portable - math.log(x)) <= 2 * math.ulp(math.log(x))
        assert quick == pytest.approx(math.log(x), rel=1e-12, abs=1e-12)


# ---- exploitability ----------------------------------------------------------------------------


def root_exploitability(searcher, rules, simulations, seed):
    """OpenSpiel's exploitability of the average strategies of one search from the start."""
    tree = rules.tree
    grown = searcher.grow(rules.initial_position(), seed=seed, limit=Limit(simulations=simulations))
    policy = {}
    for infoset in range(tree.n_infosets):
        position = rules.position(int(tree.infoset_nodes(infoset)[0]))
        policy[tree.infoset_label(infoset)] = list(grown.average_policy(position).items())
    return pyspiel.exploitability(pyspiel.load_game(tree.name), pyspiel.TabularPolicy(policy))


def test_smooth_uct_approaches_equilibrium_where_uct_stays(leduc):
    """Heinrich and Silver 2015, figures 1 and 2: Smooth UCT goes on falling, UCT stops."""
    kuhn_tree = as_game("kuhn_poker")
    smooth = [root_exploitability(SmoothUctSearcher(), kuhn_tree, n, 1) for n in (1_000, 30_000, 1_000_000)]
    assert smooth[0] > smooth[1] > smooth[2]
    assert smooth[2] < 0.008
    assert root_exploitability(IsmctsSearcher(), kuhn_tree, 1_000_000, 1) > 0.012
    smooth = [root_exploitability(SmoothUctSearcher(), leduc, n, 1) for n in (10_000, 100_000, 1_000_000)]
    assert smooth[0] > smooth[1] > smooth[2]
    assert smooth[2] < 0.35


# ---- what it promises --------------------------------------------------------------------------


@pytest.mark.parametrize("searcher", SEARCHERS)
def test_no_bot_sees_what_its_seat_cannot(searcher):
    """Two states of one information set, same seed: the same result, whatever the rival holds."""
    limit = Limit(simulations=300)
    for own in range(3):
        for bids in ("", "p", "b", "pb"):
            seat = len(bids) % 2
            rivals = [card for card in range(3) if card != own]
            positions = [kuhn([own, card] if seat == 0 else [card, own], bids) for card in rivals]
            for seed in (1, 2):
                a, b = (searcher.search(position, seed=seed, limit=limit) for position in positions)
                assert repr((a.action, a.actions, a.values, a.nodes)) == repr((b.action, b.actions, b.values, b.nodes))


@pytest.mark.parametrize("game", [each for each in game_strings() if rules_of(each).hidden_information])
def test_no_bot_sees_what_its_seat_cannot_in_any_game(game):
    """The position of a random game, and another that its seat cannot tell from it."""
    rules = rules_of(game)
    searchers = [IsmctsSearcher(simulations=15), IsmctsSearcher(simulations=15, observer="single")]
    compared = 0
    for seed in range(40):  # small scenarios hide little: it takes some games to meet it
        if compared >= 40:
            break
        stream = Stream(seed)
        position = rules.initial_position()
        for _ in range(100):
            position.run_chance(stream)
            if position.is_terminal() or compared >= 8 * (seed + 1):
                break
            other = position.resample(position.current_player(), stream)
            if other != position:
                compared += 1
                for searcher in searchers:
                    a, b = (searcher.search(each, seed=4) for each in (position, other))
                    assert repr((a.action, a.actions, a.values)) == repr((b.action, b.actions, b.values))
            position.apply_action(position.random_action(stream))
    assert compared >= 5


@pytest.mark.parametrize("searcher", [IsmctsSearcher(), SmoothUctSearcher(), SmoothUctSearcher(root="game")])
def test_no_bot_sees_what_its_seat_cannot_on_a_tree(searcher, leduc):
    tree = leduc.tree
    for infoset in range(0, tree.n_infosets, 97):
        nodes = tree.infoset_nodes(infoset)
        results = [
            searcher.search(leduc.position(int(node)), seed=4, limit=Limit(simulations=50))
            for node in (nodes[0], nodes[-1])
        ]
        assert repr(results[0].actions) == repr(results[1].actions)  # as text, where nan equals nan
        assert results[0].action == results[1].action


@pytest.mark.parametrize("searcher", SEARCHERS)
def test_same_seed_same_result(searcher):
    limit = Limit(simulations=500)
    first, second, other = (searcher.search(kuhn([1, 2]), seed=seed, limit=limit) for seed in (5, 5, 6))
    assert (first.action, first.actions, first.values) == (second.action, second.actions, second.values)
    assert first.actions != other.actions or first.values != other.values
    assert first.reproducible
    assert first.simulations == 500


def test_position_is_left_alone(leduc):
    position = first_decision(leduc)
    before = position.to_bytes()
    IsmctsSearcher(simulations=100).search(position, seed=1)
    assert position.to_bytes() == before


@pytest.mark.parametrize("observer", ["multiple", "single"])
@pytest.mark.parametrize("budget", [1, 2, 3, 5, 40])
def test_node_budget_is_never_exceeded(budget, observer):
    """And the search goes on in the tree it has."""
    pig = games.spec("pig").make_rules().initial_position()
    for position in (kuhn([2, 1], "pb"), pig):
        searcher = IsmctsSearcher(simulations=5000, max_nodes=budget, observer=observer)
        result = searcher.search(position, seed=2)
        assert result.simulations == 5000
        assert 1 <= result.nodes <= budget
        assert result.action in position.legal_actions()
    assert result.nodes == budget


def test_limits():
    position = kuhn([1, 2])
    assert IsmctsSearcher().search(position, seed=1).simulations == 1000
    assert IsmctsSearcher(nodes=70).search(position, seed=1).simulations == 70
    assert IsmctsSearcher(nodes=70, simulations=50).search(position, seed=1).simulations == 50
    assert IsmctsSearcher(simulations=7, threads=3).search(position, seed=1).simulations == 7
    assert IsmctsSearcher(simulations=2, threads=3).search(position, seed=1).simulations == 2
    timed = IsmctsSearcher(seconds=0.05).search(position, seed=1)
    assert timed.seconds >= 0.05
    assert not timed.reproducible
    assert IsmctsSearcher(seconds=1e-6).search(position, seed=1).simulations >= 1  # and never none
    shallow = IsmctsSearcher(simulations=500, depth=1).search(position, seed=1)
    assert shallow.nodes == 1
    assert IsmctsSearcher(simulations=40).search(position, seed=1, limit=Limit(depth=3)).simulations == 40
    assert IsmctsSearcher(seconds=9.0).search(position, seed=1, limit=Limit(depth=3)).simulations == 1000
    with pytest.raises(LimitError, match="max_nodes"):
        IsmctsSearcher(max_nodes=1, threads=2).search(position, seed=1)


def test_one_simulation_tries_one_action():
    result = IsmctsSearcher(simulations=1).search(kuhn([1, 2]), seed=1)
    assert sorted(each.visits for each in result.actions) == [0, 1]
    assert math.isnan(min(result.actions, key=lambda each: each.visits).value)
    assert result.actions[result.action].visits == 1


def test_terminal_root():
    result = IsmctsSearcher().search(kuhn([1, 2], "pp"), seed=1)
    assert result.action is None
    assert result.values == (-1.0, 1.0)
    assert result.exact


def test_values_are_those_of_the_move_that_is_played():
    """The best move's own where it is always played, the mean of all where it is drawn by visits."""
    best = IsmctsSearcher(simulations=3000).search(kuhn([2, 1], "pb"), seed=1)
    assert best.values == (2.0, -2.0)  # the highest card calls and wins 2
    drawn = IsmctsSearcher(simulations=3000, play="sample").search(kuhn([2, 1], "pb"), seed=1)
    share = drawn.actions[1].probability
    assert drawn.values[0] == pytest.approx(2.0 * share - (1.0 - share))
    pig = games.spec("pig").make_rules({"goal": 12})
    won = pig.from_dict({"scores": [8, 8], "seat": 1, "total": 4})
    result = IsmctsSearcher(simulations=500).search(won, seed=1)
    assert (result.action, result.values) == (1, (-1.0, 1.0))
    assert sum(each.visits for each in result.actions) == 500  # though states come again within one game


def test_probabilities_and_visits_add_up():
    for searcher in SEARCHERS:
        result = searcher.search(kuhn([1, 2], "pb"), seed=9, limit=Limit(simulations=777))
        assert sum(each.probability for each in result.actions) == pytest.approx(1.0)
        if searcher.parameters["root"] == "position":
            assert sum(each.visits for each in result.actions) == 777
        assert [each.action for each in result.actions] == [0, 1]


def test_a_drawn_move_follows_its_probabilities():
    searcher = SmoothUctSearcher(simulations=400)
    chosen = expected = 0.0
    for seed in range(400):
        result = searcher.search(kuhn([1, 2], "b"), seed=seed)
        chosen += result.action
        expected += result.actions[1].probability
    assert abs(chosen - expected) < 5 * math.sqrt(400 * 0.25)


def test_a_single_observer_searches_a_tree_as_it_does_the_game():
    """No decision of Kuhn poker is forced, so its tree has the nodes of the game: visits agree within five
    standard errors."""
    tree = as_game(games.spec("kuhn").make_rules())
    searcher = IsmctsSearcher(observer="single", simulations=300)
    for cards, bids in (([1, 2], ""), ([0, 1], "p"), ([1, 0], "pb")):
        native = kuhn(cards, bids)
        node = 0
        for action in [*cards, *("pb".index(each) for each in bids)]:
            node = tree.tree.child(node, action)
        runs = 150
        means = []
        for position in (native, tree.position(node)):
            visits = [searcher.search(position, seed=seed).actions[1].visits for seed in range(runs)]
            mean = sum(visits) / runs
            means.append((mean, sum((each - mean) ** 2 for each in visits) / (runs - 1) / runs))
        (a, va), (b, vb) = means
        assert abs(a - b) < 5 * math.sqrt(va + vb) + 1e-9


def test_a_single_observer_is_refused_where_nobody_is_to_move():
    start = games.spec("kuhn").make_rules().initial_position()
    with pytest.raises(UnsuitableGameError, match=r"observer=single .* chance is to move"):
        IsmctsSearcher(observer="single").search(start, seed=1)
    assert IsmctsSearcher().search(start, seed=1).simulations == 1000


def test_what_others_know_is_found_out_before_the_clock_begins(leduc, monkeypatch):
    """It takes an hour by this clock."""
    now_s = [0.0]

    def slow(tree):
        now_s[0] += 3600.0

    monkeypatch.setattr(ismcts, "time", SimpleNamespace(perf_counter=lambda: now_s[0]))
    monkeypatch.setattr(ismcts, "prepare_views", slow)
    searcher = IsmctsSearcher(observer="single", seconds=10.0, simulations=100)
    result = searcher.search(first_decision(leduc), seed=1)
    assert (result.simulations, result.seconds, now_s[0]) == (100, 0.0, 3600.0)


def test_time_is_kept_for_the_solution_of_a_stage(monkeypatch):
    """By this clock an iteration of CFR+ takes a millisecond: of ten seconds, the last one is for the solution of a
    thousand; of one second, half."""
    now_s, given_s = [0.0], []

    class Slow(ismcts.Stage):
        def solve(self, iterations):
            now_s[0] += 1e-3 * iterations
            return super().solve(iterations)

    run_all = ismcts._run_all

    def watched(trees, shares, seconds, start_s):
        given_s.append(seconds)
        run_all(trees, [20 for _ in trees], None, start_s)

    closing_seconds = IsmctsSearcher._closing_seconds
    rules = as_game("matrix_rps")
    slow = Slow(first_decision(rules), seed=1, thread=0)
    monkeypatch.setattr(ismcts, "time", SimpleNamespace(perf_counter=lambda: now_s[0]))
    monkeypatch.setattr(ismcts, "_run_all", watched)
    monkeypatch.setattr(IsmctsSearcher, "_closing_seconds", lambda self, stage: closing_seconds(self, slow))
    for seconds in (10.0, 1.0):
        result = IsmctsSearcher(favor="cfr+", seconds=seconds).search(first_decision(rules), seed=1)
        assert result.simulations == 20
    assert given_s == pytest.approx([9.0, 0.5])
    assert closing_seconds(IsmctsSearcher(), None) == 0.0


def test_refusals_name_the_property(leduc, tmp_path):
    position = first_decision(leduc)
    as_game("quandary_kuhn").tree.save(tmp_path / "kuhn")
    loaded = TreeRules(FlatTree.load(tmp_path / "kuhn"))
    with pytest.raises(UnsuitableGameError, match="a tree from a file has no game to ask"):
        IsmctsSearcher(observer="single").search(first_decision(loaded), seed=1)
    with pytest.raises(UnsuitableGameError, match="rule of thumb"):
        IsmctsSearcher(playout="greedy").search(position, seed=1)
    with pytest.raises(UnsuitableGameError, match="estimate"):
        SmoothUctSearcher(playout_depth=2).search(position, seed=1)
    with pytest.raises(SpecError, match="eta"):
        IsmctsSearcher(eta=0.5)
    with pytest.raises(SpecError, match="root=game"):
        IsmctsSearcher(observer="single", root="game")
    with pytest.raises(ValueError, match="seed"):
        IsmctsSearcher().search(position, seed=-1)


def test_specs_make_them():
    searcher = make_searcher("ismcts(simulations=200,observer=single)", games.spec("kuhn").make_rules())
    assert searcher.search(kuhn([2, 1], "pb"), seed=1).action == 1
    searcher = make_searcher("smooth_uct(simulations=300,eta=0.5)")
    assert searcher.search(kuhn([2, 1], "pb"), seed=1).simulations == 300


def test_beats_a_random_player_at_kuhn():
    """Over random deals, from both seats in turn; equal players would take 0 a game from each other."""
    searcher = IsmctsSearcher(simulations=400)
    stream = Stream(11)
    total = 0.0
    for game in range(600):
        position = games.spec("kuhn").make_rules().initial_position()
        position.run_chance(stream)
        while not position.is_terminal():
            if position.current_player() == game % 2:
                action = searcher.search(position, seed=game).action
            else:
                action = position.random_action(stream)
            position.apply_action(action)
        total += position.returns()[game % 2]
    assert total / 600 > 0.1
