"""Quarriors: draw dice, roll them, summon creatures, attack everybody, buy better dice."""
