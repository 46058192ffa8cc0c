"""Types of requests, answers and frames, by the names they have in the service's documents."""

from ._generated.types import *  # noqa: F403
from ._generated.types import __all__ as __all__
