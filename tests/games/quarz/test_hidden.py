"""Hidden information: nothing leaks, and resampling has the weights of chance."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import games
from engine_ext.errors import UnsuitableGameError
from engine_ext.position import Position
from engine_ext.rng import Stream
from solvers.contract import Limit
from solvers.specs import make_searcher, solver_specs
from tests.games.quarz.test_cases import choices, position_of, rules_for, take


def looks(position: Position, seat: int) -> tuple[Any, ...]:
    """Everything a seat can read of a position."""
    return (
        position.info_key(seat),
        position.info_bytes(seat),
        position.observation_string(seat),
        position.observation_tensor(seat).tobytes(),
    )


@pytest.mark.parametrize("players", [2, 3, 4])
def test_states_of_one_information_set_look_alike(players: int) -> None:
    """At every node of random games: another state that a seat holds for possible gives it one string, one
    tensor, one key; the seat to move has the same choices and the same greedy move."""
    rules = games.spec("quarz").make_rules({"players": players, "draft": "random", "tiles": "random"})
    stream = Stream(17)
    for _ in range(3):
        position = rules.initial_position()
        while not position.is_terminal():
            for seat in range(players):
                other = position.resample(seat, stream)
                assert other.check() == 0
                assert looks(other, seat) == looks(position, seat)
                if position.current_player() == seat:
                    assert other.legal_actions() == position.legal_actions()
                    assert other.suggest(Stream(5)) == position.suggest(Stream(5))
            actions = position.legal_actions()
            position.apply_action(actions[stream.below(len(actions))])


def test_equal_histories_give_equal_looks_whatever_the_rival_drew() -> None:
    """Two games that differ only in the rival's cards."""
    rules = rules_for()
    first, second = (position_of(rules, {"order": [1, 0], "P1": {"favor": 4}}) for _ in range(2))
    for position, card in ((first, "card 3"), (second, "card 7")):
        take(position, "draw 2 1")
        take(position, card)
        take(position, "pass")
    assert looks(first, 0) == looks(second, 0)
    assert first.info_key(1) != second.info_key(1)


def test_a_favor_card_is_seen_by_its_owner_only() -> None:
    rules = rules_for()
    first, second = (position_of(rules, {"moment": "favor"}) for _ in range(2))
    take(first, "favor 1")
    take(second, "favor 4")
    assert looks(first, 1) == looks(second, 1)
    assert first.info_key(0) != second.info_key(0)
    for position in (first, second):
        take(position, "favor 2")
    assert looks(first, 1) != looks(second, 1)


def test_an_instant_left_alone_leaves_no_trace() -> None:
    """The rival cannot tell a seat that had an instant and passed from one that had none."""
    given = {
        "order": [1, 0],
        "P1": {"favor": 4},
        "P1.3": {"at": [1, 1]},
        "P2.1": {"at": [1, 0]},
    }
    rules = rules_for()
    with_instant = position_of(rules, {**given, "P1.1": {"hand": ["Curse of the Tomb/1"]}})
    without = position_of(rules, {**given, "P1.1": {"hand": ["Wrapped Up/1"]}})
    assert looks(with_instant, 1) == looks(without, 1)
    for position in (with_instant, without):
        take(position, "attack 1 P1.3")
    assert choices(with_instant) == {"pass", "react 1 7"}
    take(with_instant, "pass")
    assert without.current_player() == 1
    assert looks(with_instant, 1) == looks(without, 1)


def test_while_an_instant_is_considered_the_rival_sees_nothing_of_it() -> None:
    rules = rules_for()
    given = {"order": [1, 0], "P1.3": {"at": [1, 1]}, "P2.1": {"at": [1, 0]}, "P1.1": {"hand": ["Curse of the Tomb/1"]}}
    position = position_of(rules, given)
    take(position, "attack 1 P1.3")
    assert "instant" not in position.observation_string(1).splitlines()[0]
    assert "instant" in position.observation_string(0).splitlines()[0]


def test_what_was_left_undone_after_the_last_action_leaves_no_trace() -> None:
    """Q91: a seat with an instant that it could still play looks like one that has none, while it thinks and after."""
    given = {"actions": 1, "P1": {"mob": "Sport Mob"}, "P2": {"mob": "Horror Mob"}}
    jellyfish = {"name": "Judo Jellyfish", "energy": 5}
    rules = rules_for()
    with_instant = position_of(rules, {**given, "P1.1": {**jellyfish, "hand": ["Deep Breath/1"]}})
    without = position_of(rules, {**given, "P1.1": {**jellyfish, "hand": ["Team Bow/1"]}})
    for position in (with_instant, without):
        take(position, "draw 2 1")
        take(position, "card 1")
    assert choices(with_instant) == {"pass", "react 1 7"}
    assert "action" not in with_instant.observation_string(1).splitlines()[0].partition(", order")[0]
    for seed in range(3):
        other = with_instant.resample(1, Stream(seed))
        assert "react 1 " in " ".join(choices(other))  # it is asked, so it holds one
        assert looks(other, 1) == looks(with_instant, 1)
    take(with_instant, "pass")
    assert without.current_player() == 1
    assert looks(with_instant, 1) == looks(without, 1)


def hands(position: Position, seat: int, monster: int, observer: int, deals: int) -> Counter[tuple[str, ...]]:
    stream = Stream(23)
    found: Counter[tuple[str, ...]] = Counter()
    for _ in range(deals):
        scene = position.rules.scene(position.resample(observer, stream), -1)
        found[tuple(scene["mobs"][seat]["monsters"][monster]["hand"])] += 1
    return found


def test_a_drawn_card_is_any_of_the_pile_alike() -> None:
    rules = rules_for()
    position = position_of(
        rules, {"P1.1": {"removed": "rest", "draw": ["Wrapped Up/1", "Wrapped Up/2", "Wrapped Up/3"]}}
    )
    take(position, "draw 1 1")
    take(position, "card 2")
    found = hands(position, 0, 0, 1, 3000)
    assert len(found) == 3
    assert all(abs(count - 1000) < 120 for count in found.values())  # 4.6 standard deviations


def test_cards_drawn_before_a_shuffle_are_older_than_the_shuffled_ones() -> None:
    """Q71: one card of {1, 2, 3} drawn, then 4 and 5 shuffled in, then one drawn of the four left.
    Old card: three ways; new card: any of the other four: 12 equally likely histories."""
    rules = rules_for()
    pencil = ["Wrapped Up/1", "Wrapped Up/2", "Wrapped Up/3", "Toilet Paper/1", "Toilet Paper/2"]
    given = {"P1.1": {"removed": "rest", "draw": pencil[:3], "discard": pencil[3:]}}
    position = position_of(rules, given)
    take(position, "draw 1 1")
    take(position, "card 1")
    take(position, "regenerate 1 shuffle")
    # the next turn of seat 0: rest of this round, then a new one
    stream = Stream(4)
    while position.current_player() != 0 or "draw 1 1" not in choices(position):
        assert not position.is_terminal()
        if position.is_chance_node():
            position.apply_action(position.sample(stream))
            continue
        names = choices(position)
        take(position, "pass" if "pass" in names else min(names, key=lambda name: name != "favor 4"))
    take(position, "draw 1 1")
    take(position, "card 4")
    found = hands(position, 0, 0, 1, 12000)
    weights: Counter[tuple[str, ...]] = Counter()
    for old in pencil[:3]:
        for new in pencil:
            if new != old:
                weights[tuple(sorted((old, new), key=pencil.index))] += 1
    assert sum(weights.values()) == 12
    assert set(found) == set(weights)
    for hand, weight in weights.items():
        assert abs(found[hand] - 1000 * weight) < 5 * (1000 * weight) ** 0.5


def test_a_hand_stays_older_than_what_is_shuffled_in_however_often_that_happens() -> None:
    """Q71 in a game of 500 turns: right after a shuffle no card of the hand is one of those shuffled in, not
    in any deal that the rival holds for possible; and the position goes through a dict and back."""
    rules = rules_for(turns=500)
    position = rules.initial_position()
    stream = Stream(11)
    shuffles: Counter[str] = Counter()
    wanted = ("discard", "play", "munch", "draw 1", "favor", "pass")
    while not position.is_terminal():
        if position.is_chance_node():
            position.apply_action(position.sample(stream))
            continue
        seat = position.current_player()
        names = [position.action_to_string(seat, action) for action in position.legal_actions()]
        monsters = position.to_dict()["mobs"][0]["monsters"]
        shuffle = next((name for name in names if name.endswith("shuffle") and seat == 0), None)
        if shuffle is None:
            order = wanted if seat == 0 else ("favor", "pass")
            take(position, next((n for word in order for n in reversed(names) if n.startswith(word)), names[0]))
            continue
        monster = int(shuffle.split()[1]) - 1
        shuffled_in = set(monsters[monster]["discard"])
        take(position, shuffle)
        shuffles[shuffle] += 1
        for _ in range(3):
            other = position.resample(1, stream)
            assert other.check() == 0
            assert looks(other, 1) == looks(position, 1)
            hand = set(other.to_dict()["mobs"][0]["monsters"][monster]["hand"])
            assert hand.isdisjoint(shuffled_in)
        assert rules.restore(position.to_dict()).to_bytes() == position.to_bytes()
    assert max(shuffles.values()) > 120  # twice as many as are told apart before they are numbered afresh


def test_known_cards_stay_in_the_hand() -> None:
    """The ultimate is taken to the hand openly (rule 98)."""
    rules = rules_for()
    position = position_of(rules, {"P1.1": {"slots": ["Wrapped Up/2"], "hand": ["Wrapped Up/3", "Toilet Paper/1"]}})
    take(position, "munch 1 3")
    found = hands(position, 0, 0, 1, 200)
    assert all("Final Draft" in hand for hand in found)
    assert len(found) > 5


def test_resampled_favor_cards_are_any_of_the_hand() -> None:
    rules = rules_for()
    position = position_of(rules, {"moment": "favor", "P1": {"favor_hand": [0, 2, 3]}})
    take(position, "favor 2")
    stream = Stream(9)
    found: Counter[int] = Counter()
    for _ in range(900):
        found[position.rules.scene(position.resample(1, stream), -1)["mobs"][0]["favor"]] += 1
    assert set(found) == {0, 2, 3}
    assert all(abs(count - 300) < 75 for count in found.values())


def test_favor_cards_are_a_stage_of_hidden_choices() -> None:
    """Rules 27 and 28: all choose in secret, then all cards are shown. A seat with one card has no choice."""
    rules = rules_for(players=3)
    position = position_of(rules, {"moment": "favor", "order": [2, 0, 1], "P1": {"favor_hand": [3]}})
    start = position.clone()
    assert start.current_player() == 2
    assert start.rewind() == (start, 0)
    take(position, "favor 4")
    assert position.current_player() == 1
    again, taken_back = position.rewind()
    assert taken_back == 1
    take(again, "favor 1")
    assert looks(again, 1) == looks(position, 1)
    assert again.rewind()[1] == 1
    for chosen in (again, position):
        take(chosen, "favor 0")
    assert [again.to_dict()["mobs"][seat]["favor"] for seat in range(3)] == [3, 0, 1]
    assert position.rewind() is None
    assert again.check() == 0


def test_no_bot_sees_what_its_seat_cannot() -> None:
    """Every bot that plays Qu'arz, with one seed, makes one move in two states of one information set: along
    random games, and where a rival has chosen another favor card."""
    variants = [
        "ismcts(observer=single)",
        "ismcts(playout=greedy)",
        "ismcts(favor=cfr+)",
        "ismcts(favor=cfr+,threads=2)",
    ]
    for players in (2, 3):
        rules = games.spec("quarz").make_rules({"players": players, "draft": "random", "tiles": "random"})
        bots, refused = {}, set()
        for spec in [name for name, solver in solver_specs().items() if solver.kind == "searcher"] + variants:
            try:
                bots[spec] = make_searcher(spec, rules)
            except UnsuitableGameError:
                refused.add(spec)
        assert refused == {"expectimax", "mcts", "value_iteration"} & set(solver_specs())
        bots.pop("oos", None)  # searches the whole game's tree, which does not fit
        stream = Stream(3)
        positions = []
        for _ in range(3):
            position = rules.initial_position()
            while not position.is_terminal():
                if position.is_player_node():
                    positions.append(position.clone())
                    position.apply_action(position.suggest(stream))
                position.run_chance(stream)
        hiding = [each for each in positions if each.rewind() is not None and each.rewind()[1] > 0]
        assert len(hiding) >= 3
        compared = 0
        for each in positions[::25] + hiding:
            other = each.resample(each.current_player(), stream)
            compared += other != each
            for spec, bot in bots.items():
                a, b = (bot.search(state, seed=6, limit=Limit(simulations=12)) for state in (each, other))
                assert repr((a.action, a.actions, a.values)) == repr((b.action, b.actions, b.values)), spec
        assert compared >= 10
