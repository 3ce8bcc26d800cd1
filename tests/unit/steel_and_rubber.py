"""Materials of things that meet."""

import carom

STEEL = carom.Material(210e9, 0.29, 1.12e9)
RUBBER = carom.Material(5e6, 0.49)
