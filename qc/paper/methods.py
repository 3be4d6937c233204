"""Write the methods paragraph of a paper with the numbers of this run, and BibTeX entries of its sources."""

import math

from qc.analysis import Analysis
from qc.method.replication import Replication
from qc.method.sample import Count
from qc.paper.tex import comment, escaped
from qc.run import SIMULATED_NOTE
from qc.statistics.confidence import LEVEL
from qc.table import SIGNIFICANT, between, decimal, listed, percent, whole

JI, MANN_WHITNEY, WILCOXON, HOLM = "ji-etal-2022-achieving", "mann-whitney-1947", "wilcoxon-1945", "holm-1979"
CAMERON, ROMANO = "cameron-etal-2008-bootstrap", "romano-wolf-2005-exact"
HEDS = "belz-thomson-2025-heds"

ENTRIES = {
    JI: r"""@inproceedings{ji-etal-2022-achieving,
  title = {Achieving Reliable Human Assessment of Open-Domain Dialogue Systems},
  author = {Ji, Tianbo and Graham, Yvette and Jones, Gareth and Lyu, Chenyang and Liu, Qun},
  booktitle = {Proceedings of the 60th Annual Meeting of the Association for Computational Linguistics
    (Volume 1: Long Papers)},
  year = {2022},
  address = {Dublin, Ireland},
  publisher = {Association for Computational Linguistics}
}""",
    MANN_WHITNEY: r"""@article{mann-whitney-1947,
  title = {On a Test of Whether one of Two Random Variables is Stochastically Larger than the Other},
  author = {Mann, Henry B. and Whitney, Donald R.},
  journal = {The Annals of Mathematical Statistics},
  volume = {18},
  number = {1},
  pages = {50--60},
  year = {1947}
}""",
    WILCOXON: r"""@article{wilcoxon-1945,
  title = {Individual Comparisons by Ranking Methods},
  author = {Wilcoxon, Frank},
  journal = {Biometrics Bulletin},
  volume = {1},
  number = {6},
  pages = {80--83},
  year = {1945}
}""",
    HOLM: r"""@article{holm-1979,
  title = {A Simple Sequentially Rejective Multiple Test Procedure},
  author = {Holm, Sture},
  journal = {Scandinavian Journal of Statistics},
  volume = {6},
  number = {2},
  pages = {65--70},
  year = {1979}
}""",
    CAMERON: r"""@article{cameron-etal-2008-bootstrap,
  title = {Bootstrap-Based Improvements for Inference with Clustered Errors},
  author = {Cameron, A. Colin and Gelbach, Jonah B. and Miller, Douglas L.},
  journal = {The Review of Economics and Statistics},
  volume = {90},
  number = {3},
  pages = {414--427},
  year = {2008}
}""",
    ROMANO: r"""@article{romano-wolf-2005-exact,
  title = {Exact and Approximate Stepdown Methods for Multiple Hypothesis Testing},
  author = {Romano, Joseph P. and Wolf, Michael},
  journal = {Journal of the American Statistical Association},
  volume = {100},
  number = {469},
  pages = {94--108},
  year = {2005}
}""",
    HEDS: r"""@inproceedings{belz-thomson-2025-heds,
  title = {{HEDS} 3.0: The Human Evaluation Data Sheet Version 3.0},
  author = {Belz, Anya and Thomson, Craig},
  booktitle = {Proceedings of the Fourth Workshop on Generation, Evaluation and Metrics (GEM$^2$)},
  year = {2025},
  pages = {60--81},
  address = {Vienna, Austria},
  publisher = {Association for Computational Linguistics}
}""",
}


def bibliography() -> str:
    """Return all entries as a file for BibTeX."""
    return "\n\n".join(ENTRIES.values()) + "\n"


_NOT_IN_THE_DATA = (
    "What these sentences say of blinding, of the order of conversations and of the rating scales is the",
    "method of the server. The data cannot show it: change what was done differently.",
)


def methods_paragraph(analysis: Analysis) -> str:
    """Return the paragraph in LaTeX, with `\\cite` of entries of `qc.paper.methods`."""
    told = _transcripts if analysis.run.items is not None else _conversations
    sentences = [
        *told(analysis),
        *_scores(analysis),
        *_told_apart(analysis),
        *_significance(analysis),
        *_preregistered(analysis),
        *_replication(analysis),
        *_effort(analysis),
        r"\begin{sloppypar}",
        f"The signature of the analysis is {_signature(analysis.signature)}.",
        r"\end{sloppypar}",
    ]
    if SIMULATED_NOTE in analysis.run.notes:
        sentences.insert(0, r"\textbf{All workers of this run are simulated: nothing here is evidence.}")
    return comment(_NOT_IN_THE_DATA) + "\n".join(sentences) + "\n"


def _conversations(analysis: Analysis) -> list[str]:
    run, rates = analysis.run, analysis.rates
    labels = run.criteria["label"].to_list()
    counting = run.criteria.loc[run.criteria["counts_for_qc"], "label"].to_list()
    return [
        rf"We evaluated {_n(len(analysis.scores.z))} dialogue systems by live conversations after "
        rf"\cite{{{JI}}}.",
        "In each assignment a worker conversed with several systems and with one quality-control bot of "
        "known low quality, without knowing which was which, and rated each conversation on "
        f"{_n(len(labels))} {_criteria(len(labels))} ({escaped(listed(labels, len(labels)))}) "
        f"on continuous scales{_scale(analysis)}.",
        f"{_n(rates.workers.total)} workers completed {_n(rates.assignments.total)} assignments with "
        f"{_n(rates.conversations.total)} conversations with the systems.",
        f"A worker was kept if a one-sided Mann--Whitney test \\cite{{{MANN_WHITNEY}}} showed at "
        f"$p < {analysis.sample.screening.alpha:g}$ that they rated the quality-control bot lower than the "
        f"systems, on {_n(len(counting))} {_criteria(len(counting))} "
        f"({escaped(listed(counting, len(counting)))}).",
        f"{_passed(rates.workers)} workers passed; their {_n(rates.conversations.passed)} conversations with "
        "the systems are analysed.",
    ]


def _transcripts(analysis: Analysis) -> list[str]:
    rates, has_test = analysis.rates, analysis.sample.screening.has_test
    labels = analysis.run.criteria["label"].to_list()
    damaged = ", among them damaged copies of outputs that they rated too" if has_test else ""
    return [
        f"Workers rated outputs of {_n(len(analysis.scores.z))} systems on {_n(len(labels))} "
        f"{_criteria(len(labels))} ({escaped(listed(labels, len(labels)))}) on continuous "
        f"scales{_scale(analysis)}{damaged}.",
        f"{_n(rates.workers.total)} workers completed {_n(rates.assignments.total)} assignments with "
        f"{_n(rates.conversations.total)} judgments of the systems.",
        *(_tested(analysis) if has_test else ["No worker was tested."]),
    ]


def _tested(analysis: Analysis) -> list[str]:
    rates = analysis.rates
    return [
        f"A worker was kept if a one-sided signed-rank test \\cite{{{WILCOXON}}} showed at "
        f"$p < {analysis.sample.screening.alpha:g}$ that they rated damaged copies lower than "
        "their originals.",
        f"{_passed(rates.workers)} workers passed; their {_n(rates.conversations.passed)} judgments of the "
        "systems are analysed.",
    ]


def _scores(analysis: Analysis) -> list[str]:
    criteria = analysis.run.criteria
    negative = criteria.loc[criteria["negative"], "label"].to_list()
    each = "conversations" if analysis.run.items is None else "items"
    sentences = [
        "Each worker's ratings were standardised to mean 0 and standard deviation 1 over all that they "
        f"rated; a system's score on a criterion is the mean over its {each}, its overall score the mean "
        "over the criteria.",
    ]
    if negative:
        sentences.insert(0, f"Ratings of {escaped(listed(negative, len(negative)))} were reversed.")
    if (found := analysis.intervals) is not None:
        sentences.append(
            f"Intervals of {escaped(percent(found.level, 0))} are from a wild bootstrap of whole workers "
            f"\\cite{{{CAMERON}}} with {_n(found.count)} draws; that of the highest score allows for "
            "its having been picked as the highest."
        )
    return sentences


def _told_apart(analysis: Analysis) -> list[str]:
    found = analysis.intervals
    if found is None:
        return []
    scored = sum(len(group) for group in found.groups)
    pairs, groups = scored * (scored - 1) // 2, len(found.groups)
    return [
        f"With intervals of all differences that hold together \\cite{{{ROMANO}}}, "
        f"{_n(pairs - len(found.indistinct))} of {_n(pairs)} pairs of systems can be told apart, "
        f"{f'and the systems fall into {_n(groups)} groups' if groups > 1 else 'which makes no groups'}."
    ]


def _significance(analysis: Analysis) -> list[str]:
    tests = analysis.significance
    if tests is None:
        return []
    pairs = len(tests.systems) * (len(tests.systems) - 1) // 2
    plain = int(tests.conclusions(SIGNIFICANT).sum())
    corrected = int(tests.conclusions(SIGNIFICANT, adjusted=True).sum())
    return [
        "The published tests, one-sided Mann--Whitney tests of pairs on the overall scores of conversations, "
        f"find {_n(plain)} of {_n(pairs)} pairs different at $p < {SIGNIFICANT:g}$, {_n(corrected)} with "
        f"Holm's correction \\cite{{{HOLM}}} over all ordered pairs."
    ]


def _preregistered(analysis: Analysis) -> list[str]:
    followed = analysis.preregistration
    if followed is None:
        return []
    asked = len(followed.decisions)
    day, digest = followed.registered.partition("T")[0], escaped(followed.hash)
    sentences = [f"The evaluation was preregistered on {escaped(day)} ({digest})."]
    if asked:
        supported = sum(decision.supported is True for decision in followed.decisions)
        sentences.append(
            f"Of {_n(asked)} registered {'hypothesis' if asked == 1 else 'hypotheses'} {_n(supported)} "
            f"{'is' if supported == 1 else 'are'} supported by rank tests by worker, at a familywise level "
            f"of {followed.level:g} (Holm)."
        )
    if missed := [point.what for point in followed.points if point.followed is False]:
        sentences.append(f"Not followed: {escaped(listed(missed, len(missed)))}.")
    return sentences


def _replication(analysis: Analysis) -> list[str]:
    found = analysis.replication
    if found is None or not math.isfinite(found.z.pearson["overall"]):
        return []
    r, same, interval = found.z.pearson["overall"], found.same_conclusions, interval_of_r(found)
    return [
        f"A second run of the experiment correlates with this one at $r = {decimal(r)}$"
        f"{f' ({interval})' if interval else ''} over {_n(len(found.systems))} systems, and both draw the "
        f"same conclusion on {_n(same.n)} of {_n(same.of)} pairs ($p < {same.alpha:g}$).",
        workers_of_both(found),
    ]


def interval_of_r(found: Replication) -> str:
    """Return the interval of the overall r in LaTeX, as in `95 % interval 0.86 to 0.99`; "" without one."""
    ends = found.overall_interval
    if not math.isfinite(ends.low):
        return ""
    return f"{escaped(percent(LEVEL, 0))} interval {escaped(between(ends.low, ends.high))}"


def workers_of_both(found: Replication) -> str:
    """Return a sentence in LaTeX on the workers of both runs, and on r without them."""
    if not found.shared_workers:
        return "No worker took part in both runs."
    count = found.shared_workers
    sentence = f"{_n(count)} {'worker' if count == 1 else 'workers'} took part in both runs"
    r = found.without_shared.pearson["overall"] if found.without_shared else math.nan
    return f"{sentence}; without them $r = {decimal(r)}$." if math.isfinite(r) else f"{sentence}."


def _effort(analysis: Analysis) -> list[str]:
    sentences, minutes, cost = [], analysis.minutes.all, analysis.cost
    if math.isfinite(minutes):
        each = "conversation" if analysis.run.items is None else "item"
        sentences.append(f"The mean {each} took {decimal(minutes, 2)} minutes.")
    if math.isfinite(cost.reward):
        sentences.append(
            f"Workers were paid \\${decimal(cost.reward, 2)} for an assignment, \\${decimal(cost.total, 2)} "
            f"in all, {'with the fee of the platform' if cost.fee else 'fees not counted'}."
        )
    return sentences


def _passed(count: Count) -> str:
    return f"{_n(count.passed)} of {_n(count.total)} ({escaped(percent(count.rate))})"


def _scale(analysis: Analysis) -> str:
    maxima = analysis.run.criteria["maximum"].unique()
    return f" from 0 to {maxima[0]:g}" if len(maxima) == 1 else ""


def _criteria(count: int) -> str:
    return "criterion" if count == 1 else "criteria"


def _n(number: int) -> str:
    return whole(number).replace(",", "{,}")


def _signature(text: str) -> str:
    """Return a signature with line breaks allowed after commas and between parts."""
    parts = (escaped(part).replace(",", r",\allowbreak{}") for part in text.split("|"))
    return r"\textbar\allowbreak{}".join(f"\\texttt{{{part}}}" for part in parts)
