"""ParlAI models as the bot host runs them: stateless from the outside, in batches."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from bots import Chat, Turn
from bots.host.model import HostModelError, MicroBatch
from bots.host.parlai import ParlaiModel
from bots.parlai.agent import opening
from bots.shown import shown_text, spelled
from tests.parlai.conftest import Talk

NAMES = ("biencoder", "polyencoder", "kvmemnn", "seq2seq", "lan_model")


@pytest.fixture(scope="session", params=NAMES)
def model(request: pytest.FixtureRequest, models: Path) -> ParlaiModel:
    """Each of the five."""
    return ParlaiModel(str(models / request.param / "model"))


def test_each_answers_every_conversation(model: ParlaiModel, chats: list[Chat]) -> None:
    replies = model.replies(chats)
    assert model.name in NAMES
    assert len(replies) == len(chats)
    assert all(reply.text.strip() for reply in replies)


def test_each_says_where_its_replies_come_from(
    model: ParlaiModel, models: Path, chats: list[Chat], tmp_path: Path
) -> None:
    reply = asyncio.run(MicroBatch(model, wait_ms=0).reply(chats[0]))
    made = reply.provenance
    assert made is not None
    assert made.model == f"parlai:{model.name}"
    assert "inference" in json.loads(made.sampling or "")
    assert (
        made.revision == ParlaiModel(str(models / model.name / "model")).replies(chats)[0].provenance.revision
    )
    retrained = shutil.copytree(models / model.name, tmp_path / model.name) / "model"
    weights = torch.load(retrained, weights_only=False)
    weights["model"] = {name: tensor * 0.5 for name, tensor in weights["model"].items()}
    torch.save(weights, retrained)
    assert made.revision != ParlaiModel(str(retrained)).replies(chats)[0].provenance.revision


def test_replies_in_a_batch_equal_those_one_by_one(model: ParlaiModel, chats: list[Chat]) -> None:
    one_by_one = [model.replies([chat])[0] for chat in chats]
    assert model.replies(chats) == one_by_one
    assert model.replies(chats[::-1]) == one_by_one[::-1]


def _scores(act: Any) -> torch.Tensor:
    """Return how an agent rates what it could say: candidates, or the ends of a beam search."""
    if "sorted_scores" in act:
        return act["sorted_scores"]
    return torch.tensor(sorted(score for _, score in act["beam_texts"]))


def test_what_else_is_in_a_batch_does_not_touch_a_score(model: ParlaiModel, chats: list[Chat]) -> None:
    agent = model.agent
    agent.opt["return_cand_scores"] = True
    together = agent.batch_act([model.observation(chat) for chat in chats])
    for chat, act in zip(chats, together, strict=True):
        alone = agent.batch_act([model.observation(chat)])[0]
        assert torch.allclose(_scores(act), _scores(alone), atol=1e-4)


def test_a_conversation_rebuilt_from_its_history_goes_on_as_one_that_was_never_put_down(
    model: ParlaiModel,
) -> None:
    persona = ("I own a cat.", "I talk about my cat all day.")
    agent = model.agent.clone()
    turns: list[Turn] = []
    for said in ("Hello!", "Do you have a cat?", "I don't like that at all.", "Tell me about your cat."):
        turns.append(Turn("worker", said))
        rebuilt = model.replies([Chat("c", 1, persona, tuple(turns))])[0].text
        agent.observe({"text": opening(persona, said) if said == "Hello!" else said, "episode_done": False})
        act = model.agent.batch_act([agent.observation])[0]
        told = {spelled(turn.text) for turn in turns}
        ranked = act.get("text_candidates", [act["text"]])
        assert rebuilt == next((line for line in ranked if spelled(line) not in told), ranked[0])
        agent.self_observe({"text": rebuilt})
        turns.append(Turn("bot", rebuilt))


def test_a_ranker_repeats_neither_side(models: Path) -> None:
    ranker = ParlaiModel(str(models / "biencoder" / "model"))
    turns: list[Turn] = []
    for _ in range(6):
        turns.append(Turn("worker", "Do you have a dog?"))
        turns.append(Turn("bot", ranker.replies([Chat("c", 1, (), tuple(turns))])[0].text))
    said = [turn.text for turn in turns[1::2]]
    assert len(set(said)) == 6
    assert "Do you have a dog?" not in said


def test_an_agent_that_draws_depends_on_the_seed_and_not_on_the_batch(
    models: Path, chats: list[Chat]
) -> None:
    model = ParlaiModel(str(models / "lan_model" / "model"))
    model.agent.opt["inference"] = "topk"
    model.agent.opt["topk"] = 50
    replies = model.replies(chats)
    assert [model.replies([chat])[0] for chat in chats] == replies
    seeds = [Chat("c", seed, (), chats[0].turns) for seed in range(8)]
    assert len(set(model.replies(seeds))) > 1


def test_a_moved_model_answers_as_before(models: Path, tmp_path: Path, chats: list[Chat]) -> None:
    before = [each.text for each in ParlaiModel(str(models / "polyencoder" / "model")).replies(chats)]
    moved = tmp_path / "elsewhere"
    (models / "polyencoder").rename(moved)
    try:
        assert [each.text for each in ParlaiModel(str(moved / "model")).replies(chats)] == before
    finally:
        moved.rename(models / "polyencoder")


def test_a_file_that_is_no_model_is_refused_with_the_way_out(tmp_path: Path, models: Path) -> None:
    with pytest.raises(HostModelError, match=r"not a model of ParlAI.*bots\.train_lineup"):
        ParlaiModel(str(tmp_path / "none"))
    broken = tmp_path / "model"
    broken.write_text("not a pickle")
    broken.with_suffix(".opt").write_bytes((models / "lan_model" / "model.opt").read_bytes())
    with pytest.raises(HostModelError, match="cannot be loaded"):
        ParlaiModel(str(broken))


async def test_the_host_s_micro_batches_give_the_same_replies(models: Path, chats: list[Chat]) -> None:
    model = ParlaiModel(str(models / "seq2seq" / "model"))
    expected = [shown_text(made.text, tokens=True).text for made in model.replies(chats)]

    batch = MicroBatch(model, wait_ms=20)
    assert [reply.text for reply in await asyncio.gather(*(batch.reply(chat) for chat in chats))] == expected


def test_a_generator_says_what_fits_this_conversation_rather_than_any(models: Path, talk: Talk) -> None:
    """The order is that of log p(y | x) - 0.7 log p(y | silence), a token; equation 9 of Li et al. (2016)."""
    agent = ParlaiModel(str(models / "lan_model" / "model"))
    agent.agent.rank_candidates = True
    chat = talk("Hello!", "Hi, how are you?", "Do you have a car?", persona=("I own a car.",))
    lines = ["My car is lovely, isn't it?", "Hi, how are you?", "I've had a dog for years."]
    asked = agent.observation(chat)
    asked.force_set("label_candidates", lines)
    asked = agent.agent.vectorize(asked, agent.agent.history, text_truncate=None, label_truncate=40)
    (act,) = agent.agent.batch_act([asked])

    def likelihood(text: list[int], line: str) -> float:
        tokens = [*agent.agent.dict.txt2vec(line), agent.agent.END_IDX]
        scores, _, _ = agent.agent.model(torch.tensor([text]), ys=torch.tensor([tokens]))
        return float(scores[0].detach().log_softmax(-1)[range(len(tokens)), tokens].mean())

    said, silence = asked["text_vec"].tolist(), agent.agent.dict.txt2vec("__SILENCE__")
    gains = {line: likelihood(said, line) - 0.7 * likelihood(silence, line) for line in lines}
    assert list(act["text_candidates"]) == sorted(lines, key=lambda line: -gains[line])
