"""Random-weight models by architecture. MODELS has each with what it is and the files it writes."""
from . import attention, encoder, recurrent
from .base import MODELS

__all__ = ["MODELS", "attention", "encoder", "recurrent"]
