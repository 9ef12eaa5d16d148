"""Skills: procedures that the model can follow, one folder with a SKILL.md each. The one door is `editing`."""
