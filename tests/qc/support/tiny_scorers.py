"""Tiny models for metrics, in folders: a causal one, a masked one, both with uniform twins."""

from pathlib import Path
from typing import Any

from tests.bots.support.tiny_models import trained_tokenizer
from tests.needs import need_hf


def save_tiny_scorers(root: Path) -> dict[str, Path]:
    """Save four models into folders of `root`; return the folders by name.

    causal and masked have random weights; uniform-causal and uniform-masked give every token the same
    probability, so that a likelihood is known without computing it.
    """
    need_hf()
    import torch
    from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel

    torch.manual_seed(1)
    torch.set_num_threads(1)
    tokenizer = trained_tokenizer()
    tokenizer.add_special_tokens({"mask_token": "<mask>"})
    size = len(tokenizer)
    ids = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "vocab_size": size}

    def causal() -> Any:
        return GPT2LMHeadModel(
            GPT2Config(**ids, n_embd=32, n_layer=2, n_head=4, n_positions=96, initializer_range=0.5)
        )

    def masked() -> Any:
        return BertForMaskedLM(
            BertConfig(
                vocab_size=size,
                pad_token_id=1,
                hidden_size=32,
                num_hidden_layers=2,
                num_attention_heads=4,
                intermediate_size=64,
                max_position_embeddings=96,
                initializer_range=0.5,
            )
        )

    models = {
        "causal": causal(),
        "masked": masked(),
        "uniform-causal": _silenced(causal()),
        "uniform-masked": _silenced(masked()),
    }
    for name, model in models.items():
        model.save_pretrained(root / name)
        tokenizer.save_pretrained(root / name)
    return {name: root / name for name in models}


def save_tiny_classifier(folder: Path, outputs: int) -> None:
    """Save a classifier of two texts with random weights into `folder`."""
    need_hf()
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(2)
    tokenizer = trained_tokenizer()
    config = BertConfig(
        vocab_size=len(tokenizer),
        pad_token_id=1,
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=96,
        initializer_range=0.5,
        num_labels=outputs,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _silenced(model: Any) -> Any:
    """Return `model` with weights of 0, so that all its logits are the same."""
    for parameter in model.parameters():
        parameter.data.zero_()
    return model
