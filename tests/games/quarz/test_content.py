"""The content: what the box holds, and that bad data get named errors."""

from __future__ import annotations

import os
import shutil
import tomllib
from pathlib import Path

import pytest

import games
from engine_ext.errors import DataError, ParameterError
from games.quarz.cards import DATA, records
from games.quarz.loading import read_content
from games.quarz.texts import describe_card


def test_the_box() -> None:
    """Rules 1, 3, 4, 7: 4 mobs of 4 monsters, 13 cards each; 20 favor cards, 13 time tiles, 4 shrines."""
    content = read_content()
    assert len(content.mobs) == 4
    assert len(content.monsters) == 16
    assert sum(len(monster.cards) for monster in content.monsters) == 208
    assert [card.value for card in content.favors] == [0, 1, 2, 3, 4]
    assert len(content.mobs) * len(content.favors) == 20
    assert len(content.time_tiles) == 13
    assert len(content.shrines) == 4
    stock = {kind: sum(p.count for p in content.patterns if p.kind == kind) for kind in ("empty", "water", "crystal")}
    assert stock == {"empty": 18, "water": 12, "crystal": 6}
    assert content.limits["reactions"] * len(content.mobs) == 8
    box = tomllib.loads((DATA / "common.toml").read_text(encoding="utf-8"))["box"]
    figures = (
        "monsters",
        "monster_cards",
        "favor_cards",
        "reaction_tokens",
        "mob_tokens",
        "time_tiles",
        "shrine_cards",
    )
    assert [box[key] for key in figures] == [16, 208, 20, 8, 16, 13, 4]
    assert (box["stun_tokens"], box["energy_gems"], box["impassable"]) == (8, 200, 4)
    assert box["shrine_tiles"] == {"large": 2, "small": 2}
    # rule 7: a mob token for each shrine, and there is one shrine a player
    assert all(len(board.shrines) == board.players for board in content.boards.values() if not board.practice)


def test_a_deck() -> None:
    """Rule 2, Q3, Q4: 1 ultimate, 3 abilities in 3 copies that differ in their munch effect, 3 Push/Swap."""
    for monster in read_content().monsters:
        assert [card.ultimate for card in monster.cards] == [True] + [False] * 12
        for first in (1, 4, 7):
            copies = monster.cards[first : first + 3]
            assert len({card.ability for card in copies}) == 1
            assert len({card.effects == copies[0].effects for card in copies}) == 1
            munches = [(card.munch.once, tuple(card.munch.keep.items())) for card in copies]
            assert len({str(munch) for munch in munches}) == 3
        assert [card.ability for card in monster.cards[10:]] == ["Push/Swap"] * 3
        assert len({card.label for card in monster.cards}) == 13


def test_names_and_figures_of_the_rule_text() -> None:
    by_name = {monster.name: monster for monster in read_content().monsters}
    named = (
        "Chili Ninja", "Lab Rat", "Calcu Bot", "Skater Bunny", "Mummified Pencil", "Bookworm", "Cake Monster",
        "Cheese Fly", "Watering Can", "Trash Bin",
    )  # fmt: skip
    assert set(named) <= set(by_name)
    assert by_name["Mummified Pencil"].energy == 10
    assert by_name["Cheese Fly"].damage == 1
    assert by_name["Cheese Fly"].move >= 3
    assert any(card.munch.keep.get("damage") == 2 for card in by_name["Cheese Fly"].cards)
    assert {m.name for m in by_name.values() if m.mob == "Horror Mob"} >= {
        "Mummified Pencil", "Watering Can", "Trash Bin",
    }  # fmt: skip
    assert {m.name for m in by_name.values() if m.die} == {"Chili Ninja", "Lab Rat", "Calcu Bot"}
    forms = {card.munch.form for m in by_name.values() for card in m.cards if card.munch.form}
    assert forms == {"Cake Slice", "Running Carrot", "Turbo Worm", "Sugar Mountain"}


def test_costs_of_the_rule_text() -> None:
    content = read_content()
    assert content.costs["draw"] == [1, 3, 5]
    assert (content.costs["move"], content.costs["march"], content.costs["shrine"], content.costs["swap"]) == (
        1,
        4,
        2,
        2,
    )
    assert all(card.cost == 1 for m in content.monsters for card in m.cards if card.ability == "Push/Swap")


def test_every_third_slot_gives_the_second_shrine() -> None:
    """Rule 105 and the seed: unlocking the third slot grants the second activation."""
    assert all(monster.slot3.get("second_shrine") for monster in read_content().monsters)


def test_provenance_is_told_of_every_record() -> None:
    told = records(read_content())
    assert {record["provenance"] for record in told} <= {"rulebook", "sourced", "reconstructed"}
    assert len([record for record in told if record["kind"] == "card"]) == 208
    assert all(record["provenance"] == "reconstructed" for record in told if record["kind"] in ("monster", "board"))


def test_boards() -> None:
    """Rule 141; counts of the rules file."""
    boards = read_content().boards
    assert {name: len(boards[name].cells) for name in ("2p", "3p", "4p")} == {"2p": 20, "3p": 28, "4p": 45}
    for board in boards.values():
        assert len(board.camps) == board.players


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("mobs/snack.toml", 'do = "heal"', 'do = "hael"', "no effect is called that"),
        ("mobs/snack.toml", "energy = 9", "energy = 99", "energy is 99"),
        ("mobs/snack.toml", 'attack = "strike"', 'attack = "bite"', "attack is 'bite'"),
        ("mobs/snack.toml", 'name = "Chili Ninja"', 'nmae = "Chili Ninja"', "unknown key 'nmae'"),
        ("mobs/snack.toml", 'name = "Chili Ninja"', 'name = "Bookworm"', "share the name"),
        ("mobs/snack.toml", "die = [1, 1, 2, 2, 3, 4]\n", "", "no die"),
        ("mobs/snack.toml", 'kind = "context"', 'kind = "nearby"', "kind is 'nearby'"),
        ("mobs/horror.toml", '[{ do = "negate" }]', '[{ do = "negate", amount = 1 }]', "unknown key 'amount'"),
        ("favor.toml", 'do = "choose_own" }, { do = "draw", amount = 2 }', 'do = "draw", amount = 2 }', "choose_own"),
        ("favor.toml", "value = 4", "value = 5", "0 to 4"),
        ("time.toml", "level = 3", "level = 4", "level is 4"),
        ("time.toml", "spaces_2_3_players = 12", "spaces_2_3_players = 11", "even"),
        ("tiles.toml", "edges = [0, 1, 2]", "edges = [0, 1, 6]", "different sides"),
        ("shrines.toml", 'name = "Shrine of Trade"', "title = 1", "unknown key 'title'"),
        ("boards.toml", "players = 2", "players = 3", "counts"),
        ("boards.toml", "[[board]]", "[[baord]]", "unknown key 'baord'; allowed: board"),
        ("boards.toml", "practice = true", 'practice = "yes"', "practice is 'yes'"),
        ("boards.toml", '"reconstructed"\nplayers = 4', '"invented"\nplayers = 4', "provenance is 'invented'"),
        ("boards.toml", "altar = [0, 0]", "altar = [0.5, 0]", "pair of ints"),
        ("boards.toml", "modifiable = [[-2, 0], [-1, 0], [1, 0]", "modifiable = [[-2, 0], [-1, 0]", "connectivity"),
        ("common.toml", "push_cost = 1\n", "", "'push_cost' is missing"),
        ("common.toml", "push_cost = 1", "push_cost = -1", "push_cost is -1"),
        ("common.toml", "push_cost = 1", 'push_cost = "one"', "push_cost is 'one'"),
        ("common.toml", 'name = "Push/Swap"', 'name = "Shove"', "name is 'Shove'"),
        ("common.toml", "munch = [", "munches = [", "unknown key 'munches'"),
        ("common.toml", "[push_swap]", "[pushswap]", "unknown key 'pushswap'"),
        ("common.toml", "draw = [1, 3, 5] ", "draw = [1, 3] ", "3 ints"),
        ("common.toml", "march = 4\n", 'march = "four"\n', "march is 'four'"),
        ("common.toml", "hand = 10 ", "hand = -3 ", "hand is -3"),
        ("common.toml", "opening_hand = 2 ", "opening_hand = 40 ", "opening_hand is 40"),
        ("common.toml", "actions = 2\n", "actions = 0\n", "actions is 0"),
        ("common.toml", "march_steps = 4", "march_steps = 2", "march_steps is 2"),
        ("common.toml", "idol_points = 2.5", "idol_points = 2.3", "multiple of 0.5"),
        ("common.toml", "extra_actions = 2 ", "extra_actions = -2 ", "extra_actions is -2"),
        ("common.toml", "[limits]\nprovenance", "[limits]\nprovenence", "unknown key 'provenence'"),
        ("common.toml", "monsters = 16", 'monsters = "many"', "monsters is 'many'"),
        ("favor.toml", "take_back = true ", "take_back = false ", "no card has take_back"),
        ("favor.toml", 'name = "regenerate", ', "", "'name' is missing"),
        ("favor.toml", 'do = "choose_own" }, { do = "regenerate" }', 'do = "choose_own" }', "must be followed by"),
        ("favor.toml", 'name = "recover one"', 'name = "cleanse"', "share the name 'cleanse'"),
        ("favor.toml", "[[favor]]\nvalue = 0", "colour = 3\n[[favor]]\nvalue = 0", "unknown key 'colour'"),
        ("shrines.toml", 'name = "Shrine of Trade"', 'name = "Shrine of Change"', "share the name"),
        ("shrines.toml", 'do = "trade"', 'do = "roll"', "no die"),
        ("time.toml", "short = [1, 2, 1]\n", "", "'short' is missing"),
        ("time.toml", "short = [1, 2, 1]", "short = [0, 0, 0]", "at least one tile"),
        ("time.toml", "short = [1, 2, 1]", "short = [1, -2, 1]", "3 ints"),
        ("time.toml", "short = [1, 2, 1]", "short = [1, 2]", "3 ints"),
        ("time.toml", "short = [1, 2, 1]", "short = [1, 2, 9]", "there are fewer"),
        ("time.toml", "[track]", "[trakc]", "unknown key 'trakc'"),
        ("time.toml", "frozen_water = true", "frozen_water = 1", "frozen_water is 1"),
        ("tiles.toml", "edges = [0, 1, 2]", "edges = [[0], [1]]", "different sides"),
        ("tiles.toml", 'name = "brook"', 'name = "bend"', "share the name 'bend'"),
        ("tiles.toml", "empty = 18", "empty = 17", "counts make 18"),
        ("tiles.toml", "empty = 5, water = 4, crystal = 2", "empty = 5, water = 4", "'crystal' is missing"),
        ("tiles.toml", "empty = 5, water = 4, crystal = 2", "empty = 5, water = 4, crystal = -1", "crystal is -1"),
        ("tiles.toml", "empty = 5, water = 4, crystal = 2", "empty = 5, water = 13, crystal = 2", "the stock has 12"),
        ("mobs/snack.toml", 'mob = "Snack Mob"', 'mob = "Sport Mob"', "share the name 'Sport Mob'"),
        ("mobs/snack.toml", 'name = "Chili Ninja"', 'name = ""', "not empty"),
        ("mobs/snack.toml", 'name = "Hot Kick"', 'name = "Smoke Seeds"', "share the name 'Smoke Seeds'"),
        ("mobs/snack.toml", 'name = "Hot Kick"', 'name = "Push/Swap"', "share the name 'Push/Swap'"),
        ("mobs/snack.toml", "die = [1, 1, 2, 2, 3, 4]", "die = 6", "die is 6"),
        ("mobs/snack.toml", "frosting_tokens = 6", "frosting_tokens = -6", "frosting_tokens is -6"),
        ("mobs/snack.toml", 'form = "Sugar Mountain"', "form = 3", "form is 3"),
        ("mobs/snack.toml", 'trigger = "hurt"\nscope', "scope", "there is no trigger"),
        (
            "mobs/snack.toml",
            'trigger = "arrived"\nscope = "self"',
            'trigger = "arrived"\nscope = "mob"',
            "attacked and hurt",
        ),
        (
            "mobs/snack.toml",
            "keep = { damage = 2 } }",
            "keep = { damage = 2 }, once = [{ do = 'extra' }] }",
            "exactly one",
        ),
        ("mobs/snack.toml", "keep = { damage = 2 } }", "once = [{ do = 'extra' }], lock = true }", "lock is for"),
        ("mobs/snack.toml", 'do = "jump", amount = 2', 'do = "jump", amount = "die"', "amount is 'die'"),
        ("mobs/snack.toml", "ultimate = true\n", "", "0 ultimates"),
    ],
)
def test_bad_data_are_named(tmp_path: Path, file: str, old: str, new: str, told: str) -> None:
    folder = tmp_path / "data"
    shutil.copytree(DATA, folder)
    path = folder / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_content(folder)
    assert told in str(caught.value)
    assert Path(file).name in str(caught.value) or "share the name" in told


def test_files_that_nobody_would_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "favour.toml").write_text("", encoding="utf-8")
    with pytest.raises(DataError, match=r"there are no data files; looked for boards\.toml.*; there are favour\.toml"):
        read_content(tmp_path)
    (tmp_path / "time.toml").write_bytes((DATA / "time.toml").read_bytes())
    with pytest.raises(DataError, match=r"favour\.toml: no data file is called that; there are boards\.toml"):
        read_content(tmp_path)
    with pytest.raises(DataError, match="no such folder"):
        read_content(tmp_path / "nowhere")


def test_tiles_that_do_not_fill_the_board_are_named(tmp_path: Path) -> None:
    text = (DATA / "tiles.toml").read_text(encoding="utf-8").replace("empty = 5, water = 4", "empty = 6, water = 4")
    (tmp_path / "tiles.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ParameterError, match="11 fields to fill, the data use 12"):
        games.spec("quarz").make_rules({"data": str(tmp_path)})


def test_a_folder_of_ones_own_may_leave_files_out(tmp_path: Path) -> None:
    (tmp_path / "mobs").mkdir()
    for path in (DATA / "mobs").glob("*.toml"):
        text = path.read_text(encoding="utf-8").replace("energy = 12", "energy = 13")
        (tmp_path / "mobs" / path.name).write_text(text, encoding="utf-8")
    content = read_content(tmp_path)
    assert next(m for m in content.monsters if m.name == "Cake Monster").energy == 13
    assert content.digest != read_content().digest


def test_only_the_places_of_data_files_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder may have the rest of a disk below it."""
    deep = tmp_path / "somebody" / "else"
    deep.mkdir(parents=True)
    for name in ("project.toml", "common.toml"):
        (deep / name).write_text("not = 'ours'", encoding="utf-8")
    looked_into: list[str] = []
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: (looked_into.append(str(path)), scan(path))[1])
    with pytest.raises(DataError, match="there are no data files; looked for"):
        read_content(tmp_path)
    assert looked_into
    assert not [path for path in looked_into if "somebody" in path]
    (tmp_path / "time.toml").write_bytes((DATA / "time.toml").read_bytes())
    assert read_content(tmp_path).digest == read_content().digest


def test_a_folder_without_data_files_is_refused(tmp_path: Path) -> None:
    """Nothing is played from the game's own data in silence."""
    looked_for = (
        "looked for boards.toml, common.toml, favor.toml, layouts.toml, shrines.toml, tiles.toml, time.toml and mobs/"
    )
    with pytest.raises(DataError, match="there are no data files; " + looked_for):
        games.spec("quarz").make_rules({"data": str(tmp_path)})
    (tmp_path / "notes.txt").write_text("nothing", encoding="utf-8")
    with pytest.raises(DataError, match=looked_for):
        games.spec("quarz").make_rules({"data": str(tmp_path)})


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    text = (DATA / "common.toml").read_text(encoding="utf-8")
    (tmp_path / "common.toml").write_text(text, encoding="utf-8")
    assert read_content(tmp_path).limits["hand"] == 10
    assert read_content(tmp_path) is read_content(tmp_path)
    (tmp_path / "common.toml").write_text(text.replace("hand = 10 ", "hand = 12 "), encoding="utf-8")
    assert read_content(tmp_path).limits["hand"] == 12


def test_every_card_is_described() -> None:
    texts = {describe_card(card) for monster in read_content().monsters for card in monster.cards}
    assert len(texts) >= 160


def test_every_figure_of_common_toml_is_needed(tmp_path: Path) -> None:
    """A folder of one's own may leave files out, but of a file nothing."""
    lines = (DATA / "common.toml").read_text(encoding="utf-8").splitlines(keepends=True)
    left_out = [i for i, line in enumerate(lines) if line[0].isalpha() and " = " in line and "munch = [" not in line]
    assert len(left_out) > 25
    for i in left_out:
        (tmp_path / "common.toml").write_text("".join(lines[:i] + lines[i + 1 :]), encoding="utf-8")
        key = lines[i].partition(" = ")[0]
        with pytest.raises(DataError, match=rf"common\.toml: .*{key}"):
            read_content(tmp_path)
