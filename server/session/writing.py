"""Record of how a message was written, in a few numbers, without its text or key times."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

_Characters = Annotated[int, Field(ge=0, le=100_000, strict=True)]
_Times = Annotated[int, Field(ge=0, le=10_000, strict=True)]
_Milliseconds = Annotated[int, Field(ge=0, le=86_400_000, strict=True)]


class Writing(BaseModel):
    """Counts of how a worker wrote a message, made by their page; a page can count wrongly, or lie.

    Characters that were deleted again count too, except, in what is stored (`kept`), pasted ones.
    `typed`: characters entered one at a time. `composed`: several at a time, by an input method, a
    correction, a suggestion or voice, but not pasted. `pasted`: pasted or dropped, in `pastes` actions.

    `writing_ms`: from the first change of the text to the last. `longest_pause_ms`: the longest time between
    two changes. `away`: how often the page lost the focus since the message before; `away_ms`: for how long
    in total.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    typed: _Characters
    composed: _Characters
    pasted: _Characters
    pastes: _Times
    writing_ms: _Milliseconds
    longest_pause_ms: _Milliseconds
    away: _Times
    away_ms: _Milliseconds

    def kept(self, sent: str) -> "Writing":
        """Return what is stored of a message: pasted characters count only if `sent` can contain them.

        If fewer characters were sent than pasted, some were deleted. Then those count that were not written
        by hand.
        """
        if len(sent) >= self.pasted:
            return self
        left = max(0, len(sent) - self.typed - self.composed)
        return self.model_copy(update={"pasted": left})
