"""A local model in Hugging Face's format: vectors of tokens, likelihoods of texts.

Importing this module does not import torch and transformers, which takes seconds; opening a model does.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qc.errors import ModelError

if TYPE_CHECKING:
    from torch import Tensor

CAUSAL, MASKED, ENCODER = "causal", "masked", "encoder"
# Classifiers of two texts: with one output, a score; with two, whether the second text follows the first.
SCORER, RETRIEVER = "scorer", "retriever"
_CLASSIFIERS = {1: SCORER, 2: RETRIEVER}
# Tokens of a batch, including padding: 16 texts of 256 tokens.
BATCH_TOKENS = 4096
_BATCH_PAIRS = 16
# Upper limit of the length; a tokenizer without a limit states a much larger number.
LONGEST = 1024
# Models such as RoBERTa count positions from 2, so they have two fewer than stated.
_UNUSED_POSITIONS = 2
_WORD = re.compile(r"\S+")

LogLikelihoods = NDArray[np.float64]
# Context and text.
Pair = tuple[str, str]


class LocalModel:
    """A causal language model, a masked one, a classifier of two texts, or an encoder.

    Attributes:
        name: the name of its folder.
        kind: CAUSAL, MASKED, SCORER, RETRIEVER or ENCODER. The last three give vectors, but no likelihoods.
    """

    def __init__(self, path: Path) -> None:
        """Load the model in the folder `path`.

        Raises:
            ModelError: the libraries are not installed, the model does not exist, or is of another kind.
        """
        try:
            import torch  # noqa: PLC0415
            import transformers  # noqa: PLC0415
        except ImportError:
            raise ModelError(
                "--model needs torch and transformers. Install them: in a checkout `make install-models`, "
                "elsewhere the wheel with its extra: pip install 'candor_eval-….whl[hf]'"
            ) from None
        self.name, self._path, self._torch = path.name, path, torch
        if not (path / "config.json").is_file():
            raise ModelError(
                f"{path}: this is not a folder of a model: it has no config.json. Give the folder that "
                "`save_pretrained` wrote or that was downloaded."
            )
        transformers.logging.set_verbosity_error()  # type: ignore[no-untyped-call]
        transformers.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            config = transformers.AutoConfig.from_pretrained(path, local_files_only=True)
            self.kind, loader = _kind(path, config, transformers)
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(path, local_files_only=True)
            self._model = loader.from_pretrained(path, local_files_only=True).eval()
        except (OSError, ValueError, KeyError, ImportError) as error:
            raise ModelError(f"{path}: the model cannot be loaded ({error}). Try another copy.") from None
        if not self._tokenizer.is_fast:
            raise ModelError(
                f"{path}: its tokenizer is of the slow kind, which does not say where words are."
            )
        self._tokenizer.truncation_side = "left"
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._model.to(self._device)
        self._room = _room(self._tokenizer, config)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all files in the folder, which distinguishes different weights with the same name."""
        digest = hashlib.sha256()
        for file in sorted(each for each in self._path.rglob("*") if each.is_file()):
            digest.update(str(file.relative_to(self._path)).encode())
            with file.open("rb") as content:
                digest.update(hashlib.file_digest(content, "sha256").digest())
        return digest.hexdigest()

    def word_vectors(self, texts: Sequence[str]) -> list[NDArray[np.float64]]:
        """Return the model's input embeddings, (tokens, dimensions) for each text."""
        with self._torch.inference_mode():
            table = self._model.get_input_embeddings()
            # An empty list would be of floats, which are no indices.
            rows = [
                self._torch.tensor(ids, dtype=self._torch.long, device=self._device)
                for ids in self._ids(texts)
            ]
            return [_array(table(row)) for row in rows]

    def contextual_vectors(self, texts: Sequence[str]) -> list[NDArray[np.float64]]:
        """Return the last layer's vectors, (tokens, dimensions) for each text."""

        def vectors(batch: Any, mask: Any, _: Sequence[int]) -> list[NDArray[np.float64]]:
            output = self._model(input_ids=batch, attention_mask=mask, output_hidden_states=True)
            last = output.hidden_states[-1]
            return [_array(row[: int(count)]) for row, count in zip(last, mask.sum(dim=1), strict=True)]

        return self._batched(self._ids(texts), vectors)

    def continuations(self, pairs: Sequence[Pair]) -> list[LogLikelihoods]:
        """Return log P of each token of a pair's second text, given the first; for a causal model.

        A context that is too long is cut at its beginning. Without a context and a start token, the first
        token has no probability and is left out.
        """
        begin = [] if self._tokenizer.bos_token_id is None else [self._tokenizer.bos_token_id]
        sequences, starts = [], []
        for context, text in pairs:
            ids = self._plain(text)[: self._room - len(begin)]
            before = self._plain(context) if context else []
            space = self._room - len(ids) - len(begin)
            before = begin + (before[-space:] if space > 0 else [])
            sequences.append(before + ids)
            starts.append(len(before))

        def likelihoods(batch: Any, mask: Any, rows: Sequence[int]) -> list[LogLikelihoods]:
            log_p = self._model(input_ids=batch, attention_mask=mask).logits[:, :-1].log_softmax(-1)
            given = log_p.gather(-1, batch[:, 1:, None])[..., 0]
            found = []
            for line, row in zip(given, rows, strict=True):
                found.append(_array(line[max(starts[row] - 1, 0) : len(sequences[row]) - 1]))
            return found

        return self._batched(sequences, likelihoods)

    def pair_scores(self, pairs: Sequence[Pair]) -> list[float]:
        """Return a scorer's output for each pair, or a retriever's probability that the second text follows.

        Pairs that are too long are cut at the beginning of the longer text.
        """
        found: list[float] = []
        for start in range(0, len(pairs), _BATCH_PAIRS):
            firsts, seconds = zip(*pairs[start : start + _BATCH_PAIRS], strict=True)
            batch = self._tokenizer(
                list(firsts),
                list(seconds),
                truncation="longest_first",
                max_length=self._room,
                padding=True,
                return_tensors="pt",
            )
            with self._torch.inference_mode():
                logits = self._model(**batch.to(self._device)).logits
                scores = logits[:, 0] if self.kind == SCORER else logits.softmax(-1)[:, 1]
            found += _array(scores).tolist()
        return found

    def masked_tokens(self, pairs: Sequence[Pair]) -> list[LogLikelihoods]:
        """Return log P of each token of the second text, with only this token masked; for a masked model."""
        return self._masked(pairs, lambda _, places: [[place] for place, _ in places])

    def masked_words(self, pairs: Sequence[Pair]) -> list[LogLikelihoods]:
        """Return log P of each word of the second text, with all tokens of only this word masked.

        Words are separated by white space. log P of a word is the sum over its tokens.
        """
        return self._masked(pairs, _words)

    def _masked(
        self, pairs: Sequence[Pair], units: "Callable[[str, list[_Place]], list[list[int]]]"
    ) -> list[LogLikelihoods]:
        variants, masks, truths, owners = [], [], [], []
        for owner, (context, text) in enumerate(pairs):
            ids, places = self._encoded(context, text)
            for unit in units(text, places):
                variants.append(
                    [self._tokenizer.mask_token_id if i in unit else t for i, t in enumerate(ids)]
                )
                masks.append(unit)
                truths.append([ids[place] for place in unit])
                owners.append(owner)

        def likelihoods(batch: Any, mask: Any, rows: Sequence[int]) -> list[LogLikelihoods]:
            logits = self._model(input_ids=batch, attention_mask=mask).logits
            found = []
            for line, row in zip(logits, rows, strict=True):
                log_p = line[masks[row]].log_softmax(-1)
                true = self._torch.tensor(truths[row], device=self._device)[:, None]
                found.append(_array(log_p.gather(-1, true).sum()[None]))
            return found

        sums = self._batched(variants, likelihoods)
        found: list[list[float]] = [[] for _ in pairs]
        for owner, total in zip(owners, sums, strict=True):
            found[owner].append(float(total[0]))
        return [np.array(each) for each in found]

    def _encoded(self, context: str, text: str) -> "tuple[list[int], list[_Place]]":
        """Return the tokens of context and text, and the places of the text's tokens, with their ends."""
        encoded = (
            self._tokenizer(
                context, text, truncation="only_first", max_length=self._room, return_offsets_mapping=True
            )
            if self._fits(text)
            else self._tokenizer(
                "", text, truncation="only_second", max_length=self._room, return_offsets_mapping=True
            )
        )
        places = [
            (number, end)
            for number, (part, (start, end)) in enumerate(
                zip(encoded.sequence_ids(), encoded["offset_mapping"], strict=True)
            )
            if part == 1 and end > start
        ]
        return encoded["input_ids"], places

    def _fits(self, text: str) -> bool:
        """Whether `text` leaves room for a context of 8 tokens and the separators."""
        return len(self._plain(text)) <= self._room - 12

    def _plain(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        return ids

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        return [self._plain(text)[: self._room] for text in texts]

    def _batched(
        self,
        sequences: Sequence[list[int]],
        compute: "Callable[[Tensor, Tensor, Sequence[int]], list[NDArray[np.float64]]]",
    ) -> list[NDArray[np.float64]]:
        """Apply `compute` to padded batches of `sequences`; results are in the order of `sequences`."""
        found: list[NDArray[np.float64]] = [np.empty(0)] * len(sequences)
        for rows in _batches([len(ids) for ids in sequences]):
            longest = len(sequences[rows[-1]])
            batch = self._torch.zeros((len(rows), longest), dtype=self._torch.long, device=self._device)
            mask = self._torch.zeros_like(batch)
            for line, row in enumerate(rows):
                batch[line, : len(sequences[row])] = self._torch.tensor(sequences[row])
                mask[line, : len(sequences[row])] = 1
            with self._torch.inference_mode():
                for row, value in zip(rows, compute(batch, mask, rows), strict=True):
                    found[row] = value
        return found


# A token's index among all tokens, and the character of its text at which it ends.
_Place = tuple[int, int]


def _words(text: str, places: list[_Place]) -> list[list[int]]:
    """Return the places of the tokens of each word; a token belongs to the word of its last character."""
    units = (
        [place for place, end in places if word.start() < end <= word.end()] for word in _WORD.finditer(text)
    )
    return [unit for unit in units if unit]


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield batches of row numbers by length, with up to BATCH_TOKENS tokens each, without empty rows."""
    rows: list[int] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if lengths[row] == 0:
            continue
        if rows and (len(rows) + 1) * lengths[row] > BATCH_TOKENS:
            yield rows
            rows = []
        rows.append(row)
    if rows:
        yield rows


def _kind(path: Path, config: Any, transformers: Any) -> tuple[str, Any]:
    """Return the kind of the model, from the architecture in its config, and the class that loads it."""
    saved_as = " ".join(getattr(config, "architectures", None) or ())
    if config.is_encoder_decoder:
        raise ModelError(
            f"{path}: an encoder-decoder gives none of these metrics. Give a causal language model (such as "
            "GPT-2) or a masked one (such as RoBERTa)."
        )
    if "MaskedLM" in saved_as:
        return MASKED, transformers.AutoModelForMaskedLM
    if "CausalLM" in saved_as or "LMHead" in saved_as:
        return CAUSAL, transformers.AutoModelForCausalLM
    if "SequenceClassification" in saved_as and config.num_labels in _CLASSIFIERS:
        return _CLASSIFIERS[config.num_labels], transformers.AutoModelForSequenceClassification
    return ENCODER, transformers.AutoModel


def _room(tokenizer: Any, config: Any) -> int:
    positions = getattr(config, "max_position_embeddings", None) or LONGEST
    return int(min(tokenizer.model_max_length, positions - _UNUSED_POSITIONS, LONGEST))


def _array(values: "Tensor") -> NDArray[np.float64]:
    return np.asarray(values.float().cpu().numpy(), np.float64)
