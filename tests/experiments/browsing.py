"""What tests of the page share: a browser without a screen, forms and buttons."""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser

LONGEST_S = 60.0  # of waiting for a bot


def opened(browser, **form):
    """A game begun with the start page's form; shown once nobody thinks any more."""
    given = {"game": "pig(goal=10)", "bot": "greedy", "seat": "0", "seed": "3", **form}
    return settled(browser, browser.post("/", data=given))


def moves(page):
    """[(address, action)] of a page's moves."""
    return re.findall(r'action="(/game/[^"]+/move/(\d+))"', page)


class Forms(HTMLParser):
    """The forms of a page: [(address, fields)], and what would be fetched from elsewhere."""

    def __init__(self, page):
        super().__init__()
        self.forms, self.fetched = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "form":
            self.forms.append((given["action"], {}))
        elif tag == "input" and self.forms and "name" in given:
            self.forms[-1][1][given["name"]] = given.get("value", "")
        self.fetched += [given[key] for key in ("src", "srcset", "data") if key in given]
        if tag in ("link", "script", "iframe", "object"):
            self.fetched.append(tag)

    def ending(self, word):
        return [form for form in self.forms if f"/{word}" in form[0]]


def thinking(page):
    """Whether a page says that something is being worked out."""
    return page.status_code == 200 and 'role="status"' in page.text


def settled(browser, page):
    """Look again, as the page does by itself, for as long as somebody thinks."""
    ends = time.monotonic() + LONGEST_S
    while thinking(page):
        assert 'http-equiv="refresh"' in page.text
        assert time.monotonic() < ends
        page = browser.get(page.url.path)
    return page


def press(browser, form):
    """Press a button, and wait for what comes of it."""
    return settled(browser, browser.post(form[0], data=form[1]))
