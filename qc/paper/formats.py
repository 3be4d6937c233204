"""The formats of a paper kit by name; naming them imports nothing."""

PAPER_FORMATS = ("latex", "pdf")
