"""The page in a real browser: every figure drawn, every number there, controls that work, no complaint."""

import pytest

from flexicase.report.write import write_report
from tests.report.conftest import CHROMIUM, browse

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")]

CHART = "document.getElementById('evaluations-mirror-image')"


@pytest.fixture(scope="module")
def report(export, tmp_path_factory):
    pytest.importorskip("jinja2")
    return write_report(export, tmp_path_factory.mktemp("report")).page


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with browse(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture
def page(browser, report):
    browser.complaints.clear()
    browser.requests.clear()
    browser.open(report)
    yield browser
    assert browser.complaints == []
    assert browser.requests == [report.resolve().as_uri()]


def lines(page):
    return page.value(f"[...{CHART}.querySelectorAll('path[data-line]')].map(p => p.dataset.line)")


def test_every_figure_is_drawn(page):
    drawn = page.value("[...document.querySelectorAll('figure')].map(f => f.querySelectorAll('svg.chart path').length)")
    assert len(drawn) == 8
    assert all(count >= 3 for count in drawn)


def test_numbers_of_the_table_are_on_the_page(page):
    text = page.value("document.querySelector('#successes ~ .wide').innerText")
    assert "6/8" in text
    assert "43/50" in text
    assert page.value("document.querySelectorAll('td.marked').length") == 3  # two here, one of the paper's


def test_a_click_on_a_name_hides_its_line_and_another_shows_it(page):
    assert lines(page) == ["lexicase", "ranked-num-nonzeros", "weighted-num-zeros"]
    click = f"{CHART}.querySelector('button[data-line=lexicase]').click()"
    page.value(click)
    assert lines(page) == ["ranked-num-nonzeros", "weighted-num-zeros"]
    page.value(click)
    assert "lexicase" in lines(page)


def test_the_other_count_and_the_log_scale_redraw(page):
    path = f"{CHART}.querySelector('path[data-line=lexicase]').getAttribute('d')"
    labels = f"[...{CHART}.querySelectorAll('svg.chart text')].map(t => t.textContent).join(' ')"
    first, before = page.value(path), page.value(labels)
    page.value(f"{CHART}.querySelector('button.log').click()")
    assert page.value(path) != first
    page.value(f"{CHART}.querySelector('button.log').click()")
    assert page.value(path) == first
    page.value(
        f"(() => {{ const s = {CHART}.querySelector('select'); s.value = 'evaluations_distinct';"
        "s.dispatchEvent(new Event('change')); })()"
    )
    assert page.value(labels) != before


def test_hovering_shows_values_and_dragging_zooms(page):
    page.value(f"{CHART}.scrollIntoView()")
    box = page.value(
        f"(() => {{ const b = {CHART}.querySelector('svg.chart').getBoundingClientRect();"
        "return [b.left, b.top, b.width, b.height]; })()"
    )
    left, top, width, height = box
    y = top + height / 3
    page.mouse("mouseMoved", left + width * 0.1, y)
    tip = page.value(f"{CHART}.querySelector('.tip').innerText")
    assert "Lexicase: 203.5 (8 runs)" in tip
    ticks = f"[...{CHART}.querySelectorAll('svg.chart text[text-anchor=middle]')].map(t => t.textContent)"
    whole = page.value(ticks)
    page.mouse("mousePressed", left + width * 0.2, y, button="left", clickCount=1)
    page.mouse("mouseMoved", left + width * 0.5, y, button="left", buttons=1)
    page.mouse("mouseReleased", left + width * 0.5, y, button="left", clickCount=1)
    zoomed = page.value(ticks)
    assert zoomed != whole
    page.value(f"{CHART}.querySelector('button.reset').click()")
    assert page.value(ticks) == whole


def test_the_palette_changes_the_colours(page):
    colour = f"getComputedStyle({CHART}.querySelector('path[data-line=weighted-num-zeros]')).stroke"
    before = page.value(colour)
    page.value("document.getElementById('palette').click()")
    assert (before, page.value(colour)) == ("rgb(31, 95, 180)", "rgb(86, 180, 233)")


def test_a_page_of_variants_shows_shares_and_times_of_each(browser, tmp_path):
    from flexicase.report._variants import variant_sections
    from flexicase.report.write import render
    from tests.report.test_variants import known_variants

    page = tmp_path / "report.html"
    page.write_text(render(known_variants(), variant_sections(known_variants())), encoding="utf-8")
    browser.complaints.clear()
    browser.open(page)
    drawn = "[...document.querySelectorAll('figure')].map(f => f.querySelectorAll('path[data-line]').length)"
    assert browser.value(drawn) == [2, 2, 2]
    assert "12 [11–13]" in browser.value("document.querySelector('#summary ~ .wide').innerText")
    ticks = "[...document.querySelectorAll('#pairs-by-selections-mirror-image svg.chart text')].map(t => t.textContent)"
    assert {"2", "5", "10"} <= set(browser.value(ticks))  # a logarithmic axis
    chart = "document.getElementById('pairs-mirror-image')"
    path = f"{chart}.querySelector('path[data-line=lexicase]').getAttribute('d')"
    before = browser.value(path)
    browser.value(
        f"(() => {{ const s = {chart}.querySelector('select'); s.value = 'fast-all';"
        "s.dispatchEvent(new Event('change')); })()"
    )
    assert browser.value(path) != before
    assert browser.complaints == []


def test_dark_mode_turns_black_lines_light(page, report):
    colour = f"getComputedStyle({CHART}.querySelector('path[data-line=lexicase]')).stroke"
    assert page.value(colour) == "rgb(22, 25, 29)"
    page.requests.clear()
    page.open(report, dark=True)
    assert page.value(colour) == "rgb(236, 239, 243)"
    assert page.value("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 27)"
