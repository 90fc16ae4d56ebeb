"""Reading of a sweep: its data set, tables, comparisons and figures."""
