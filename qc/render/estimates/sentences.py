"""What a metric saves, in words: of every hundred judgments so many, or none."""

from qc.estimators.estimable import Estimated, NotEstimable
from qc.number_format import decimal, whole
from qc.precision.estimates import ALL_SYSTEMS, RAW, Estimates, Part
from qc.precision.worth import Worth


def findings(estimates: Estimates) -> tuple[str, ...]:
    """Return a sentence for each criterion and system: what the strongest metric saves there."""
    parts = [part for part in estimates.parts if part.scale == RAW and part.metrics]
    single = [part for part in parts if part.system != ALL_SYSTEMS]
    return tuple(_saved(part, part.metrics[0]) for part in single or parts)


def saved(efficiency: Estimated) -> str:
    """Return how many of 100 judgments are saved at a data efficiency; `none` for less than one."""
    if isinstance(efficiency, NotEstimable):
        return f"a number that is {efficiency} ({efficiency.why})"
    share = 100 * (1 - 1 / efficiency)
    return f"{whole(share)} of 100 judgments" if share >= 1 else "none"


def _saved(part: Part, worth: Worth) -> str:
    where = f"{part.criterion}, {part.system}"
    r = worth.efficiency.r_judgment
    if isinstance(r, NotEstimable):
        return f"{where}: {worth.metric} saves none ({r.why})."
    if worth.rated == worth.pool:
        here = (
            f"{worth.metric} saves none here, because all {whole(worth.pool)} outputs were judged. "
            "With many more outputs that nobody judged it would save"
        )
        return f"{where}: {here} {saved(worth.de_cluster)}{_aside(worth)}."
    return (
        f"{where}: with {whole(worth.rated)} of {whole(worth.pool)} outputs judged, {worth.metric} saves "
        f"{saved(worth.de_record)}, and with many more that nobody judged it would save "
        f"{saved(worth.de_cluster)}{_aside(worth)}."
    )


def _aside(worth: Worth) -> str:
    r = worth.efficiency.r_judgment
    correlation = "" if isinstance(r, NotEstimable) else f"; r = {decimal(r, 2)}"
    return f" (were all judgments independent, {saved(worth.efficiency.de)}{correlation})"
