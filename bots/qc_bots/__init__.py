"""The quality-control (QC) bots."""
