"""Certificate of a ranking: what a run shows of its systems, at one error for all of it.

All claims follow from one family of comparisons: the simultaneous intervals of the differences of all pairs
of systems (`qc.robustness.intervals`). The chance that any pair is wrongly told apart is at most ALPHA. If
none is, every claim is true:

- *Pairs*: the higher system truly has the higher score.
- *Groups*: each system of a higher group is told apart from each system of a lower one.
- *Ranks*: a system told apart as worse than k others has at least k systems above it, and likewise below.
- *The best*: the truly best system is told apart as worse than none, so its rank may be 1.

So the error is spent once, on the pairs, and no share is set aside for groups, ranks or the best. Intervals
of single scores, the leader's interval, the chance to be the best, p-values and the interval of a forecast
have an error of their own on top, so none of them is a claim. The forecast and the fragility stand beside the
claims as figures of this run: an estimate and a description, which claim nothing.

Sources: Romano and Wolf, *Exact and approximate stepdown methods for multiple hypothesis testing*, Journal of
the American Statistical Association 100, 2005 (all pairs together); Mogstad, Romano, Shaikh and Wilhelm,
*Inference for Ranks*, Review of Economic Studies 91, 2024 (all ranks, and the set of the best, from all
pairs); Gupta, *On some multiple decision (selection and ranking) rules*, Technometrics 7, 1965 (a set that
holds the best system). `benchmarks/qc_truth.py --part certificate` counts certificates with a false claim.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from importlib.metadata import version

import numpy as np

from qc.drawing.sheet import FONTS, SVG, Sheet, as_xml, number
from qc.drawing.style import INK, MUTED, PAPER, QUIET, RULE, VERMILION, text_width
from qc.robustness.intervals import Intervals
from qc.run import REHEARSAL_NOTE, SIMULATED_NOTE
from qc.sections.analysis import Analysis
from qc.signature import DIGEST_LENGTH, data_hash
from qc.statistics.confidence import ALPHA
from qc.table import counted, decimal, percent, whole

FORMAT, VERSION = "candor-certificate", 1
CERTIFICATE, BADGE, LINE = "certificate.json", "certificate.svg", "certificate.txt"
_HEIGHT, _BESIDE = 28.0, 10.0


@dataclass(frozen=True)
class OrderedPair:
    """Two systems, of which `higher` has the higher true score."""

    higher: str
    lower: str


@dataclass(frozen=True)
class RankRange:
    """The true rank of a system lies between `low` and `high`; 1 is the best."""

    system: str
    low: int
    high: int


@dataclass(frozen=True)
class RankingClaims:
    """Statements about true overall scores: means of z over workers of this kind who pass the filter.

    Attributes:
        familywise_error: upper limit of the chance that any statement here is false.
        told_apart: pairs of systems, of which the first is truly higher.
        groups: best first; each system of a group is truly higher than each one of a later group.
        ranks: a range for each system with a score.
        best_among: systems, among which the truly best one is.
    """

    familywise_error: float
    told_apart: tuple[OrderedPair, ...]
    groups: tuple[tuple[str, ...], ...]
    ranks: tuple[RankRange, ...]
    best_among: tuple[str, ...]


@dataclass(frozen=True)
class LeaderFragility:
    """Fewest workers found without whom `successor` has the highest score instead of `leader`."""

    leader: str
    successor: str
    workers: int


@dataclass(frozen=True)
class Figures:
    """Figures of the run that claim nothing.

    Attributes:
        workers_passed: number of workers who passed the filter.
        conversations: number of their conversations with systems.
        forecast_r: estimate of Pearson's r of a second run's scores with these; None if there is none.
        fragility: None if no removal was found that changes the leader, or several systems lead.
    """

    workers_passed: int
    conversations: int
    forecast_r: float | None
    fragility: LeaderFragility | None


@dataclass(frozen=True)
class RegisteredHypothesis:
    """A hypothesis of the preregistration, and whether it is among the claims."""

    higher: str
    lower: str
    claimed: bool


@dataclass(frozen=True)
class FollowedRegistration:
    """The preregistration of the run.

    Attributes:
        hash: hash of its content.
        registered: its time.
        followed: name of each point → whether it was followed; None if the data do not say.
        hypotheses: the registered hypotheses.
    """

    hash: str
    registered: str
    followed: dict[str, bool | None]
    hypotheses: tuple[RegisteredHypothesis, ...]


@dataclass(frozen=True)
class Certificate:
    """The claims of a run, and what they were computed from.

    Attributes:
        run: name of the run.
        simulated: whether programs took part instead of people, as far as the data say.
        claims, figures: see there.
        preregistration: None if none was given.
        notes: sentences that a reader must know, those of the report.
        data: hash of the ratings.
        signature: signature of the analysis.
        candor: version of the code.
    """

    format: str
    version: int
    run: str
    simulated: bool
    claims: RankingClaims
    figures: Figures
    preregistration: FollowedRegistration | None
    notes: tuple[str, ...]
    data: str
    signature: str
    candor: str


def claims_of(found: Intervals) -> RankingClaims:
    """Return what follows from the comparisons of all pairs."""
    better = np.argwhere(found.simultaneous_low > 0)
    scored = [i for i, rank in enumerate(found.rank_low) if rank]
    return RankingClaims(
        familywise_error=ALPHA,
        told_apart=tuple(OrderedPair(found.systems[i], found.systems[j]) for i, j in better),
        groups=found.groups,
        ranks=tuple(
            RankRange(found.systems[i], int(found.rank_low[i]), int(found.rank_high[i])) for i in scored
        ),
        best_among=tuple(found.systems[i] for i in scored if found.rank_low[i] == 1),
    )


def certificate(analysis: Analysis) -> Certificate | None:
    """Return the certificate of a run.

    Returns:
        None if nothing can be claimed: the comparisons were not computed, fewer than two systems have a
        score, or workers rated transcripts, whose groups take the items as given.
    """
    found = analysis.intervals
    if found is None or not analysis.chatted or np.count_nonzero(found.rank_low) < 2:
        return None
    claims, forecast = claims_of(found), analysis.forecast
    r = None if forecast is None or not np.isfinite(forecast.r) else float(forecast.r)
    return Certificate(
        format=FORMAT,
        version=VERSION,
        run=analysis.run.name,
        simulated=bool({SIMULATED_NOTE, REHEARSAL_NOTE} & set(analysis.notes)),
        claims=claims,
        figures=Figures(
            workers_passed=analysis.rates.workers.passed,
            conversations=analysis.rates.conversations.passed,
            forecast_r=r,
            fragility=_leader_fragility(analysis),
        ),
        preregistration=_registration(analysis, claims),
        notes=analysis.notes,
        data=f"sha256:{data_hash(analysis.run)}",
        signature=analysis.signature,
        candor=version("candor-eval"),
    )


def _leader_fragility(analysis: Analysis) -> LeaderFragility | None:
    found = analysis.fragility
    if found is None or found.successor is None:
        return None
    return LeaderFragility(found.leader, found.successor, len(found.workers))


def _registration(analysis: Analysis, claims: RankingClaims) -> FollowedRegistration | None:
    found = analysis.preregistration
    if found is None:
        return None
    return FollowedRegistration(
        hash=found.hash,
        registered=found.registered,
        followed={point.what: point.followed for point in found.points},
        hypotheses=tuple(
            RegisteredHypothesis(
                one.higher, one.lower, OrderedPair(one.higher, one.lower) in claims.told_apart
            )
            for one in found.decisions
        ),
    )


def certificate_files(found: Certificate) -> dict[str, bytes]:
    """Return the files of a certificate by name: JSON, a badge, and a line for a paper."""
    content = (json.dumps(asdict(found), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()
    digest = certificate_hash(content)
    return {
        CERTIFICATE: content,
        BADGE: _badge(found, digest).encode(),
        LINE: f"{_line(found, digest)}\n".encode(),
    }


def certificate_hash(content: bytes) -> str:
    """Return the hash of a certificate's JSON that its line and its badge name."""
    return f"sha256:{hashlib.sha256(content).hexdigest()[:DIGEST_LENGTH]}"


def _line(found: Certificate, digest: str) -> str:
    """Return the certificate in sentences for a paper."""
    claims, figures = found.claims, found.figures
    error = percent(claims.familywise_error, 0)
    parts = [
        *(["Simulated workers."] if found.simulated else []),
        f"{len(claims.ranks)} systems: {_told_apart(claims)}, which makes {_groups(claims)}; "
        f"the best system is {_best(claims)}.",
        f"The chance that any of this is wrong is at most {error} for all of it together (familywise).",
    ]
    if figures.forecast_r is not None:
        parts.append(f"A second run is forecast to correlate at r = {decimal(figures.forecast_r)}.")
    if figures.fragility is not None:
        parts.append(
            f"Without {whole(figures.fragility.workers)} of the {whole(figures.workers_passed)} workers who "
            f"passed, {figures.fragility.successor} would have the highest score."
        )
    registered = "not preregistered"
    if found.preregistration is not None:
        registered = f"preregistered as {found.preregistration.hash}"
    parts.append(f"Certificate {digest}, {registered}, Candor {found.candor}.")
    return " ".join(parts)


def _told_apart(claims: RankingClaims) -> str:
    systems = len(claims.ranks)
    pairs = systems * (systems - 1) // 2
    return f"{whole(len(claims.told_apart))} of {whole(pairs)} pairs told apart"


def _groups(claims: RankingClaims) -> str:
    if len(claims.groups) == 1:
        return "1 group"
    return f"{len(claims.groups)} groups ({'; then '.join(', '.join(group) for group in claims.groups)})"


def _best(claims: RankingClaims) -> str:
    names = claims.best_among
    return names[0] if len(names) == 1 else f"one of {', '.join(names[:-1])} and {names[-1]}"


def _badge(found: Certificate, digest: str) -> str:
    """Return a badge as SVG: what was told apart, and at which error; simulated workers are named."""
    claims = found.claims
    label = "Simulated ranking" if found.simulated else "Certified ranking"
    groups = counted(len(claims.groups), "group")
    said = f"{groups}, {_told_apart(claims)}, error ≤ {percent(claims.familywise_error, 0)}"
    split = text_width(label, bold=True) + 2 * _BESIDE
    sheet = Sheet(split + text_width(said) + 2 * _BESIDE, _HEIGHT)
    sheet.rectangle((0.5, 0.5), (sheet.width - 1, _HEIGHT - 1), PAPER, edge=RULE, width=1)
    sheet.rectangle((0.5, 0.5), (split, _HEIGHT - 1), QUIET)
    colour = VERMILION if found.simulated else INK
    sheet.beside((_BESIDE, _HEIGHT / 2), label, colour, bold=True)
    sheet.beside((split + _BESIDE, _HEIGHT / 2), said, MUTED)
    width, height = number(sheet.width), number(sheet.height)
    return "\n".join(
        [
            f'<svg xmlns="{SVG}" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
            f'style="font-family: {FONTS}">',
            f"<title>{as_xml(f'{label}: {said}')}</title>",
            f"<metadata>{as_xml(digest)}</metadata>",
            sheet.marks,
            "</svg>\n",
        ]
    )
