"""Forked kernel: how Jupyter's client starts the kernel that waits in a warm worker."""

import os
from typing import Any

from jupyter_client.provisioning import LocalProvisioner

WAITING: list[tuple[Any, Any]] = []  # in a worker: its kernel's process, and the pipe for its order


class ForkedKernel(LocalProvisioner):
    """A kernel of `lkecore.runs.forkserver`; only its start differs from that of a separate process."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> dict[str, Any]:
        if not WAITING:  # a second kernel was asked for
            return await super().launch_kernel(cmd, **kwargs)
        self.process, order = WAITING.pop()
        self.pid = self.process.pid
        arguments = cmd[cmd.index("ipykernel_launcher") + 1 :]
        order.send((arguments, dict(kwargs.get("env") or os.environ), kwargs.get("cwd")))
        return self.connection_info
