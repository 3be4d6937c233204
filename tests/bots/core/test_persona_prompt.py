"""The one rule by which a prompt takes up a persona, whoever runs the model."""

from bots.core.persona_prompt import DEFAULT_PROMPT, persona_prompt


def test_a_prompt_speaks_of_a_persona_only_where_there_is_one() -> None:
    prompt = "You are:\n{persona}\n\nBe {kind}."
    assert persona_prompt(prompt, ("I {x}.", "b")) == "You are:\nI {x}.\nb\n\nBe {kind}."
    assert persona_prompt(prompt, ()) == "Be {kind}."
    assert persona_prompt("Be kind.", ("I ski.",)) == "Be kind."
    assert persona_prompt("{persona}", ()) == ""


def test_the_default_prompt_speaks_of_a_persona_only_where_there_is_one() -> None:
    assert persona_prompt(DEFAULT_PROMPT, ("I ski.",)).endswith("This is who you are:\nI ski.")
    assert persona_prompt(DEFAULT_PROMPT, ()).endswith("no lists, no headings.")


def test_what_a_conversation_asks_by_itself_comes_last() -> None:
    assert persona_prompt("Be brief.\n\n{persona}", [], "Sell tickets.") == "Be brief.\n\nSell tickets."
    assert persona_prompt("", [], "Sell {persona} tickets.") == "Sell {persona} tickets."
