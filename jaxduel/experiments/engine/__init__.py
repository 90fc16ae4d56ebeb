"""The engine of all experiments: cells, groups and tasks; one executor, one store, one identity."""
