"""Python's collector of cyclic garbage, in a process that keeps much for long and may not stand still."""

import gc

# How many objects more than before, until the youngest are looked through: a look takes a third of a
# microsecond for each, and everybody waits for it. It has to be more than turns that are under way have at
# once, or looks find what is about to go by itself: with 500 workers who never pause, 5,000 made a look at
# every 150th turn. What two looks have left is looked through once more. What outlives that is a session's
# for as long as it lives, and goes by itself, as connections do; a look at all of it takes seconds with
# thousands of sessions: it is taken after 20 million objects that have not gone.
_YOUNG, _ONCE_MORE = 25_000, 1
_ALL = 20_000_000 // (_YOUNG * (_ONCE_MORE + 1))


def spare_what_lasts() -> None:
    """Never look through what is there now, and seldom through what lasts: it goes by itself."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, _ONCE_MORE, _ALL)
