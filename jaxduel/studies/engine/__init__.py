"""The engine of all studies: cells, groups and tasks; one executor, one store, one identity."""
