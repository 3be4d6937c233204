"""BibTeX entries of the works that a methods paragraph cites, by their keys."""

JI, MANN_WHITNEY, WILCOXON, HOLM = "ji-etal-2022-achieving", "mann-whitney-1947", "wilcoxon-1945", "holm-1979"
CAMERON, ROMANO = "cameron-etal-2008-bootstrap", "romano-wolf-2005-exact"
HEDS = "shimorina-belz-2022-human"

ENTRIES = {
    JI: r"""@inproceedings{ji-etal-2022-achieving,
  title = {Achieving Reliable Human Assessment of Open-Domain Dialogue Systems},
  author = {Ji, Tianbo and Graham, Yvette and Jones, Gareth and Lyu, Chenyang and Liu, Qun},
  booktitle = {Proceedings of the 60th Annual Meeting of the Association for Computational Linguistics
    (Volume 1: Long Papers)},
  year = {2022},
  address = {Dublin, Ireland},
  publisher = {Association for Computational Linguistics}
}""",
    MANN_WHITNEY: r"""@article{mann-whitney-1947,
  title = {On a Test of Whether one of Two Random Variables is Stochastically Larger than the Other},
  author = {Mann, Henry B. and Whitney, Donald R.},
  journal = {The Annals of Mathematical Statistics},
  volume = {18},
  number = {1},
  pages = {50--60},
  year = {1947}
}""",
    WILCOXON: r"""@article{wilcoxon-1945,
  title = {Individual Comparisons by Ranking Methods},
  author = {Wilcoxon, Frank},
  journal = {Biometrics Bulletin},
  volume = {1},
  number = {6},
  pages = {80--83},
  year = {1945}
}""",
    HOLM: r"""@article{holm-1979,
  title = {A Simple Sequentially Rejective Multiple Test Procedure},
  author = {Holm, Sture},
  journal = {Scandinavian Journal of Statistics},
  volume = {6},
  number = {2},
  pages = {65--70},
  year = {1979}
}""",
    CAMERON: r"""@article{cameron-etal-2008-bootstrap,
  title = {Bootstrap-Based Improvements for Inference with Clustered Errors},
  author = {Cameron, A. Colin and Gelbach, Jonah B. and Miller, Douglas L.},
  journal = {The Review of Economics and Statistics},
  volume = {90},
  number = {3},
  pages = {414--427},
  year = {2008}
}""",
    ROMANO: r"""@article{romano-wolf-2005-exact,
  title = {Exact and Approximate Stepdown Methods for Multiple Hypothesis Testing},
  author = {Romano, Joseph P. and Wolf, Michael},
  journal = {Journal of the American Statistical Association},
  volume = {100},
  number = {469},
  pages = {94--108},
  year = {2005}
}""",
    HEDS: r"""@inproceedings{shimorina-belz-2022-human,
  title = {The Human Evaluation Datasheet: A Template for Recording Details of Human Evaluation
    Experiments in {NLP}},
  author = {Shimorina, Anastasia and Belz, Anya},
  booktitle = {Proceedings of the 2nd Workshop on Human Evaluation of NLP Systems (HumEval)},
  year = {2022},
  pages = {54--75},
  address = {Dublin, Ireland},
  publisher = {Association for Computational Linguistics}
}""",
}


def bibliography() -> str:
    """Return all entries as a file for BibTeX."""
    return "\n\n".join(ENTRIES.values()) + "\n"
