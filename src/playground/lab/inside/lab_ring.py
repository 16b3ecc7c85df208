"""An io_uring with registered files: they stay open in the kernel without a descriptor (io_uring_register(2))."""
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
SETUP, REGISTER, REGISTER_FILES = 425, 427, 2


def make_ring():
    """The ring's descriptor, or None where the kernel or a sandbox refuses it. The numbers are the same on all platforms."""
    parameters = ctypes.create_string_buffer(120)
    ring = libc.syscall(SETUP, 4, parameters)
    return None if ring < 0 else ring


def register(ring, files):
    numbers = (ctypes.c_int * len(files))(*files)
    if libc.syscall(REGISTER, ring, REGISTER_FILES, numbers, len(files)) != 0:
        code = ctypes.get_errno()
        raise OSError(code, "io_uring_register: " + os.strerror(code))


def can_make_ring():
    ring = make_ring()
    if ring is None:
        return False
    os.close(ring)
    return True
