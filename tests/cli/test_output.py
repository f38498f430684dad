"""Tables line up."""

from flexicase.cli._output import aligned, tab_separated


def test_numbers_go_right_and_words_left():
    table = aligned(("name", "n"), [("a", 1), ("bcdef", "1,234.5")])
    assert table == "name         n\n-----  -------\na            1\nbcdef  1,234.5\n"


def test_no_rows_and_no_header():
    assert aligned(("a", "b"), []) == "a  b\n-  -\n"
    assert aligned(None, [("x", "1.2.3"), ("yy", "4")]) == "x   1.2.3\nyy  4\n"


def test_tab_separated():
    assert tab_separated(("a", "b"), [(1, "x")]) == "a\tb\n1\tx\n"
