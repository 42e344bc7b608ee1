"""Dice that belong to a place in the game: the same for whoever sits there, and again after an undo."""

from __future__ import annotations

import games
from engine_ext.rng import Stream
from experiments.chance import KeyedChance

ROLL, HOLD = 0, 1


def play_pig(seed: int, holds: dict[int, int], turns: int) -> dict[tuple[int, int], list[int]]:
    """Faces by (turn, seat) when each seat holds after `holds[seat]` rolls."""
    position = games.spec("pig").make_rules().initial_position()
    chance = KeyedChance(seed)
    seen: dict[tuple[int, int], list[int]] = {}
    turn, rolls, last = 0, 0, 0
    while turn < turns and not position.is_terminal():
        if position.is_chance_node():
            outcome = chance.draw(position)
            seen.setdefault((turn, last), []).append(outcome)
            position.apply_action(outcome)
            rolls += 1
            continue
        seat = position.current_player()
        if seat != last:
            turn, rolls, last = turn + 1, 0, seat
        chance.decided(seat)
        position.apply_action(HOLD if rolls >= holds[seat] else ROLL)
    return seen


def test_a_seat_meets_the_same_dice_whatever_the_players_do():
    short, long = play_pig(5, {0: 1, 1: 1}, 12), play_pig(5, {0: 4, 1: 3}, 12)
    common = set(short) & set(long)
    assert len(common) >= 10
    for place in common:
        shared = min(len(short[place]), len(long[place]))
        assert short[place][:shared] == long[place][:shared]


def test_another_seed_gives_other_dice():
    assert play_pig(5, {0: 3, 1: 3}, 12) != play_pig(6, {0: 3, 1: 3}, 12)


def test_the_dice_are_those_of_the_stream_keyed_by_seed_turn_seat_and_event():
    position = games.spec("pig").make_rules().initial_position()
    chance = KeyedChance(77)
    chance.decided(0)
    position.apply_action(ROLL)
    assert chance.draw(position) == Stream.keyed(77, 0, 0, 0).below(6)
    assert chance.draw(position) == Stream.keyed(77, 0, 0, 1).below(6)
    chance.decided(1)
    assert chance.draw(position) == Stream.keyed(77, 1, 1, 0).below(6)


def test_a_copy_draws_the_same_and_leaves_the_original_alone():
    position = games.spec("pig").make_rules().initial_position()
    position.apply_action(ROLL)
    chance = KeyedChance(3)
    chance.draw(position)
    copy = chance.copy()
    ahead = [copy.draw(position) for _ in range(20)]
    assert [chance.draw(position) for _ in range(20)] == ahead
