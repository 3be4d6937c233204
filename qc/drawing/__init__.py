"""Draw figures: sheets, panels, rows, labels and their style."""
