"""A server that holds no GPU, with workers that do, all in one session. It reaps its workers and bears witness of how they ended.

With "respawns" it is a supervisor: a worker that ends by anything but our own order is started again, under a new PID.
"""
import os
import signal

from lab_launch import run_holder, send_command, take_place

# A worker that cannot live must not become a fork bomb.
MOST_RESPAWNS = 50


def become(holder):
    workers = {}
    respawned = 0
    closing = False

    def start(worker):
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            take_place(worker)
            run_holder(worker)
        holder.kids[pid] = worker["token"]
        workers[pid] = worker

    def reap(_number, _frame):
        nonlocal respawned
        for pid in list(holder.kids):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                token = holder.kids.pop(pid)
                worker = workers.pop(pid)
                number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
                code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
                holder.witness("exit", number, pid, code, token)
                if holder.spec.get("respawns") and not closing and respawned < MOST_RESPAWNS:
                    respawned += 1
                    start(worker)

    def close_workers():
        nonlocal closing
        closing = True
        for pid in list(holder.kids):
            send_command(pid, {"do": "exit"})

    signal.signal(signal.SIGCHLD, reap)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    for worker in holder.spec["workers"]:
        start(worker)
    if holder.spec.get("onTerm") == "close-workers":
        holder.before_term = close_workers
    holder.hold(holder.spec["holds"]) if holder.spec["holds"] else None
    holder.dress()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    holder.ready()
    holder.live()
