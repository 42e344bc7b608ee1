"""Views as HTML: the same words as in the terminal, in tables that say what they are."""

from __future__ import annotations

import io
from xml.etree import ElementTree

import pytest
from rich.columns import Columns
from rich.console import Console, Group
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

import games
from engine_ext.rng import Stream
from experiments.web import drawing


def tree(part):
    """What is drawn, as XML: a browser forgives more."""
    return ElementTree.fromstring(f"<div>{drawing.to_html(part)}</div>")


def words(part):
    """The words of a renderable in the terminal, without frames."""
    console = Console(file=io.StringIO(), width=400, highlight=False)
    console.print(part)
    return "".join(c for c in console.file.getvalue() if c.isalnum())


def test_styles_become_classes_and_markup_is_escaped():
    made = str(drawing.to_html(Text.assemble(("<b>", "bold red"), " & ", ("4", "black on white"), style="dim")))
    assert '<span class="bold dim c-red">&lt;b&gt;</span>' in made
    assert "&amp;" in made
    assert '<span class="dim on-white">4</span>' in made


def test_a_table_names_its_rows_and_columns():
    table = Table("name", "cost", title="Wilds")
    table.add_row(Text("[x]"), "3")
    drawn = tree(table)
    assert drawn.find(".//caption").text == "Wilds"
    assert [cell.get("scope") for cell in drawn.iter("th")] == ["col", "col", "row"]
    assert drawn.find(".//tbody//th").text == "[x]"
    assert drawn.find(".//td").attrib == {"role": "cell", "data-label": "cost"}
    assert drawn.find(".//table").get("class") is None


def test_a_table_with_long_rows_may_be_set_row_below_row():
    table = Table("name", "text")
    table.add_row("a", "long " * 20)
    assert tree(table).find(".//table").get("class") == "rows"


def test_panels_columns_and_unknown_renderables():
    drawn = tree(Group(Columns([Panel("in", title="T", subtitle="corner", border_style="green")]), Rule("far")))
    card = drawn.find(".//div[@class='card edge-green']")
    assert [each.text for each in card] == ["T", "in", "corner"]
    assert "far" in drawn.find(".//pre").text


@pytest.mark.parametrize("name", sorted(games.SPECS))
def test_every_view_says_the_same_as_in_the_terminal(name):
    """Along a game at random: no word is lost, and what is drawn is well-formed."""
    spec, stream = games.SPECS[name], Stream(5)
    position = spec.make_rules().initial_position()
    for step in range(120):
        if position.is_terminal():
            break
        if step % 10 == 0 and not position.is_chance_node():
            for part in spec.sections(position, 0).values():
                shown = "".join(tree(part).itertext())
                assert sorted(c for c in shown if c.isalnum()) == sorted(words(part))
        legal = position.legal_actions()
        position.apply_action(legal[stream.below(len(legal))])
