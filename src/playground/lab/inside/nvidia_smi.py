"""A stand-in for nvidia-smi on lab hosts. It says so in its names, keeps no state, and reads every figure from the kernel:

used MiB and charged PIDs are the open-file-description locks on the device files, as /proc/locks lists them.
"""
import os
import sys
import time

LAB = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESERVED_MIB = 616
DRIVER = "lab-stand-in"
ALIASES = {
    "gpu_name": "name",
    "gpu_uuid": "uuid",
    "gpu_bus_id": "pci.bus_id",
    "process_name": "name",
    "used_gpu_memory": "used_memory",
}
UNITS = {"memory.total": "MiB", "memory.reserved": "MiB", "memory.used": "MiB", "memory.free": "MiB", "used_memory": "MiB"}
UNITS["utilization.gpu"] = "%"


def main():
    fault, _, detail = read(LAB + "/control/smi").strip().partition(" ")
    if fault == "hung":
        hang()
    if fault == "garbage":
        sys.stdout.buffer.write(b"\x00\xff\xfe{]] 17,, MiB\n\x1b[2Jnot, a, row\n,,,,,,,\n")
        return 0
    if fault == "failed":
        print("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 0.0 (lab stand-in)")
        return 18
    if fault == "no-devices":
        print("No devices were found")
        return 6
    options = dict(argument.lstrip("-").partition("=")[::2] for argument in sys.argv[1:])
    gpus = [line.split("\t") for line in read(LAB + "/run/gpus.tsv").splitlines()]
    held = locks({gpu[5] for gpu in gpus})
    if "query-gpu" in options:
        broken, _, text = detail.partition(" ") if fault == "gpu-fault" else ("", "", "")
        return table(options, options["query-gpu"], gpu_rows(gpus, held, broken, text))
    if "query-compute-apps" in options:
        return table(options, options["query-compute-apps"], app_rows(gpus, held))
    if "L" in options:
        for gpu in gpus:
            print("GPU %s: %s (UUID: %s)" % (gpu[0], gpu[3], gpu[1]))
        return 0
    print("nvidia-smi: lab stand-in; figures are locks on the device files")
    for row in gpu_rows(gpus, held, "", ""):
        print("%(index)s  %(name)s  %(memory.used)s / %(memory.total)s MiB" % row)
    return 0


def locks(keys):
    """key -> {pid: MiB}; start >> 20 is the PID that took the memory, the length its MiB."""
    held = {key: {} for key in keys}
    with open("/proc/locks") as file:
        for line in file:
            words = line.split()
            if words[1] == "OFDLCK" and words[5] in held:
                start, end = int(words[6]), int(words[7])
                pids = held[words[5]]
                pids[start >> 20] = pids.get(start >> 20, 0) + end - start + 1
    return held


def gpu_rows(gpus, held, broken, text):
    utilization = dict(line.split() for line in read(LAB + "/control/utilization").splitlines())
    for index, uuid, bus, name, total, key, _ in gpus:
        used = sum(held[key].values())
        row = {
            "index": index,
            "uuid": uuid,
            "pci.bus_id": bus,
            "name": name,
            "memory.total": total,
            "memory.reserved": str(RESERVED_MIB),
            "memory.used": str(used),
            "memory.free": str(int(total) - RESERVED_MIB - used),
            "utilization.gpu": utilization.get(index, "0"),
            "compute_mode": "Default",
            "persistence_mode": "Enabled",
            "mig.mode.current": "Disabled",
            "display_active": "Disabled",
            "driver_version": DRIVER,
            "ecc.errors.uncorrected.volatile.total": "0",
            "gpu_recovery_action": "None",
            "count": str(len(gpus)),
            "serial": "[N/A]",
            "timestamp": time.strftime("%Y/%m/%d %H:%M:%S.000"),
        }
        if index == broken:
            kept = ("index", "uuid", "pci.bus_id", "name", "driver_version")
            row = {field: value if field in kept else text for field, value in row.items()}
        yield row


def app_rows(gpus, held):
    for _, uuid, bus, gpu_name, _, key, device in gpus:
        for pid, mib in sorted(held[key].items()):
            name = process_name(pid, device)
            if name is not None:
                yield {"uuid": uuid, "pid": str(pid), "name": name, "used_memory": str(mib), "pci.bus_id": bus, "gpu_name": gpu_name}


def process_name(pid, device):
    """As the driver was seen to name it; None for a process that has only a mapping left, which gets no row."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            state = file.read().rsplit(b")", 1)[1].split()[0]
        if state == b"Z":
            return "[No data]"
        if only_mapped(pid, device):
            return None
        with open("/proc/%d/cmdline" % pid, "rb") as file:
            return file.read().split(b"\0")[0].decode("utf-8", "replace")
    except OSError:
        return "[Not Found]"


def only_mapped(pid, device):
    folder = "/proc/%d/fd/" % pid
    try:
        for fd in os.listdir(folder):
            try:
                if os.readlink(folder + fd) == device:
                    return False
            except FileNotFoundError:
                continue
        with open("/proc/%d/maps" % pid) as file:
            return any(line.rstrip().endswith(device) for line in file)
    except PermissionError:
        return False


def table(options, fields, rows):
    wanted = fields.split(",")
    form = options.get("format", "")
    known = list(rows)
    names = [ALIASES.get(field.strip(), field.strip()) for field in wanted]
    if "query-compute-apps" in options:
        names = ["gpu_name" if field.strip() == "gpu_name" else name for field, name in zip(wanted, names)]
        valid = {"timestamp", "gpu_name", "pci.bus_id", "uuid", "pid", "name", "used_memory"}
    else:
        valid = set(next(iter(known), {}))
    for field, name in zip(wanted, names):
        if name not in valid:
            print('Field "%s" is not a valid field to query.\n' % field.strip())
            return 2
    if "noheader" not in form:
        print(", ".join(w.strip() + (" [%s]" % UNITS[n] if n in UNITS else "") for w, n in zip(wanted, names)))
    for row in known:
        print(", ".join(shown(row.get(name, "[N/A]"), name, form) for name in names))
    return 0


def shown(value, name, form):
    return value + " " + UNITS[name] if name in UNITS and "nounits" not in form and value.isdigit() else value


def hang():
    """Until the fault is taken back or the lab is gone; like a call stuck in a driver it does not hear TERM."""
    import signal

    for name in ("TERM", "INT", "HUP", "PIPE"):
        signal.signal(getattr(signal, "SIG" + name), signal.SIG_IGN)
    while read(LAB + "/control/smi").startswith("hung"):
        time.sleep(0.05)


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


sys.exit(main())
