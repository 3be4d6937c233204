"""Find claims to be a machine, in languages other than English.

People's ordinary sentences, such as questions about bots or denials, are not matched. Each pattern is
searched for in a line in lower case; none has an unlimited repetition.
"""

import re
from collections.abc import Sequence

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
_END = r"(?=$|[\s.,;:!…)])"
_CLAIMS = tuple(
    re.compile(claim)
    for claim in (
        rf"\bich bin (?:nur |eben |leider )?eine? (?:\w{{1,20}} ){{0,2}}?(?:ki-)?{_GERMAN}"
        rf"(?:-\w{{1,20}})?{_END}",
        r"\bals (?:eine? )?(?:\w{1,20} ){0,2}?"
        r"(?:ki-\w{1,20}|ki|künstliche intelligenz|sprachmodell|chatbot)\b",
        r"\bich wurde (?:von \w{1,20} )?(?:programmiert|trainiert)\b",
        rf"(?<!no )\bsoy (?:solo |sólo )?{_SPANISH}(?: \w{{1,20}}){{0,2}}{_END}",
        rf"\bcomo {_SPANISH}\b",
        r"\bfui (?:entrenad|programad|cread)[oa] por\b",
        rf"\bje suis (?:juste |seulement )?{_FRENCH}(?: \w{{1,20}}){{0,2}}{_END}",
        rf"\ben tant qu(?:e |['’])(?:une? )?{_FRENCH}\b",
        rf"(?<![吗觉得想果像说])我(?:只)?是(?:一个|一個|一名|一款|个|個)?\w{{0,8}}?{_CHINESE}(?=$|[，。！,.!\s])",
        rf"作为(?:一个|一名|一款)?\w{{0,6}}?{_CHINESE}",
        rf"(?:私|僕|わたし|俺)は(?:ただの)?\w{{0,8}}?{_JAPANESE}(?:です|だ|なので|である|であり)(?!か)",
        rf"{_JAPANESE}として",
    )
)
_WORD = re.compile(r"[^\W\d_]+")
# Every claim in a European language has one of these words, and one of `_TELLING`.
_FIRST_WORDS = frozenset({b"ich", b"als", b"soy", b"como", b"fui", b"suis", b"tant"})
_TELLING = frozenset(
    word
    for word in _WORD.findall(f"{_GERMAN} {_SPANISH} {_FRENCH} programmiert trainiert")
    if len(word) > 3  # shorter words are articles and prepositions, except for those below
) | {"ki", "ia", "bot", "fui"}
# Every other claim has one of these characters, and one of `_TELLING_PARTS`.
_FIRST_SIGNS = re.compile("[我作私僕わ俺と]")
_TELLING_PARTS = re.compile("ai|人工|机器|機器|语言|語言|助手|程序|ボット|言語|プログラム")


def foreign_claim(text: str, letters: Sequence[bytes]) -> str | None:
    """Return the words of `text` that claim, not in English, that the speaker is a machine, or None.

    `letters`: the `ascii_letters` of the text.
    """
    european = not _FIRST_WORDS.isdisjoint(letters)
    other = not text.isascii() and _FIRST_SIGNS.search(text) is not None
    return _claim(text, european, other) if european or other else None


def _claim(text: str, european: bool, other: bool) -> str | None:
    lower = text.lower()
    may_be = (european and not _TELLING.isdisjoint(_WORD.findall(lower))) or (
        other and _TELLING_PARTS.search(lower) is not None
    )
    if len(lower) != len(text) or not may_be:
        return None
    for claim in _CLAIMS:
        found = claim.search(lower)
        if found is not None:
            return text[found.start() : found.end()]
    return None
