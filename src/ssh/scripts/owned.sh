# shellcheck shell=sh disable=SC2034,SC2086,SC2154 # one text with the files beside it: variables are shared
# What a stop of a few owners would end: the processes in their folders, and what their tools say of this run. Read-only; each
# tool has one second.
#
# Contract:
#   owned [KIND ID FOLDER]…   KIND is unit, docker, podman or slurm-job. For the Nth, from 1: section `said.N`, the tool's answer
#                             with its exit code, and `pids.N`, one PID a line, exit code 1 where not all could be read. Then
#                             `own`, our own shell and ancestors, and the facts of all these processes and their ancestors
#                             (facts.sh). Neither BEGIN nor END. Needs frame.sh, side.sh, facts.sh, probe.sh (p_scan),
#                             cgroup.sh and NONCE. The words come from ../owned-script.ts, already checked.

owned_main() {
  frame_open owned 1
  owned "$@"
  frame_close 0
}

owned() (
  exec </dev/null
  unset IFS
  export LC_ALL=C
  set -f
  read -r p_began_at _ </proc/uptime
  p_began=${p_began_at%%.*}
  p_all=' ' p_room=256 p_left_out=0 p_uids=' ' p_live=' ' p_nth=0
  while [ $# -ge 3 ]; do
    p_nth=$((p_nth + 1))
    frame_begin "said.$p_nth"
    p_text=$(p_ask_run "$1" "$2" 2>&1)
    p_rc=$?
    p_text=$(say "$p_text" | head -c 8000)
    say "$p_text"
    frame_end "said.$p_nth" "$p_rc"
    frame_begin "pids.$p_nth"
    p_text=$(set +f && cgroup_pids "$3")
    p_rc=$?
    say "$p_text"
    frame_end "pids.$p_nth" "$p_rc"
    for p_pid in $p_text; do p_add "$p_pid"; done
    shift 3
  done
  set +f
  frame_begin own
  p_own 2>/dev/null
  frame_end own 0
  p_add_kin
  p_facts $p_all
  return 0
)

# p_ask_run KIND ID: not asked to end but ended: it only reads, and may be deaf.
p_ask_run() {
  case $1 in
  unit) timeout -s KILL 1 systemctl show -p "$p_run_fields" -- "$2" ;;
  docker | podman) timeout -s KILL 1 "$1" inspect --type container --format "$p_run_format" -- "$2" ;;
  slurm-job) timeout -s KILL 1 scontrol show job "$2" ;;
  esac
}

p_run_fields=Id,ActiveState,InvocationID,ControlGroup,SendSIGKILL,RefuseManualStop,RequiredBy,RequisiteOf,BoundBy,ConsistsOf,PropagatesStopTo
p_run_format='{{println "Id" .Id}}{{println "StartedAt" .State.StartedAt}}{{println "Pid" .State.Pid}}'
