"""Policies for hundreds of arms, which compare only arms of one small group at a time.

- `merge-rucb`: Zoghi, Whiteson and de Rijke, "MergeRUCB: A Method for Large-Scale Online Ranker
  Evaluation" (WSDM 2015).
- `merge-dts`: Li, Markov, de Rijke and Zoghi, "MergeDTS: A Method for Effective Large-Scale Online
  Ranker Evaluation" (TOIS 2020).

They share `groups`: the state, and how arms leave their group and groups are merged. Each has its
own rule for the two arms of a group that meet.
"""
