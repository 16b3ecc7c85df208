# shellcheck shell=sh disable=SC2030,SC2031,SC2034,SC2086,SC2154 # one text with the files beside it: variables are shared
# What the tools of units, containers and jobs know of a few owners by name. Read-only; each tool has one second.
#
# Contract:
#   owners KIND NAME…     KIND is units, docker, podman or jobs and lasts until the next one; `user UID` puts that user's
#                         units behind it. Prints one section for each tool that has something to say: `units`, `user.UID`,
#                         `docker`, `podman`, `job.ID`, with the tool's exit code (127: no such tool, 137: no answer).
#                         Neither BEGIN nor END. Needs frame.sh, side.sh, facts.sh and NONCE. The words come from
#                         ../owners-script.ts, already checked: no blank in them, and none is one of these five words.
#
# Each tool is a side of its own (side.sh): one that hangs costs nobody else the answer.

owners_main() {
  frame_open owners 1
  owners "$@"
  frame_close 0
}

owners() (
  exec </dev/null
  unset IFS
  export LC_ALL=C
  # Names may hold backslashes (systemd escapes) and are never patterns.
  set -f
  read -r p_began_at _ </proc/uptime
  p_began=${p_began_at%%.*}
  p_read_status self
  p_euid=$p_uid
  p_units='' p_users='' p_docker='' p_podman='' p_jobs='' p_kind=''
  while [ $# -gt 0 ]; do
    case $1 in
    units | docker | podman | jobs) p_kind=$1 ;;
    user) p_kind=user.$2 p_users="$p_users $2" && shift ;;
    *) p_note_owner "$1" ;;
    esac
    shift
  done
  p_start 3 units 4 users 5 docker 6 podman 7 jobs -- p_read_owners
  return 0
)

p_note_owner() {
  case $p_kind in
  units) p_units="$p_units $1" ;;
  docker) p_docker="$p_docker $1" ;;
  podman) p_podman="$p_podman $1" ;;
  jobs) p_jobs="$p_jobs $1" ;;
  user.*) eval "p_units_${p_kind#user.}=\"\${p_units_${p_kind#user.}-} \$1\"" ;;
  esac
}

p_read_owners() {
  for p_fd in 3 4 5 6 7; do p_read $p_fd 4 60000; done
} 2>/dev/null

p_unit_fields=Id,LoadState,ActiveState,Restart,NRestarts,InvocationID
# One line a field: a value is the rest of it.
p_container_format='{{println "Id" .Id}}{{println "Name" .Name}}{{println "Status" .State.Status}}{{println "StartedAt" .State.StartedAt}}{{println "Restart" .HostConfig.RestartPolicy.Name}}{{println "RestartCount" .RestartCount}}'

p_side_units() {
  [ -z "$p_units" ] || p_ask_owner units systemctl show -p $p_unit_fields -- $p_units
}

p_side_users() {
  for p_user in $p_users; do
    eval "p_names=\${p_units_$p_user-}"
    [ -n "$p_names" ] || continue
    if [ "$p_user" = "$p_euid" ]; then
      export XDG_RUNTIME_DIR="/run/user/$p_user"
      p_ask_owner "user.$p_user" systemctl --user show -p $p_unit_fields -- $p_names
    else
      p_ask_owner "user.$p_user" systemctl --user "--machine=$p_user@.host" show -p $p_unit_fields -- $p_names
    fi
    [ "$p_rc" -lt 124 ] || [ "$p_rc" = 127 ] || return 0
  done
}

p_side_docker() {
  [ -z "$p_docker" ] || p_ask_owner docker docker inspect --type container --format "$p_container_format" -- $p_docker
}

p_side_podman() {
  [ -z "$p_podman" ] || p_ask_owner podman podman inspect --type container --format "$p_container_format" -- $p_podman
}

# Not `--oneliner`: a name may hold blanks, and is then the rest of its line.
p_side_jobs() {
  for p_job in $p_jobs; do
    p_ask_owner "job.$p_job" scontrol show job "$p_job"
    # The controller that did not answer for one job will not for the next.
    [ "$p_rc" -lt 124 ] || [ "$p_rc" = 127 ] || return 0
  done
}

# p_ask_owner SECTION COMMAND…: its answer as a section. What it says on standard error may be the answer.
p_ask_owner() {
  frame_begin "$1"
  p_section=$1
  shift
  p_rc=127
  if command -v "$1" >/dev/null; then
    # Not asked to end but ended: it only reads, and may be deaf.
    p_text=$(timeout -s KILL 1 "$@" 2>&1)
    p_rc=$?
    p_text=$(say "$p_text" | head -c 8000)
    say "$p_text"
  fi
  frame_end "$p_section" "$p_rc"
}
