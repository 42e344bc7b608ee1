"""One suite over every registered game and scenario: the contract of engine_ext/game.pxd."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import math
import pickle
from xml.etree import ElementTree

import numpy as np
import pyspiel
import pytest
from rich.console import Console
from scipy.stats import chisquare

import games
from engine_ext.errors import IllegalActionError, PositionError, QuandaryError, SavedStateError
from engine_ext.position import Rules
from engine_ext.rng import Stream
from games.spec import GameSpec
from games.words import Step
from tests.conformance.instances import game_strings, rules_of

GAMES = game_strings()
NODES_A_GAME = 60  # positions of one walk that get the whole inspection


@pytest.fixture(params=GAMES)
def string(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def rules(string: str) -> Rules:
    return rules_of(string)


def walk(rules: Rules, seed: int, greedy: bool = False):
    """The positions of one random game, the last one terminal; each may be changed by the caller
    only through a clone. With greedy, seats follow the game's own policy where it has one."""
    stream = Stream.keyed(seed)
    position = rules.initial_position()
    while True:
        yield position
        if position.is_terminal():
            return
        position = position.clone()
        if position.is_chance_node():
            position.apply_action(position.sample(stream))
            continue
        action = position.suggest(stream) if greedy else None
        position.apply_action(position.random_action(stream) if action is None else action)


def inspected(rules: Rules, seed: int):
    """A walk's positions, thinned out to about NODES_A_GAME."""
    positions = list(walk(rules, seed))
    stride = max(1, len(positions) // NODES_A_GAME)
    return [*positions[:-1:stride], positions[-1]]


def test_decisions_and_chance_nodes_are_well_formed(rules: Rules) -> None:
    for seed in range(3):
        for position in inspected(rules, seed):
            turn = position.current_player()
            if turn >= 0:
                actions = position.legal_actions()
                assert actions == sorted(set(actions))
                assert len(actions) >= 2, f"a single legal action is not a decision: {position}"
                assert actions[0] >= 0
                assert actions[-1] < rules.num_distinct_actions()
                assert position.legal_actions(turn) == actions
                assert all(position.legal_actions(p) == [] for p in range(rules.num_players()) if p != turn)
                names = [position.action_to_string(turn, action) for action in actions]
                assert len(set(names)) == len(names)
                assert [position.string_to_action(name) for name in names] == actions
                assert position.chance_outcomes() == []
            elif turn == -1:
                outcomes, probs = zip(*position.chance_outcomes(), strict=True)
                assert list(outcomes) == sorted(set(outcomes))
                assert len(outcomes) >= 2, f"a single outcome is not a chance node: {position}"
                assert outcomes[0] >= 0
                assert outcomes[-1] < rules.max_chance_outcomes()
                assert min(probs) > 0
                assert math.fsum(probs) == pytest.approx(1.0, abs=1e-12)
                names = [position.action_to_string(-1, outcome) for outcome in outcomes]
                assert len(set(names)) == len(names)
            else:
                assert turn == -4
                assert position.legal_actions() == []


def test_returns_come_at_the_end_and_within_bounds(rules: Rules) -> None:
    for seed in range(3):
        for position in inspected(rules, seed):
            returns = position.returns()
            assert len(returns) == rules.num_players()
            if position.is_terminal():
                assert all(rules.min_utility() - 1e-9 <= r <= rules.max_utility() + 1e-9 for r in returns)
                if rules.zero_sum:
                    assert math.fsum(returns) == pytest.approx(0.0, abs=1e-9)
            else:
                assert returns == [0.0] * rules.num_players()


def test_invariants_hold_after_every_step(rules: Rules) -> None:
    for seed in range(5):
        for position in walk(rules, seed, greedy=seed % 2 == 1):
            assert position.check() == 0, f"invariant {position.check()} broken: {position.to_dict()}"


def test_greedy_policy_and_estimate_are_sound(rules: Rules) -> None:
    stream = Stream(3)
    for position in inspected(rules, 11):
        estimate = position.estimate()
        if estimate is not None:
            assert all(rules.min_utility() - 1e-9 <= e <= rules.max_utility() + 1e-9 for e in estimate)
            if position.is_terminal():
                assert estimate == position.returns()
        if position.is_player_node():
            assert position.random_action(stream) in position.legal_actions()
            suggested = position.suggest(stream)
            if suggested is not None:
                assert suggested in position.legal_actions()


def test_clones_are_independent(rules: Rules) -> None:
    for position in inspected(rules, 1)[:-1]:
        before = position.to_bytes()
        clone = position.clone()
        assert clone == position
        clone.apply_action(clone.legal_actions()[-1])
        assert position.to_bytes() == before


def test_saves_round_trip(rules: Rules) -> None:
    for position in inspected(rules, 2):
        assert rules.from_bytes(position.to_bytes()) == position
        assert pickle.loads(pickle.dumps(position)) == position
        written = json.loads(json.dumps(position.to_dict()))
        again = rules.from_dict(written)
        assert again.to_dict() == position.to_dict()
        assert again.current_player() == position.current_player()
        assert again.legal_actions() == position.legal_actions()
        assert again.state_key() == position.state_key()
        for seat in range(rules.num_players()):
            assert again.observation_string(seat) == position.observation_string(seat)


def test_damaged_saves_are_refused(rules: Rules) -> None:
    data = rules.initial_position().to_bytes()
    flipped = bytearray(data)
    flipped[-9] ^= 1
    for damaged in (b"", data[:-1], data + b"\0", bytes(flipped), b"QNDY" + data[4:][::-1]):
        with pytest.raises(SavedStateError):
            rules.from_bytes(damaged)
    for malformed in ({"no such field": 1}, [], None, 7):
        with pytest.raises(PositionError):
            rules.from_dict(malformed)


def test_a_position_with_a_field_of_the_wrong_shape_is_refused_or_sound(rules: Rules) -> None:
    for position in inspected(rules, 1):
        written = json.loads(json.dumps(position.to_dict()))
        for field in written:
            for odd in (None, "x", 1.5, -1, 2**70, [], {}, [None], [[[]]], {"a": {}}):
                try:
                    made = rules.from_dict({**written, field: odd})
                except PositionError:
                    continue
                assert made.current_player() == -4 or made.is_chance_node() or made.legal_actions()


def test_illegal_actions_change_nothing(rules: Rules) -> None:
    for position in inspected(rules, 4):
        before = position.to_bytes()
        legal = set(position.legal_actions())
        wrong = [-1, rules.num_distinct_actions() + rules.max_chance_outcomes(), 2**40]
        wrong += [a for a in range(min(8, rules.num_distinct_actions())) if a not in legal]
        for action in wrong:
            with pytest.raises(IllegalActionError):
                position.apply_action(action)
        with pytest.raises(IllegalActionError):
            position.observation_string(rules.num_players())
        assert position.to_bytes() == before


def test_resampled_positions_look_the_same_to_the_observer(rules: Rules) -> None:
    stream = Stream(5)
    for seed in range(3):
        for position in inspected(rules, seed):
            for seat in range(rules.num_players()):
                other = position.resample(seat, stream)
                assert other.info_key(seat) == position.info_key(seat)
                assert other.info_bytes(seat) == position.info_bytes(seat)
                assert other.observation_string(seat) == position.observation_string(seat)
                assert other.is_terminal() == position.is_terminal()
                assert other.check() == 0
                if position.current_player() == seat:
                    assert other.current_player() == seat
                    assert other.legal_actions() == position.legal_actions()
                if not rules.hidden_information:
                    assert other == position


def test_a_stage_of_hidden_choices_rewinds_to_its_start(rules: Rules) -> None:
    """From the start of a stage, whatever the others choose anew, the seat to move is asked the same."""
    stream = Stream(8)
    for seed in range(3):
        for position in walk(rules, seed, greedy=True):
            found = position.rewind()
            if found is None:
                continue
            again, taken_back = found
            seat = position.current_player()
            assert again.check() == 0
            assert again.rewind() == (again, 0)
            for k in range(taken_back):
                again.apply_action(again.random_action(stream))
                assert again.rewind()[1] == k + 1
            assert again.current_player() == seat
            assert again.legal_actions() == position.legal_actions()
            assert again.info_key(seat) == position.info_key(seat)
            assert again.info_bytes(seat) == position.info_bytes(seat)
            assert again.observation_string(seat) == position.observation_string(seat)
            assert "rewind" in rules.abilities


def test_equal_information_means_equal_keys(rules: Rules) -> None:
    known: dict[tuple[int, bytes], int] = {}
    for seed in range(4):
        for position in inspected(rules, seed):
            for seat in range(rules.num_players()):
                key = position.info_key(seat)
                assert known.setdefault((seat, position.info_bytes(seat)), key) == key


def test_an_information_set_has_one_set_of_actions_in_resampled_play_too(rules: Rules) -> None:
    """Searches play on from resampled states and find the rivals' decisions there by key: what the key names
    must have the same choices every time it is met."""
    stream = Stream(12)
    for position in inspected(rules, 9):
        known: dict[tuple[int, int], list[int]] = {}
        for _ in range(12 if position.is_player_node() and rules.hidden_information else 0):
            other = position.resample(position.current_player(), stream)
            for _ in range(8):
                other.run_chance(stream)
                if other.is_terminal():
                    break
                seat = other.current_player()
                legal = other.legal_actions()
                assert known.setdefault((seat, other.info_key(seat)), legal) == legal
                other.apply_action(other.random_action(stream))


def test_observation_tensors_have_the_promised_shape(rules: Rules) -> None:
    for position in inspected(rules, 6)[::4]:
        for seat in range(rules.num_players()):
            if rules.tensor_shape():
                tensor = position.observation_tensor(seat)
                assert list(tensor.shape) == rules.tensor_shape()
                assert np.isfinite(tensor).all()
            if rules.recall_tensor_shape():
                assert list(position.information_state_tensor(seat).shape) == rules.recall_tensor_shape()


def pooled_chi_square(counts: dict[int, int], probs: dict[int, float]) -> float:
    """p-value of observed counts against probabilities, outcomes expected under 5 times pooled."""
    n = sum(counts.values())
    observed, expected, rest_o, rest_e = [], [], 0, 0.0
    for outcome, prob in probs.items():
        if prob * n < 5:
            rest_o, rest_e = rest_o + counts.get(outcome, 0), rest_e + prob * n
        else:
            observed.append(counts.get(outcome, 0))
            expected.append(prob * n)
    if rest_e > 0:
        observed.append(rest_o)
        expected.append(rest_e)
    if len(observed) < 2:
        return 1.0
    scale = sum(observed) / sum(expected)
    return float(chisquare(observed, [e * scale for e in expected]).pvalue)


def test_samples_agree_with_probabilities(rules: Rules) -> None:
    stream = Stream(17)
    chance = [p for seed in range(3) for p in walk(rules, seed) if p.is_chance_node()]
    for position in chance[:: max(1, len(chance) // 12)]:
        probs = dict(position.chance_outcomes())
        counts: dict[int, int] = {}
        for _ in range(3000):
            outcome = position.sample(stream)
            counts[outcome] = counts.get(outcome, 0) + 1
        assert set(counts) <= set(probs)
        assert pooled_chi_square(counts, probs) > 1e-5, position.to_dict()


def test_random_actions_are_uniform(rules: Rules) -> None:
    stream = Stream(19)
    decisions = [p for seed in range(3) for p in walk(rules, seed) if p.is_player_node()]
    for position in decisions[:: max(1, len(decisions) // 12)]:
        legal = position.legal_actions()
        counts: dict[int, int] = {}
        for _ in range(2000):
            action = position.random_action(stream)
            counts[action] = counts.get(action, 0) + 1
        assert set(counts) <= set(legal)
        assert pooled_chi_square(counts, {a: 1 / len(legal) for a in legal}) > 1e-5, position.to_dict()


def test_own_playout_loop_equals_the_generic_loop(rules: Rules) -> None:
    position = rules.initial_position()
    n = 400
    sums = []
    for generic in (False, True):
        rows = []
        for k in range(n):
            steps, returns = position.playouts(1, Stream.keyed(23, k, generic), generic=generic)
            rows.append([float(steps), *returns])
        sums.append(np.array(rows))
    mean = sums[0].mean(axis=0) - sums[1].mean(axis=0)
    error = np.sqrt((sums[0].var(axis=0) + sums[1].var(axis=0)) / n)
    assert (np.abs(mean) <= 5 * error + 1e-12).all(), (mean, error)


def face_perft(state: pyspiel.State, depth: int) -> int:
    if depth == 0:
        return 1
    if state.is_terminal():
        return 0
    return sum(face_perft(state.child(action), depth - 1) for action in state.legal_actions())


def test_native_path_counts_equal_those_through_openspiel(string: str, rules: Rules) -> None:
    for position in inspected(rules, 7)[::8]:
        depth, native = 1, position.perft(1)
        while depth < 4 and native < 2000 and (more := position.perft(depth + 1)):
            depth, native = depth + 1, more
            if native > 20000:
                break
        if native > 20000:
            continue
        state = pyspiel.load_game(string).new_initial_state(position.to_dict())
        assert face_perft(state, depth) == native


def test_openspiel_random_simulation(string: str) -> None:
    game = pyspiel.load_game(string)
    with contextlib.redirect_stdout(io.StringIO()):
        pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)


def test_openspiel_face_agrees_with_the_position(string: str, rules: Rules) -> None:
    game = pyspiel.load_game(string)
    assert game.num_players() == rules.num_players()
    stream = Stream(31)
    state, position = game.new_initial_state(), rules.initial_position()
    seen: dict[tuple[int, str], list[int]] = {}
    while not state.is_terminal():
        assert state.current_player() == position.current_player()
        assert state.legal_actions() == position.legal_actions()
        assert state.clone().to_dict() == position.to_dict()
        assert str(state) == str(position)
        if position.is_chance_node():
            action = position.sample(stream)
        else:
            seat = position.current_player()
            key = (seat, state.information_state_string(seat))
            assert seen.setdefault(key, position.legal_actions()) == position.legal_actions()
            action = position.random_action(stream)
        state.apply_action(action)
        position.apply_action(action)
    assert state.returns() == position.returns()
    again = pickle.loads(pickle.dumps(state))
    assert again.to_dict() == state.to_dict()
    with pytest.raises(QuandaryError):
        game.new_initial_state({"no such field": 1})


# ---- what people are told ------------------------------------------------------------------------


def spec_of(string: str) -> GameSpec:
    return games.SPECS[string.partition("(")[0]]


def test_every_decision_is_asked_and_every_option_described(string: str, rules: Rules) -> None:
    spec, stream = spec_of(string), Stream(37)
    for seed in range(3):
        for position in inspected(rules, seed):
            if not position.is_player_node():
                continue
            question, words = spec.ask(position), spec.options(position)
            assert len(question) > 3
            assert question.strip().endswith((".", "?", ")"))
            assert set(words) == set(position.legal_actions())
            assert all(words.values())
            assert len(set(words.values())) == len(words), f"two options read alike: {sorted(words.values())}"
            # What the decider does not know cannot be in it.
            other = position.resample(position.current_player(), stream)
            assert (spec.ask(other), dict(spec.options(other))) == (question, dict(words))


def steps_of(rules: Rules, seed: int, seat: int, greedy: bool) -> list[Step]:
    """A game's steps as a listener at a seat gets them."""
    steps, positions = [], list(walk(rules, seed, greedy=greedy))
    for before, after in itertools.pairwise(positions):
        actions = before.legal_actions()
        key = after.info_key(seat)
        taken = next(action for action in actions if before.child(action) == after)
        alike = [action for action in actions if before.child(action).info_key(seat) == key]
        known = not rules.hidden_information or before.current_player() == seat or len(alike) == 1
        name = before.action_to_string(before.current_player(), taken) if known else None
        steps.append(Step(before.current_player(), taken, name, before, after))
    return steps


def test_the_story_of_a_game_can_be_told_in_pieces(string: str, rules: Rules) -> None:
    spec = spec_of(string)
    for seed in range(2):
        seat = seed % rules.num_players()
        steps = steps_of(rules, seed, seat, greedy=seed == 0)
        pieces = [steps[i : i + 7] for i in range(0, min(len(steps), 700), 7)]
        lines = [line for piece in pieces for line in spec.tell(piece, seat)]
        assert lines
        for line in lines:
            assert -1 <= line.seat < rules.num_players()
            assert line.text.strip()
            assert "None" not in line.text


def test_the_story_gives_nothing_away(string: str, rules: Rules) -> None:
    """Steps that a seat cannot tell apart are told alike."""
    if not rules.hidden_information:
        return
    spec = spec_of(string)
    for seed in range(2):
        seat = seed % rules.num_players()
        for step in steps_of(rules, seed, seat, greedy=seed == 1)[:300]:
            if step.name is not None:
                continue
            told = spec.tell([step], seat)
            for action in step.before.legal_actions():
                other = step.before.child(action)
                if other.info_key(seat) == step.after.info_key(seat):
                    assert spec.tell([Step(step.seat, action, None, step.before, other)], seat) == told


def test_what_can_be_looked_up_has_words(string: str, rules: Rules) -> None:
    spec = spec_of(string)
    for position in inspected(rules, 3)[::20]:
        for name, text in spec.look_up(position, 0).items():
            assert name.strip()
            assert text.strip()


def test_positions_can_be_drawn_for_every_seat(string: str, rules: Rules) -> None:
    spec = spec_of(string)
    for seed in range(2):
        positions = list(walk(rules, seed, greedy=seed == 1))
        for i, position in enumerate([*positions[:: max(1, len(positions) // 25)], positions[-1]]):
            seat = i % rules.num_players()
            console = Console(file=io.StringIO(), width=100)
            console.print(spec.render(position, seat))
            assert console.file.getvalue().strip()
            if spec.picture is not None:
                assert ElementTree.fromstring(spec.picture(position, seat)).tag.endswith("svg")
