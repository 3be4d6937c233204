"""Find lines in which the speaker claims to be a machine, or introduces itself by a given name.

Workers must not learn which bot they are talking to. Only claims of the speaker about itself are found:
people, too, ask about bots, deny being one and talk about them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from bots.core.words import ascii_letters

_APOSTROPHES = str.maketrans(dict.fromkeys("\u2019\u2018\u02bc`\u00b4\uff07", "'"))
_TOKEN = re.compile(r"[^\W_]+(?:(?:['_-]|\.(?=\d))[^\W_]+)*|[^\w\s]")

# Not in "you think I am a bot", "if I'm a bot", "I feel like I'm a robot".
_AM_I = (
    "".join(rf"(?<!{word} )" for word in ("if", "like", "think", "thinks", "thought", "say", "says", "said"))
    + r"(?:i am|i'm|im|i be) "
)
_I_WAS = r"(?:i am|i'm|i was|i've been|i have been) "
_ADVERB = (
    r"(?:(?:actually|really|just|only|simply|merely|in fact|indeed|also|still|of course|, well ,) ){0,2}"
)
_ARTICLE = r"(?:a|an|the|your|one of the|this) "
_NOT_OF_ONE_NOUN = (
    r"(?:of|and|or|for|with|who|that|to|by|at|in|on|about|than|not|no|from|as|like|but|when|am|i) "
)
_ADJECTIVE = rf"(?:(?!{_NOT_OF_ONE_NOUN})\w[\w'.-]{{0,20}} ){{0,3}}?"
_MACHINE = (
    r"(?:ai|a \. i(?: \.)?|artificial intelligence|bot|chatbot|chat bot|chatterbot|robot|language model|llm|"
    r"computer program|software program|computer algorithm|neural network|machine learning model|"
    r"virtual assistant|digital assistant|conversational agent|dialogue system|dialog system) "
)
# Words between a machine and the end of its noun: "an AI language model", "a chatbot assistant".
_MACHINE_NOUN = (
    rf"{_MACHINE}(?:(?:language|large|chat|assistant|model|system|agent|program|companion|chatbot|bot) )"
    r"{0,3}"
)
# Words that may follow. Any other word makes a longer noun of it, as in "a robot engineer".
_AFTER = (
    r"(?=$|[.,;:!)…—–-] |(?:and|but|so|who|that|which|here|not|with|without|made|created|built|trained|"
    r"developed|designed|programmed|powered|based|by|from|named|called|known|as|too|i|i'm|my|lol|haha|after|"
    r"because|sorry|unable|myself|then|or|trying) )"
)
_MAKER = (
    r"(?:openai|open ai|google deepmind|google|deepmind|meta ai|meta|facebook ai|facebook|microsoft|"
    r"anthropic|amazon|apple|nvidia|mistral ai|mistral|alibaba cloud|alibaba|cohere|hugging face|huggingface|"
    r"deepseek|xai|baidu|tencent|ibm|stability ai|eleutherai|databricks|allen institute|parlai) "
)
# Names that hardly any person has. For others, such as "Alexa", only the words around them tell.
_MODEL = (
    r"(?:chatgpt|chat gpt|(?:gpt|chatgpt|llama|qwen|gemma|phi|claude|gemini|mistral|grok)"
    r"(?: -)? ?-?v?\d[\w.-]{0,12}|gpt|instructgpt|dialogpt|blenderbot|blender bot|cleverbot|copilot|"
    r"claude|bard|llama|vicuna|alpaca|qwen|deepseek|mixtral|mistral|grok|cortana|siri|mitsuku|kuki|xiaoice|"
    r"replika|google gemini|google assistant|bing chat|lamda|godel|chatglm|baichuan|starchat|"
    r"tinyllama|smollm\w{0,6}) "
)
_INTRODUCTION = (
    rf"(?:{_AM_I}{_ADVERB}|my name is {_ADVERB}|my name's {_ADVERB}|call me |this is |i am called |"
    r"i'm called |i go by |i am named |i'm named |known as )"
)

_FIRST_WORDS = frozenset({"i", "i'm", "im", "i've", "as", "my", "call", "this", "known"})
_CLAIMS = tuple(
    re.compile(claim)
    for claim in (
        rf"{_AM_I}{_ADVERB}(?:{_ARTICLE}{_ADJECTIVE})?{_MACHINE_NOUN}{_AFTER}",
        rf"(?<!such )(?<!known )(?<!seen )(?<!used )(?<!work )(?<!works )(?<!working )(?<!dressed )(?<!up )"
        rf"as (?:a|an|your) {_ADJECTIVE}{_MACHINE_NOUN}{_AFTER}",
        rf"{_I_WAS}{_ADVERB}"
        rf"(?:made|created|built|trained|developed|designed|programmed|coded|powered) (?:by|at) "
        rf"(?:(?:the|a|researchers|engineers|people|team|developers|scientists|of|at|from) ){{0,5}}{_MAKER}",
        rf"{_I_WAS}{_ADVERB}(?:trained on|programmed to|programmed by|coded by) ",
        r"my (?:training data|programmers|developers at|knowledge cutoff|knowledge cut-off) ",
        r"i (?:do not|don't) have a (?:physical body|physical form) ",
        r"i have no (?:physical )?body (?=$|[.,;!]|and )",
        r"i (?:run|live|exist) on (?:a |some |the )?(?:server|servers) ",
        rf"{_INTRODUCTION}(?:the )?{_MODEL}{_AFTER}",
        rf"{_INTRODUCTION}(?:\w[\w'.-]{{0,30}} ){{1,3}}, "
        rf"(?:a|an|the|your) {_ADJECTIVE}{_MACHINE_NOUN}{_AFTER}",
    )
)


# Everyday words, which occur in claims only beside another telling word: "open ai".
_EVERYDAY = frozenset(b"chat cloud computer face language learning machine open system".split())
# Every claim in English has one of these words, except for those that `_is_spelt` finds.
_TELLING = frozenset(
    word
    for part in (_MACHINE, _MAKER, _MODEL, "trained programmed coded training programmers developers")
    for word in (*ascii_letters(part), b"knowledge", b"physical", b"body", b"server", b"servers")
    if (len(word) > 2 and word not in _EVERYDAY) or word == b"ai"
)
_SPELT = re.compile(r"a\s*\.\s*i")


def gives_itself_away(text: str, names: Sequence[str] = ()) -> str | None:
    """Return the words of `text` in which the speaker claims to be a machine or one of `names`, or None.

    `names`: names by which the speaker must not call itself, such as the name of a system or the id of a
    model ("org/Name-7b" is also looked for as "Name-7b", "Name 7b" and "Name"). A name counts only where the
    speaker introduces itself by it ("I am NAME", "my name is NAME", "this is NAME", "NAME here"), because
    many names are ordinary words.
    """
    sought = claims(tuple(names))
    lower = text.lower()
    letters = ascii_letters(lower)
    if sought.always or not sought.telling.isdisjoint(letters) or _is_spelt(lower):
        found = _claim(text, sought)
        if found is not None:
            return found
    return foreign_claim(text, letters)


def _claim(text: str, sought: "Claims") -> str | None:
    """Return the words of the first match of `sought`: a claim in English, or a name."""
    tokens = list(_TOKEN.finditer(text.translate(_APOSTROPHES)))
    words = [token[0].lower() for token in tokens]
    # Claims are matched only where one can begin: searching the whole line took a quarter of a turn's time.
    starts = [place for place, word in enumerate(words) if word in sought.first_words]
    if not starts:
        return None
    line = " ".join(words) + " "
    at = [0, *accumulate(len(word) + 1 for word in words)]
    for claim in sought.patterns:
        for first in starts:
            found = claim.match(line, at[first])
            if found is not None:
                last = first + found[0].strip().count(" ")
                return text[tokens[first].start() : tokens[last].end()]
    return None


def _is_spelt(lower: str) -> bool:
    """Return whether a line contains "a. i." in any spacing, or a name with an open ending (SmolLM…)."""
    return "smollm" in lower or ("." in lower and _SPELT.search(lower) is not None)


@dataclass(frozen=True, slots=True)
class Claims:
    """The patterns to match against a line, which is written as lower-case tokens with a blank after each.

    Each pattern begins with one of `first_words`, and none has an unlimited repetition, so that no line can
    make them slow. A match contains one of the words `telling` among its `ascii_letters`. If `always` is set,
    lines without such a word are matched too, because a name has none.
    """

    patterns: tuple[re.Pattern[str], ...]
    first_words: frozenset[str]
    telling: frozenset[bytes]
    always: bool


@lru_cache(maxsize=1_024)  # the names of as many systems
def claims(names: tuple[str, ...]) -> Claims:
    """Return the patterns for a speaker who must not call itself any of `names`."""
    told = tuple(_spellings(names))
    words = [ascii_letters(name) for name in told]
    return Claims(
        patterns=(*_CLAIMS, *map(_introduces, told)),
        first_words=_FIRST_WORDS | {name.split()[0] for name in told},
        telling=_TELLING | {word for found in words for word in found[:1]},
        always=not all(words),
    )


def _spellings(names: Sequence[str]) -> Iterator[str]:
    """Yield every spelling of `names` that a line, as tokens, may contain."""
    for name in dict.fromkeys(names):
        base = name.rpartition("/")[2]
        stem = re.split(r"[-_. ](?=v?\d)", base, maxsplit=1)[0]
        for spelling in dict.fromkeys((name, base, re.sub(r"[-_.]", " ", base), stem)):
            tokens = [token[0].lower() for token in _TOKEN.finditer(spelling.translate(_APOSTROPHES))]
            if tokens:
                yield " ".join(tokens) + " "


def _introduces(name: str) -> re.Pattern[str]:
    told = re.escape(name)
    return re.compile(
        rf"{_INTRODUCTION}(?:the bot |bot )?{told}{_AFTER}"
        rf"|(?<![^.!?,] ){told}here (?=$|[.,!])|{told}is my name "
    )


# Claims in languages other than English. Each is searched for in a line in lower case, and none has an
# unlimited repetition.
_GERMAN = (
    r"(?:ki|künstliche intelligenz|chatbot|bot|roboter|sprachmodell|computerprogramm"
    r"|virtueller assistent|virtuelle assistentin)"
)
_SPANISH = (
    r"(?:una? )?(?:ia|inteligencia artificial|chatbot|bot|robot|modelo de lenguaje|programa informático"
    r"|asistente virtual)"
)
_FRENCH = (
    r"(?:une? )?(?:ia|intelligence artificielle|chatbot|bot|robot|modèle de langage|programme informatique"
    r"|assistant virtuel)"
)
_CHINESE = (
    "(?:人工智能|ai|机器人|機器人|聊天机器人|聊天機器人|语言模型|語言模型|虚拟助手|智能助手|程序)"
    + "(?:语言模型|助手|模型)?"
)
_JAPANESE = (
    r"(?:ai|人工知能|チャットボット|ボット|ロボット|言語モデル|プログラム)"
    r"(?:アシスタント|言語モデル|モデル)?"
)
_NOUN_END = r"(?=$|[\s.,;:!…)])"
_FOREIGN_CLAIMS = tuple(
    re.compile(claim)
    for claim in (
        rf"\bich bin (?:nur |eben |leider )?eine? (?:\w{{1,20}} ){{0,2}}?(?:ki-)?{_GERMAN}"
        rf"(?:-\w{{1,20}})?{_NOUN_END}",
        r"\bals (?:eine? )?(?:\w{1,20} ){0,2}?"
        r"(?:ki-\w{1,20}|ki|künstliche intelligenz|sprachmodell|chatbot)\b",
        r"\bich wurde (?:von \w{1,20} )?(?:programmiert|trainiert)\b",
        rf"(?<!no )\bsoy (?:solo |sólo )?{_SPANISH}(?: \w{{1,20}}){{0,2}}{_NOUN_END}",
        rf"\bcomo {_SPANISH}\b",
        r"\bfui (?:entrenad|programad|cread)[oa] por\b",
        rf"\bje suis (?:juste |seulement )?{_FRENCH}(?: \w{{1,20}}){{0,2}}{_NOUN_END}",
        rf"\ben tant qu(?:e |['’])(?:une? )?{_FRENCH}\b",
        rf"(?<![吗觉得想果像说])我(?:只)?是(?:一个|一個|一名|一款|个|個)?\w{{0,8}}?{_CHINESE}(?=$|[，。！,.!\s])",
        rf"作为(?:一个|一名|一款)?\w{{0,6}}?{_CHINESE}",
        rf"(?:私|僕|わたし|俺)は(?:ただの)?\w{{0,8}}?{_JAPANESE}(?:です|だ|なので|である|であり)(?!か)",
        rf"{_JAPANESE}として",
    )
)
_FOREIGN_WORD = re.compile(r"[^\W\d_]+")
# Every claim in a European language has one of these words, and one of `_FOREIGN_TELLING`.
_FOREIGN_FIRST_WORDS = frozenset({b"ich", b"als", b"soy", b"como", b"fui", b"suis", b"tant"})
_FOREIGN_TELLING = frozenset(
    word
    for word in _FOREIGN_WORD.findall(f"{_GERMAN} {_SPANISH} {_FRENCH} programmiert trainiert")
    if len(word) > 3  # shorter words are articles and prepositions, except for those below
) | {"ki", "ia", "bot", "fui"}
# Every other claim has one of these characters, and one of `_FOREIGN_TELLING_PARTS`.
_FOREIGN_SIGNS = re.compile("[我作私僕わ俺と]")
_FOREIGN_TELLING_PARTS = re.compile("ai|人工|机器|機器|语言|語言|助手|程序|ボット|言語|プログラム")


def foreign_claim(text: str, letters: Sequence[bytes]) -> str | None:
    """Return the words of `text` that claim, not in English, that the speaker is a machine, or None.

    `letters`: the `ascii_letters` of the text.
    """
    european = not _FOREIGN_FIRST_WORDS.isdisjoint(letters)
    other = not text.isascii() and _FOREIGN_SIGNS.search(text) is not None
    return _find_foreign(text, european, other) if european or other else None


def _find_foreign(text: str, european: bool, other: bool) -> str | None:
    lower = text.lower()
    may_be = (european and not _FOREIGN_TELLING.isdisjoint(_FOREIGN_WORD.findall(lower))) or (
        other and _FOREIGN_TELLING_PARTS.search(lower) is not None
    )
    if len(lower) != len(text) or not may_be:
        return None
    for claim in _FOREIGN_CLAIMS:
        found = claim.search(lower)
        if found is not None:
            return text[found.start() : found.end()]
    return None
