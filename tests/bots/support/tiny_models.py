"""Tiny random models in the format of transformers, saved to disk with tokenizers trained here."""

from pathlib import Path

from bots import load_corpus
from tests.needs import need_hf

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{{ message['content'] | trim }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# As Gemma's: no system role, and user and assistant have to take turns, the user first.
STRICT = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Roles must alternate') }}{% endif %}"
    "[{{ message['role'] }}] {{ message['content'] | trim }}\n{% endfor %}[assistant]"
)


def save_tiny_models(root: Path) -> dict[str, Path]:
    """Save five models into folders of `root`; return the folders by the kind of model.

    llama has a chat template; mistral one that knows no system message; gpt2 joins turns by its end mark, as
    DialoGPT does; t5 and blenderbot are encoder-decoders.
    """
    need_hf()
    import torch
    from transformers import (
        BlenderbotConfig,
        BlenderbotForConditionalGeneration,
        GPT2Config,
        GPT2LMHeadModel,
        LlamaConfig,
        LlamaForCausalLM,
        MistralConfig,
        MistralForCausalLM,
        T5Config,
        T5ForConditionalGeneration,
    )

    torch.manual_seed(1)
    torch.set_num_threads(1)  # threads that wait for each other take longer than such models
    ids = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "vocab_size": len(trained_tokenizer())}
    encoder = {**ids, "decoder_start_token_id": 0}
    # Initial weights large enough that replies differ from conversation to conversation.
    models = {
        "llama": LlamaForCausalLM(
            LlamaConfig(
                **ids,
                hidden_size=32,
                intermediate_size=64,
                num_hidden_layers=2,
                num_attention_heads=4,
                num_key_value_heads=2,
                max_position_embeddings=256,
                initializer_range=0.5,
            )
        ),
        "mistral": MistralForCausalLM(
            MistralConfig(
                **ids,
                hidden_size=32,
                intermediate_size=64,
                num_hidden_layers=1,
                num_attention_heads=4,
                num_key_value_heads=4,
                max_position_embeddings=256,
                initializer_range=0.5,
            )
        ),
        "gpt2": GPT2LMHeadModel(
            GPT2Config(**ids, n_embd=32, n_layer=2, n_head=4, n_positions=128, initializer_range=0.5)
        ),
        "t5": T5ForConditionalGeneration(
            T5Config(
                **encoder, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, initializer_factor=5.0
            )
        ),
        "blenderbot": BlenderbotForConditionalGeneration(
            BlenderbotConfig(
                **encoder,
                d_model=32,
                encoder_layers=1,
                decoder_layers=2,
                encoder_attention_heads=4,
                decoder_attention_heads=4,
                encoder_ffn_dim=64,
                decoder_ffn_dim=64,
                max_position_embeddings=128,
                init_std=0.5,
                forced_eos_token_id=None,
            )
        ),
    }
    templates = {"llama": CHATML, "mistral": STRICT}
    for name, model in models.items():
        model.save_pretrained(root / name)
        tokenizer = trained_tokenizer(eos=name in {"t5", "blenderbot"})
        if name in templates:
            tokenizer.chat_template = templates[name]
        tokenizer.save_pretrained(root / name)
    return {name: root / name for name in models}


def trained_tokenizer(eos: bool = False):  # type: ignore[no-untyped-def]
    """Return a byte-level BPE tokenizer of the shipped corpus; `eos`: put one after every text."""
    need_hf()
    from tokenizers import Tokenizer, decoders, pre_tokenizers, processors
    from tokenizers.models import BPE
    from tokenizers.trainers import BpeTrainer
    from transformers import PreTrainedTokenizerFast

    marks = ["<s>", "<pad>", "</s>", "<unk>", "<|im_start|>", "<|im_end|>"]
    lines = [line for dialogue in load_corpus("builtin:smalltalk").dialogues for line in dialogue.turns]
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = BpeTrainer(vocab_size=600, special_tokens=marks, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(lines[:500], trainer)
    if eos:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="$A </s>", special_tokens=[("</s>", 2)]
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
        additional_special_tokens=["<|im_start|>", "<|im_end|>"],
    )
