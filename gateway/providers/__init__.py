"""External memory services, one file each. There is none yet; `memory.provider` allows no other value than none."""

from gateway.ports import Provider


def build(name: str) -> Provider | None:
    """The service that the settings name; None for none."""
    return None
