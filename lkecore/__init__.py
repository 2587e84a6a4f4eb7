"""What facts does a language model know? facts → prompts → scores → answers → figures."""

import os

__version__ = "0.1.0"

# Threads of PyTorch on a CPU wait for each other by spinning. Beside any other busy process they
# then wait for a core that is not theirs: twenty times slower was measured. Must stand before torch.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
