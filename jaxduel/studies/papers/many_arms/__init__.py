"""Many arms: MergeRUCB (WSDM 2015), MergeDTS (TOIS 2020) and REX3 (ICML 2015)."""
