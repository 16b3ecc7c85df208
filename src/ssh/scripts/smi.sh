# shellcheck shell=sh disable=SC2034,SC2154 # one text with the files beside it: variables are shared
# What nvidia-smi says, without ever waiting for it: a process that is stuck in the driver can't be killed.
#
# A text of p_smi is one of "@missing", "@stuck PID", or: "@fields A,B,…", "@pid CHILD WAITER", what was printed, "@rc N".
# No "@rc": it did not answer in time. After an unknown field the same again with the fields that every driver knows.

p_gpu_fields=index,uuid,pci.bus_id,name,memory.total,memory.reserved,memory.used,utilization.gpu,compute_mode,persistence_mode,mig.mode.current,driver_version,gpu_recovery_action
p_gpu_fields_old=index,uuid,pci.bus_id,name,memory.total,memory.used,utilization.gpu,compute_mode,persistence_mode,driver_version
p_charge_fields=gpu_uuid,pid,process_name,used_gpu_memory
p_smi_limit=8

# p_may_ask: sets p_refusal to the lines that stand for an answer where nvidia-smi must not be started.
p_may_ask() {
  p_refusal=''
  if ! command -v nvidia-smi >/dev/null; then
    p_refusal="@missing$p_nl@rc 127"
  else
    p_earlier=$(p_earlier_smi)
    [ -z "$p_earlier" ] || p_refusal="@stuck $p_earlier$p_nl@rc 75"
  fi
}

# p_smi gpus|charges
p_smi() {
  [ -z "$p_refusal" ] || { say "$p_refusal" && return; }
  case $1 in
  charges) p_ask_smi query-compute-apps $p_charge_fields ;;
  *)
    p_ask_smi query-gpu $p_gpu_fields
    [ "$p_rc" != 2 ] || p_ask_smi query-gpu $p_gpu_fields_old
    ;;
  esac
}

p_ask_smi() {
  echo "@fields $2"
  # shellcheck disable=SC2016
  sh -c 'echo "@pid $$ $PPID"; exec nvidia-smi "$@"' sh "--$1=$2" --format=csv,noheader,nounits 2>&1
  p_rc=$?
  echo
  echo "@rc $p_rc"
}

# The PID of an nvidia-smi that an earlier probe of ours started and that still stands after its deadline.
p_earlier_smi() {
  # shellcheck disable=SC2013
  for p_file in $(grep -lxs nvidia-smi /proc/[0-9]*/comm); do
    p_pid=${p_file#/proc/}
    p_pid=${p_pid%/comm}
    p_read_status "$p_pid"
    [ "$p_uid" = "$p_euid" ] || continue
    p_age "$p_pid"
    [ "$p_age" -gt $p_smi_limit ] || continue
    # Its command line may hang like itself: no answer is an answer.
    p_ours=$({ grep -czxsF -e "--query-gpu=$p_gpu_fields" -e "--query-gpu=$p_gpu_fields_old" -e "--query-compute-apps=$p_charge_fields" "/proc/$p_pid/cmdline" & } | timeout 1 cat)
    case $p_ours in 0) ;; *) echo "$p_pid" && return ;; esac
  done
}

# Seconds since the process began, -1 if it is gone: field 22 of stat, counted from the last ") ".
p_age() {
  p_age=-1 p_stat=
  { while IFS= read -r p_line || [ -n "$p_line" ]; do p_stat="$p_stat$p_line "; done <"/proc/$1/stat"; } 2>/dev/null
  set -f
  # shellcheck disable=SC2086
  set -- ${p_stat##*) }
  set +f
  [ $# -ge 20 ] || return
  shift 19
  read -r p_now _ </proc/uptime
  p_age=$((${p_now%%.*} - $1 / p_ticks))
}

# p_read_smi TEXT-ON-STDIN: reads p_smi's text until its end or the deadline, and ends what has not answered.
p_read_smi() {
  read -r p_now _ </proc/uptime
  p_left=$((p_began + p_smi_limit - ${p_now%%.*}))
  [ "$p_left" -ge 1 ] || p_left=1
  p_text=$(timeout "$p_left" cat | head -c 200000)
  say "$p_text"
  p_text="$p_nl$p_text$p_nl"
  case ${p_text##*"$p_nl@fields "} in
  *"$p_nl@rc "*) return ;;
  esac
  # Both tries may have said a PID: the last one counts.
  p_who_in "$p_nl@pid ${p_text##*"$p_nl@pid "}" && p_end_child
}
