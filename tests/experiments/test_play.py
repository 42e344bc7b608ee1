"""Playing in the terminal: driven by typed lines, as a person does."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

import games
from engine_ext.errors import ParameterError, SpecError, UnsuitableGameError
from engine_ext.rng import Stream
from experiments import gametext
from experiments.play.screen import Screen
from experiments.play.session import CHANCE, Session
from tests.experiments.command import command_line, on_a_dumb_terminal, quandary
from tests.experiments.playing import advance, pig, typed
from tests.games.pentaquest.helpers import write_deck
from tests.games.quarz.test_cases import position_of, rules_for


def test_a_game_to_the_end_tells_who_won():
    shown, screen = typed(pig(text="pig(goal=10)"), *["roll", "hold"] * 60)
    assert screen.session.over
    own = screen.session.position.returns()[0]
    assert ("You have won." if own == 1 else "You have lost to seat 1.") in shown


def test_numbers_names_and_unmistakable_parts_are_understood():
    for line in ("1", "roll", "ROLL", "rol"):
        _, screen = typed(pig(), line)
        assert (screen.session.events[0].seat, screen.session.events[0].action) == (0, 0)


@pytest.mark.parametrize(
    "line", ["3", "0", "99999999999999999999", "fly", "l o", "-1", "1 2", "save", "load", "roll\x00"]
)
def test_a_line_that_means_nothing_changes_nothing(line):
    _, screen = typed(pig(), line)
    assert screen.session.events == []


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "~nobody-of-that-name/x"])
def test_a_name_no_file_can_have_is_refused(name):
    shown, screen = typed(pig(), "roll", f"save {name}", f"load {name}")
    assert shown.count("cannot name a file") == 2
    assert screen.session.events


def test_a_part_of_several_names_is_asked_about():
    session = Session(gametext.load("pentaquest(scenario=duel)"), 0, ["random"], 1)
    shown, screen = typed(session, "keep")
    listed = shown.rpartition("That could be:")[2]
    menu = {f"{k} {choice.words}" for k, choice in enumerate(screen.session.choices(), 1) if "keep" in choice.name}
    assert {" ".join(line.split()) for line in listed.splitlines() if line.strip()} == menu
    assert all(event.seat == CHANCE for event in screen.session.events)


def test_the_same_dice_come_again_after_undo():
    session = pig(bots=["random"], seed=8)
    for _ in range(15):
        advance(session)
        if session.over:
            break
        session.choose(session.position.legal_actions()[0])
    advance(session)
    before = list(session.events)
    own = [event.action for event in before if event.seat == 0]
    for _ in own:
        assert session.undo()
    assert not session.undo()
    for action in own:
        advance(session)
        session.choose(action)
    advance(session)
    assert session.events == before


def test_undo_takes_back_the_rivals_moves_too():
    session = pig(seed=8)
    advance(session)
    start = session.position.to_bytes()
    session.choose(1)
    advance(session)
    assert any(event.seat == 1 for event in session.events)
    assert session.undo()
    assert session.position.to_bytes() == start
    assert session.events == []


def test_a_rivals_hidden_card_is_not_told():
    """Kuhn poker: seat 1 sees that cards were dealt, and which one it holds itself."""
    session = Session(gametext.load("kuhn"), 1, ["random"], 4)
    advance(session)
    dealt = [event for event in session.events if event.seat == CHANCE]
    assert len(dealt) == 2
    assert dealt[0].text is None
    assert dealt[1].text == f"deal {dealt[1].action}"
    assert all(event.text is not None for event in session.events if event.seat == 0)  # bids are public
    shown, _ = typed(Session(gametext.load("kuhn"), 1, ["random"], 4))
    assert "(hidden from you)" in shown


@pytest.mark.parametrize(
    ("bots", "seats"),
    [
        (["greedy"], ["greedy", "you", "greedy"]),
        (["greedy", "random"], ["greedy", "you", "random"]),
        (["greedy", "random", "random"], ["greedy", "you", "random"]),
    ],
)
def test_one_bot_for_all_or_one_for_each_seat(bots, seats):
    assert Session(gametext.load("pentaquest(players=3)"), 1, bots, 1).names == seats


def test_wrong_seats_and_bots_are_named():
    with pytest.raises(ParameterError, match="seats 0 to 1"):
        pig(seat=2)
    with pytest.raises(ParameterError, match="3 bots are given"):
        pig(bots=["random"] * 3)
    with pytest.raises(SpecError):
        pig(bots=["nobody"])
    with pytest.raises(UnsuitableGameError):
        Session(gametext.load("kuhn"), 0, ["mcts"], 1)


# ---- the command -----------------------------------------------------------------------------


def test_the_end_of_input_leaves_cleanly():
    done = quandary("play", "pig", "--bot", "greedy", "--seed", 3, stdin="roll\nhelp\nhint\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Seed 3 brings the same dice again" in done.stdout
    assert "chance to win" in done.stdout


def test_the_same_seed_and_moves_are_the_same_game(capsys, monkeypatch):
    shown = []
    for _ in range(2):
        monkeypatch.setattr("sys.stdin", io.StringIO("roll\nroll\nhold\nquit\n"))
        shown.append(command_line(capsys, "play", "pig", "--bot", "random", "--seed", 12))
    assert shown[0] == shown[1]
    assert shown[0][0] == 0


def test_strongest_works_for_every_game_from_the_start(capsys, monkeypatch):
    for game in ("pig", "pentaquest(scenario=duel)"):
        monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
        code, shown, _ = command_line(capsys, "play", game, "--seed", 1)
        assert code == 0
        assert "strongest" in shown


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["play", "chess"], "chess"),
        (["play", "pig", "--bot", "nobody"], "nobody"),
        (["play", "pig", "--seat", "7"], "seat is 7"),
        (["play", "pig", "--seed", "-1"], "seed"),
        (["play", "pig", "--load", "no-such-file"], "no-such-file"),
        (["play", "kuhn", "--bot", "mcts"], "hides information"),
    ],
)
def test_bad_input_is_one_line(words, says, capsys):
    code, _, errors = command_line(capsys, *words)
    assert code == 2
    assert says in errors
    assert len(errors.strip().splitlines()) == 1


# ---- what is said ----------------------------------------------------------------------------


def test_the_table_is_drawn_again_only_where_it_changed():
    shown, _ = typed(Session(gametext.load("quarriors"), 0, ["greedy"], 5), "buy nothing more", "look")
    assert shown.count("The Wilds") == 2  # at the start, and when asked for
    assert "what has changed" in shown


def test_a_question_stands_above_the_menu():
    shown, _ = typed(pig())
    lines = shown.splitlines()
    asked = next(i for i, line in enumerate(lines) if line.startswith("You have 0 of 100 points"))
    assert lines[asked + 1].split() == ["1", "roll", "the", "die"] or "1  roll the die" in lines[asked + 2]


def test_words_of_the_menu_are_understood_as_well_as_names():
    session = Session(gametext.load("pentaquest(scenario=duel)"), 0, ["random"], 1)
    _, screen = typed(session, "roll all 5 again")
    assert screen.session.events[-2].text == "reroll, keep none"


def test_alone_nobody_is_called_a_player_or_seat():
    shown, _ = typed(Session(gametext.load("pentaquest"), 0, ["greedy"], 3))
    assert "You play alone" in shown
    assert "player 0" not in shown
    assert "seat 0" not in shown
    menu = [line for line in shown.splitlines() if "give up: the game is lost" in line or "take nothing" in line]
    assert menu
    assert not menu[0].lstrip().startswith("1 ")


@pytest.mark.parametrize("name", sorted(games.SPECS))
def test_every_game_says_how_it_is_played_and_won(name):
    spec = games.SPECS[name]
    aim = spec.aim(spec.make_rules())
    assert "win" in aim or "takes the pot" in aim  # Kuhn poker
    shown, _ = typed(Session(gametext.load(name), 0, ["random"], 3), "aim")
    assert " ".join(shown.split()).count(aim) == 2  # at the beginning, and when asked


def test_a_time_for_each_move_ends_a_bots_search(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    bot = "mcts(simulations=1000000000)"
    code, shown, _ = command_line(
        capsys, "play", "pig(goal=20)", "--bot", bot, "--seat", 1, "--seed", 3, "--seconds", 0.1
    )
    assert code == 0
    assert "seat 0 gives itself" in shown


def test_who_interrupts_a_bot_has_the_move_back(monkeypatch):
    session = pig(text="pig(goal=20)", seed=3)
    thought = []

    def think():
        thought.append(session.bot_to_move)
        raise KeyboardInterrupt

    monkeypatch.setattr(session, "think", think)
    shown, screen = typed(session, "roll", "hold")
    assert thought == [1]
    assert "Stopped: your move is taken back" in shown
    assert screen.session.own_moves == 1  # the roll; the hold that the bot would have answered is undone
    assert screen.session.your_turn


def test_who_interrupts_a_hint_stays_in_the_game(monkeypatch):
    session = pig()
    monkeypatch.setattr(session, "hint", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    shown, screen = typed(session, "hint", "roll")
    assert "Stopped." in shown
    assert screen.session.own_moves == 1


def test_things_can_be_looked_up():
    session = Session(gametext.load("quarriors(wilds=Death Cantrip)"), 0, ["greedy"], 5)
    shown, _ = typed(session, "about Death Cantrip", "about portal", "about", "about nothing of the kind [red]")
    assert "Death Cantrip: spell, costs 4" in shown
    assert "faces: 1 Quiddity; 5 ×" in shown or "Portal: basic, costs 4" in shown
    assert "about NAME, for one of: Basic Quiddity, Assistant, Portal" in shown
    assert "Nothing is called 'nothing of the kind [red]'" in shown
    assert "nothing to look up" in typed(pig(), "about pig")[0]


def test_undo_takes_the_story_and_the_thought_back():
    session = pig(bots=["mcts(simulations=50)"], seed=3)
    session.go_on()
    session.choose(0)
    session.go_on()
    before = list(session.story), session.thought
    session.choose(1)
    session.go_on()
    assert session.thought is not None
    assert session.story != before[0]
    assert session.undo()
    assert (session.story, session.thought) == before


@pytest.mark.parametrize(
    "game",
    [
        "pig(goal=20)",
        "kuhn",
        "pentaquest",
        "pentaquest(players=4,original=true)",
        "quarriors",
        "quarriors(edition=light_vs_dark,mixed=true,qladiator=true,players=3)",
        "quarz",
        "quarz(players=4,squad=2)",
    ],
)
def test_a_whole_game_typed_by_numbers_and_nonsense(game):
    """Numbers at random and lines that mean nothing, to the end, on a narrow terminal."""
    stream = Stream(17)
    session = Session(gametext.load(game), 0, ["greedy"], 11)
    nonsense = [
        "",
        "   ",
        "[/bold]",
        "0",
        "-3",
        "9" * 40,
        "\u0663",
        "why",
        "about a",
        "moves",
        "look",
        "a b c" * 50,
        "undo",
    ]

    def read(_):
        if session.over:
            raise EOFError
        if stream.below(12) == 0:
            return nonsense[stream.below(len(nonsense))]
        return str(1 + stream.below(len(session.choices())))

    console = Console(file=io.StringIO(), width=60)
    with pytest.raises(EOFError):
        Screen(session, console, read).run()
    shown = console.file.getvalue()
    assert session.over
    assert session.verdict().split(".")[0] in " ".join(shown.split())
    assert "Traceback" not in shown


def test_names_of_own_cards_are_text_and_not_markup(tmp_path):
    """A card's name with the terminal's markup in it, unbalanced, on table, menu, odds and in the reference."""
    name = "[/red]Odd[bold] [link=x]Hag"
    path = tmp_path / "set.toml"
    path.write_text(
        f"set = 'mine'\n[[card]]\nname = '{name.replace('=', ':')}'\nclass = 'Witching Hag'\ncost = 1\nglory = 2\n"
        "provenance = 'reconstructed'\n"
    )
    name = name.replace("=", ":")  # which a name cannot hold
    session = Session(gametext.load(f"quarriors(data={path},wilds={name})"), 0, ["mcts(simulations=20)"], 5)
    shown, _ = typed(session, f"about {name[:8]}", "go on", f"capture {name}", "why", "hint", "moves", "look")
    flat = " ".join(shown.split())
    assert f"{name}: creature, costs 1" in flat
    assert f"captured {name} for 1 Quiddity" in flat
    together = "".join(shown.split())  # a line may break within the name, by how long the file's path is
    assert together.count(name.replace(" ", "")) > 6


def test_where_nobody_wins_a_tie_the_verdict_says_so():
    """Qu'arz, rule 129: level in points and in munched cards is no win, whoever is level."""
    rules = rules_for(players=3)
    level = {"shrines": [1, 0, 0], "munched": 2}
    start = {"P2": level, "P3": level, "time": {"left": 1, "turns": 38}}
    for seat in range(3):
        session = Session(gametext.load("quarz(draft=fixed,tiles=none,players=3)"), seat, ["random"], 1)
        session.position = position_of(rules, start)
        while not session.over:
            position = session.position
            if position.current_player() == CHANCE:
                position.apply_action(position.chance_outcomes()[0][0])
            else:
                position.apply_action(position.legal_actions()[0])  # the first of a turn's choices is to pass
        assert session.position.returns() == [0, 0, 0]
        assert session.verdict() == "Nobody has won."


def test_a_tie_that_is_won_is_shared(tmp_path):
    """Pentaquest, P19: each has captured two cards and has both left."""
    deck = write_deck(tmp_path / "deck.toml", [("Rat", ["SS"], "add"), ("Toad", ["S"], "sub")] * 2)
    session = Session(gametext.load(f"pentaquest(players=2,deck={deck})"), 0, ["random"], 1)
    armies = [{"sub": 1}, {"sub": 1, "add": 1}]
    given = {"deck": [], "quest": ["Rat"], "armies": armies, "discards": [0, 0], "turn": 2, "dice": [2, 2, 3, 4, 5]}
    session.position = session.rules.from_dict(given)
    session.choose(session.position.string_to_action("beat Rat"))
    assert session.verdict() == "The win is shared."


@pytest.mark.parametrize(("columns", "width"), [("", 60), ("50", 50)])
def test_a_dumb_terminal_is_as_wide_as_it_says(columns, width):
    """The frame around the table, from edge to edge of a terminal of 60 columns, or of what COLUMNS says."""
    words = "play", "pig", "--bot", "random", "--seed", "5"
    shown = on_a_dumb_terminal(*words, width=60, columns=columns, typed=b"quit\n")
    frames = [line for line in shown.splitlines() if line.startswith("╭")]
    assert [len(line) for line in frames] == [width]


@pytest.mark.parametrize(("columns", "width"), [("", 100), ("60", 60), ("nonsense", 100), ("0", 100)])
def test_output_that_goes_elsewhere_is_as_wide_as_columns_says(columns, width, capsys, monkeypatch):
    """The frame around the table, in a pipe."""
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    _, shown, _ = command_line(capsys, "play", "pig", "--bot", "random", "--seed", 5)
    frames = [line for line in shown.splitlines() if line.startswith("╭")]
    assert [len(line) for line in frames] == [width]


def test_the_odds_of_all_answers_are_shown_when_asked_for():
    """Pentaquest's first decision: one answer for each way to keep some of five dice, and to give up; far over ten."""

    def rows(line):
        session = Session(gametext.load("pentaquest"), 0, ["mcts(simulations=200)"], 3)
        shown, _ = typed(session, line)
        table = shown[shown.rindex(" sees") :]
        return len(re.findall(r"^ ?(→|  ) *\d+  ", table, flags=re.MULTILINE)), table, len(session.choices())

    few, table, n = rows("hint")
    assert few == 10
    assert f"and {n - 10} more that it likes less: hint all" in table
    every, table, n = rows("hint all")
    assert every == n > 15
    assert "more that it likes less" not in table
    assert rows("h 15")[0] == 15
    for wrong in ("hint 0", "hint -3", "hint some"):
        shown, _ = typed(pig(), wrong)
        assert "is no number of answers: hint, hint 15, or hint all." in shown


def test_dice_to_keep_may_be_typed():
    """Seed 3 rolls 2 3 4 4 5 first."""
    session = Session(gametext.load("pentaquest"), 0, ["greedy"], 3)
    shown, _ = typed(session, "keep 6 6", "keep 5 4 2", "moves")
    assert "there are not so many 6s: the dice are 2 3 4 4 5" in shown
    assert "kept 2 4 5" in shown
