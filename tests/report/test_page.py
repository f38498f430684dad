"""The page in a real browser: every figure drawn, every number there, controls that work, no complaint."""

import re

import pytest

from flexicase.report.write import write_report
from tests.report.conftest import CHROMIUM, browse

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")]

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
    assert page.value("document.querySelectorAll('td.marked').length") == 0  # eight pairs decide nothing


def test_a_study_of_another_size_has_no_column_of_the_papers(page):
    """Counts of 6 generations beside those of 300 would look like a failure."""
    text = page.value("document.body.innerText")
    assert "Not comparable with the paper: population 10 instead of 1000, generations 6 instead of 300." in text
    assert "/50" not in text


def test_the_verdict_comes_first(page):
    first = page.value("document.querySelector('main > h1').nextElementSibling.innerText")
    assert re.match(r"Of \d+ claims of the paper: ", first)


@pytest.mark.parametrize("width", [1400, 390])
def test_every_control_can_be_clicked_at_both_widths(browser, report, width):
    """A script that fails in one view, or a chart wider than the screen, would go unseen."""
    browser.complaints.clear()
    browser.open(report, width=width)
    clicked = browser.value("""(() => {
      let count = 0;
      const press = () => document.querySelectorAll("button").forEach((b) => { b.click(); count++; });
      for (const chart of document.querySelectorAll("figure > div")) {
        for (const option of chart.querySelectorAll("option")) {
          option.parentNode.value = option.value;
          option.parentNode.dispatchEvent(new Event("change"));
          press();
        }
      }
      press(); press();
      document.querySelectorAll("nav a").forEach((a) => { a.click(); count++; });
      document.getElementById("palette").click();
      return count;
    })()""")
    assert clicked > 50
    assert browser.complaints == []
    assert browser.value("document.documentElement.scrollWidth <= window.innerWidth")
    targets = browser.value("[...document.querySelectorAll('nav a')].map(a => a.getAttribute('href').slice(1))")
    assert targets[0] == "claims"
    assert all(browser.value(f"document.getElementById({target!r}) !== null") for target in targets)


def test_on_a_phone_the_last_column_can_be_reached_and_text_keeps_its_size(browser, report):
    browser.open(report, width=390)
    table = "document.querySelector('#totals ~ .wide')"
    browser.value(f"{table}.scrollLeft = 10000")
    right = browser.value(f"{table}.querySelector('thead th:last-child').getBoundingClientRect().right")
    assert right <= 390
    scale = (
        f"(() => {{ const s = {CHART}.querySelector('svg.chart'); return s.clientWidth / s.viewBox.baseVal.width }})()"
    )
    assert browser.value(scale) == pytest.approx(1.0, abs=0.02)  # 12 px stay 12 px


def box_of(page):
    page.value(f"{CHART}.scrollIntoView()")
    return page.value(
        f"(() => {{ const b = {CHART}.querySelector('svg.chart').getBoundingClientRect();"
        "return [b.left, b.top, b.width, b.height]; })()"
    )


TIP = f"(() => {{ const t = {CHART}.querySelector('.tip'); return t.style.display === 'block' ? t.innerText : ''; }})()"


def test_on_a_phone_a_tap_shows_the_values_until_another_place_is_tapped(browser, report):
    browser.complaints.clear()
    browser.open(report, width=390)
    left, top, width, height = box_of(browser)
    browser.tap(left + width * 0.25, top + height / 3)
    assert "Lexicase: 203.5 (8 runs)" in browser.value(TIP)
    browser.tap(left + 10, top - 60)
    assert browser.value(TIP) == ""
    assert browser.complaints == []


def test_arrow_keys_read_the_values(page):
    page.value(f"{CHART}.querySelector('svg.chart').focus()")
    page.key("ArrowRight")
    assert "Lexicase: 203.5 (8 runs)" in page.value(TIP)
    page.key("ArrowRight")
    assert page.value(TIP).startswith("generation 1")
    page.key("End")
    assert page.value(TIP).startswith("generation 5")
    page.key("Escape")
    assert page.value(TIP) == ""


def test_show_all_shows_hidden_lines_too(page):
    page.value(f"{CHART}.querySelector('button[data-line=lexicase]').click()")
    page.value(f"{CHART}.querySelector('button.reset').click()")
    assert "lexicase" in lines(page)
    pressed = page.value(f"{CHART}.querySelector('button[data-line=lexicase]').getAttribute('aria-pressed')")
    assert pressed == "true"


def test_titles_stand_above_charts_and_headers_have_a_scope(page):
    above = "[...document.querySelectorAll('figure')].every(f => f.firstElementChild.className === 'figure-title')"
    assert page.value(above)
    assert page.value("[...document.querySelectorAll('th')].every(t => t.scope)")
    assert page.value("document.querySelectorAll('main, noscript').length") == 2
    assert "Drag to zoom" in page.value(f"{CHART}.innerText")


def test_every_link_leads_to_a_file_beside_the_page(page, report):
    names = page.value("[...document.querySelectorAll('.files a')].map(a => a.getAttribute('href'))")
    assert {"successes.csv", "runs.csv", "evaluations-mirror-image-linear.png"} <= set(names)
    assert {"png", "svg", "csv"} == {name.rpartition(".")[2] for name in names}
    assert [name for name in names if not (report.parent / name).exists()] == []


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
    left, top, width, height = box_of(page)
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
