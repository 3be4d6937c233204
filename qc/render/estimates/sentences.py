"""What a metric saves, in words: of every hundred judgments so many, or none."""

from qc.estimators.estimable import NotEstimable
from qc.number_format import decimal, whole
from qc.precision.estimates import ALL_SYSTEMS, RAW, Estimates, Part
from qc.precision.worth import Worth


def findings(estimates: Estimates) -> tuple[str, ...]:
    """Return a sentence for each criterion and system: what the strongest metric saves there."""
    parts = [part for part in estimates.parts if part.scale == RAW and part.metrics]
    single = [part for part in parts if part.system != ALL_SYSTEMS]
    return tuple(_saved(part, part.metrics[0]) for part in single or parts)


def _share(efficiency: float) -> str:
    """Return how many of 100 judgments are saved at a data efficiency; `none` for less than one."""
    share = 100 * (1 - 1 / efficiency)
    return f"{whole(share)} of 100 judgments" if share >= 1 else "none"


def _saved(part: Part, worth: Worth) -> str:
    where = f"{part.criterion}, {part.system}: "
    r, endless = worth.efficiency.r_judgment, worth.efficiency.de
    if isinstance(r, NotEstimable) or isinstance(endless, NotEstimable):
        why = r.why if isinstance(r, NotEstimable) else str(endless)
        return f"{where}{worth.metric} saves none ({why})."
    many = "With many more outputs that nobody judged it would save"
    by_workers = worth.de_cluster
    if isinstance(by_workers, NotEstimable):
        would = f"{_share(endless)} if all judgments were independent; the workers are unknown"
    else:
        would = f"{_share(by_workers)} (were all judgments independent, {_share(endless)})"
    return f"{where}{_here(worth)} {many} {would}; r = {decimal(r, 2)}."


def _here(worth: Worth) -> str:
    """Return what the metric saves with the pool that there is, as a sentence without its subject's place."""
    if worth.rated == worth.pool:
        return f"{worth.metric} saves none here, because all {whole(worth.pool)} outputs were judged."
    known = worth.de_pool if isinstance(worth.de_record, NotEstimable) else worth.de_record
    share = "none" if isinstance(known, NotEstimable) else _share(known)
    return f"with {whole(worth.rated)} of {whole(worth.pool)} outputs judged, {worth.metric} saves {share}."
