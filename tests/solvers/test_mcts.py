"""Monte Carlo tree search against exact values, OpenSpiel, and its own promises."""

import itertools
import time

import pyspiel
import pytest

import games
from engine_ext.errors import LimitError, SpecError, UnsuitableGameError
from engine_ext.rng import Stream
from solvers.contract import Limit
from solvers.expectimax import ExpectimaxSearcher
from solvers.extraction import as_game
from solvers.mcts import MctsSearcher
from solvers.specs import make_searcher
from solvers.value_iteration import ValueIterationSearcher
from tests.reference import exact
from tests.solvers.random_trees import random_tree


def pig(goal=100, **position):
    return games.spec("pig").make_rules({"goal": goal}).from_dict(position)


@pytest.fixture(scope="module")
def pig_values():
    """Exact values of every position of pig to 12."""
    return exact.value_iteration(pig(12))


@pytest.mark.parametrize("transpositions", [True, False])
def test_finds_the_best_move_and_value_of_small_pig(pig_values, transpositions):
    for scores, seat, total in [([0, 0], 0, 0), ([6, 4], 1, 3), ([10, 3], 0, 2), ([2, 9], 1, 2), ([8, 11], 0, 3)]:
        position = pig(12, scores=scores, seat=seat, total=total)
        sign = 1 if seat == 0 else -1
        options = {action: sign * pig_values[exact.step(position, action)] for action in position.legal_actions()}
        searcher = MctsSearcher(simulations=30_000, transpositions=transpositions)
        result = searcher.search(position, seed=1)
        best = max(options.values())
        assert options[result.action] > best - 1e-9
        assert result.values[seat] == pytest.approx(best, abs=0.04)
        assert result.values[0] == -result.values[1]


def test_bounds_hold_and_prove(pig_values):
    """One roll from the end everything can be proven: rolling wins unless the die shows 1."""
    position = pig(12, scores=[10, 11], seat=0, total=0)
    result = MctsSearcher(simulations=20_000).search(position, seed=3)
    for stats in result.actions:
        value = pig_values[exact.step(position, stats.action)]
        low, high = stats.bounds
        assert low - 1e-12 <= value <= high + 1e-12
        assert low > -1.0 or high < 1.0


def test_rounding_never_crosses_bounds():
    """The last card of a game that is all but won: bounds of chance nodes add up to 1 but for rounding, from below
    and from above."""
    position = (
        games.spec("pentaquest")
        .make_rules({"players": 2})
        .from_dict(
            {
                "deck": [],
                "quest": ["Four-Armed Idol"],
                "armies": [
                    {"sub": 2, "addsub": 1, "reroll": 4, "mirror": 4},
                    {"sub": 1, "addsub": 2, "reroll": 3, "mirror": 1},
                ],
                "discards": [9, 14],
                "turn": 2,
                "seat": 0,
                "step": "act",
                "dice": [1, 2, 3, 4, 5],
                "rerolls": 1,
            }
        )
    )
    for seed in range(15, 40):
        result = MctsSearcher(simulations=400).search(position, seed=seed)
        for stats in result.actions:
            low, high = stats.bounds
            assert -1 <= low <= high <= 1


def test_proven_root_ends_the_search():
    won = pig(100, scores=[90, 0], seat=0, total=10)
    result = MctsSearcher(simulations=100_000).search(won, seed=0)
    assert result.exact
    assert result.action == 1
    assert result.values == (1.0, -1.0)
    assert result.simulations < 100


def test_agrees_with_openspiel_on_its_own_pig():
    """The same search on the same game: root values agree within sampling error, and the move."""
    theirs = pyspiel.load_game("pig")
    state = theirs.new_initial_state()
    bot = pyspiel.MCTSBot(theirs, pyspiel.RandomRolloutEvaluator(1, 7), 2.0, 20_000, 1000, False, 7, False)
    root = bot.mcts_search(state)
    ours = MctsSearcher(
        simulations=20_000, c=1.0, transpositions=False, solve=False, playout="random", backup="mean", widening=0.0
    ).search(pig(), seed=7)
    best = root.best_child()
    assert ours.action == best.action
    assert ours.values[0] == pytest.approx(best.total_reward / best.explore_count, abs=0.05)


@pytest.mark.parametrize("parameters", [{}, {"transpositions": False}, {"solve": False}, {"threads": 3}])
def test_same_seed_same_result(parameters):
    searcher = MctsSearcher(simulations=3000, **parameters)
    first, second, other = (searcher.search(pig(), seed=seed) for seed in (5, 5, 6))
    assert first.actions == second.actions
    assert first.values == second.values
    assert first.actions != other.actions
    assert first.simulations == 3000
    assert first.reproducible


def test_position_is_left_alone():
    position = pig(scores=[3, 4], seat=1, total=5)
    before = position.to_bytes()
    MctsSearcher(simulations=100).search(position, seed=1)
    assert position.to_bytes() == before


def test_node_budget_is_never_exceeded():
    for budget in (16, 100, 5000):
        result = MctsSearcher(simulations=20_000, max_nodes=budget).search(pig(), seed=2)
        assert result.simulations == 20_000
        assert budget // 2 < result.nodes <= budget
        assert result.action == 0


def test_node_limit():
    result = MctsSearcher(nodes=500, transpositions=False).search(pig(), seed=2)
    assert result.nodes == 500


def test_time_limit():
    start_s = time.perf_counter()
    result = MctsSearcher().search(pig(), seed=1, limit=Limit(seconds=0.2))
    assert not result.reproducible
    assert result.seconds >= 0.2
    # The search itself keeps to 5 %; the clock around it may be disturbed by other processes.
    assert time.perf_counter() - start_s >= result.seconds


def test_depth_limit_ends_descents():
    shallow = MctsSearcher(simulations=2000, depth=1, transpositions=False).search(pig(), seed=1)
    assert shallow.nodes == 3  # the root and its two children
    open_loop = MctsSearcher(simulations=2000, depth=1, chance="open").search(pig(), seed=1)
    assert open_loop.nodes == 3
    assert open_loop.action == 0


def test_root_may_be_chance_or_terminal():
    rolling = pig(12, scores=[5, 5], seat=0, total=2, rolling=True)
    result = MctsSearcher(simulations=20_000).search(rolling, seed=1)
    assert result.action is None
    assert result.actions == ()
    assert result.values[0] == pytest.approx(exact.value_iteration(rolling)[rolling], abs=0.04)
    over = pig(12, scores=[12, 5])
    result = MctsSearcher(simulations=10).search(over, seed=1)
    assert (result.action, result.values, result.exact, result.simulations) == (None, (1.0, -1.0), True, 0)


@pytest.mark.parametrize(
    "parameters",
    [
        {"playout": "greedy"},
        {"playout": "greedy", "epsilon": 0.2},
        {"playout": "random"},
        {"playout": "none"},
        {"playout_depth": 0},
        {"playout_depth": 5, "playout": "greedy"},
        {"playout": "random", "rollouts": 4},
        {"widening": 0.0},
        {"prior": 0.5},
        {"prior": 0.9, "widening": 0.0, "c": 1.0},
        {"backup": "mean", "playout": "random"},
        {"chance": "open"},
        {"chance": "open", "playout": "random", "widening": 0.0},
        {"chance_widening": 1.0},
        {"grave_ref": 50, "playout": "random"},
        {"grave_ref": 0, "playout": "random"},
        {"reuse": True},
    ],
)
def test_every_variant_finds_a_clear_move(pig_values, parameters):
    """Far ahead with a large total at risk: hold; the gap to rolling on is wide."""
    position = pig(12, scores=[4, 3], seat=1, total=8)
    options = {action: -pig_values[exact.step(position, action)] for action in position.legal_actions()}
    best = max(options, key=options.get)
    assert options[best] - min(options.values()) > 0.2
    searcher = MctsSearcher(simulations=4000, **parameters)
    result = searcher.search(position, seed=1)
    assert result.action == best
    assert searcher.search(position, seed=1).action == best
    assert result.simulations <= 4000


def test_the_suggested_action_gets_the_share_of_its_prior():
    """Where all actions are worth the same, visits go by prior: PUCT visits actions in proportion to it."""
    rules = games.spec("quarriors").make_rules({})
    # Far ahead whatever is captured: the estimate hardly differs, so exploration decides.
    wilds = [
        {"card": card, "dice": 3} for card in ("Quake Dragon", "Deathdealer", "Witching Hag", "Warrior of the Quay")
    ]
    players = [{"glory": 19, "bag": {"Basic Quiddity": 8, "Assistant": 4}}, {"bag": {"Assistant": 4}}]
    position = rules.from_dict(
        {"edition": "base", "phase": 5, "wilds": wilds, "players": players, "quiddity": {"normal": 9}}
    )
    suggested = position.suggest(Stream(1))
    legal = len(position.legal_actions())
    assert legal >= 4
    result = MctsSearcher(simulations=3000, prior=0.8, c=50.0, widening=0.0).search(position, seed=1)
    visits = {each.action: each.visits for each in result.actions}
    assert visits[suggested] / 3000 == pytest.approx(0.8, abs=0.05)
    assert all(
        count / 3000 == pytest.approx(0.2 / (legal - 1), abs=0.02)
        for action, count in visits.items()
        if action != suggested
    )


def test_playouts_end_with_the_turn():
    """One simulation is worth the estimate where the rule of thumb has ended the leaf's turn."""
    rules = games.spec("quarriors").make_rules({})
    searcher = MctsSearcher(simulations=1, playout_turns=1)
    position, stream, seen = rules.initial_position(), Stream(3), 0
    while not position.is_terminal() and seen < 30:
        if position.is_chance_node():
            position.run_chance(stream)
            continue
        leaf, turn, certain = position.child(position.suggest(stream)), position.clock(), True
        while certain and leaf.clock() == turn and not leaf.is_terminal():
            certain = not leaf.is_chance_node()
            if certain:
                leaf.apply_action(leaf.suggest(stream))
        if certain:
            found = searcher.search(position, seed=seen)
            assert found.values == pytest.approx(leaf.estimate(), abs=1e-12)
            seen += 1
        position.apply_action(position.suggest(stream))
    assert seen == 30


def test_variants_repeat_themselves():
    for parameters in ({"chance": "open"}, {"chance_widening": 1.0}, {"grave_ref": 20}, {"temperature": 1.0}):
        searcher = MctsSearcher(simulations=500, playout="random", **parameters)
        assert searcher.search(pig(), seed=4).actions == searcher.search(pig(), seed=4).actions


def test_three_players_maximise_their_own():
    for seed in range(5):
        rules = random_tree(seed, levels="0c1c2", branching=(3, 3), n_players=3)
        expected = exact.expectimax(rules.initial_position())
        result = MctsSearcher(simulations=50_000, backup="best").search(rules.initial_position(), seed=seed)
        assert result.values == pytest.approx(expected, abs=0.05)
        child = exact.step(rules.initial_position(), result.action)
        assert exact.expectimax(child)[0] == pytest.approx(expected[0], abs=0.02)


def test_random_trees_are_proven():
    """Every tree is small enough to be searched to the end: the result is exact, and says so."""
    for seed in range(20):
        rules = random_tree(seed, levels="????", branching=(2, 4), cut=0.1)
        start = rules.initial_position()
        expected = exact.expectimax(start)[0]
        for parameters in ({}, {"transpositions": False}, {"chance_widening": 1.0}, {"widening": 0.0}):
            result = MctsSearcher(simulations=100_000, **parameters).search(start, seed=seed)
            assert result.exact, (seed, parameters)
            assert result.values[0] == pytest.approx(expected, abs=1e-12)
            assert result.simulations < 100_000


def test_pentaquest_scenario_is_solved():
    start = games.spec("pentaquest").make_rules({"scenario": "one_card"}).initial_position()
    expected = exact.expectimax(start)[0]
    result = MctsSearcher(simulations=100_000).search(start, seed=1)
    assert result.exact
    assert result.values[0] == pytest.approx(expected, abs=1e-12)


def test_reuse_goes_on_with_the_graph():
    searcher = MctsSearcher(simulations=2000, reuse=True)
    position = pig()
    searcher.search(position, seed=1)
    position.apply_action(0)
    position.apply_action(4)
    second = searcher.search(position, seed=2)
    assert second.simulations == 2000
    assert sum(stats.visits for stats in second.actions) > 2000  # visits made before count
    searcher.reset()
    third = searcher.search(position, seed=2)
    assert sum(stats.visits for stats in third.actions) == 2000
    replay = MctsSearcher(simulations=2000, reuse=True)
    replay.search(pig(), seed=1)
    assert replay.search(position, seed=2).actions == second.actions


@pytest.mark.parametrize("parameters", [{}, {"grave_ref": 0, "playout": "random"}, {"chance": "open"}, {"threads": 2}])
def test_every_action_of_the_root_is_looked_at(parameters):
    position = games.spec("pentaquest").make_rules({"players": 2}).initial_position()
    position.run_chance(Stream(3))
    n_actions = len(position.legal_actions())
    assert n_actions > 10
    simulations = 4 * n_actions
    few = MctsSearcher(simulations=simulations, **parameters).search(position, seed=1)
    every = MctsSearcher(simulations=simulations, every_action=True, **parameters).search(position, seed=1)
    if "grave_ref" not in parameters:
        assert any(stats.visits == 0 for stats in few.actions)
    assert all(stats.visits >= 1 for stats in every.actions)


def test_every_action_is_looked_at_where_one_is_proven_to_win():
    won = pig(100, scores=[90, 0], seat=0, total=10)
    result = MctsSearcher(simulations=1000, every_action=True).search(won, seed=0)
    assert (result.action, result.exact) == (1, True)
    assert all(stats.visits >= 1 for stats in result.actions)


def choices(utility, depth, branching):
    """A tree in which one seat decides `depth` times among the same actions; utility of the tuple of them."""
    lines = ['EFG 2 R "choices" { "p0" "p1" }', '""']
    leaves, decisions = itertools.count(1), itertools.count(1)

    def node(line):
        if len(line) == depth:
            value = utility(line)
            lines.append(f't "" {next(leaves)} "" {{ {value:.17g}, {-value:.17g} }}')
            return
        actions = " ".join(f'"a{i}"' for i in range(branching))
        lines.append(f'p "" 1 {next(decisions)} "" {{ {actions} }} 0')
        for action in range(branching):
            node((*line, action))

    node(())
    return as_game(pyspiel.load_efg_game("\n".join(lines) + "\n")).initial_position()


PLAIN = {"transpositions": False, "solve": False, "widening": 0.0, "playout": "random"}


def test_grave_without_a_node_that_serves_as_reference_is_uct():
    start = choices(lambda line: sum(line) / 21, 3, 8)
    plain = MctsSearcher(simulations=400, **PLAIN).search(start, seed=3)
    grave = MctsSearcher(simulations=400, grave_ref=401, **PLAIN).search(start, seed=3)
    assert grave.actions == plain.actions


@pytest.mark.parametrize("grave_ref", [0, 20])
def test_all_moves_as_first_pay_where_order_does_not_matter(grave_ref):
    """Utility is the mean of three choices from 0 to 7: what an action is worth does not depend on when it is
    chosen, so what is learned of it anywhere holds everywhere. Of the 512 lines only 7 7 7 is worth 1; 100
    simulations find it so, where UCT backed up by best actions, which tries each at each node, must be lucky."""
    start = choices(lambda line: sum(line) / 21, 3, 8)
    found = {"grave": 0, "uct": 0}
    for seed in range(20):
        for name, parameters in (("grave", {"grave_ref": grave_ref}), ("uct", {})):
            result = MctsSearcher(simulations=100, c=0.1, backup="best", **PLAIN, **parameters).search(start, seed=seed)
            found[name] += result.principal_variation == (7, 7, 7)
    assert found["grave"] >= 16
    assert found["uct"] <= 8


@pytest.mark.parametrize("grave_ref", [0, 20])
def test_wrong_statistics_fade(grave_ref):
    """Action 1 is worth 1 at the first decision and costs more than that at the second, so elsewhere it looks bad;
    exactly best is 1 then 0, worth 0.5."""
    start = choices(lambda line: 0.5 * line[0] - 1.0 * line[1], 2, 2)
    result = MctsSearcher(simulations=3000, grave_ref=grave_ref, **PLAIN).search(start, seed=1)
    assert result.principal_variation == (1, 0)
    assert result.values[0] == pytest.approx(0.5, abs=0.01)


def test_temperature_draws_by_visits():
    searcher = MctsSearcher(simulations=200, c=5.0, temperature=1.0, playout="random")
    played = [0, 0]
    for seed in range(200):
        result = searcher.search(pig(), seed=seed)
        visits = [stats.visits for stats in result.actions]
        assert result.actions[0].probability == pytest.approx(visits[0] / sum(visits))
        played[result.action] += 1
    assert min(played) > 30


def test_root_statistics_are_complete():
    result = MctsSearcher(simulations=1000).search(pig(), seed=1)
    assert [stats.action for stats in result.actions] == [0, 1]
    assert sum(stats.visits for stats in result.actions) == 1000
    assert sum(stats.probability for stats in result.actions) == 1.0
    assert result.values[0] == result.actions[result.action].value
    line = pig()
    for action in result.principal_variation:
        line.apply_action(action)
    assert result.principal_variation[0] == result.action


def test_hidden_information_is_refused():
    rules = games.spec("kuhn").make_rules()
    with pytest.raises(UnsuitableGameError, match=r"quandary_kuhn hides information.*ismcts"):
        make_searcher("mcts", rules)
    position = rules.initial_position()
    position.run_chance(Stream(1))
    with pytest.raises(UnsuitableGameError, match="ismcts"):
        MctsSearcher(simulations=10).search(position, seed=1)


def test_wrong_parameters():
    with pytest.raises(SpecError, match="no parameter 'budget'"):
        MctsSearcher(budget=3)
    with pytest.raises(SpecError, match="reuse=true needs transpositions=true"):
        MctsSearcher(reuse=True, transpositions=False)
    with pytest.raises(SpecError, match="grave_ref has no meaning with chance=open"):
        MctsSearcher(chance="open", grave_ref=5)
    with pytest.raises(SpecError, match="prior has no meaning with chance=open"):
        MctsSearcher(chance="open", prior=0.5)
    with pytest.raises(SpecError, match="playout_turns has no meaning with playout=none"):
        MctsSearcher(playout="none", playout_turns=1)
    blind = random_tree(1, levels="0c", branching=(2, 2)).initial_position()
    for parameters, words in (
        ({"playout": "greedy"}, "rule of thumb"),
        ({"playout": "none"}, "estimate"),
        ({"playout_depth": 3}, "estimate"),
        ({"playout_turns": 1}, "estimate"),
        ({"prior": 0.5}, "rule of thumb"),
    ):
        with pytest.raises(UnsuitableGameError, match=words):
            MctsSearcher(**parameters).search(blind, seed=0)
    with pytest.raises(UnsuitableGameError, match="count of its turns"):
        MctsSearcher(playout_turns=1).search(pig(), seed=0)
    with pytest.raises(LimitError, match="seconds"):
        MctsSearcher(seconds=-1.0)


def solved_scenarios():
    """(game, scenario) of every scenario of every game whose value is known and where nothing is hidden."""
    return [
        (name, scenario.name)
        for name in games.SPECS
        for scenario in games.scenarios(name).values()
        if "value" in scenario.solution
        and not games.spec(name).make_rules({"scenario": scenario.name}).hidden_information
    ]


def with_playouts(cases):
    """The same, each with every playout there is for the game."""
    found = []
    for game, scenario in cases:
        abilities = games.spec(game).make_rules({"scenario": scenario}).abilities
        found += [(game, scenario, each) for each in ("auto", "greedy") if each == "auto" or "suggest" in abilities]
    return found


def check_against_solution(game, scenario, searcher):
    """The root's value within 0.02 of the utility range, and an exactly best action: at the root, or, where dice
    come first, at the first decision after them."""
    rules = games.spec(game).make_rules({"scenario": scenario})
    solution = games.scenarios(game)[scenario].solution
    solved = ValueIterationSearcher() if rules.cyclic else ExpectimaxSearcher()
    position = rules.initial_position()
    spread = rules.max_utility() - rules.min_utility()
    root = searcher.search(position, seed=1)
    off = max(abs(found - exact) for found, exact in zip(root.values, solution["value"], strict=True)) / spread
    position.run_chance(Stream(1))
    values = {stats.action: stats.value for stats in solved.search(position).actions}
    chosen = searcher.search(position, seed=1)
    lost = max(values.values()) - values[chosen.action]
    print(
        f"{game} {scenario} {searcher.parameters['playout']}: root off by {off:.5f} of the range"
        f"{', proven' if root.exact else ''}; the action loses {lost:.3g}"
    )
    assert off <= 0.02
    assert lost <= 1e-9


def test_every_game_with_solved_scenarios_takes_part():
    assert {game for game, _ in solved_scenarios()} >= {"pentaquest", "quarriors"}


@pytest.mark.parametrize(
    ("game", "scenario", "playout"),
    with_playouts(
        each for each in solved_scenarios() if games.scenarios(each[0])[each[1]].solution.get("states", 10**9) < 20_000
    ),
)
def test_small_scenarios_are_played_right(game, scenario, playout):
    check_against_solution(game, scenario, MctsSearcher(simulations=100_000, playout=playout))


@pytest.mark.soak
@pytest.mark.parametrize(("game", "scenario", "playout"), with_playouts(solved_scenarios()))
def test_a_million_simulations_find_the_value_and_the_move(request, game, scenario, playout):
    if (game, scenario, playout) == ("pentaquest", "small", "greedy"):
        reason = "the action is best, and the value 0.032 of the range low: so much greedy play loses over eight turns"
        request.applymarker(pytest.mark.xfail(strict=True, reason=reason))
    check_against_solution(game, scenario, MctsSearcher(simulations=1_000_000, playout=playout))


def test_one_random_game_is_not_taken_for_a_value():
    """Tic-tac-toe is drawn. Down the most visited actions a value is one game's, won or lost; a mean is not."""
    position = as_game(pyspiel.load_game("tic_tac_toe")).initial_position()
    for simulations in (100, 300, 1000):
        result = MctsSearcher(simulations=simulations).search(position, seed=0)
        assert abs(result.values[0]) < 0.6
