"""Judge a bot's replies: speaker, language, completeness, decency and manner. Pure."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from unicodedata import east_asian_width

from bots.conformance import measures
from bots.conformance.limits import TOLERATED
from bots.conformance.report import Judgement, Verdict, quoted
from bots.conformance.script import ScriptAnswer, is_known, languages_of, was_asked_more
from bots.shown import Change
from candor.common.segmentation import base_language, foreign_language

_ADDRESSES = re.compile(
    r"https?://\S+|\bwww\.\S+|\b[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,}"
    r"|\b[\w-]{2,63}\.(?:com|org|net|io|de|cn|jp|es)\b",
    re.IGNORECASE,
)
_PROMPT = re.compile(
    r"\b(?:your task is to|respond as|stay in character|your persona\b|your partner's persona"
    r"|the following (?:is a )?(?:conversation|dialogue)|write (?:the|a|your) (?:next )?reply|system prompt"
    r"|chat history|deine aufgabe ist|das folgende gespräch|tu tarea es|la siguiente conversación)"
    r"|你的任务是|以下是.{0,10}对话|以下の会話|あなたのタスク",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“„«「『].{2,}[\"”“»」』][.!?]?", re.DOTALL)
_LABEL = re.compile(r"\W{0,3}([^\W\d_]\w{1,20})(?: says| said| sagt| dice| dijo|说|曰)? ?[:\uff1a]\s?\S")
_INNER_END = re.compile(r"[.!?…\u061f\u06d4]\s+\S|[。｡！？\u0964\u0965\u104b\u1362\u17d4]\s*\S")
# Including the full stops of Urdu, Hindi, Tibetan, Burmese, Amharic, Khmer and Armenian, the Arabic question
# mark, emoji, and emoticons such as :D.
_FINAL = re.compile(
    r"(?:[.!?…。！？｡\uff0e\u061f\u06d4\u0964\u0965\u0f0d\u104b\u1362\u17d4\u17d5\u0589"
    r"~〜\uff5e>)）\]】\"'”’»」』*:;\uff1a\uff1b"
    r"\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]|[:;=]-?[dop3]|\bxd|<3)\W*$",
    re.IGNORECASE,
)
_COMMA = re.compile(r"[,，、\u060c]\s*$")
_NO_MARKS = re.compile(r"[\u0e00-\u0eff]\W*$")  # Thai and Lao have no mark for the end of a sentence
_LEAST_ECHO = 8  # characters of a line: shorter lines are often repeated by chance
_LEAST_SENTENCE = 12  # columns: anything shorter is an answer such as "not really"
_LEAST_CUT = 40  # columns: people leave out the final punctuation of anything shorter
_CHANGES: dict[Change, str] = {
    "thoughts": "its thoughts were taken out",
    "marks": "marks of a template, or its own label, were taken out",
    "turns": "lines of another speaker were taken out",
}


def voice(answers: Sequence[ScriptAnswer], names: Sequence[str], language: str) -> Judgement | None:
    """Return the judgement on words that are not the bot's own line in a chat; None without replies.

    The model's raw output is judged too: text that had to be removed before a reply can be shown is a sign of
    a wrong prompt or end of turn. Thoughts are no fault, because some models are meant to think.
    """
    spoken = [answer for answer in answers if answer.spoke]
    if not spoken:
        return None
    told: list[str] = []
    verdict: Verdict = "pass"
    counts = []
    for change, what in _CHANGES.items():
        changed = [answer for answer in spoken if change in answer.changes]
        if changed:
            told.append(f'in {len(changed)}, {what}, as in "{quoted(changed[0].output)}"')
            if change == "thoughts":
                verdict = "warn"
            else:
                counts.append(len(changed))
    for what, finds in _foreign_words(spoken, names, language).items():
        found = [answer for answer in spoken if finds(answer)]
        if found:
            told.append(f'{len(found)} {what}, as "{quoted(found[0].text)}"')
            counts.append(len(found))
    if not told:
        return Judgement("pass", f"All of {len(spoken)} replies are lines of its own.")
    reason = f"Of {len(spoken)} replies: {'; '.join(told)}."
    if not counts:
        return Judgement(verdict, reason)
    return _by_share(max(counts), spoken, reason)


def _foreign_words(
    spoken: Sequence[ScriptAnswer], names: Sequence[str], language: str
) -> dict[str, Callable[[ScriptAnswer], object]]:
    """Return tests for replies that are not the bot's own line, by a description of the fault."""
    looked_for = languages_of(language)
    roles = "|".join(each.labels for each in looked_for)
    called = "|".join(re.escape(name) for name in names if len(name) > 1) or r"(?!)"
    role = re.compile(rf"(?:^|\s)(?:{roles}) ?[:\uff1a]", re.IGNORECASE)
    # Any separator between name and line, except for sentence punctuation, as in "Mybot?"
    own = re.compile(
        rf"[\W_]{{0,3}}(?:{called})(?:\s*(?:[^\w\s,.!?'’]|_)\W{{0,3}}|\s*\n\s*)\S", re.IGNORECASE
    )
    labels = Counter(found[1] for answer in spoken if (found := _LABEL.match(answer.text)))
    often = {label for label, count in labels.items() if TOLERATED.is_exceeded(count, len(spoken))}

    def labelled(answer: ScriptAnswer) -> bool:
        found = _LABEL.match(answer.text)
        return found is not None and found[1] in often

    return {
        "begin with a speaker's name": lambda a: labelled(a) or own.match(a.text) or role.search(a.text),
        "stand in quotation marks": lambda a: _QUOTED.fullmatch(a.text),
        "tell of somebody who speaks": lambda a: any(e.narrated.search(a.text.lower()) for e in looked_for),
        "repeat a prompt": lambda a: _PROMPT.search(a.text) or _persona_said(a) > 1,
        "repeat the conversation": lambda a: _earlier_said(a) > 1,
    }


def _persona_said(answer: ScriptAnswer) -> int:
    return sum(sentence.casefold() in answer.text.casefold() for sentence in answer.persona)


def _earlier_said(answer: ScriptAnswer) -> int:
    """Return how many distinct earlier lines the reply contains, including the worker's last line."""
    reply = measures.same(answer.text)
    lines = {measures.same(line) for line in (*answer.earlier, answer.line)}
    return sum(len(line) >= _LEAST_ECHO and line in reply and line != reply for line in lines)


def wholeness(answers: Sequence[ScriptAnswer], language: str) -> Judgement | None:
    """Return the judgement on replies that break off; None without replies."""
    spoken = [answer for answer in answers if answer.spoke]
    if not spoken:
        return None
    cut = _cut_off([answer.text for answer in spoken])
    ends_sentences = _ends_sentences([answer.text for answer in spoken])

    def broken(answer: ScriptAnswer) -> bool:
        if "limit" in answer.changes or answer.text in cut or _COMMA.search(answer.text):
            return True
        if any(each.unfinished.search(answer.text.lower()) for each in languages_of(language)):
            return True
        unended = (
            _columns(answer.text) >= _LEAST_CUT and _can_end(answer.text) and not _FINAL.search(answer.text)
        )
        return ends_sentences and unended and _INNER_END.search(answer.text) is not None

    found = [answer for answer in spoken if broken(answer)]
    if not found:
        return _endings([answer.text for answer in spoken])
    end = quoted(found[0].output[-60:])
    reason = (
        f'{len(found)} of {len(spoken)} replies break off, as "…{end}".'
        " Give it more tokens, or a prompt that asks for less."
    )
    return _by_share(len(found), spoken, reason)


def _cut_off(replies: Sequence[str]) -> set[str]:
    """Return the replies cut off by a limit: several that stop at the same length, without a sentence end."""
    longest = max(map(len, replies))
    stopped = {text for text in replies if len(text) >= longest - 1 and not _FINAL.search(text)}
    wide = max(map(_columns, stopped), default=0) >= _LEAST_CUT
    is_often = TOLERATED.is_exceeded(len(stopped), len(replies))
    return stopped if wide and len(stopped) > 2 and is_often else set()


def _endings(replies: Sequence[str]) -> Judgement:
    """Return the judgement on replies that do not certainly break off: some may end within a sentence.

    Final punctuation is expected of a bot that uses it elsewhere, and of a reply that begins with a capital
    letter. Bots that write in lower case leave it out, too. In a script without capital letters, replies of a
    bot that uses no punctuation are not judged.
    """
    unended = [
        text
        for text in replies
        if _columns(text) >= _LEAST_SENTENCE and _can_end(text) and not _FINAL.search(text)
    ]
    sets_marks = _ends_sentences(replies)
    doubtful = [text for text in unended if sets_marks or _first_letter(text).isupper()]
    if TOLERATED.is_exceeded(len(doubtful), len(replies)):
        reason = (
            f"{len(doubtful)} of {len(replies)} replies end without a mark of punctuation, as"
            f' "{quoted(doubtful[0])}". Check that they are whole.'
        )
        return Judgement("warn", reason)
    unjudged = sum(not _can_end(text) and not _FINAL.search(text) for text in replies)
    if not sets_marks:
        first = [_first_letter(text) for text in unended]
        unjudged += sum(not (letter.islower() or letter.isupper()) for letter in first)
    if unjudged:
        reason = (
            f"The ends of {unjudged} of {len(replies)} replies were not judged: nothing in them marks the "
            "end of a sentence. None of the others breaks off."
        )
        return Judgement("pass", reason)
    return Judgement("pass", f"None of {len(replies)} replies breaks off.")


def _ends_sentences(replies: Sequence[str]) -> bool:
    """Return whether a bot ends at least half of its replies with punctuation, of those that can have it."""
    can_end = [text for text in replies if _can_end(text)]
    return bool(can_end) and 2 * sum(_FINAL.search(text) is not None for text in can_end) >= len(can_end)


def _can_end(text: str) -> bool:
    """Return whether the script in which `text` ends marks the ends of sentences."""
    return _NO_MARKS.search(text) is None


def _first_letter(text: str) -> str:
    return next((mark for mark in text if mark.isalpha()), "")


def _columns(text: str) -> int:
    """Return the width of `text`: a Chinese, Japanese or Korean character counts as two letters."""
    return len(text) + sum(east_asian_width(mark) in "WF" for mark in text)


def tongue(answers: Sequence[ScriptAnswer], language: str) -> Judgement | None:
    """Return the judgement on the language of the replies; None without replies, or in an unknown language.

    The awkward conversation does not count: it is in other languages.
    """
    spoken = [answer for answer in answers if answer.spoke and answer.part != "awkward"]
    if not is_known(base_language(language)):
        return None  # the bot is asked in English, and may answer in English
    found = [(answer, other) for answer in spoken if (other := foreign_language(answer.text, language))]
    if not spoken:
        return None
    if not found:
        return Judgement("pass", f"None of {len(spoken)} replies is in another language than {language}.")
    answer, other = found[0]
    reason = (
        f"{len(found)} of {len(spoken)} replies are not in the study's language, {language}, as in {other}:"
        f' "{quoted(answer.text)}".'
    )
    return _by_share(len(found), spoken, reason)


def decency(answers: Sequence[ScriptAnswer], language: str, flagged: Sequence[str] = ()) -> Judgement | None:
    """Return the judgement on insults, threats and addresses; None without replies.

    `flagged`: replies that a moderation service flags.
    """
    spoken = [answer for answer in answers if answer.spoke]
    if not spoken:
        return None
    texts = [answer.text for answer in spoken]
    looked_for = languages_of(language)
    hurts = {
        "insults": _matching(texts, chain.from_iterable(each.insults for each in looked_for)),
        "threats": _matching(texts, chain.from_iterable(each.threats for each in looked_for)),
        "what the moderation service flags": list(flagged),
    }
    addresses = [text for text in texts if _ADDRESSES.search(text)]
    told = [f'{what} in {len(found)}, as "{quoted(found[0])}"' for what, found in hurts.items() if found]
    hurts_somebody = bool(told)
    if addresses:
        told.append(f'addresses in {len(addresses)}, as "{quoted(addresses[0])}"')
    if not told:
        return Judgement("pass", f"No insult, threat or address in {len(spoken)} replies.")
    reason = f"Of {len(spoken)} replies: {'; '.join(told)}."
    if hurts_somebody:
        return Judgement("fail", reason)
    return _by_share(len(addresses), spoken, reason)


def manner(answers: Sequence[ScriptAnswer], language: str) -> Judgement | None:
    """Return the judgement on phrases that only assistants use; None without replies."""
    spoken = [answer for answer in answers if answer.spoke and not answer.direct]
    if not spoken:
        return None
    phrases = chain.from_iterable(each.assistant for each in languages_of(language))
    found = _matching([answer.text for answer in spoken], phrases)
    if not found:
        return Judgement("pass", f"None of {len(spoken)} replies is an assistant's.")
    reason = f'{len(found)} of {len(spoken)} replies are what assistants say, as "{quoted(found[0])}".'
    return Judgement("fail" if len(found) > 1 else "warn", reason)


def attention(answers: Sequence[ScriptAnswer]) -> Judgement | None:
    """Return the judgement on whether the bot responds to the worker's lines; None if there is no evidence.

    A bot that repeats the worker's lines fails. A bot that reads only the last line, or none, may be the
    subject of a study, so it gets a warning.
    """
    spoken = [answer for answer in answers if answer.spoke]
    echoes = [
        a
        for a in spoken
        if len(line := measures.same(a.line)) >= _LEAST_ECHO and line in measures.same(a.text)
    ]
    is_open = TOLERATED.is_open(len(echoes), len(spoken))
    if TOLERATED.is_exceeded(len(echoes), len(spoken), again=was_asked_more(spoken)):
        share = f"{len(echoes)} of {len(spoken)} replies say the worker's line again"
        return Judgement("fail", f'{share}, as "{quoted(echoes[0].text)}".', is_open)
    judged = _reading(answers, spoken)
    return None if judged is None else judged._replace(is_open=is_open)


def _reading(answers: Sequence[ScriptAnswer], spoken: Sequence[ScriptAnswer]) -> Judgement | None:
    """Return the judgement on whether the bot reads the worker's lines; None if nothing was asked."""
    asked = [answer for answer in spoken if answer.answers]
    if not asked:
        return None
    answered = sum(measures.holds_any(answer.text, answer.answers) for answer in asked)
    same, n = measures.unmoved(answers)
    told = f"{answered} of {len(asked)} questions with an obvious answer were answered"
    if n and same == n and not measures.differing(answers)[0]:
        reason = f"It looks at the last line only: behind another history, it says the same; {told}."
        return Judgement("warn", reason)
    if not answered:
        return Judgement("warn", f"Nothing shows that it reads what is said: {told}.")
    return Judgement("pass", f"{told[0].upper()}{told[1:]}.")


def _matching(texts: Iterable[str], patterns: Iterable[re.Pattern[str]]) -> list[str]:
    tried = tuple(patterns)
    return [text for text in texts if any(pattern.search(text.lower()) for pattern in tried)]


def _by_share(found: int, of: Sequence[ScriptAnswer], reason: str) -> Judgement:
    """Return the judgement on a fault in `found` of these replies, at least one."""
    is_exceeded = TOLERATED.is_exceeded(found, len(of), again=was_asked_more(of))
    return Judgement("fail" if is_exceeded else "warn", reason, TOLERATED.is_open(found, len(of)))
