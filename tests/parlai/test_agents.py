"""The parts of our own agents, against values derived by hand."""

import math

import pytest
import torch

from bots.core.chat import Turn
from bots.parlai.agent import EpisodeExchange, PersonaHistory, exchanges
from bots.parlai.kv_memory import KvMemory
from bots.parlai.language_model import LstmLanguageModel
from bots.parlai.word_vectors import word_vectors

SPECIAL = {"padding_idx": 0, "start_idx": 1, "end_idx": 2, "unknown_idx": 3}


@pytest.fixture
def memory() -> KvMemory:
    """Four words (1 to 4) that are the axes of the space, equally frequent; 0 is padding."""
    model = KvMemory(torch.zeros(5), 4, padding=0)
    with torch.no_grad():
        model.embedding.weight[1:] = torch.eye(4)
        model.embedding.weight[0] = 0
    return model


def test_a_text_is_the_direction_of_its_words_whatever_its_padding(memory: KvMemory) -> None:
    expected = torch.tensor([1.0, 1.0, 0.0, 0.0]) / math.sqrt(2)
    assert torch.allclose(memory.encode(torch.tensor([1, 2])), expected)
    assert torch.allclose(memory.encode(torch.tensor([2, 1, 0, 0])), expected)
    assert torch.equal(memory.encode(torch.tensor([0, 0])), torch.zeros(4))


def test_rare_words_weigh_more() -> None:
    # 1 / (1 + log(1 + 0)) = 1 and 1 / (1 + log(1 + (e - 1))) = 1/2.
    assert torch.allclose(
        KvMemory(torch.tensor([0.0, math.e - 1]), 2, padding=0).weights, torch.tensor([1.0, 0.5])
    )


def test_a_hop_adds_the_value_whose_key_is_near(memory: KvMemory) -> None:
    with torch.no_grad():
        memory.log_scale.fill_(math.log(1000.0))  # attention then is all or nothing
    x, y, z, w = torch.eye(4)
    read = memory.read(x.unsqueeze(0), torch.stack([x, y]).unsqueeze(0), torch.stack([z, w]).unsqueeze(0))
    assert torch.allclose(read, (x + z).unsqueeze(0) / math.sqrt(2))


def test_a_hop_shares_attention_by_the_softmax_of_similarity(memory: KvMemory) -> None:
    with torch.no_grad():
        memory.log_scale.fill_(math.log(math.log(3.0)))  # scale log 3: cosines 1 and 0 get 3/4 and 1/4
    x, y, z, w = torch.eye(4)
    read = memory.read(x.unsqueeze(0), torch.stack([x, y]).unsqueeze(0), torch.stack([z, w]).unsqueeze(0))
    whole = torch.tensor([[1.0, 0.0, 0.75, 0.25]])
    assert torch.allclose(read, whole / whole.norm())


def test_absent_memories_change_nothing_and_leave_gradients_finite(memory: KvMemory) -> None:
    x, y, _, _ = torch.eye(4)
    none = torch.zeros(1, 2, 4)
    query = x.unsqueeze(0).clone().requires_grad_()
    read = memory.read(query, none, none)
    assert torch.equal(read, x.unsqueeze(0))
    read.sum().backward()
    assert torch.isfinite(query.grad).all()
    one, two = torch.stack([y]).unsqueeze(0), torch.stack([y, torch.zeros(4)]).unsqueeze(0)
    assert torch.allclose(memory.read(query, one, one), memory.read(query, two, two))


@pytest.fixture
def language_model() -> LstmLanguageModel:
    """A small untrained one; dropout is off as it is when it answers."""
    torch.manual_seed(3)
    return LstmLanguageModel(12, 8, 2, 0.5, SPECIAL).eval()


TEXTS = torch.tensor([[4, 5, 6, 7], [8, 9, 0, 0], [5, 0, 0, 0]])
REPLIES = torch.tensor([[6, 7, 2], [10, 2, 0], [11, 4, 2]])


def test_learning_in_one_pass_is_reading_then_going_on(language_model: LstmLanguageModel) -> None:
    scores, likeliest, _ = language_model(TEXTS, ys=REPLIES)
    after, _ = language_model.decoder(
        torch.cat([torch.ones(3, 1, dtype=torch.long), REPLIES[:, :-1]], 1), language_model.encoder(TEXTS)
    )
    assert torch.allclose(scores, language_model.output(after), atol=1e-5)
    assert torch.equal(likeliest, scores.argmax(-1))


def test_going_on_token_by_token_is_going_on_at_once(language_model: LstmLanguageModel) -> None:
    read, tokens = language_model.encoder(TEXTS), torch.tensor([[1, 6, 7], [1, 10, 4], [1, 11, 4]])
    at_once, _ = language_model.decoder(tokens, read)
    state, steps = None, []
    for upto in range(1, 4):
        output, state = language_model.decoder(tokens[:, :upto], read, state)
        steps.append(output[:, -1:])
    assert torch.allclose(torch.cat(steps, 1), at_once, atol=1e-5)


def test_states_follow_their_rows(language_model: LstmLanguageModel) -> None:
    read = language_model.encoder(TEXTS)
    moved = language_model.reorder_encoder_states(read, [2, 0, 0])
    tokens = torch.tensor([[1, 6], [1, 6], [1, 6]])
    expected, state = language_model.decoder(tokens, read)
    scores, other = language_model.decoder(tokens, moved)
    assert torch.allclose(scores, expected[[2, 0, 0]], atol=1e-6)
    again = language_model.reorder_decoder_incremental_state(state, torch.tensor([2, 0, 0]))
    assert all(torch.allclose(one, two, atol=1e-6) for one, two in zip(again, other, strict=True))


def test_scores_are_log_probabilities_and_the_cache_adds_to_what_was_read(
    language_model: LstmLanguageModel,
) -> None:
    """Where no state is nearer than another, each of n tokens that were read gets 1 / n of the cache."""
    with torch.no_grad():
        language_model.log_sharpness.fill_(-100.0)
        language_model.gate.weight.zero_()
        language_model.gate.bias.fill_(math.log(4))  # 4 / 5 for the cache
        scores, _ = language_model.decoder(torch.tensor([[1], [1], [1]]), language_model.encoder(TEXTS))
    found = scores.exp()
    assert torch.allclose(found.sum(-1), torch.ones(3, 1), atol=1e-5)
    assert all(0.2 < float(found[0, 0, token]) < 0.4 for token in (4, 5, 6, 7))  # 4/5 over 4, and the rest
    assert float(found[2, 0, 5]) > 0.8  # a single token was read
    assert float(found[2, 0, 0]) < 0.2  # padding is nothing that was read


def test_where_nothing_can_be_said_again_the_cache_counts_for_nothing(
    language_model: LstmLanguageModel,
) -> None:
    """All that was read is unknown (3): the probability of each token is that of the vocabulary alone."""
    read = language_model.encoder(torch.tensor([[3, 3, 0]]))
    with torch.no_grad():
        alone, _ = language_model.decoder(torch.tensor([[1]]), read)
        language_model.gate.bias.fill_(20.0)
        cached, _ = language_model.decoder(torch.tensor([[1]]), read)
    assert torch.allclose(alone, cached, atol=1e-5)
    assert torch.allclose(cached.exp().sum(-1), torch.ones(1, 1), atol=1e-5)


def test_the_cache_goes_on_as_the_text_did(language_model: LstmLanguageModel) -> None:
    """The state before the second 5 is most like that before the first: the same tokens led to it."""
    with torch.no_grad():
        language_model.log_sharpness.fill_(math.log(1000.0))
        language_model.gate.weight.zero_()
        language_model.gate.bias.fill_(10.0)
        read = language_model.encoder(torch.tensor([[9, 8, 4, 5, 7, 3]]))
        # Going on from the state before 5, by hand: the cache has to find it again.
        state = language_model.encoder(torch.tensor([[9, 8]]))
        scores, _ = language_model.decoder(torch.tensor([[4]]), read, (state.hidden, state.cell))
    assert int(scores[0, 0].argmax()) == 5


def test_words_that_are_said_together_stand_together() -> None:
    """Tokens 1 and 2 are said with 3, tokens 4 and 5 with 6; 7 is never said."""
    vectors = word_vectors([[1, 3], [2, 3], [4, 6], [5, 6]] * 3, tokens=8, size=4)
    assert torch.allclose(vectors[1:7].norm(dim=1), torch.ones(6), atol=1e-5)
    assert torch.equal(vectors[7], torch.zeros(4))
    assert float(vectors[1] @ vectors[3]) > 0.5
    assert abs(float(vectors[1] @ vectors[6])) < 1e-5
    assert torch.equal(word_vectors([[1, 2]], tokens=3, size=8)[0], torch.zeros(8))


class _Words:
    """A dictionary of words that are numbers; a sentence of a persona begins with 1 2."""

    def txt2vec(self, text: str) -> list[int]:
        return [int(word) for word in text.replace("your persona:", "1 2").replace("\n", " 99 ").split()]


def test_a_long_conversation_loses_its_oldest_lines_but_not_the_persona() -> None:
    history = PersonaHistory({}, maxlen=10, dict_agent=_Words())
    history.update_history({"text": "your persona: 3\nyour persona: 4\n10 11"})
    # 1 2 3 | 1 2 4 | 10 11 with newlines (99) between is ten tokens: it fits.
    assert history.get_history_vec() == [1, 2, 3, 99, 1, 2, 4, 99, 10, 11]
    history.add_reply("20 21")
    # Seven tokens of persona, cut to half of what there is room for; then the last five of the rest.
    assert history.get_history_vec() == [1, 2, 3, 99, 1, 10, 11, 99, 20, 21]
    history.update_history({"text": "30 31 32 33"})
    assert history.get_history_vec() == [1, 2, 3, 99, 1, 99, 30, 31, 32, 33]


def test_turns_become_exchanges() -> None:
    def turns(*pairs: tuple[str, str]) -> list[Turn]:
        return [Turn("worker" if who == "w" else "bot", text) for who, text in pairs]

    assert exchanges([]) == [EpisodeExchange("__SILENCE__", "")]
    assert exchanges(turns(("w", "a\nb"))) == [EpisodeExchange("a b", "")]
    assert exchanges(turns(("b", "x"), ("w", "a"))) == [
        EpisodeExchange("__SILENCE__", "x"),
        EpisodeExchange("a", ""),
    ]
    assert exchanges(turns(("w", "a"), ("w", "b"), ("b", "x"), ("b", "y"), ("w", "c"))) == [
        EpisodeExchange("a b", "x y"),
        EpisodeExchange("c", ""),
    ]
    assert exchanges(turns(("w", "a"), ("b", "x")))[-1] == EpisodeExchange("__SILENCE__", "")
