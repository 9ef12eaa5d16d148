"""hikae: a messaging bot that remembers, asks first, and can prove that it has forgotten.

Start reading at `gateway/__main__.py` (processes) or `gateway/conversation/turn.py` (one answer).
"""

__version__ = "0.1.0"
