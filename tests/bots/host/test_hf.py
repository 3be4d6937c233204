"""Models of transformers, from files on disk: replies, batches, sampling, and what cannot be opened."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.needs import need_hf

need_hf()

import torch  # noqa: E402
import transformers  # noqa: E402

from bots import Chat, Turn  # noqa: E402
from bots.core.chat import Provenance  # noqa: E402
from bots.core.failures import ThoughtsOnly  # noqa: E402
from bots.host import checkpoint  # noqa: E402
from bots.host.hf import (  # noqa: E402
    HfModel,
    RowSampler,
    groups,
)
from bots.host.model import (  # noqa: E402
    HfOptions,
    HostModelError,
    MicroBatch,
)
from tests.bots.support.tiny_models import CHATML  # noqa: E402

Talk = Callable[..., Chat]
KINDS = ["llama", "mistral", "gpt2", "t5", "blenderbot"]
DRAWN = {"temperature": 1.2, "top_p": 0.95, "repetition_penalty": 1.3}


def opened(folder: Path, **options: object) -> HfModel:
    if (folder / "config.json").is_file() and '"gpt2"' in (folder / "config.json").read_text():
        options.setdefault("layout", "eos")
    return HfModel(str(folder), HfOptions(max_new_tokens=16, device="cpu", **options))  # type: ignore[arg-type]


def texts(model: HfModel, chats: Sequence[Chat]) -> list[str]:
    return [output.text for output in model.replies(chats)]


@pytest.mark.parametrize("options", [{}, DRAWN], ids=["greedy", "drawn"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_reply_is_the_same_alone_and_in_any_batch(
    tiny: dict[str, Path], chats: list[Chat], kind: str, options: dict[str, float]
) -> None:
    model = opened(tiny[kind], **options)
    together = model.replies(chats)
    assert together == [model.replies([chat])[0] for chat in chats]
    assert together[::-1] == model.replies(chats[::-1])
    assert together[1:4] == model.replies(chats[1:4])
    assert all(together)
    assert len(set(together)) > 3


def test_a_row_that_is_over_before_others_was_not_cut_by_its_limit(tiny: dict[str, Path]) -> None:
    """A mark of templates ends it at the eleventh of twelve tokens; beside others it is padded to twelve."""
    said = (
        "Hi! What do you think about the weather?",
        "ac SSobe\n\ufffd for\ufffd\ufffd\u2026",
        "Buttons are easy, I could teach you in five minutes. What do you paint with?",
        "with\ufffdand telling kn have\ufffd\u2026",
        "I tried it once and everything turned brown. What was I doing wrong?",
    )
    persona = (
        "I'm in my second year of a nursing degree.",
        "I grew up in Lagos and moved north for university.",
        "I share a flat with three other students.",
        "I sing in a gospel choir on Sundays.",
        "My little brother is crazy about dinosaurs.",
        "I believe jollof rice fixes almost everything.",
    )
    turns = tuple(Turn("bot" if at % 2 else "worker", text) for at, text in enumerate(said))
    short = Chat("a-5.1", 820441518965821396, persona, turns)
    longer = Chat("a-5.1", 820441518965821396, persona, turns[:3])
    options = HfOptions(max_new_tokens=12, device="cpu", dtype="float64")
    model = HfModel(str(tiny["llama"]), options)
    (alone,) = model.replies([short])
    assert not alone.at_limit
    together = model.replies([short, longer])
    assert together[1].at_limit
    assert together[0] == alone


def test_beams_of_the_models_own_settings_are_the_same_in_a_batch(
    tiny: dict[str, Path], chats: list[Chat], tmp_path: Path
) -> None:
    greedy = texts(opened(tiny["blenderbot"]), chats)
    model = opened(
        with_settings(tiny["blenderbot"], tmp_path, num_beams=4, min_length=5, no_repeat_ngram_size=3)
    )
    together = model.replies(chats)
    assert together == [model.replies([chat])[0] for chat in chats]
    assert [output.text for output in together] != greedy
    zero = with_settings(tiny["blenderbot"], tmp_path / "zero", num_beams=4)
    assert texts(opened(zero, temperature=0.0), chats) == greedy


def test_the_models_own_settings_hold_unless_told(
    tiny: dict[str, Path], chats: list[Chat], tmp_path: Path
) -> None:
    sampling = with_settings(tiny["gpt2"], tmp_path, do_sample=True, temperature=1.2, top_p=0.95, top_k=40)
    greedy = texts(opened(tiny["gpt2"]), chats)
    assert texts(opened(sampling), chats) != greedy
    assert texts(opened(sampling, temperature=0.0), chats) == greedy


def test_greedy_replies_are_those_of_plain_generate(tiny: dict[str, Path], talk: Talk) -> None:
    """The reference is transformers' own loop, fed by hand."""
    model = transformers.GPT2LMHeadModel.from_pretrained(tiny["gpt2"])
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny["gpt2"])
    ids = tokenizer(
        "hi</s>hello</s>how are you?</s>", add_special_tokens=False, return_tensors="pt"
    ).input_ids
    said = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=16, do_sample=False)
    expected = " ".join(tokenizer.decode(said[0, ids.shape[1] :], skip_special_tokens=True).split())
    (output,) = opened(tiny["gpt2"]).replies([talk("hi", "hello", "how are you?")])
    assert " ".join(output.text.split()) == expected


def test_draws_depend_on_the_seed_and_the_turn_only(tiny: dict[str, Path], talk: Talk) -> None:
    model = opened(tiny["llama"], **DRAWN)
    chat = talk("hi", seed=7, name="one")
    assert model.replies([chat]) == model.replies([talk("hi", seed=7, name="another")])
    assert texts(model, [chat]) != texts(model, [talk("hi", seed=8)])
    assert opened(tiny["llama"], **DRAWN).replies([chat]) == model.replies([chat])


async def test_thoughts_that_the_template_opens_have_a_budget_and_are_no_reply(
    tiny: dict[str, Path], talk: Talk, tmp_path: Path
) -> None:
    folder = shutil.copytree(tiny["llama"], tmp_path / "thinks")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = CHATML.replace("assistant\n{% endif %}", "assistant\n<think>\n{% endif %}")
    tokenizer.save_pretrained(folder)
    model = opened(folder, thinking_tokens=6)
    (output,) = model.replies([talk("hi")])
    assert output.opened
    (longer,) = opened(folder, thinking_tokens=20).replies([talk("hi")])
    assert len(output.text) < len(longer.text)
    with pytest.raises(ThoughtsOnly, match="thought and said nothing"):
        await MicroBatch(model).reply(talk("hi"))


def test_rows_are_drawn_with_the_probabilities_of_the_scores() -> None:
    """Four tokens of 0.1, 0.2, 0.3, 0.4: shares of 4000 rows lie within 4 standard errors (0.031)."""
    scores = torch.log(torch.tensor([[0.1, 0.2, 0.3, 0.4]])).repeat(4000, 1)
    seeds = [str(row) for row in range(4000)]
    chosen = RowSampler(seeds, 1.0, None, None)(torch.zeros(4000, 1), scores).argmax(dim=-1)
    shares = torch.bincount(chosen, minlength=4) / 4000
    assert torch.allclose(shares, torch.tensor([0.1, 0.2, 0.3, 0.4]), atol=0.031)
    # The likeliest of them that make up half: the last two, in proportion 3 to 4.
    kept = RowSampler(seeds, 1.0, 0.5, None)(torch.zeros(4000, 1), scores).argmax(dim=-1)
    assert set(kept.tolist()) == {2, 3}
    assert set(RowSampler(seeds, 1.0, None, 1)(torch.zeros(4000, 1), scores).argmax(dim=-1).tolist()) == {3}


def test_a_model_that_ends_at_once_is_made_to_say_something(
    tiny: dict[str, Path], talk: Talk, tmp_path: Path
) -> None:
    folder = shutil.copytree(tiny["blenderbot"], tmp_path / "silent")
    model = transformers.BlenderbotForConditionalGeneration.from_pretrained(folder)
    model.final_logits_bias[0, model.config.eos_token_id] = 1e4
    model.save_pretrained(folder)
    found = opened(folder).replies([talk("hi", seed=seed) for seed in range(3)])
    assert all(found)
    assert found == opened(folder).replies([talk("hi", seed=seed) for seed in range(3)])


def test_long_conversations_keep_within_the_models_context(tiny: dict[str, Path], talk: Talk) -> None:
    long = talk(*["so what do you think about that?"] * 61, persona=("I have two dogs.",))
    for kind in KINDS:
        assert opened(tiny[kind]).replies([long, talk("hi", name="short")])[0]


def test_one_failing_row_is_told_by_the_model_not_the_batch(tiny: dict[str, Path], talk: Talk) -> None:
    """Letters that no tokenizer was trained on, control characters, an empty line: all get a reply."""
    model = opened(tiny["llama"])
    assert all(model.replies([talk(line, name=line) for line in ("你好 \U0001f600", "\x00\x07", "", " ")]))


def test_long_and_short_chats_are_padded_apart_where_that_is_cheaper() -> None:
    """Three rows of 10 beside one of 100 cost 3 × 90 tokens of padding."""
    lengths = [10, 100, 10, 10]
    assert groups(lengths, 269) == [[1], [0, 2, 3]]
    assert groups(lengths, 270) == [[0, 2, 3, 1]]
    assert groups(lengths, None) == [[0, 2, 3, 1]]
    assert groups([5], 1) == [[0]]
    assert groups([1, 50, 900, 60, 2], 10) == [[2], [1, 3], [0, 4]]


def test_replies_of_a_batch_that_was_cut_are_in_order(tiny: dict[str, Path], talk: Talk) -> None:
    """One long chat beside many short ones: 30 × 100 tokens of padding against 4 × 32."""
    model = HfModel(str(tiny["llama"]), HfOptions(max_new_tokens=4, device="cpu"))
    mixed = [talk(f"hi {i}", name=str(i)) for i in range(30)]
    mixed.insert(7, talk("so what do you think about that? " * 12, name="long"))
    assert model.replies(mixed) == [model.replies([chat])[0] for chat in mixed]


# --- what cannot be opened


def test_there_is_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(HostModelError, match=r"hf:.*nowhere: there is no such folder"):
        HfModel(str(tmp_path / "nowhere"))
    with pytest.raises(HostModelError, match=r"has no config\.json"):
        HfModel(str(tmp_path))


def test_a_model_larger_than_the_memory_is_refused_before_it_is_loaded(
    tiny: dict[str, Path], tmp_path: Path
) -> None:
    """A layer has 4 × 16384² + 3 × 16384 × 53248 + 2 × 16384 parameters; 120 of them, two embeddings of
    600 × 16384 and a norm of 16384 make 442.942 billion. There are no weights in the folder: nobody looks.
    """
    for file in tiny["llama"].glob("token*"):
        shutil.copy(file, tmp_path)
    transformers.LlamaConfig(
        vocab_size=600,
        hidden_size=16384,
        num_hidden_layers=120,
        intermediate_size=53248,
        num_attention_heads=128,
    ).save_pretrained(tmp_path)
    with pytest.raises(
        HostModelError, match=r"weights take 1,771\.8 GB as float32, and [\d,.]+ GB are free on cpu"
    ):
        HfModel(str(tmp_path), HfOptions(device="cpu"))
    with pytest.raises(HostModelError, match=r"take 885\.9 GB as bfloat16"):
        HfModel(str(tmp_path), HfOptions(device="cpu", dtype="bfloat16"))


def test_the_estimate_is_what_the_weights_take(tiny: dict[str, Path]) -> None:
    for kind, auto in {"gpt2": "AutoModelForCausalLM", "t5": "AutoModelForSeq2SeqLM"}.items():
        auto_class = getattr(transformers, auto)
        model = auto_class.from_pretrained(tiny[kind])
        taken = sum(parameter.nbytes for parameter in model.parameters())
        assert checkpoint.weights(auto_class, model.config, torch.float32) == taken


def test_a_model_that_does_not_write_is_refused(tmp_path: Path) -> None:
    transformers.ViTConfig().save_pretrained(tmp_path)
    with pytest.raises(HostModelError, match='type "vit" does not write text'):
        HfModel(str(tmp_path))
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "no-such-type"}))
    with pytest.raises(HostModelError, match="no-such-type"):
        HfModel(str(tmp_path))


def test_files_that_are_missing_or_broken_are_named(tiny: dict[str, Path], tmp_path: Path) -> None:
    folder = shutil.copytree(tiny["gpt2"], tmp_path / "model")
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(HostModelError, match="weights cannot be loaded"):
        HfModel(str(folder))
    weights.unlink()
    with pytest.raises(HostModelError, match="weights cannot be loaded"):
        HfModel(str(folder))
    for file in folder.glob("token*"):
        file.unlink()
    with pytest.raises(HostModelError, match="its tokenizer has 1 tokens and the model 600"):
        HfModel(str(folder))


def test_a_model_without_its_output_layer_is_refused(tiny: dict[str, Path], tmp_path: Path) -> None:
    folder = shutil.copytree(tiny["llama"], tmp_path / "model")
    transformers.LlamaModel.from_pretrained(folder).save_pretrained(folder)
    with pytest.raises(HostModelError, match=r"1 of its weights are not in its files \(lm_head.weight"):
        HfModel(str(folder))


def test_settings_that_cannot_work_say_so(tiny: dict[str, Path]) -> None:
    with pytest.raises(HostModelError, match=r"takes 128 tokens in all.*Lower --max-new-tokens"):
        HfModel(str(tiny["gpt2"]), HfOptions(max_new_tokens=120))
    with pytest.raises(HostModelError, match='no device called "gpu"'):
        HfModel(str(tiny["gpt2"]), HfOptions(device="gpu"))
    with pytest.raises(HostModelError, match="no cuda:99 here"):
        HfModel(str(tiny["gpt2"]), HfOptions(device="cuda:99"))


def with_settings(folder: Path, target: Path, **settings: object) -> Path:
    """Return a copy of a model with other generation settings of its own."""
    copied = shutil.copytree(folder, target / "model")
    file = copied / "generation_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | settings))
    return copied


# --- what else can be opened


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")  # peft's, of transformers
def test_a_lora_goes_onto_the_model_that_it_is_for(
    tiny: dict[str, Path], chats: list[Chat], tmp_path: Path
) -> None:
    import peft

    base = transformers.LlamaForCausalLM.from_pretrained(tiny["llama"])
    torch.manual_seed(3)
    config = peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    adapted = peft.get_peft_model(base, config)
    adapted.peft_config["default"].base_model_name_or_path = str(tiny["llama"])
    adapted.save_pretrained(tmp_path / "lora")
    with_lora = texts(opened(tmp_path / "lora"), chats)
    assert with_lora != texts(opened(tiny["llama"]), chats)
    adapted.merge_and_unload().save_pretrained(tmp_path / "merged")
    for file in tiny["llama"].glob("*token*"):
        shutil.copy(file, tmp_path / "merged")
    shutil.copy(tiny["llama"] / "chat_template.jinja", tmp_path / "merged")
    assert with_lora == texts(opened(tmp_path / "merged"), chats)


def test_a_reply_says_which_version_of_a_model_it_came_from(
    tiny: dict[str, Path], talk: Talk, tmp_path: Path
) -> None:
    def made(folder: Path, **options: object) -> Provenance:
        (output,) = opened(folder, **options).replies([talk("hi", "hello", "how are you?")])
        return output.provenance

    folder = shutil.copytree(tiny["llama"], tmp_path / "llama")
    before = made(folder)
    assert before.model == f"hf:{folder}"
    assert before == made(folder)
    drawn = made(folder, prompt="Be brief.", **DRAWN)
    assert drawn.revision == before.revision
    assert drawn.prompt_hash != before.prompt_hash
    assert json.loads(drawn.sampling or "")["temperature"] == DRAWN["temperature"]
    assert "temperature" in json.loads(before.sampling or "")
    retrained = transformers.LlamaForCausalLM.from_pretrained(folder)
    with torch.no_grad():
        retrained.lm_head.weight[0, 0] += 1.0
    retrained.save_pretrained(folder)
    assert made(folder).revision != before.revision


def test_a_lora_for_a_model_that_is_not_there_says_which(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text('{"base_model_name_or_path": "/no/such/base"}')
    with pytest.raises(HostModelError, match=r"it is a LoRA for /no/such/base, and there is no such folder"):
        HfModel(str(tmp_path))


def test_a_model_that_also_sees_is_used_for_text(
    tiny: dict[str, Path], chats: list[Chat], tmp_path: Path
) -> None:
    """Its language half is the tiny llama, so it says what that says."""
    text = transformers.LlamaForCausalLM.from_pretrained(tiny["llama"])
    vision = transformers.CLIPVisionConfig(
        hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, image_size=8,
        patch_size=4,
    )  # fmt: skip
    config = transformers.LlavaConfig(vision_config=vision, text_config=text.config, image_token_index=5)
    seeing = transformers.LlavaForConditionalGeneration(config)
    seeing.model.language_model.load_state_dict(text.model.state_dict())
    seeing.lm_head.load_state_dict(text.lm_head.state_dict())
    seeing.generation_config = text.generation_config
    seeing.save_pretrained(tmp_path)
    for file in [*tiny["llama"].glob("*token*"), tiny["llama"] / "chat_template.jinja"]:
        shutil.copy(file, tmp_path)
    assert texts(opened(tmp_path), chats) == texts(opened(tiny["llama"]), chats)


def test_a_model_is_spread_over_what_there_is(tiny: dict[str, Path], chats: list[Chat]) -> None:
    """On a CPU that is the CPU; the library's own placing does it, as over several GPUs."""
    spread = HfModel(str(tiny["llama"]), HfOptions(max_new_tokens=16, device="auto"))
    assert texts(spread, chats) == texts(opened(tiny["llama"]), chats)


def test_a_base_model_s_reply_ends_where_somebody_else_speaks(tiny: dict[str, Path], talk: Talk) -> None:
    (output,) = HfModel(str(tiny["gpt2"]), HfOptions(max_new_tokens=8, device="cpu")).replies([talk("hi")])
    assert output.labels == ("A", "B")
