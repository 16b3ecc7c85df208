"""The same verbs on a lab host, where GPU memory is an open-file-description lock on the device file (lab_holder.py)."""
import ctypes
import fcntl
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
CONTEXT_MIB = 518


class Gpus:
    def __init__(self, devices):
        self.devices = devices
        self.opened = {}
        self.more = []
        self.imported = []

    def hold(self, gpu, mib):
        file = self._enter(gpu)
        if mib > 0:
            lock(file, mib + CONTEXT_MIB)
        return gpu, mib

    def offer(self, address):
        gpu, mib = address
        return struct.pack("qq", gpu, mib), [self.opened[gpu]]

    def take(self, gpu, text, files):
        self.imported = [(gpu, struct.unpack("qq", text[:16])[1], file) for file in files]
        lock(self._enter(gpu), CONTEXT_MIB)

    def inherit(self):
        """What a driver does by itself: the importer is billed from now on."""
        for gpu, mib, file in self.imported:
            lock(self.opened[gpu], mib + CONTEXT_MIB)
            os.close(file)

    def export(self, gpu, mib):
        """As lab_holder.py has it: a lock on a file of nvidiactl, the GPU in the bits from 44 on."""
        file = os.open(self._path("nvidiactl"), os.O_RDWR)
        lock(file, mib, gpu << 44)
        return file

    def _enter(self, gpu):
        if not self.opened:
            self._open("nvidiactl")
            self._open("nvidia-uvm")
        if gpu not in self.opened:
            self.opened[gpu] = self._open("nvidia%d" % gpu)
            # As many as the real thing has open.
            self.more += [os.open(self._path("nvidia%d" % gpu), os.O_RDWR) for _ in range(19)]
        return self.opened[gpu]

    def _open(self, name):
        file = os.open(self._path(name), os.O_RDWR)
        if libc.mmap(None, 4096, 3, 1, file, 0) in (None, 2**64 - 1):
            raise OSError(ctypes.get_errno(), "mmap of " + name)
        return file

    def _path(self, name):
        return os.path.join(self.devices, name)


def lock(file, mib, base=0):
    start = base | os.getpid() << 20
    fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi", fcntl.F_RDLCK, os.SEEK_SET, start, mib, 0))
