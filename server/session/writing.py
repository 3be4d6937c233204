"""Record of how a message was written, in a few numbers, without its text or key times."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

_Characters = Annotated[int, Field(ge=0, le=100_000, strict=True)]
_Times = Annotated[int, Field(ge=0, le=10_000, strict=True)]
_Milliseconds = Annotated[int, Field(ge=0, le=86_400_000, strict=True)]


class Writing(BaseModel):
    """How a worker has written one input, as their page counts it; a page can count wrongly, or lie.

    Characters that were written and taken out again count too; in what is kept (`kept`), those that were
    pasted do not. `typed`: one at a time. `composed`: by an
    input method, a correction, a suggestion or by voice: several at a time, and no paste. `pasted`: pasted or
    dropped, `pastes` times.

    `writing_ms`: from the first change of the text to the last, `longest_pause_ms` between two of them.
    `away`: how often the page lost the focus since the input before, and `away_ms`: for how long altogether.
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
        """Return what is stored of an input: of what was pasted, what can be in the text that was `sent`.

        Where less was sent than was pasted, something was taken out: what is not by hand is left of it.
        """
        if len(sent) >= self.pasted:
            return self
        left = max(0, len(sent) - self.typed - self.composed)
        return self.model_copy(update={"pasted": left})
