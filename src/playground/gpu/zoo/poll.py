"""Used MiB of every GPU each 20 ms, one JSON line for each change, until standard input ends.

`nvml`: nvmlDeviceGetMemoryInfo_v2, whose `used` leaves out the driver's reserve as nvidia-smi's memory.used does.
`smi`: what nvidia-smi says, as often as it can; for lab hosts, which have no NVML. Times are CLOCK_BOOTTIME ms.
"""
import ctypes
import json
import os
import select
import subprocess
import sys
import time

STEP_S = 0.02


class Memory(ctypes.Structure):
    _fields_ = [(name, kind) for name, kind in zip(("version", "total", "reserved", "free", "used"), (ctypes.c_uint,) + (ctypes.c_ulonglong,) * 4)]


class Nvml:
    def __init__(self, gpus):
        self.library = self._load()
        self._check(self.library.nvmlInit_v2())
        self.handles = []
        for gpu in gpus:
            handle = ctypes.c_void_p()
            self._check(self.library.nvmlDeviceGetHandleByIndex_v2(gpu, ctypes.byref(handle)))
            self.handles.append(handle)

    def used(self):
        return [self._used(handle) for handle in self.handles]

    def _used(self, handle):
        memory = Memory(version=ctypes.sizeof(Memory) | (2 << 24))
        self._check(self.library.nvmlDeviceGetMemoryInfo_v2(handle, ctypes.byref(memory)))
        return memory.used >> 20

    def _load(self):
        for path in ("libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1", "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"):
            try:
                return ctypes.CDLL(path)
            except OSError:
                continue
        raise OSError("no libnvidia-ml.so.1")

    def _check(self, code):
        if code != 0:
            raise OSError("NVML error %d" % code)


class Smi:
    def __init__(self, gpus):
        self.gpus = gpus

    def used(self):
        answer = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"], capture_output=True, text=True)
        figures = [int(line) for line in answer.stdout.split()]
        return [figures[gpu] for gpu in self.gpus]


def main():
    kind, gpus = sys.argv[1], [int(word) for word in sys.argv[2].split(",")]
    source = {"nvml": Nvml, "smi": Smi}[kind](gpus)
    before = None
    while True:
        used = source.used()
        if used != before:
            before = used
            at = round(time.clock_gettime(time.CLOCK_BOOTTIME) * 1000, 1)
            sys.stdout.write(json.dumps([at, used]) + "\n")
            sys.stdout.flush()
        if select.select([0], [], [], STEP_S)[0] and os.read(0, 1) == b"":
            return


main()
