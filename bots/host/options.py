"""What a researcher may choose for a model in the format of transformers."""

from dataclasses import dataclass
from typing import Literal

from bots.core.persona_prompt import DEFAULT_PROMPT

DType = Literal["auto", "float64", "float32", "bfloat16", "float16"]


@dataclass(frozen=True, slots=True)
class HfOptions:
    """How a model is run and how it draws its words.

    What is None is as the model's own generation settings say; without any it is greedy. A temperature of 0
    is greedy. `max_new_tokens` bounds a reply, and `thinking_tokens` the thoughts before it where a model has
    any; `thinking`: where its template can turn them off, they are on. `prompt` is for models with a chat
    template.
    `device` None: CUDA where there is one. `dtype` "auto": as saved on CUDA, float32 on a CPU.
    """

    max_new_tokens: int = 64
    temperature: float | None = None
    top_p: float | None = None
    repetition_penalty: float | None = None
    prompt: str = DEFAULT_PROMPT
    device: str | None = None
    dtype: DType = "auto"
    thinking: bool = False
    thinking_tokens: int = 1024
