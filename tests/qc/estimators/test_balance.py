"""Tests of the distance of a run from a repeated Latin square."""

import numpy as np

from qc.planning.randomisation_analysis import imbalance


def test_a_repeated_latin_square_is_balanced() -> None:
    systems, repeats = 3, 2
    raters = np.repeat(np.arange(systems * repeats), systems)
    items = np.tile(np.arange(systems), systems * repeats)
    # Rater r meets system (item + r) mod 3 with each item.
    met = (items + raters) % systems
    for rows, count in ((raters, systems * repeats), (items, systems)):
        found = imbalance(rows, met, (count, systems))
        assert found.difference == 0
        assert found.fewest == (1 if rows is raters else repeats)


def test_a_cell_that_was_never_met_counts() -> None:
    found = imbalance(np.array([0, 0, 1]), np.array([0, 0, 1]), (2, 2))
    assert (found.cells, found.fewest, found.most, found.difference) == (4, 0, 2, 2)
