"""Likelihoods and vectors of local models, against what can be derived, and against torch asked directly."""

import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from qc.errors import ModelError, SourceError
from qc.metrics.local_model import CAUSAL, ENCODER, MASKED, RETRIEVER, SCORER, LocalModel
from qc.metrics.model_metrics import (
    ALIKE,
    AnsweredQuestion,
    answer_word_sum,
    fact_retrieval_probability,
    follow_up_likelihood,
    informed_retrieval_probability,
    learned_score,
    likeness,
    masked_token_likelihood,
    masked_word_sum,
    perplexity,
    read_follow_ups,
    retrieval_probability,
    to_inputs,
    usr,
)
from qc.metrics.overlap.words import ReferencedReply
from qc.metrics.transcripts import Exchange, Transcript
from tests.needs import need_hf
from tests.qc.support.tiny_scorers import save_tiny_classifier, save_tiny_scorers

need_hf()
pytestmark = pytest.mark.hf

SPOKEN = Transcript(
    (
        Exchange(1, "Hello, how are you?", "I like tea and long walks."),
        Exchange(2, "Why?", None),
        Exchange(3, "Are you there?", "Yes!"),
    )
)
SILENT = Transcript((Exchange(1, "Hello?", None),))
OWN = read_follow_ups(None)["overall"]
PAIRS = [("how are you?\n", "I like tea."), ("", "Yes, of course I do, and you?"), ("a b c\n" * 200, "No.")]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return save_tiny_scorers(tmp_path_factory.mktemp("scorers"))


@pytest.fixture(scope="module")
def causal(folders: dict[str, Path]) -> LocalModel:
    return LocalModel(folders["causal"])


@pytest.fixture(scope="module")
def masked(folders: dict[str, Path]) -> LocalModel:
    return LocalModel(folders["masked"])


def vocabulary(folder: Path) -> int:
    from transformers import AutoConfig

    size: int = AutoConfig.from_pretrained(folder).vocab_size
    return size


def test_kinds(causal: LocalModel, masked: LocalModel) -> None:
    assert (causal.kind, masked.kind) == (CAUSAL, MASKED)


def test_the_perplexity_of_a_model_that_knows_nothing_is_its_vocabulary(folders: dict[str, Path]) -> None:
    folder = folders["uniform-causal"]
    assert perplexity(LocalModel(folder), [SPOKEN])[0] == pytest.approx(vocabulary(folder), rel=1e-5)


def test_a_model_that_knows_nothing_prefers_no_follow_up(folders: dict[str, Path]) -> None:
    assert follow_up_likelihood(LocalModel(folders["uniform-causal"]), [SPOKEN], OWN)[0] == pytest.approx(
        0, abs=1e-5
    )


def test_masked_likelihoods_of_a_model_that_knows_nothing(folders: dict[str, Path]) -> None:
    folder = folders["uniform-masked"]
    model, size = LocalModel(folder), vocabulary(folder)
    assert masked_token_likelihood(model, [SPOKEN])[0] == pytest.approx(-np.log(size), rel=1e-5)
    # Each token of a reply has −log V; the sums of the two replies are averaged.
    tokens = [sum(map(len, model.masked_tokens([("", each)]))) for each in SPOKEN.replies]
    assert masked_word_sum(model, [SPOKEN])[0] == pytest.approx(-np.log(size) * np.mean(tokens), rel=1e-5)


def test_continuations_are_what_torch_says(causal: LocalModel, folders: dict[str, Path]) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folders["causal"])
    model = AutoModelForCausalLM.from_pretrained(folders["causal"]).eval()
    context, text = PAIRS[0]
    before = [tokenizer.bos_token_id, *tokenizer(context, add_special_tokens=False)["input_ids"]]
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    with torch.inference_mode():
        log_p = model(torch.tensor([before + ids])).logits[0].log_softmax(-1)
    expected = [float(log_p[len(before) + place - 1, token]) for place, token in enumerate(ids)]
    np.testing.assert_allclose(causal.continuations([PAIRS[0]])[0], expected, rtol=1e-4)


def test_a_masked_word_is_what_torch_says(masked: LocalModel, folders: dict[str, Path]) -> None:
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folders["masked"])
    model = AutoModelForMaskedLM.from_pretrained(folders["masked"]).eval()
    # "zyzzyva" is no word of the corpus, so it has several tokens; all of them are masked at once.
    context, text = "what?", "zyzzyva tea"
    ids = tokenizer(context, text)["input_ids"]
    word = tokenizer("zyzzyva", add_special_tokens=False)["input_ids"]
    assert len(word) > 1
    start = len(tokenizer(context, add_special_tokens=False)["input_ids"])
    hidden = [*ids[:start], *[tokenizer.mask_token_id] * len(word), *ids[start + len(word) :]]
    with torch.inference_mode():
        log_p = model(torch.tensor([hidden])).logits[0].log_softmax(-1)
    expected = sum(float(log_p[start + place, token]) for place, token in enumerate(word))
    found = masked.masked_words([(context, text)])[0]
    assert len(found) == 2
    assert found[0] == pytest.approx(expected, rel=1e-4)


def test_a_batch_changes_nothing(causal: LocalModel, masked: LocalModel) -> None:
    for ask in (causal.continuations, masked.masked_tokens, masked.masked_words):
        together = ask(PAIRS)
        for pair, found in zip(PAIRS, together, strict=True):
            np.testing.assert_allclose(ask([pair])[0], found, rtol=1e-3, atol=1e-3)
    texts = [text for _, text in PAIRS]
    for vectors in (causal.contextual_vectors, masked.word_vectors):
        for text, found in zip(texts, vectors(texts), strict=True):
            np.testing.assert_allclose(vectors([text])[0], found, rtol=1e-3, atol=1e-3)


def test_a_long_context_loses_its_beginning(causal: LocalModel, masked: LocalModel) -> None:
    # 96 positions: of a context of 1,000 words only the end is seen, so what stood before it does not matter.
    long, longer = "tea " * 1000, "dog " * 500 + "tea " * 1000
    np.testing.assert_allclose(
        causal.continuations([(long, "Yes.")])[0], causal.continuations([(longer, "Yes.")])[0], rtol=1e-3
    )
    np.testing.assert_allclose(
        masked.masked_tokens([(long, "Yes.")])[0], masked.masked_tokens([(longer, "Yes.")])[0], rtol=1e-3
    )


def test_a_reply_longer_than_the_model_is_cut_and_scored(causal: LocalModel, masked: LocalModel) -> None:
    for ask in (causal.continuations, masked.masked_tokens, masked.masked_words):
        (found,) = ask([("Hello.\n", "tea " * 1000)])
        assert 10 < len(found) < 96
        assert np.isfinite(found).all()


def test_likeness_of_replies_to_inputs(causal: LocalModel) -> None:
    (found,) = likeness(causal, [to_inputs(SPOKEN)])
    assert tuple(found) == ALIKE
    assert all(-1 <= value <= 1 for value in found.values())
    same, nothing = likeness(causal, [[("I like tea.", ("You do?", "I like tea."))], []])
    assert all(value == pytest.approx(1, abs=1e-5) for value in same.values())
    assert all(np.isnan(value) for value in nothing.values())


def test_conversations_scored_together_keep_their_own_scores(causal: LocalModel, masked: LocalModel) -> None:
    other = Transcript((Exchange(1, "Do you cook?", "Never, but I eat a lot of bread and soup."),))
    for model, metric in (
        (causal, perplexity),
        (causal, partial(follow_up_likelihood, asked=OWN)),
        (masked, masked_token_likelihood),
        (masked, masked_word_sum),
    ):
        alone = [metric(model, [each])[0] for each in (SPOKEN, SILENT, other)]
        np.testing.assert_allclose(metric(model, [SPOKEN, SILENT, other]), alone, rtol=1e-3, atol=1e-3)


def test_silence_has_no_likelihood(causal: LocalModel, masked: LocalModel) -> None:
    assert np.isnan(perplexity(causal, [SILENT])[0])
    assert np.isnan(follow_up_likelihood(causal, [SILENT], OWN)[0])
    assert np.isnan(masked_token_likelihood(masked, [SILENT])[0])
    assert np.isnan(masked_word_sum(masked, [SILENT])[0])


def test_the_fingerprint_follows_the_content(folders: dict[str, Path], tmp_path: Path) -> None:
    copy = shutil.copytree(folders["causal"], tmp_path / "another name")
    original = LocalModel(folders["causal"]).fingerprint
    assert LocalModel(copy).fingerprint == original
    (copy / "README.md").write_text("other weights, say", encoding="utf-8")
    assert LocalModel(copy).fingerprint != original


def test_an_encoder_gives_vectors_alone(folders: dict[str, Path], tmp_path: Path) -> None:
    from transformers import AutoModel, AutoTokenizer

    AutoModel.from_pretrained(folders["masked"]).save_pretrained(tmp_path / "encoder")
    AutoTokenizer.from_pretrained(folders["masked"]).save_pretrained(tmp_path / "encoder")
    model = LocalModel(tmp_path / "encoder")
    assert model.kind == ENCODER
    assert np.isfinite(likeness(model, [to_inputs(SPOKEN)])[0]["bertscore"])


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"it has no config\.json"):
        LocalModel(tmp_path)
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelError, match="the model cannot be loaded"):
        LocalModel(tmp_path)


def test_an_encoder_decoder_is_refused(tmp_path: Path) -> None:
    from transformers import T5Config

    T5Config(vocab_size=10, d_model=8, num_layers=1, num_heads=1).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="an encoder-decoder gives none of these metrics"):
        LocalModel(tmp_path)


def test_follow_ups_come_from_a_file(causal: LocalModel, tmp_path: Path) -> None:
    """FED of a criterion is log P of its positive messages less that of its negative ones."""
    own = read_follow_ups(None)
    assert {"overall", "interesting", "fun", "topic"} <= own.keys()
    file = tmp_path / "lists.json"
    file.write_text(
        '{"fun": {"positive": ["Haha!"], "negative": ["How dull."]}, "calm": {"negative": ["Oh."]}}'
    )
    given = read_follow_ups(file)
    log_p = causal.continuations(
        [("".join(f"{text}\n" for _, text in SPOKEN.said), text) for text in ("Haha!", "How dull.", "Oh.")]
    )
    better, worse, alone = (float(each.mean()) for each in log_p)
    assert follow_up_likelihood(causal, [SPOKEN], given["fun"])[0] == pytest.approx(better - worse, abs=1e-4)
    assert follow_up_likelihood(causal, [SPOKEN], given["calm"])[0] == pytest.approx(-alone, abs=1e-4)
    file.write_text('{"fun": ["Haha!"]}')
    with pytest.raises(SourceError, match="lists `positive` and `negative`"):
        read_follow_ups(file)


def test_the_sum_of_an_answer_of_a_model_that_knows_nothing(folders: dict[str, Path]) -> None:
    folder = folders["uniform-masked"]
    model, size = LocalModel(folder), vocabulary(folder)
    asked = AnsweredQuestion("The ferry leaves at nine.", "When does it leave?", "at nine")
    (tokens,) = model.masked_tokens([("", asked.answer)])
    found = answer_word_sum(model, [asked, AnsweredQuestion("A", "B", "")])
    # Each token of the answer has −log V, whatever stands before it.
    assert found[0] == pytest.approx(-np.log(size) * len(tokens), rel=1e-5)
    assert np.isnan(found[1])


def test_a_scorer_reads_the_reference_first(tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    save_tiny_classifier(tmp_path, 1)
    model = LocalModel(tmp_path)
    assert model.kind == SCORER
    loaded = AutoModelForSequenceClassification.from_pretrained(tmp_path).eval()
    pairs = ["I like tea.", "No."], ["Tea is nice.", "Tea is nice."]
    batch = AutoTokenizer.from_pretrained(tmp_path)(*pairs, padding=True, return_tensors="pt")
    with torch.inference_mode():
        scores = loaded(**batch).logits[:, 0].tolist()
    both = ReferencedReply("Tea is nice.", ("I like tea.", "No."))
    found = learned_score(model, [[both], [], [ReferencedReply("Tea is nice.", ("No.",))]])
    np.testing.assert_allclose(found, [max(scores), np.nan, scores[1]], rtol=1e-4)


def test_a_retriever_gives_probabilities(tmp_path: Path) -> None:
    save_tiny_classifier(tmp_path, 2)
    model = LocalModel(tmp_path)
    assert model.kind == RETRIEVER
    found = retrieval_probability(model, [SPOKEN, SILENT])
    assert 0 < found[0] < 1
    assert np.isnan(found[1])
    informed = replace(SPOKEN, fact="I grow tea.")
    pairs = [("I grow tea.\n", reply) for reply in SPOKEN.replies]
    by_fact = [*model.pair_scores(pairs)]
    np.testing.assert_allclose(
        fact_retrieval_probability(model, [informed, SPOKEN]), [np.mean(by_fact), np.nan], rtol=1e-5
    )
    asked = ["Hello, how are you?\nI grow tea.\n", "Are you there?\nI grow tea.\n"]
    of_both = model.pair_scores(list(zip(asked, SPOKEN.replies, strict=True)))
    np.testing.assert_allclose(
        informed_retrieval_probability(model, [informed, SPOKEN]), [np.mean(of_both), np.nan], rtol=1e-5
    )


def test_usr_adds_up_its_parts_as_published() -> None:
    # At the published means only the intercept is left. One deviation more of a part adds its weights:
    # 0.6601 + 0.4035 of the masked likelihood (-1.0123 + 0.3905 = -0.6218), 0.5133 + 0.9605 of message and
    # fact (0.8605 + 0.3026 = 1.1631), 0.3564 of the fact (0.8472 + 0.2799 = 1.1271).
    masked = np.array([-1.0123, -0.6218, -1.0123, -1.0123, np.nan])
    informed = np.array([0.8605, 0.8605, 1.1631, 0.8605, 0.8605])
    by_fact = np.array([0.8472, 0.8472, 0.8472, 1.1271, 0.8472])
    expected = [3.5975, 3.5975 + 1.0636, 3.5975 + 1.4738, 3.5975 + 0.3564, np.nan]
    np.testing.assert_allclose(usr(masked, informed, by_fact), expected, atol=5e-4)
