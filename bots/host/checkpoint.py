"""Find out what kind of model some files contain, compare its needs with the free memory, and load it."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import psutil
import structlog
import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
)

from bots.host.model import DType, HostModelError, hash_of_folder

_CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def require_memory(what: str, model: type[Any], config: Any, dtype: torch.dtype, device: torch.device) -> int:
    """Return the size of a model's weights in bytes.

    `model` is an auto class of transformers, `config` the model's configuration.

    Raises:
        HostModelError: less memory than that is free on `device`.
    """
    need, free = weights(model, config, dtype), available(device)
    if need > free:
        raise HostModelError(
            f"{what}: its weights take {gigabytes(need)} as {str(dtype).removeprefix('torch.')}, and "
            f"{gigabytes(free)} are free on {device}. Take a smaller model, "
            "a smaller --dtype (bfloat16), or another machine."
        )
    return need


def weights(model: type[Any], config: Any, dtype: torch.dtype) -> int:
    """Return the bytes of the model's parameters; shared ones count once. Builds it without storage."""
    with torch.device("meta"):
        built = model.from_config(config)
    return int(sum(parameter.numel() for parameter in built.parameters()) * dtype.itemsize)


def available(device: torch.device) -> int:
    """Return the bytes that are free on `device`, within a container's limit."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    return min([int(psutil.virtual_memory().available), *_container()])


def gigabytes(size: float) -> str:
    """Return a size in bytes as text for people."""
    return f"{size / 1e9:,.1f} GB"


def _container() -> Iterator[int]:
    for limit, used in _CGROUPS:
        try:
            yield int(Path(limit).read_text()) - int(Path(used).read_text())
        except (OSError, ValueError):  # no such limit here, or "max"
            continue


_HUB_ID = re.compile(r"[\w-][\w.-]*(/[\w.-]+)?")
_ADAPTER = "adapter_config.json"  # what peft writes beside the weights of a LoRA
SPREAD = "auto"
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model on disk or on the hub, with its tokenizer, before its weights are loaded.

    `adapter` is the folder of a LoRA that is applied to the weights at `path`.
    """

    name: str
    path: str
    adapter: str | None
    config: Any
    tokenizer: Any
    kind: type[Any]

    @property
    def encoder_decoder(self) -> bool:
        """Whether it is an encoder-decoder model."""
        return self.kind is AutoModelForSeq2SeqLM

    @property
    def revision(self) -> str:
        """The version of the model: the hub's commit, or a hash of its files, which are read.

        The version of a LoRA is appended to that of its base model.
        """
        base = getattr(self.config, "_commit_hash", None) or hash_of_folder(Path(self.path))
        return base if self.adapter is None else f"{base}+{hash_of_folder(Path(self.adapter))}"

    def load(self, wanted: DType, device: str | None) -> Any:
        """Return the model, ready for inference, on `device`; `SPREAD`: over all GPUs.

        Raises:
            HostModelError: it needs more memory than is free, or its weights cannot be loaded.
        """
        at = _device(self.name, device)
        dtype = _dtype(wanted, self.config, at)
        if device != SPREAD and getattr(self.config, "quantization_config", None) is None:
            # For a quantised model, the number of parameters does not give the size.
            size = require_memory(self.name, self.kind, self.config, dtype, at)
            log.info("loading", model=self.name, weights=gigabytes(size), device=str(at))
        with explained(self.name, "its weights cannot be loaded"):
            model, report = self.kind.from_pretrained(
                self.path,
                config=self.config,
                dtype=dtype,
                output_loading_info=True,
                device_map="auto" if device == SPREAD else None,
            )
            model = self._adapted(model)
            model = (model if device == SPREAD else model.to(at)).eval()
        if report["missing_keys"]:
            missing = sorted(report["missing_keys"])
            raise HostModelError(
                f"{self.name}: {len(missing)} of its weights are not in its files ({missing[0]} …): it would "
                "speak at random. Save it with all its weights, the output layer included."
            )
        return model

    def _adapted(self, model: Any) -> Any:
        """Return `model` with its adapter merged into its weights, so that it is as fast as without."""
        if self.adapter is None:
            return model
        from peft import PeftModel  # noqa: PLC0415 - takes a second, and few models need it

        if len(self.tokenizer) > model.get_input_embeddings().num_embeddings:
            model.resize_token_embeddings(len(self.tokenizer))
        return PeftModel.from_pretrained(model, self.adapter).merge_and_unload()


def open_checkpoint(name: str, path: str) -> Checkpoint:
    """Open the model, or the LoRA for one, at `path`: a folder, or an id of the hub.

    `name` is used in messages.

    Raises:
        HostModelError: there is none, or it does not generate text.
    """
    path = str(Path(path).expanduser()) if path.startswith("~") else path
    local = Path(path)
    if not local.is_dir() and not _HUB_ID.fullmatch(path):
        raise HostModelError(f"{name}: there is no such folder. Check the path.")
    base = _base_of(name, local)
    if base is None and local.is_dir() and not (local / "config.json").is_file():
        raise HostModelError(
            f"{name}: the folder has no config.json. Give the folder that save_pretrained wrote."
        )
    source = path if base is None else base
    with explained(name, "no such folder, or its configuration cannot be read"):
        config = AutoConfig.from_pretrained(source, trust_remote_code=False)
    kind = _auto_class(name, config)
    own = base is not None and (local / "tokenizer_config.json").is_file()
    with explained(name, "its tokenizer cannot be loaded"):
        tokenizer = _tokenizer(path if own else source, config)
    return Checkpoint(name, source, None if base is None else path, config, tokenizer, kind)


def _base_of(name: str, folder: Path) -> str | None:
    """Return the base model of the LoRA in `folder`; None if there is no LoRA."""
    file = folder / _ADAPTER
    if not file.is_file() or (folder / "config.json").is_file():
        return None
    with explained(name, f"its {_ADAPTER} cannot be read"):
        base = str(json.loads(file.read_text(encoding="utf-8"))["base_model_name_or_path"])
    if not Path(base).is_dir() and not _HUB_ID.fullmatch(base):
        raise HostModelError(
            f"{name}: it is a LoRA for {base}, and there is no such folder. Correct "
            f'"base_model_name_or_path" in its {_ADAPTER}.'
        )
    return base


@contextmanager
def explained(name: str, problem: str) -> Iterator[None]:
    """Turn any exception of a library into a HostModelError that names the model."""
    try:
        yield
    except HostModelError as error:
        raise HostModelError(f"{name}: {error}") from error
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise HostModelError(f"{name}: {problem}: {reason}") from error


def _auto_class(name: str, config: Any) -> type[Any]:
    """Return the class that loads models of this configuration.

    A vision model is loaded with its own class, and gets no pictures.

    Raises:
        HostModelError: no class for this configuration generates text.
    """
    for kind in (AutoModelForSeq2SeqLM, AutoModelForCausalLM, AutoModelForImageTextToText):
        if type(config) in kind._model_mapping and bool(config.is_encoder_decoder) == (
            kind is AutoModelForSeq2SeqLM
        ):
            return cast("type[Any]", kind)
    raise HostModelError(
        f'{name}: a model of type "{config.model_type}" does not write text. '
        "Take a causal language model, an encoder-decoder, or one that reads pictures and text."
    )


def _tokenizer(path: str, config: Any) -> Any:
    tokenizer = AutoTokenizer.from_pretrained(path, trust_remote_code=False)
    known, wanted = len(tokenizer), config.get_text_config().vocab_size
    if known < wanted / 2:  # if its files are missing, transformers may return an empty one without an error
        raise HostModelError(
            f"its tokenizer has {known} tokens and the model {wanted}. "
            "Put the files of the model's own tokenizer into the folder."
        )
    return tokenizer


def _device(name: str, wanted: str | None) -> torch.device:
    here = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(here if wanted in (None, SPREAD) else wanted)
    except RuntimeError as error:
        raise HostModelError(
            f'{name}: there is no device called "{wanted}". Write cpu, cuda, cuda:1, or auto for all GPUs.'
        ) from error
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise HostModelError(
            f"{name}: no {device} here ({torch.cuda.device_count()} CUDA devices). Leave out --device, "
            "or install a torch that knows your GPU."
        )
    return device


def _dtype(wanted: DType, config: Any, device: torch.device) -> torch.dtype:
    if wanted != "auto":
        dtype: torch.dtype = getattr(torch, wanted)
        return dtype
    saved = config.get_text_config().dtype
    return saved if device.type == "cuda" and saved is not None else torch.float32
