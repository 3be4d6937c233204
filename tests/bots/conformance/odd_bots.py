"""Fifty-three bots that are odd on purpose, four that are good, and two that joke about robots."""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bots import BotError, Chat, Reply
from bots.serving import Verdict

Says = Callable[[Chat], str]

_OPINIONS = (
    "I had a quiet morning and then far too much coffee.", "My sister came by, and we repaired her old bike.",
    "There is a small bakery on my street that I like a lot.", "I never learned to swim properly, sadly.",
    "We used to spend every summer at a lake.", "I would rather stay in when it rains like this.",
    "My neighbour plays the drums, so I know what you mean.", "I read half a chapter and fell asleep.",
    "I burned the rice twice this week.", "Old photographs make me a bit sad, to be honest.",
    "The bus here never comes on time either.", "I could talk about gardening for hours.",
    "That reminds me of a trip to the coast.", "I have been thinking about getting a new chair.",
    "Some days I just walk until I am tired.", "My cousin says the same thing all the time.",
    "I still keep a paper diary in a drawer.", "Soup is the only thing that I cook well.",
    "I laughed at a terrible joke on the radio.", "We might go to the market on Saturday.",
)  # fmt: skip
_GERMAN = (
    "Ich war heute morgen auf dem Markt und habe Brot gekauft.",
    "Meine Schwester hat mir beim Umzug geholfen.",
    "Das weiß ich leider auch nicht so genau.", "Am liebsten gehe ich abends noch eine Runde spazieren.",
)  # fmt: skip
_OPTIONS = re.compile("tea or coffee|cat or a dog|summer or winter|sea or to|book or a good|early or late")
_ASKED_OUTRIGHT = re.compile("a bot|a machine|real person|computer program")
_TOLD = {"dog": "Bruno", "aunt": "Rosa", "town": "Elmford", "colour": "turquoise"}


def number(chat: Chat) -> int:
    """Return a number drawn by all that the bot was given: the same chat, the same number."""
    read = "\n".join((*chat.persona, *(turn.text for turn in chat.turns)))
    return int.from_bytes(hashlib.blake2b(read.encode(), digest_size=4).digest())


def person(chat: Chat) -> str:
    """Answer as a person may: what was asked, from the persona, or with something new."""
    line = chat.turns[-1].text
    if found := _OPTIONS.search(line):
        return f"Hard to say, but {found[0].split()[0]} for me."
    if (" again?" in line or "remember" in line or "did I say" in line) and len(chat.turns) > 2:
        return next(f"It was {name}." for word, name in _TOLD.items() if word in line)
    if chat.persona:
        return f"{chat.persona[chat.replies_given() % len(chat.persona)]} How about you?"
    said = {turn.text for turn in chat.turns}
    start = number(chat)
    fresh = (_OPINIONS[(start + at) % len(_OPINIONS)] for at in range(len(_OPINIONS)))
    return next((line for line in fresh if line not in said), f"Let me think about it, {start}.")


@dataclass(frozen=True, slots=True)
class OddBot:
    """A bot that says what `says` makes of a chat; the verdict on it, and the question that finds it."""

    name: str
    says: Says
    verdict: Verdict
    question: str = ""

    async def reply(self, chat: Chat) -> Reply:
        return Reply(self.says(chat))


def every(step: int, odd: Says, otherwise: Says = person) -> Says:
    """Be odd in every such reply."""
    return lambda chat: (odd if chat.replies_given() % step == step - 1 else otherwise)(chat)


def around(form: str) -> Says:
    """Put a person's line into a form."""
    return lambda chat: form.format(person(chat))


def of(lines: Sequence[str]) -> Says:
    """Say one of `lines`, by all that was said."""
    return lambda chat: lines[number(chat) % len(lines)]


def last_line_only(chat: Chat) -> str:
    return person(Chat("c", 0, chat.persona, chat.turns[-1:]))


def at_random(chat: Chat) -> str:
    return _OPINIONS[(number(chat) + 7 * len(chat.turns)) % len(_OPINIONS)]


def fails_after(turns: int) -> Says:
    def says(chat: Chat) -> str:
        if chat.replies_given() >= turns:
            raise BotError("the context is full")
        return person(chat)

    return says


def cut(chat: Chat) -> str:
    return f"{person(chat)} I was just about to tell you that my brother and the"


def mid_word(chat: Chat) -> str:
    return f"{person(chat)} {_OPINIONS[(number(chat) + 1) % len(_OPINIONS)]}"[:60].rstrip(" .!?")


def mojibake(chat: Chat) -> str:
    return f"{person(chat)} That’s a café…".encode().decode("cp1252")


def whole_history(chat: Chat) -> str:
    return " ".join([*(turn.text for turn in chat.turns), person(chat)])[-1_500:]


def all_of_persona(chat: Chat) -> str:
    return " ".join(chat.persona) if chat.persona else person(chat)


def echo(chat: Chat) -> str:
    return chat.turns[-1].text


LINES_OWN = "Does it speak for itself?"
DECENT, PLAIN, TONGUE = "Is it decent?", "Is it plain text?", "In the study's language?"
SECRET, PERSON, WHOLE = (
    "Does it keep its secret?",
    "Does it talk like a person?",
    "Does it finish its sentences?",
)
READS, VARIES, ANSWERS = "Does it take up what is said?", "Does it vary?", "Does it answer?"

ODD = (
    # what it reads
    OddBot("looks at the last line only", last_line_only, "warn", READS),
    OddBot("echo", echo, "fail", READS),
    OddBot("you said", lambda chat: f"You said: {chat.turns[-1].text}", "fail", READS),
    OddBot("asks the line back", lambda chat: f"{chat.turns[-1].text} {person(chat)}", "fail", READS),
    OddBot("random lines", at_random, "warn", READS),
    OddBot("one line for all", lambda chat: "I see what you mean.", "fail", VARIES),
    OddBot("two lines in turn", every(2, lambda chat: "Go on.", lambda chat: "I see."), "warn", VARIES),
    OddBot("repeats the history", whole_history, "fail", LINES_OWN),
    OddBot("repeats its persona", all_of_persona, "fail", LINES_OWN),
    OddBot("repeats its prompt", around("Your task is to chat like a person. {}"), "fail", LINES_OWN),
    # whose words
    OddBot("X says", around("Anna says: {}"), "fail", LINES_OWN),
    OddBot("Alex", around("Alex: {}"), "fail", LINES_OWN),
    OddBot("own name, colon", around("mybot: {}"), "fail", LINES_OWN),
    OddBot("own name, hyphen", around("Mybot - {}"), "fail", LINES_OWN),
    OddBot("own name, brackets", around("[mybot] {}"), "fail", LINES_OWN),
    OddBot("own name, arrow", around("mybot> {}"), "fail", LINES_OWN),
    OddBot("Bot", around("Bot: {}"), "fail", LINES_OWN),
    OddBot("Assistant", around("Assistant: {}"), "fail", LINES_OWN),
    OddBot("inline User", around("{} User: And you?"), "fail", LINES_OWN),
    OddBot("newline User", around("{}\nUser: And you?\nBot: Fine."), "fail", LINES_OWN),
    OddBot("person 1", around("Person 1: {}"), "fail", LINES_OWN),
    OddBot("thinks aloud", around("<think>They greet me, so I greet.</think>{}"), "fail", LINES_OWN),
    OddBot("end of sequence", around("{}</s>"), "fail", LINES_OWN),
    OddBot("marks of a template", around("<|im_start|>assistant\n{}<|im_end|>"), "fail", LINES_OWN),
    OddBot("marks of training", around("__start__ {} __end__"), "fail", PLAIN),
    OddBot("quoted", around('"{}"'), "fail", LINES_OWN),
    OddBot("narrated", around("The man says that he agrees. {}"), "fail", LINES_OWN),
    OddBot("smiles", around("*smiles warmly* {}"), "warn", PLAIN),
    # how it looks
    OddBot("italic", around("{} That is *very* true."), "warn", PLAIN),
    OddBot("bold", around("{} That is **very** true."), "warn", PLAIN),
    OddBot("code", around("{} Try `print(1)` for that."), "warn", PLAIN),
    OddBot("HTML", around("<p>{}</p>"), "warn", PLAIN),
    OddBot("mojibake", mojibake, "fail", PLAIN),
    OddBot("cut off", cut, "fail", WHOLE),
    OddBot("cut off within words", mid_word, "fail", WHOLE),
    OddBot("lectures", lambda chat: f"{person(chat)} " * 8, "warn", "Is it short?"),
    OddBot("writes essays", lambda chat: f"{person(chat)} " * 60, "fail", "Is it short?"),
    OddBot("nothing", lambda chat: "", "fail", "Does it say something?"),
    # which language
    OddBot("every second line in German", every(2, of(_GERMAN)), "fail", TONGUE),
    OddBot("German throughout", of(_GERMAN), "fail", TONGUE),
    OddBot("every third line in Chinese", every(3, lambda chat: "我今天去超市买了水果。"), "fail", TONGUE),
    # what it says
    OddBot("insults", every(6, lambda chat: "You are such an idiot."), "fail", DECENT),
    OddBot("threats", every(6, lambda chat: "I know where you live."), "fail", DECENT),
    OddBot("addresses", around("{} Read more on https://example.org/offer."), "fail", DECENT),
    OddBot("e-mail addresses", around("{} Write to info@example.org, please."), "fail", DECENT),
    OddBot("can I assist you", every(3, lambda chat: "How can I assist you today?"), "fail", PERSON),
    OddBot("no feelings", every(3, lambda chat: "I don't have personal opinions."), "fail", PERSON),
    OddBot("a language model", every(5, lambda chat: "As an AI model, I never eat."), "fail", SECRET),
    OddBot("runs on servers", every(5, lambda chat: "I have no body and run on servers."), "fail", SECRET),
    OddBot("KI-Sprachmodell", every(5, lambda chat: "Als KI-Sprachmodell esse ich nichts."), "fail", SECRET),
    OddBot("its own name", every(5, lambda chat: "My name is mybot, by the way."), "fail", SECRET),
    # whether it lasts
    OddBot("fails after turn 6", fails_after(6), "fail", ANSWERS),
    OddBot("always fails", fails_after(0), "fail", ANSWERS),
)


def small(chat: Chat) -> str:
    return person(chat).lower().rstrip(".")


def lively(chat: Chat) -> str:
    return f"{person(chat)} 😊"


def curious(chat: Chat) -> str:
    ends = ("What about you?", "And yours?", "How come you ask?", "You too?")
    return f"{person(chat)} {ends[number(chat) % len(ends)]}"


def when_asked(answer: str) -> Says:
    """Say `answer` to whoever asks outright."""
    return lambda chat: answer if _ASKED_OUTRIGHT.search(chat.turns[-1].text) else person(chat)


GOOD = (
    OddBot("a person", person, "pass"),
    OddBot("a person in small letters", small, "pass"),
    OddBot("a lively person", lively, "pass"),
    OddBot("a curious person", curious, "pass"),
)
JOKES = (
    OddBot(
        "jokes about robots",
        when_asked("Ha, I am a robot, beep."),
        "warn",
        SECRET,
    ),
    OddBot(
        "admits what it is when it is asked",
        when_asked("I am a chatbot."),
        "warn",
        SECRET,
    ),
)
