"""The number of examples for each property: few at every change, many in `make soak`."""

import os

TIMES = 10 if int(os.environ.get("CANDOR_SOAK", "0")) else 1
USUAL = 30


def examples(few: int) -> int:
    """Return `few`, or ten times as many in a soak."""
    return few * TIMES
