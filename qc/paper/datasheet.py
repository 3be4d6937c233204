"""The datasheet of a human evaluation, filled in from the data; other fields are marked for the author.

Question numbers are those of the Human Evaluation Datasheet 3.0 (Belz and Thomson, GEM 2025) and of the
ACL's checklist for responsible research, sections B and D; the wording is ours.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from candor.common.terminal import visible
from qc.analysis import Analysis
from qc.run import SIMULATED_NOTE
from qc.table import SIGNIFICANT, decimal, percent, whole

AUTHOR = "**For the author**"
_SIGNS = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_{}[]<>#|!"})


@dataclass(frozen=True)
class Field:
    """A question of the sheet.

    Attributes:
        number: its number.
        asks: the question, in our words.
        answer: in Markdown; None if the author has to give it.
        hint: what the author has to give.
        options: numbers of the options that the answer selects, if the question has options.
        entered: text for the form if it differs from `answer`.
    """

    number: str
    asks: str
    answer: str | None = None
    hint: str = ""
    options: tuple[int, ...] = ()
    entered: str | None = None


def sections_of(analysis: Analysis) -> Sequence[tuple[str, list[Field]]]:
    """Return the sections of the sheet, with their titles."""
    return (
        ("1. Paper and resources", _paper(analysis)),
        ("2. Systems", _systems(analysis)),
        ("3.1 Sample of outputs", _sample(analysis)),
        ("3.2 Evaluators", _evaluators(analysis)),
        ("3.3 Design of the experiment", _design(analysis)),
        ("4.1 to 4.2 Quality criteria", _qualities(analysis)),
        ("4.3 How responses are elicited", _responses(analysis)),
        ("5. Ethics", _ethics()),
        ("ACL checklist for responsible research, B and D", _checklist(analysis)),
    )


def datasheet(analysis: Analysis) -> str:
    """Return the sheet as Markdown."""
    sections = sections_of(analysis)
    fields = [field for _, section in sections for field in section]
    filled = sum(field.answer is not None for field in fields)
    head = [
        f"# Human evaluation datasheet: {plain(analysis.run.name)}",
        "",
        "Question numbers are those of the Human Evaluation Datasheet 3.0 of Belz and Thomson (2025), in our "
        f"own words. {filled} of {len(fields)} fields are filled in; the others say {AUTHOR}.",
    ]
    if SIMULATED_NOTE in analysis.run.notes:
        head += ["", f"**{SIMULATED_NOTE}**"]
    body = (line for title, section in sections for line in (f"\n## {title}\n", *map(_line, section)))
    return "\n".join([*head, *body, "", f"Signature: `{analysis.signature.replace('`', '')}`", ""])


def plain(text: str) -> str:
    """Escape `text` for Markdown, on one line."""
    return visible(" ".join(text.split())).translate(_SIGNS)


def _line(field: Field) -> str:
    number = f"**{field.number}** " if field.number else ""
    answer = field.answer if field.answer is not None else AUTHOR + (f": {field.hint}" if field.hint else "")
    return f"- {number}{field.asks}: {answer}"


def _paper(analysis: Analysis) -> list[Field]:
    resources = "the link to the bundle of this run (`candor data bundle`), once it is public"
    return [
        Field("1.1.1", "The paper that reports the experiment", None, "the link"),
        Field("1.1.2", "Which of its experiments this is", f"the run {plain(analysis.run.name)}"),
        Field("1.2", "Where its resources are", None, resources),
        Field("1.3.1.1 to 1.3.1.3", "Who fills in this sheet", None, "name, affiliation, e-mail"),
        Field("1.3.2.1 to 1.3.2.3", "Whom to ask", None, "name, affiliation, e-mail"),
    ]


def _systems(analysis: Analysis) -> list[Field]:
    chatted = analysis.run.items is None
    names = "; ".join(plain(str(name)) for name in analysis.scores.z["system"])
    dialogue = "text: dialogue" if chatted else None
    is_dialogue, is_reply = ((8,), (10,)) if chatted else ((), ())
    return [
        Field("2.1", "What the systems take", dialogue, options=is_dialogue),
        Field("2.2", "What they give", dialogue, options=is_dialogue),
        Field(
            "2.3",
            "Their task",
            f"dialogue turn generation, in open conversation, by {names}" if chatted else None,
            f"of {names}",
            is_reply,
        ),
        Field("2.4", "Languages taken", None, "full names"),
        Field("2.5", "Languages given", None, "full names"),
    ]


def _sample(analysis: Analysis) -> list[Field]:
    criteria = len(analysis.run.criteria)
    counts = analysis.scores.z["n"] // criteria
    kind = "conversations" if analysis.run.items is None else "judgments"
    each = "; ".join(
        f"{plain(str(name))} {whole(int(count))}"
        for name, count in zip(analysis.scores.z["system"], counts, strict=True)
    )
    chosen = (
        "every conversation that a worker completed and rated; the server draws who meets which system"
        if analysis.run.items is None
        else None
    )
    return [
        Field("3.1.1", "How many outputs of each system are evaluated", f"{kind} that were kept: {each}"),
        Field("3.1.2", "How they were selected", chosen, options=(6,) if chosen else ()),
        Field(
            "3.1.3.1",
            "How the number of outputs was planned",
            None,
            "a plan made before the run, for example by `candor plan power`",
        ),
        Field("3.1.3.2", "Statistical power", None, "the plan's figure"),
        Field("3.1.3.3", "Where the code of the plan is", None, "the command and its output"),
    ]


def _evaluators(analysis: Analysis) -> list[Field]:
    workers, cost = analysis.rates.workers, analysis.cost
    paid = (
        f"paid ${decimal(cost.reward, 2)} for an assignment"
        if math.isfinite(cost.reward) and cost.reward > 0
        else None
    )
    return [
        Field(
            "3.2.1",
            "How many evaluators",
            f"{whole(workers.total)}, of whom {whole(workers.passed)} passed quality control",
            entered=str(workers.total),
        ),
        Field("3.2.2.1", "Whether they are experts", None),
        Field("3.2.2.2", "Whether they are paid", paid, options=(1,) if paid else ()),
        Field("3.2.2.3", "Whether the authors know them", None),
        Field("3.2.2.4", "Whether they are the authors", None),
        Field("3.2.3", "How they were recruited", None, "platform, qualifications, exclusions"),
        Field("3.2.4", "Training and practice", None, "the study's instructions and tutorial, verbatim"),
        Field("3.2.5", "What else is known of them", None, "age, gender, region, language, with numbers"),
    ]


def _design(analysis: Analysis) -> list[Field]:
    chatted, workers = analysis.run.items is None, analysis.rates.workers
    alpha = analysis.sample.screening.alpha
    control = (
        "one quality-control bot of known low quality in each assignment"
        if chatted
        else "damaged copies of outputs among the outputs"
    )
    minutes = analysis.minutes.all
    took = f"; the mean was {decimal(minutes, 2)} minutes each" if math.isfinite(minutes) else ""
    return [
        Field(
            "3.3.1",
            "Preregistered?",
            _preregistered(analysis),
            "the file of `candor study preregister`",
            options=(1,) if analysis.preregistration else (),
        ),
        Field("3.3.2", "How responses are collected", "in a browser, by a server for live evaluations"),
        Field(
            "3.3.3.1",
            "Quality assurance",
            "automatic checks; workers who fail them are left out",
            options=(2, 4),
        ),
        Field(
            "3.3.3.2",
            "How it is done",
            f"{control}; workers who do not rate it significantly lower (p < {alpha:g}) "
            f"are left out, {whole(workers.total - workers.passed)} of {whole(workers.total)} here; "
            f"assignments left out for other reasons: {whole(len(analysis.run.left_out))}",
        ),
        Field("3.3.4.1", "Where the pages can be seen", None, "pictures of them, from the desk's preview"),
        Field("3.3.4.2", "What evaluators see", None, "the study's instructions, persona and criteria"),
        Field("3.3.5", "How free they are in time", None, f"the study's time-outs{took}"),
        Field(
            "3.3.6",
            "Whether they may ask or comment",
            "a box for feedback after the last rating",
            options=(3,),
        ),
        Field("3.3.7", "Under which conditions", "at a place of their own choosing, online", options=(1,)),
        Field("3.3.8", "How conditions vary", "not controlled"),
    ]


def _preregistered(analysis: Analysis) -> str | None:
    followed = analysis.preregistration
    if followed is None:
        return None
    missed = [point.what for point in followed.points if point.followed is False]
    kept = (
        f"not followed: {plain('; '.join(missed))}"
        if missed
        else "nothing that the data tell was not followed"
    )
    return f"yes, {plain(followed.registered)}, {plain(followed.hash)}; {kept}"


def _qualities(analysis: Analysis) -> list[Field]:
    labels = ", ".join(plain(str(label)) for label in analysis.run.criteria["label"])
    return [
        Field(
            "4.1.1", "Type of quality of each criterion", None, f"correctness, goodness, feature: {labels}"
        ),
        Field("4.1.2", "Aspect of the output", None, "form, content or both"),
        Field("4.1.3", "Frame of reference", None, "the output alone, its input, or something outside"),
        Field("4.2.1", "Objective or subjective", "subjective", options=(2,)),
        Field("4.2.2", "Absolute or relative", "absolute: one system at a time", options=(1,)),
        Field("4.2.3", "Intrinsic or extrinsic", "intrinsic", options=(1,)),
    ]


def _responses(analysis: Analysis) -> list[Field]:
    criteria = analysis.run.criteria
    scales = "; ".join(
        f"{plain(str(row.label))} 0 to {row.maximum:g}{', reversed' if row.negative else ''}"
        for row in criteria.itertuples()
    )
    how, agreed = _agreement(analysis)
    return [
        Field("4.3.1.1", "What evaluators call each criterion", "N/A: only the statements are shown"),
        Field("4.3.1.2", "Its standardised name", None, "from a taxonomy of criteria, such as QCET"),
        Field("4.3.2", "Definitions given", "N/A: only the statements"),
        Field("4.3.3", "Size of the scale", "continuous"),
        Field("4.3.4", "Its range", scales),
        Field(
            "4.3.5",
            "How it is presented",
            "a slider without a mark until it is touched, ends labelled",
            options=(3,),
        ),
        Field("4.3.6", "The task, if there is no scale", "N/A"),
        Field("4.3.7", "The words shown", None, "the statements in the study file, verbatim"),
        Field("4.3.8", "Form of elicitation", "agreement with a statement on quality", options=(1,)),
        Field("4.3.9", "How responses become scores", _aggregation(analysis)),
        Field("4.3.10", "Effect sizes and significance", _tests(analysis)),
        Field("4.3.11.1", "How agreement between evaluators was measured", how, "the measure"),
        Field("4.3.11.2", "Agreement between evaluators", agreed, "the figure"),
        Field("4.3.12.1", "How agreement of evaluators with themselves was measured", "not measured"),
        Field("4.3.12.2", "Agreement of evaluators with themselves", "N/A"),
    ]


def _aggregation(analysis: Analysis) -> str:
    each = "conversations" if analysis.run.items is None else "items"
    return (
        "negative criteria reversed; standardised by worker (mean 0, standard deviation 1); mean over the "
        f"{each} of a system; overall: mean over criteria"
    )


def _tests(analysis: Analysis) -> str:
    parts = []
    if analysis.intervals is not None:
        parts.append(
            f"differences of z with {percent(analysis.intervals.level, 0)} intervals from "
            f"{whole(analysis.intervals.count)} draws of a wild bootstrap of workers"
        )
    if analysis.significance is not None:
        parts.append(f"one-sided rank-sum tests of pairs as published, p < {SIGNIFICANT:g}")
    return "; ".join(parts) or "none computed"


def _agreement(analysis: Analysis) -> tuple[str, str] | tuple[None, None]:
    """Return how agreement was measured, and the figure."""
    found = analysis.agreement
    if found is None or not math.isfinite(found.passed.median_r):
        return None, None
    pairs = whole(found.passed.pairs)
    measure = f"median Pearson r of {pairs} pairs of assignments with the same systems, of workers who passed"
    return measure, decimal(found.passed.median_r)


def _ethics() -> list[Field]:
    return [
        Field("5.1", "Approval by an ethics committee", None, "which, and its number"),
        Field("5.2", "Personal data", None, "workers have pseudonyms here; what they wrote may name people"),
        Field("5.3", "Special categories of personal data", None, "look at what workers wrote"),
        Field("5.4", "Impact assessments", None, "which, and their outcome"),
    ]


def _checklist(analysis: Analysis) -> list[Field]:
    cost = analysis.cost
    paid = (
        f"${decimal(cost.reward, 2)} for an assignment, ${decimal(cost.total, 2)} in all, "
        f"{'with the fee of the platform' if cost.fee else 'fees not counted'}"
        if math.isfinite(cost.reward)
        else None
    )
    version = analysis.signature.split("|")[0].replace("=", " ")
    return [
        Field(
            "B1", "Creators of what was used are cited", f"{plain(version)}; the method in `references.bib`"
        ),
        Field("B2", "Licences", None, "of the systems, of the data released"),
        Field("B3", "Use as intended", None),
        Field("B4", "Personal or offensive content was looked for", None, "in what workers and bots wrote"),
        Field("B5", "Domains, languages, people represented", None),
        Field(
            "B6",
            "Size of the data",
            f"{whole(analysis.rates.assignments.total)} assignments, "
            f"{whole(analysis.rates.conversations.total)} conversations with systems"
            if analysis.run.items is None
            else f"{whole(analysis.rates.conversations.total)} judgments",
        ),
        Field("D1", "Instructions in full", None, "the study file"),
        Field("D2", "Recruitment and pay", paid, "platform; whether the pay is adequate where workers live"),
        Field("D3", "Consent", None, "the study's text of consent"),
        Field("D4", "Ethics review", None),
        Field("D5", "Who the workers are", None, "population and region"),
    ]
