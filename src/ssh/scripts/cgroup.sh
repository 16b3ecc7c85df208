# shellcheck shell=sh
# Which processes stand in a control group, with all that is below it.

# cgroup_pids FOLDER: their PIDs, each once, one a line, in the order of their numbers; 0 for one outside of this PID namespace.
# With v1 a process stands in a folder of each hierarchy: whoever is in any of them counts. False if there is no such folder,
# or if not all of it could be read. The daemon of a Slurm step stands beside the step's processes and ends after them
# (Slurm's cgroup v2 plugin: step_N/slurm, where only root puts anybody): it counts for nobody.
cgroup_pids() {
  group_folder=$1 group_daemon=none
  case $1 in */job_[0-9]*) group_daemon='*/job_*/step_*/slurm/*' ;; esac
  set --
  for group_root in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/systemd /sys/fs/cgroup/devices /sys/fs/cgroup/pids /sys/fs/cgroup/freezer; do
    [ ! -d "$group_root$group_folder" ] || set -- "$@" "$group_root$group_folder"
  done
  [ $# -gt 0 ] || return 1
  group_text=$(timeout 3 find "$@" ! -path "$group_daemon" -name cgroup.procs -exec cat {} + 2>/dev/null) || return 1
  echo "$group_text" | sort -un
}
