"""Zoghi, Karnin, Whiteson and de Rijke, "Copeland Dueling Bandits" (NIPS 2015)."""
