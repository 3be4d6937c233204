"""Names in a paper's figures."""

from qc.paper.sheet import fitting, parts_within, text_width


def test_a_name_of_any_length_is_measured_a_few_times_only() -> None:
    """Each shorter text was measured from the full length down: names of 3,000 characters took minutes."""
    text_width.cache_clear()
    short = fitting("i" * 3_000, 120, 7)
    assert short.count("…") == 1
    assert text_width(short, 7) <= 120
    assert text_width.cache_info().misses < 50


def test_a_name_that_fits_stays_and_one_that_does_not_keeps_both_ends() -> None:
    assert fitting("  poly encoder\n", 120, 7) == "poly encoder"
    short = fitting("a system with a rather long name, with persona", 80, 7)
    assert short.startswith("a system")
    assert short.endswith("persona")
    assert fitting("WWW", 1, 7).count("W") <= 2


def test_a_legend_that_is_wider_than_the_sheet_has_a_line_for_each_part() -> None:
    """On a figure of one column its beginning was cut off."""
    parts = ("dark: one thing", "grey: another")
    assert parts_within(parts, 500, 7) == "dark: one thing; grey: another"
    narrow = parts_within(parts, 80, 7)
    assert narrow == "dark: one thing;\ngrey: another"
    assert all(text_width(line, 7) <= 80 for line in narrow.splitlines())
