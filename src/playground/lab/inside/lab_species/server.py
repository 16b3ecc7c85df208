"""A server that holds no GPU, with workers that do, all in one session. It reaps its workers and bears witness of how they ended."""
import json
import os
import signal

from lab_launch import run_holder


def become(holder):
    def reap(_number, _frame):
        for pid in list(holder.kids):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                token = holder.kids.pop(pid)
                number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
                code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
                holder.witness("exit", number, pid, code, token)

    def close_workers():
        for pid in list(holder.kids):
            from lab_launch import send_command

            send_command(pid, {"do": "exit"})

    signal.signal(signal.SIGCHLD, reap)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    for worker in holder.spec["workers"]:
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            run_holder(worker)
        holder.kids[pid] = worker["token"]
    if holder.spec.get("onTerm") == "close-workers":
        holder.before_term = close_workers
    holder.hold(holder.spec["holds"]) if holder.spec["holds"] else None
    holder.dress()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    holder.ready()
    holder.live()
