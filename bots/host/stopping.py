"""Stop generation row by row, at the end of a reply that the model does not mark itself."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import torch

from bots.shown import phase

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_TELLING = frozenset(">:]▷")  # in the last token of whatever opens or closes thoughts, or names a speaker


class ReplyEnd:
    """A stopping criterion of transformers: thoughts and replies have each a budget of their own.

    A row ends when it has thought for its budget, has spoken for its budget, or goes on as somebody else.
    """

    def __init__(
        self,
        tokenizer: "PreTrainedTokenizerBase",
        width: int,
        opened: Sequence[bool],
        budgets: tuple[int, int],
        ends_of_turn: Collection[int] = (),
        labels: Sequence[str] = (),
    ) -> None:
        """Watch rows whose prompts take `width` tokens; in those `opened` the prompt has opened thoughts.

        `budgets`: tokens for thoughts and for a reply. `ends_of_turn`: tokens that end a reply, and a thought
        where they stand in one. `labels`: as for `shown_text`.
        """
        self._tokenizer = tokenizer
        self._width = width
        self._opened = opened
        self._budgets = budgets
        self._ends_of_turn = frozenset(ends_of_turn)
        self._labels = labels
        self._thinking = list(opened)
        self._spoke_from = [0] * len(opened)
        self._over = [False] * len(opened)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return which rows are over."""
        made = input_ids[:, self._width :]
        count = made.shape[1]
        for row, piece in enumerate(self._tokenizer.batch_decode(made[:, -1:])):
            ends = int(made[row, -1]) in self._ends_of_turn
            if ends or not _TELLING.isdisjoint(piece):
                self._look(row, str(self._tokenizer.decode(made[row])), count)
            self._over[row] = self._over[row] or (ends and not self._thinking[row])
            thinking, reply = self._budgets
            spent = count if self._thinking[row] else count - self._spoke_from[row]
            self._over[row] = self._over[row] or spent >= (thinking if self._thinking[row] else reply)
        return torch.tensor(self._over, device=input_ids.device)

    def _look(self, row: int, output: str, count: int) -> None:
        now = phase(output, opened=self._opened[row], labels=self._labels)
        if self._thinking[row] and now != "thinking":
            self._spoke_from[row] = count
        self._thinking[row] = now == "thinking"
        self._over[row] = self._over[row] or now == "over"
