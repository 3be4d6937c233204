"""The names of all files that a report may have, so that those of an earlier one are known."""

TABLES = frozenset(
    f"{name}.csv"
    for name in (
        "adjusted",
        "adjusted_coefficients",
        "alpha",
        "clusters",
        "context",
        "corr_between_raw_scores",
        "corr_between_scores",
        "corr_rawscore_r1r2",
        "corr_rawscore_r1r2_without_shared_workers",
        "corr_zscore_r1r2",
        "corr_zscore_r1r2_without_shared_workers",
        "cost",
        "differences",
        "duration",
        "effort",
        "everyone",
        "filter",
        "forecast",
        "incidents",
        "intervals",
        "kept",
        "left_out",
        "passrate",
        "persona",
        "ranks",
        "rater_agreement",
        "rater_agreement_r",
        "replication",
        "replication_points",
        "significance_holm",
        "significance_pvalues",
        "system_raw_scores",
        "system_scores",
        "topic_changes",
        "topic_words",
        "topics_opinions",
        "worker_pvalues",
        "workers",
        "workload",
    )
)
FIGURES = frozenset(
    f"{name}.svg"
    for name in (
        "adjusted",
        "agreement",
        "alpha",
        "context",
        "criteria-correlation-raw",
        "criteria-correlation-z",
        "criteria-profile",
        "effort",
        "persona",
        "ranking",
        "replication",
        "significance",
        "topics",
        "worker-p-values",
    )
)
REPORTS = frozenset({"report.html", "report.json", "report.xlsx", "signature.txt"})
NAMES = TABLES | FIGURES | REPORTS
