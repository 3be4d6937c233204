"""Draw what had fewer turns more often, so that turns balance in the long run and the next is unknown. Pure.

Where the one with the fewest turns always came next, whoever knows the rule and all former draws would know
it (B. Efron, *Forcing a sequential experiment to be balanced*, Biometrika 58, 1971).
"""

import math
import random

# By which share something is less likely to be drawn for each turn that it had more than others. With 0.05
# and four positions, the turns of each have a standard deviation of some 2.7 after 400 draws (8.7 for a fair
# die), and the best guess from all former draws is right in 29 % (chance: 25 %); of two sides, in 55 %.
_BIAS = 0.05
_STEPS = 2**52


def draw_cost(turns: int, rng: random.Random) -> float:
    """Return a random cost of something that had so many `turns`; the lowest of several is drawn.

    A choice is drawn with a probability proportional to exp(-_BIAS * turns), and the n lowest are a sample
    without replacement by those weights (P. Efraimidis and P. Spirakis, 2006). Costs can be added, too: the
    cheapest of several plans is drawn by the total of its turns, roughly.
    """
    between_0_and_1 = (rng.getrandbits(52) + 0.5) / _STEPS
    return _BIAS * turns + math.log(-math.log(between_0_and_1))
