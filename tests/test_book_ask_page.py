"""The page where a reader asks, built alone and clicked through from its folder, in the system's Chromium."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from lkecore import worlds
from lkecore.answers.shipped import results
from lkecore.book import ask, single

TOP = Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PLANTED = "nobody caught this"  # a rejected promise, which one test makes
FREE = "The author of <b>nothing</b> \U0001f600 is"


@pytest.fixture(scope="module")
def browser():
    sync = pytest.importorskip("playwright.sync_api")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not found:
        pytest.skip("no Chromium on this machine")
    with sync.sync_playwright() as driver:
        window = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield window
        window.close()


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    project = tmp_path_factory.mktemp("project")
    for name in ("book", "_config.yml"):
        (project / name).symlink_to(TOP / name)
    return single.render_prose(project, "ask")


@pytest.fixture
def page(browser, html):
    """The page, ready; after a test there was no error and no request beside its own files."""
    tab = browser.new_page(viewport={"width": 1200, "height": 900})
    tab.set_default_timeout(300_000)
    errors, requests = [], []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("request", lambda request: requests.append(request.url))
    tab.goto(html.as_uri())
    ready(tab)
    yield tab
    assert set(errors) <= {PLANTED}
    assert {url.partition(":")[0] for url in requests} == {"file", "blob"}
    tab.close()


def ready(tab):
    """What the page says, once it has answered."""
    tab.wait_for_selector("#ask-page[aria-busy=false]")
    return tab.inner_text("#ask-said")


def bars(tab):
    return tab.locator("#ask-bars li").count()


def narrow_enough(tab):
    tab.set_viewport_size({"width": 390, "height": 844})
    width = tab.evaluate("document.documentElement.scrollWidth")
    tab.set_viewport_size({"width": 1200, "height": 900})
    return width <= 390


def test_no_page_but_this_one_loads_its_scripts(html):
    """Jupyter Book puts each script of _static into each page: here megabytes of weights."""
    own = html.read_text(encoding="utf-8")
    assert own.count('<script src="_static/ask/') == 1 and own.count("ask.css") == 1
    assert "_static/ask/" not in html.with_name("glossary.html").read_text(encoding="utf-8")
    assert "custom.css" in own


def test_each_menu_and_each_way_answers(page):
    said = {}
    for menu in ("Model", "Relation", "Pairs shown first", "Way of asking"):
        control = page.get_by_label(menu)
        every = [each.strip() for each in control.locator("option").all_inner_texts()]
        names = every if menu == "Way of asking" else [every[0], every[-1]]
        for name in names:
            control.select_option(label=name)
            said[menu, name] = ready(page)
            assert narrow_enough(page)
        if menu != "Way of asking":
            control.select_option(label=names[0] if menu == "Model" else names[-1])
            ready(page)
    own = said.pop(("Way of asking", "in your own words"))
    assert own.endswith("write how a sentence begins, and press Ask.")
    assert all(re.match("(Right|Wrong)[.] The first answer is ", text) for text in said.values())
    assert len({text for (menu, _), text in said.items() if menu == "Model"}) == 2
    assert len(said) == 3 * 2 + 3

    box = page.get_by_label("Your words")
    box.fill(FREE)
    box.press("Enter")
    assert ready(page).startswith("The likeliest to come next is ")
    page.get_by_text("What did the model just read?").click()
    assert page.inner_text("#ask-context") == f"{FREE} ____"
    assert bars(page) == 8 and not page.locator(".ask-gold").count()
    page.get_by_label("show all objects").check()
    ready(page)
    assert bars(page) == 100 and narrow_enough(page)

    page.get_by_label("Way of asking").select_option("false")
    sentences = page.locator("#ask-wording").locator("option").all_inner_texts()
    page.locator("#ask-wording").select_option(label=sentences[3])
    ready(page)
    told, asked = page.inner_text("#ask-context").removesuffix(" ____").split(". ", 1)
    assert told.startswith(asked.strip()) and len(told) > len(asked)
    page.get_by_label("Model").select_option(ask.MODELS[2])
    ready(page)
    page.get_by_text("What does the text say?").click()
    assert page.inner_text("#ask-told").startswith("Nothing.")


def test_each_control_has_a_name(page):
    for control in page.locator("#ask-page").locator("select, input, button").all():
        named = "e => [...(e.labels || [])].map(l => l.textContent.trim()).join() || e.textContent"
        assert control.evaluate(named), control.evaluate("e => e.id")


def test_a_whole_game_counts_what_the_reader_and_the_rule_have_right(page):
    """Who always takes the surer one has what the rule has, and their AUROC is that of the results."""
    page.get_by_label("Relation").select_option(label="author of a book")
    ready(page)
    assert not page.locator("#ask-round").is_visible()
    page.get_by_role("button", name="Play ten rounds").click()
    for i in range(1, 11):
        page.wait_for_function(
            f"document.getElementById('ask-question').textContent.startsWith('Round {i} of 10. The')"
        )
        sure = [
            float(re.search(r"Confidence in .+: ([\d.]+) %", page.inner_text(f"#ask-{which}"))[1])
            for which in ("first", "second")
        ]
        assert narrow_enough(page)
        page.click("#ask-first" if sure[0] > sure[1] else "#ask-second")
    page.wait_for_function("document.getElementById('ask-question').textContent.startsWith('The')")
    end = page.inner_text("#ask-question")
    log = page.locator("#ask-log li").all_inner_texts()
    right = sum(line.startswith("You: right. The rule: right. Stated ") for line in log)
    wrong = sum(line.startswith("You: wrong. The rule: wrong. Stated ") for line in log)
    assert right + wrong == len(log) == 10 and all(". Never stated: " in line for line in log)
    assert f"You found {right} of 10, the rule {right}." in end
    states = worlds.states(ask.WORLD).query("relation == 'author' and split == 'test'")
    often = states.query("state == 'planted' and occurrences >= 16")
    found = results("58_lab_found").query("estimator == 'iclke-space' and model == @ask.MODELS[0]")
    sure = found.set_index("fact")["confidence_gold"]
    wins = pd.DataFrame(
        {b: (sure[often["fact"]] > sure[b]).to_numpy() for b in often["control"]}
    ).to_numpy()
    assert f"an AUROC of {wins.mean():.2f}, with a 95 % interval from 0." in end
    page.get_by_role("button", name="Play again").click()
    page.wait_for_selector("#ask-round:visible")


def test_what_fails_is_said(page, html):
    script = html.parent / "_static" / "ask" / "weights-0.7m.js"
    aside = script.rename(script.with_suffix(".aside"))
    page.get_by_label("Model").select_option(ask.MODELS[1])
    assert ready(page) == (
        "This did not work: weights-0.7m.js is not there; the command lke book makes it."
    )
    aside.rename(script)
    page.get_by_label("Way of asking").select_option("sentence")
    assert ready(page).startswith(("Right", "Wrong"))
    page.evaluate(f"void Promise.reject(new Error('{PLANTED}'))")
    page.get_by_text(f"This did not work: {PLANTED}").wait_for()
