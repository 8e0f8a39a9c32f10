"""Kernels that have imported what notebooks import before they are asked for anything.

Otherwise each notebook of a sweep waits three or four seconds for the same modules. A worker is forked from a process
that `preload` has prepared (`executors.processes`), and forks its kernel from itself while it has no threads. So a notebook
has a process of its own as ever, that knows nothing of the others.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
from multiprocessing.connection import Connection
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any, cast

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

IPYKERNEL = [sys.executable, "-m", "ipykernel_launcher"]
"""How a kernel of this Python is launched; any other one is not replaced."""

_waiting: list[Waiting] = []


class Waiting:
    """A forked process that waits for being a kernel; then what `LocalProvisioner` wants of a `subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self) -> None:
        theirs, self._orders = multiprocessing.Pipe(duplex=False)
        # Not a daemon: a notebook may have child processes. So the end of this process closes the pipe
        # before it waits for its children, and a kernel that was never wanted ends.
        self._process = multiprocessing.get_context("fork").Process(target=_become_kernel, args=(theirs, self._orders))
        self._process.start()
        theirs.close()
        Finalize(self, self._orders.close, exitpriority=100)

    def start(self, arguments: list[str], environment: dict[str, str], folder: str) -> None:
        with self._orders:
            self._orders.send((arguments, environment, folder))

    @property
    def pid(self) -> int:
        return cast("int", self._process.pid)

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


class _Provisioner(LocalProvisioner):
    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        if not _waiting or cmd[: len(IPYKERNEL)] != IPYKERNEL:
            return await super().launch_kernel(cmd, **kwargs)
        self.cwd = kwargs.get("cwd") or Path.cwd()
        kernel = _waiting.pop()
        kernel.start(cmd[len(IPYKERNEL) :], kwargs["env"], str(self.cwd))
        self.process = cast("Any", kernel)
        self.pid = self.pgid = kernel.pid
        return self.connection_info


class KernelManager(AsyncKernelManager):
    """Starts the kernel that `fork_kernel` left waiting, if there is one and it is of the kind that is asked for."""

    def __init__(self, **named: Any) -> None:
        super().__init__(**named)
        self.provisioner = _Provisioner(kernel_id=self.kernel_id, kernel_spec=self.kernel_spec, parent=self)


def fork_kernel() -> None:
    """Let a kernel wait. Call this while there is one thread only."""
    _waiting.append(Waiting())


def _become_kernel(orders: Connection, senders: Connection) -> None:
    senders.close()  # the end of the worker shall be the end of the pipe
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.setsid()  # as Jupyter has it: Ctrl-C is for whoever started the kernel
    try:
        arguments, environment, folder = orders.recv()
    except EOFError:
        return
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    tempfile.tempdir = None  # the environment says where
    from ipykernel import kernelapp

    sys.argv = [kernelapp.__file__, *arguments]
    parent = f"--IPKernelApp.parent_handle={os.getppid()}"  # otherwise from an environment that was another one
    kernelapp.launch_new_instance(argv=[*arguments, parent])
