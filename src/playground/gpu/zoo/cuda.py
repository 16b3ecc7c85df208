"""GPU memory through the CUDA driver API (libcuda by ctypes): nothing but what NVIDIA's driver installs is needed.

Names and layouts are those of cuda.h, CUDA 12 and 13: CUmemAllocationProp, CUipcMemHandle (64 bytes, passed by value).
"""
import ctypes
import glob

PINNED = 1
POSIX_FD = 1
ON_DEVICE = 1
LAZY_PEER_ACCESS = 1
PLACES = (
    "libcuda.so.1",
    "/usr/local/nvidia/lib64/libcuda.so.1",
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
    "/usr/lib64/libcuda.so.1",
)


class IpcHandle(ctypes.Structure):
    _fields_ = [("reserved", ctypes.c_ubyte * 64)]


class Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class AllocationProperties(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("handle_types", ctypes.c_int),
        ("location", Location),
        ("win32", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    ]


def library():
    problems = []
    for path in PLACES + tuple(glob.glob("/usr/lib/*/libcuda.so.1")):
        try:
            return ctypes.CDLL(path)
        except OSError as problem:
            problems.append(str(problem))
    raise OSError("; ".join(problems))


class Gpus:
    """The memory that this process takes. `devices` is the folder of the device nodes, for `nodes` only."""

    def __init__(self, _devices):
        self.cuda = library()
        self.contexts = {}
        self._call("cuInit", ctypes.c_uint(0))

    def hold(self, gpu, mib):
        """A context on that GPU, and one plain allocation in it; 0 MiB makes the context only. Returns the address."""
        self._enter(gpu)
        if mib == 0:
            return None
        address = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(mib << 20))
        return address

    def offer(self, address):
        """What another process needs to import that allocation: the bytes, and no files."""
        handle = IpcHandle()
        self._call("cuIpcGetMemHandle", ctypes.byref(handle), address)
        return bytes(handle), []

    def take(self, gpu, text, _files):
        self._enter(gpu)
        handle = IpcHandle.from_buffer_copy(text)
        address = ctypes.c_uint64()
        open_handle = self.cuda.cuIpcOpenMemHandle_v2
        open_handle.argtypes = [ctypes.c_void_p, IpcHandle, ctypes.c_uint]
        self._check("cuIpcOpenMemHandle", open_handle(ctypes.byref(address), handle, LAZY_PEER_ACCESS))

    def inherit(self):
        """The driver moves the bill of imported memory by itself."""

    def export(self, gpu, mib):
        """Memory made for export; the file that carries it to a process without CUDA."""
        self._enter(gpu)
        properties = AllocationProperties(type=PINNED, handle_types=POSIX_FD, location=Location(ON_DEVICE, gpu))
        handle, file = ctypes.c_uint64(), ctypes.c_int()
        self._call("cuMemCreate", ctypes.byref(handle), ctypes.c_size_t(mib << 20), ctypes.byref(properties), ctypes.c_uint64(0))
        self._call("cuMemExportToShareableHandle", ctypes.byref(file), handle, POSIX_FD, ctypes.c_uint64(0))
        return file.value

    def _enter(self, gpu):
        if gpu not in self.contexts:
            device, context = ctypes.c_int(), ctypes.c_void_p()
            self._call("cuDeviceGet", ctypes.byref(device), gpu)
            self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
            self.contexts[gpu] = context
        self._call("cuCtxSetCurrent", self.contexts[gpu])

    def _call(self, name, *arguments):
        self._check(name, getattr(self.cuda, name)(*arguments))

    def _check(self, name, code):
        if code != 0:
            raise OSError("%s: CUDA error %d" % (name, code))
