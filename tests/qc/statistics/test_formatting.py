"""Formatting marks, counted by hand."""

import pandas as pd

from qc.statistics.formatting import formatting


def test_marks_by_hand() -> None:
    texts = pd.Series(
        [
            "plain - and 2 * 3, in 2024. Yes",
            "- one\n- two\n 3) three\n-no",
            "# Head\n**bold**, `code`, __b__, [a](b)\n|a|b|\n```py\nx\n```",
            "😀 👍🏽 👩‍👧 🇩🇪 ☀️",
            None,
        ],
        dtype="str",
    )
    found = formatting(texts)
    assert found.list_items.tolist() == [0, 3, 0, 0, 0]
    # A heading, bold twice, code, a link, a row, and two fences.
    assert found.markdown.tolist() == [0, 0, 8, 0, 0]
    # A skin tone, a joined picture and a flag are one each.
    assert found.emoji.tolist() == [0, 0, 0, 5, 0]
