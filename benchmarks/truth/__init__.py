"""Parts of the benchmark of the analysis where the truth is known; `benchmarks/qc_truth.py` runs them."""
