"""Automatic metrics of conversations (`overlap/` compares words with references), of texts (`texts/`) and of
systems, and their agreement with people: `candor metrics`.
"""
