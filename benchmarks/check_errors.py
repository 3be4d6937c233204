"""Print how often the check of a bot gives the wrong verdict on a share of faulty replies, and what it asks.

Computed from the binomial distribution, for replies that are independent. `once`: as if the first replies
decided. 48 replies (28 lines) come first, and 22 more at a time while the verdict is open.
"""

from scipy.stats import binom

from bots.conformance.limits import DEAF, MOST_MORE, TOLERATED, Limit

MORE = 22
DESIGNS = {
    "faults, 10 % tolerated": (TOLERATED, 48, (0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3)),
    "the same reply, 50 % tolerated": (DEAF, 28, (0.2, 0.35, 0.5, 0.65, 0.8)),
}


def refused(limit: Limit, share: float, first: int, rounds: int) -> tuple[float, float]:
    """Return the probability that a bot with this true share fails, and the expected number of its replies.

    `rounds`: how often more replies are asked for at most.
    """
    chances = dict(enumerate(binom.pmf(range(first + 1), first, share)))
    more = binom.pmf(range(MORE + 1), MORE, share)
    fails, replies, asked = 0.0, float(first), first
    for at in range(rounds + 1):
        left: dict[int, float] = {}
        for found, chance in chances.items():
            if at < rounds and limit.is_open(found, asked):
                for further, also in enumerate(more):
                    left[found + further] = left.get(found + further, 0.0) + chance * also
            elif limit.is_exceeded(found, asked, again=at > 0):
                fails += chance
        chances = left
        replies += MORE * sum(left.values())
        asked += MORE
    return float(fails), float(replies)


def main() -> None:
    for name, (limit, first, shares) in DESIGNS.items():
        print(f"| {name}: true share | fails, % | once, % | replies |\n|---:|---:|---:|---:|")
        for share in shares:
            fails, replies = refused(limit, share, first, MOST_MORE)
            once, _ = refused(limit, share, first, 0)
            print(f"| {share:.1%} | {100 * fails:.2f} | {100 * once:.2f} | {replies:.0f} |")


if __name__ == "__main__":
    main()
