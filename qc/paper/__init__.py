"""Files for a paper: LaTeX tables and a methods paragraph, PDF figures, and a datasheet."""
