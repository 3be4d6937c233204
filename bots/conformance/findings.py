"""Judge a bot's answers: one finding per question, one function per finding. Pure.

A finding fails if workers would suffer from it, or if it would undo the blinding; it warns if a researcher
should know it before launch. Without evidence there is no finding.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bots.conformance import conduct, measures
from bots.conformance.limits import DEAF, TOLERATED
from bots.conformance.report import Finding, Judgement, Latency, Overruns, Verdict, quoted
from bots.conformance.script import CheckResponses, ScriptAnswer, was_asked_more
from bots.core.ask import LONGEST_REPLY
from bots.core.self_identification import gives_itself_away
from bots.corpus import Corpus
from candor.common.segmentation import base_language, foreign_language

if TYPE_CHECKING:
    from bots.qc_bots.examination import Examination

# The limit of the builtin systems; an average line in a chat between people has a fifth of it.
LONG_REPLY = 300
# Workers find a bot repetitive if two in ten replies were given before.
REPEATED = 0.20
# A share s of late replies moves the AUC of a system's reply times against those of systems in time by s / 2
# at most (F is uniform at a delay, so a latency above the share u of delays moves it by u² / 2 <= u / 2, and
# s is the mean of u). With a tenth it stays within 0.5 ± 0.05. With half, most replies keep workers waiting.
LATE, MOSTLY_LATE = 0.10, 0.50
# If a bot uses half of its time, a busier hour or one retry for another worker brings it to its deadline.
NEAR_DEADLINE = 0.50
_REASON = 300  # characters of a failure's message, which ends with the remedy


@dataclass(frozen=True, slots=True)
class Standard:
    """The conditions by which answers are judged.

    `names`: names by which the bot must not call itself. `delays`: natural reply times in seconds.
    `overruns`: of its conversations with workers. `patience`: seconds that it has for a reply. `language`:
    that of the study. `persona`: whether it has one in the study; None: unknown. `markdown`: whether the
    study renders Markdown.
    """

    names: Sequence[str]
    delays: Sequence[float]
    overruns: Overruns | None
    patience: float
    language: str = "en"
    persona: bool | None = None
    markdown: bool = False


def findings(
    asked: CheckResponses,
    latency: Latency,
    late: float | None,
    standard: Standard,
    flagged: Sequence[str] = (),
) -> tuple[Finding, ...]:
    """Return all findings, in the order in which they are shown.

    `latency` and `late`, the expected share of overruns, are those of the report. `flagged`: replies that a
    moderation service flags.
    """
    judged = _of_replies(asked, standard, flagged) | {
        "Is it in time?": speed(latency, standard.patience),
        "As fast as people type?": timeliness(latency, late, standard.delays),
        "And with workers so far?": past_timeliness(standard.overruns),
        "Does it use its persona?": persona(asked.answers, standard),
        "Asked again, the same?": repeatability(asked.answers),
    }
    return tuple(
        Finding(question=question, verdict=judgement.verdict, reason=judgement.reason)
        for question, judgement in judged.items()
        if judgement is not None
    )


def is_open(asked: CheckResponses, standard: Standard) -> bool:
    """Return whether more replies are needed to decide whether the bot fails."""
    judged = [each for each in _of_replies(asked, standard).values() if each is not None]
    fails_anyway = any(each.verdict == "fail" and not each.is_open for each in judged)
    return not fails_anyway and any(each.is_open for each in judged)


def _of_replies(
    asked: CheckResponses, standard: Standard, flagged: Sequence[str] = ()
) -> dict[str, Judgement | None]:
    """Return the judgements on what the bot said, by question."""
    answers, language = asked.answers, standard.language
    return {
        "Does it answer?": answering(asked),
        "Does it say something?": speaking(answers),
        "Is it short?": length(answers),
        "Does it vary?": variety(answers),
        "Does it take up what is said?": conduct.attention(answers),
        "Does it keep its secret?": secrecy(answers, standard.names),
        "Does it talk like a person?": conduct.manner(answers, language),
        "Does it speak for itself?": conduct.voice(answers, standard.names, language),
        "Does it finish its sentences?": conduct.wholeness(answers, language),
        "In the study's language?": conduct.tongue(answers, language),
        "Is it decent?": conduct.decency(answers, language, flagged),
        "Is it plain text?": plainness(answers, standard.markdown),
    }


def answering(asked: CheckResponses) -> Judgement:
    """Return the judgement on failed calls."""
    n = len(asked.answers)
    errors = [answer.error for answer in asked.answers if answer.failed and answer.error is not None]
    failed = len(errors)
    if not errors:
        return Judgement("pass", f"It answered all {n} calls.")
    what = f"{failed} of {n} calls failed{', and it was not asked on' * asked.stopped}"
    # Grouped by kind, because messages may contain numbers that differ each time.
    kind, k = Counter(error.kind for error in errors).most_common(1)[0]
    reasons = Counter(str(error) for error in errors if error.kind == kind)
    most = quoted(reasons.most_common(1)[0][0], _REASON).rstrip(".")
    too_many = TOLERATED.is_exceeded(failed, n, again=was_asked_more(asked.answers))
    verdict: Verdict = "fail" if asked.stopped or too_many else "warn"
    calm = " They are tried again, so that workers only wait longer." * (verdict == "warn")
    is_open = not asked.stopped and TOLERATED.is_open(failed, n)
    return Judgement(verdict, f"{what}; {k} of them: {most}.{calm}", is_open)


def speaking(answers: Sequence[ScriptAnswer]) -> Judgement | None:
    """Return the judgement on empty replies; None if every call failed."""
    came = [answer for answer in answers if not answer.failed]
    empty = [answer for answer in came if answer.empty]
    if not came:
        return None
    if not empty:
        return Judgement("pass", f"None of {len(came)} replies is empty.")
    lines = ", ".join(dict.fromkeys(f'"{quoted(answer.line, 30)}"' for answer in empty[:3]))
    too_many = TOLERATED.is_exceeded(len(empty), len(came), again=was_asked_more(answers))
    verdict: Verdict = "fail" if too_many else "warn"
    reason = (
        f"{len(empty)} of {len(came)} replies are empty, as to {lines}; an empty reply is not shown, but"
        " asked for again."
    )
    return Judgement(verdict, reason, TOLERATED.is_open(len(empty), len(came)))


def length(answers: Sequence[ScriptAnswer]) -> Judgement | None:
    """Return the judgement on the length of the replies; None without replies."""
    sizes = [len(answer.text) for answer in answers if answer.spoke]
    too_long = sum(answer.too_long for answer in answers)
    if too_long:
        reason = (
            f"{too_long} of {len(answers)} replies have more than {LONGEST_REPLY} characters, the most that"
            " workers are shown. Ask for fewer words in its prompt, or lower its limit of tokens."
        )
        return Judgement("fail", reason)
    if not sizes:
        return None
    long = sum(size > LONG_REPLY for size in sizes)
    most = f"the longest of {len(sizes)} has {max(sizes)} characters"
    if long:
        reason = (
            f"{long} replies have more than {LONG_REPLY} characters, and {most}: beside bots that chat, one"
            " that lectures is known at once."
        )
        return Judgement("warn", reason)
    return Judgement("pass", f"{most[0].upper()}{most[1:]}.")


def variety(answers: Sequence[ScriptAnswer]) -> Judgement | None:
    """Return the judgement on repeated replies; None without replies."""
    replies = [answer for held in measures.conversations(answers) for answer in held if answer.spoke]
    if not replies:
        return None
    text, k, n = measures.commonest(answers)
    if k > 1 and DEAF.is_exceeded(k, n, again=was_asked_more(answers)):
        reason = f'It says the same to {k} of {n} different lines: "{quoted(text)}".'
        return Judgement("fail", reason, DEAF.is_open(k, n))
    again = measures.repeated(answers)
    share = f"{len(again)} of {len(replies)} replies stood in the same conversation before"
    if len(again) > REPEATED * len(replies):
        return Judgement("warn", f'{share}, as "{quoted(again[0])}".')
    return Judgement("pass", f"{share}.")


def secrecy(answers: Sequence[ScriptAnswer], names: Sequence[str]) -> Judgement | None:
    """Return the judgement on replies in which the bot gives itself away; None without replies.

    `names`: names by which it must not call itself.
    """
    spoken = [answer for answer in answers if answer.spoke]
    if not spoken:
        return None
    told = [(answer, words) for answer in spoken if (words := gives_itself_away(answer.text, names))]
    unasked = [(answer, words) for answer, words in told if not answer.direct]
    if unasked:
        answer, words = unasked[0]
        reason = (
            f"{len(unasked)} of {len(spoken)} replies give it away without being asked for that, as"
            f' "{quoted(words)}" after "{quoted(answer.line, 30)}". Workers must not know what they talk to.'
        )
        return Judgement("fail", reason)
    if told:
        answer, words = told[0]
        reason = f'Asked "{answer.line}", it says "{quoted(words)}"; otherwise it does not give itself away.'
        return Judgement("warn", reason)
    return Judgement("pass", f"None of {len(spoken)} replies gives it away, asked or not.")


def plainness(answers: Sequence[ScriptAnswer], markdown: bool = False) -> Judgement | None:
    """Return the judgement on markup in the replies; None without replies. `markdown`: it is rendered."""
    spoken = [answer.text for answer in answers if answer.spoke]
    if not spoken:
        return None
    found = measures.markup(spoken)
    if markdown:
        found.pop("Markdown", None)
    if not found:
        return Judgement("pass", f"None of {len(spoken)} replies has markup in it.")
    what = "; ".join(f'{name} in {len(texts)}, as "{quoted(texts[0])}"' for name, texts in found.items())
    reason = f"Of {len(spoken)} replies: {what}. Workers see it as it stands."
    if "Markdown" in found:
        reason += (
            " Asterisks and the like in many replies tell a system apart: ask for plain text in its prompt,"
            " or show the Markdown of every system as formatting (a setting of the study)."
        )
    # Markup may be intended; traces of a prompt, or characters of a wrong encoding, never are.
    return Judgement("fail" if found.keys() & measures.NEVER_MEANT else "warn", reason)


def speed(latency: Latency, patience: float) -> Judgement | None:
    """Return the judgement on reply times against `patience`, the seconds of a call; None without times."""
    measured = [spread for spread in (latency.alone, latency.at_once) if spread is not None]
    if not measured:
        return None
    slowest = max(spread.p95 for spread in measured)
    reason = f"{'; '.join(_spreads(latency))}; a call has {patience:g} s."
    verdict: Verdict = "pass"
    if slowest >= patience:
        verdict, reason = "fail", f"{reason} At least one in twenty is given up."
    elif slowest >= NEAR_DEADLINE * patience:
        verdict, reason = "warn", f"{reason} That leaves little for a busier hour."
    return Judgement(verdict, reason)


def timeliness(latency: Latency, late: float | None, delays: Sequence[float]) -> Judgement | None:
    """Return the judgement on reply times against the natural `delays`; None if that is not judged."""
    measured = latency.at_once or latency.alone
    if late is None or measured is None:
        return None
    if max(delays) <= 0:
        reason = (
            "The study shows every reply at once, so its speed tells each system apart (set a reply delay):"
            f" p50 {_seconds(measured.p50)}."
        )
        return Judgement("warn", reason)
    share = (
        f"{late:.0%} of its replies would come later than a reply naturally takes"
        f" (median {_seconds(measures.quantile(delays, 0.5))})"
    )
    remedy = "Add replicas, or raise the study's reply delay, which all systems share."
    if late > MOSTLY_LATE:
        reason = f"{share}: workers would rate the waiting. {remedy}"
        return Judgement("fail", reason)
    if late > LATE:
        reason = f"{share}; above {LATE:.0%}, reply times can tell it apart. {remedy}"
        return Judgement("warn", reason)
    return Judgement("pass", f"{share}.")


def past_timeliness(overruns: Overruns | None) -> Judgement | None:
    """Return the judgement on late replies to workers so far. It never fails: the bot may be faster now."""
    if overruns is None or overruns.replies == 0:
        return None
    share = overruns.overran / overruns.replies
    reason = f"{overruns.overran} of {overruns.replies} replies so far came late ({share:.1%})."
    if share > LATE:
        reason += f" Above {LATE:.0%}, reply times can tell it apart."
        return Judgement("warn", reason)
    return Judgement("pass", reason)


def persona(answers: Sequence[ScriptAnswer], standard: Standard) -> Judgement | None:
    """Return the judgement on the use of a persona; None for a bot that has none in its study.

    It fails only a bot that has a persona there, and gives the same replies with every persona.
    """
    replies = [answer for answer in answers if answer.part == "questions" and answer.spoke]
    if standard.persona is False or len({answer.persona for answer in replies}) < 2:
        return None
    words = measures.persona_words(answers, standard.language)
    changes = measures.persona_changes(answers)
    n = len({answer.line for answer in replies})
    if words:
        return Judgement("pass", f"It speaks of what its persona says ({', '.join(words)}).")
    matters = "" if standard.persona else "This matters only to a system with a persona in the study: "
    if not changes:
        verdict: Verdict = "fail" if standard.persona else "warn"
        return Judgement(
            verdict, f"{matters}asked as two persons and as nobody, it gives the same {n} replies."
        )
    different, _ = measures.differing(answers)
    doubt = (
        "which it also does without one, so that nothing shows it reads it"
        if different
        else "but is not in them"
    )
    return Judgement("warn", f"{matters}{changes} of {n} replies change with the persona, {doubt}.")


def repeatability(answers: Sequence[ScriptAnswer]) -> Judgement | None:
    """Return the judgement on the same chat asked twice with the same seed. It always passes."""
    different, n = measures.differing(answers)
    if not n:
        return None
    if different:
        reason = (
            f"No: {different} of {n} replies came out differently for the same chat and seed. Workers see"
            " one of them only; what was said cannot be had again from the seed."
        )
    else:
        reason = f"Yes: {n} of {n} replies came out the same for the same chat and seed."
    return Judgement("pass", reason)


def _spreads(latency: Latency) -> Iterator[str]:
    if latency.alone is not None:
        yield f"alone p50 {_seconds(latency.alone.p50)}, p95 {_seconds(latency.alone.p95)}"
    if latency.at_once is not None:
        busy = latency.at_once
        yield f"{busy.conversations} at once p50 {_seconds(busy.p50)}, p95 {_seconds(busy.p95)}"


def _seconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 0.9995 else f"{seconds:.1f} s"


# Share of lines that are in the corpus unchanged. A few are short answers; with half, the filter is useless.
_WHOLE, _MOSTLY_WHOLE = 0.1, 0.5
_READ = 0.55  # share of responses preferred to their distortions; one half by chance
_LOOKS = 0.8  # AUC
_FOREIGN = 0.1


def qc_findings(corpus: Corpus, replies: Sequence[str]) -> tuple[Finding, ...]:
    """Return the findings about the published QC bot with `corpus`, compared with systems' `replies`.

    This takes seconds for a large corpus: call it outside of an event loop.

    Raises:
        CorpusError: the bot cannot use this corpus.
    """
    from bots.qc_bots.examination import examine  # noqa: PLC0415 - numpy, which a server's start need not load

    found = examine(corpus, replies)
    return (*_distortion(found), *_reading(found), *_looks(found), *_language(corpus))


def _distortion(found: "Examination") -> Iterator[Finding]:
    share = f"{found.whole:.0%} of {found.lines} lines stand in the corpus as they are"
    verdict: Verdict = "fail" if found.whole > _MOSTLY_WHOLE else "warn" if found.whole > _WHOLE else "pass"
    remedy = (
        ""
        if verdict == "pass"
        else ": it says whole fluent lines, and workers cannot tell it from a system."
        " Set the study's language, or choose a corpus of longer lines"
    )
    yield Finding(question="Are its lines distorted?", verdict=verdict, reason=f"{share}{remedy}.")


def _reading(found: "Examination") -> Iterator[Finding]:
    if found.preferred is not None:
        verdict: Verdict = "pass" if found.preferred > _READ else "warn"
        reason = (
            f"A small language model prefers {found.preferred:.0%} of its lines as they were; by chance, 50%."
        )
        yield Finding(question="Can people see it?", verdict=verdict, reason=reason)


def _looks(found: "Examination") -> Iterator[Finding]:
    if found.looks is not None:
        verdict: Verdict = "pass" if found.looks <= _LOOKS else "warn"
        remedy = "; to give it theirs, let the QC bot draw from the systems" if verdict == "warn" else ""
        reason = f"Looks alone tell its lines from the systems' with an AUC of {found.looks:.2f}{remedy}."
        yield Finding(question="Is it hidden from simple heuristics?", verdict=verdict, reason=reason)


def _language(corpus: Corpus) -> Iterator[Finding]:
    if base_language(corpus.language) == "en":
        return  # this test would take a second at every launch
    turns = [turn for dialogue in corpus.dialogues[:20] for turn in dialogue.turns]
    foreign = [other for turn in turns if (other := foreign_language(turn, corpus.language))]
    wrong = len(foreign) > _FOREIGN * len(turns)
    reason = (
        f"{len(foreign)} of {len(turns)} lines of its corpus are in another language than {corpus.language}."
    )
    yield Finding(question="In the study's language?", verdict="fail" if wrong else "pass", reason=reason)
