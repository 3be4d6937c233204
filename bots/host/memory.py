"""Compare a model's memory needs with the free memory, before loading it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import torch

from bots.host.model import HostModelError

_CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def require_memory(what: str, model: type[Any], config: Any, dtype: torch.dtype, device: torch.device) -> int:
    """Return the size of a model's weights in bytes.

    `model` is an auto class of transformers, `config` the model's configuration.

    Raises:
        ModelError: less memory than that is free on `device`.
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
