"""List what a format cannot hold of a run."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Loss:
    """One kind of thing that is not, or not the same, in the file.

    Attributes:
        what: in words that end with neither a full stop nor a count, such as "left-out assignments".
        count: how many there are.
        fatal: whether the file would say something wrong about the ratings, so that it is not written.
    """

    what: str
    count: int
    fatal: bool = False

    def __str__(self) -> str:
        return f"{self.what}: {self.count}"
