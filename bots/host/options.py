"""Options for a model in the format of transformers."""

from dataclasses import dataclass
from typing import Literal

DType = Literal["auto", "float64", "float32", "bfloat16", "float16"]
Layout = Literal["auto", "template", "plain", "eos"]


@dataclass(frozen=True, slots=True)
class HfOptions:
    """How a model is run and how it draws its words.

    What is None is as the model's own generation settings say; without any it is greedy. A temperature of 0
    is greedy. `max_new_tokens` bounds a reply, and `thinking_tokens` the thoughts before it where a model has
    any. `thinking`: True and False turn them on and off; None: off where the model's template has a switch.
    `layout`: how a model that reads and writes one text is shown a conversation; "auto" is its chat template
    if there is one, else "plain". `chat_template` is used in the place of the model's own. `prompt` None is
    the usual one, for models that take instructions.
    `device` None: CUDA where there is one; "auto": over all GPUs. `dtype` "auto": as saved on CUDA, float32
    on a CPU.
    """

    max_new_tokens: int = 64
    temperature: float | None = None
    top_p: float | None = None
    repetition_penalty: float | None = None
    prompt: str | None = None
    device: str | None = None
    dtype: DType = "auto"
    thinking: bool | None = None
    thinking_tokens: int = 1024
    layout: Layout = "auto"
    chat_template: str | None = None
