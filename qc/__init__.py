"""Analyse a run offline: from workers' ratings to scores of the systems.

Public are `qc.api`, from which `candor` takes its names, and the commands `python -m qc.report`,
`qc.metrics`, `qc.estimate`, `qc.power`, `qc.randomisation` and `qc.convert`.
"""
