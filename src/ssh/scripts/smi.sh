# shellcheck shell=sh disable=SC2034,SC2154 # one text with the files beside it: variables are shared
# What nvidia-smi says, without ever waiting for it: a process that is stuck in the driver can't be killed.
#
# A section's text is "@missing" or "@stuck PID" with "@rc N"; or "@fields A,B,…", "@pid CHILD WAITER", what was printed,
# "@rc N". No "@rc": it did not answer in time. After an unknown field once more, with the fields that every driver knows.

p_gpu_fields=index,uuid,pci.bus_id,name,memory.total,memory.reserved,memory.used,utilization.gpu,compute_mode,persistence_mode,mig.mode.current,driver_version,gpu_recovery_action
p_gpu_fields_old=index,uuid,pci.bus_id,name,memory.total,memory.used,utilization.gpu,compute_mode,persistence_mode,driver_version
p_charge_fields=gpu_uuid,pid,process_name,used_gpu_memory
# For settings.sh. Clocks for applications are on their way out, so that a driver may come to know none.
p_settings_fields=index,uuid,clocks.applications.graphics,clocks.applications.memory,clocks.default_applications.graphics,clocks.default_applications.memory,power.limit,power.default_limit,enforced.power.limit,persistence_mode,compute_mode,mig.mode.current,ecc.mode.current,ecc.errors.uncorrected.volatile.total,ecc.errors.uncorrected.aggregate.total
p_settings_fields_old=index,uuid,power.limit,power.default_limit,enforced.power.limit,persistence_mode,compute_mode,ecc.mode.current,ecc.errors.uncorrected.volatile.total,ecc.errors.uncorrected.aggregate.total
# For sample.sh. Begins as the memory watch of memory.sh asks, so that a stuck one is known as ours by the same words.
p_usage_fields=uuid,memory.used,utilization.gpu,index
p_smi_limit=8

p_side_gpus() {
  frame_begin gpus
  [ -z "$p_refusal" ] || say "$p_refusal"
  if [ -z "$p_refusal" ]; then
    p_ask_smi query-gpu $p_gpu_fields
    [ "$p_rc" != 2 ] || p_ask_smi query-gpu $p_gpu_fields_old
  fi
  frame_end gpus "$p_rc"
}

p_side_charges() {
  frame_begin charges
  [ -z "$p_refusal" ] || say "$p_refusal"
  [ -n "$p_refusal" ] || p_ask_smi query-compute-apps $p_charge_fields
  frame_end charges "$p_rc"
  # Which device file is which GPU. The driver answers here: a stuck one hangs this side, not the next.
  p_text=$(grep -asH -e '^GPU UUID:' -e '^Device Minor:' -e '^Bus Location:' /proc/driver/nvidia/gpus/*/information)
  p_put minors "$p_text$p_nl@rc $?"
}

p_ask_smi() {
  echo "@fields $2"
  read -r p_self _ </proc/self/stat
  # shellcheck disable=SC2016
  sh -c 'echo "@pid $$ $0"; exec nvidia-smi "$@"' "$p_self" "--$1=$2" --format=csv,noheader,nounits 2>&1
  p_rc=$?
  echo
  echo "@rc $p_rc"
}

# p_may_ask: sets p_refusal to the lines that stand for an answer where nvidia-smi must not be started.
p_may_ask() {
  p_refusal='' p_rc=127
  if ! command -v nvidia-smi >/dev/null; then
    p_refusal="@missing$p_nl@rc 127"
  else
    p_earlier=$(p_earlier_smi)
    [ -z "$p_earlier" ] || p_refusal="@stuck $p_earlier$p_nl@rc 75" p_rc=75
  fi
} 2>/dev/null

# The PID of an nvidia-smi that an earlier probe of ours started and that still stands after its deadline.
p_earlier_smi() {
  # shellcheck disable=SC2013
  for p_file in $(grep -lxs nvidia-smi /proc/[0-9]*/comm); do
    p_pid=${p_file#/proc/}
    p_pid=${p_pid%/comm}
    p_read_status "$p_pid"
    [ "$p_uid" = "$p_euid" ] || continue
    p_find_age "$p_pid"
    [ "$p_age" -gt $p_smi_limit ] || continue
    # Its command line may hang like itself, and then can't be killed: no answer is an answer.
    p_ours=$({ grep -czsF -e "--query-gpu=$p_gpu_fields" -e "--query-gpu=$p_gpu_fields_old" -e "--query-compute-apps=$p_charge_fields" -e "--query-gpu=$p_settings_fields" -e "--query-gpu=$p_settings_fields_old" -e --query-gpu=uuid,memory.used "/proc/$p_pid/cmdline" & } | timeout 1 cat)
    case $p_ours in 0) ;; *) echo "$p_pid" && return ;; esac
  done
}

# p_find_age PID: sets p_age to the seconds since it began, -1 if it is gone: field 22 of stat, counted from the last ") ".
# /proc counts 100 ticks a second wherever NVIDIA has a driver (USER_HZ).
p_find_age() {
  p_age=-1 p_stat=
  { while IFS= read -r p_line || [ -n "$p_line" ]; do p_stat="$p_stat$p_line "; done <"/proc/$1/stat"; } 2>/dev/null
  set -f
  # shellcheck disable=SC2086
  set -- ${p_stat##*) }
  set +f
  [ $# -ge 20 ] || return
  shift 19
  while read -r p_line _; do p_now=$p_line; done </proc/uptime
  p_age=$((${p_now%%.*} - ${1%??}))
}

# p_read_smi FD: reads what one of these sides prints, and ends an nvidia-smi that has not answered, before the shell that
# waits for it: only then it is known to be ours.
p_read_smi() {
  read -r p_side p_side_parent <&"$1"
  p_seconds_left $p_smi_limit
  p_text=$(p_copy "$1" 200000)
  say "$p_text"
  case $p_text in
  *"$p_nl@rc "*) ;;
  *) p_who_in "$p_nl${p_text##*"$p_nl@fields "}" && p_end_child ;;
  esac
  p_end_side
} 2>/dev/null
