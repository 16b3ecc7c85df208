# shellcheck shell=sh disable=SC2034,SC2154 # one text with the files beside it: variables are shared
# What the kernel says of single processes, in few forks however many they are.

# p_read_status PID: sets p_parent, p_uid (effective), p_group, p_session from /proc/PID/status; empty when it is gone.
# Builtins only. The kernel escapes newlines in Name.
p_read_status() {
  p_parent='' p_uid='' p_group='' p_session=''
  {
    while read -r p_key p_value p_second _; do
      case $p_key in
      PPid:) p_parent=$p_value ;;
      Uid:) p_uid=$p_second ;;
      NSpgid:) p_group=$p_value ;;
      NSsid:) p_session=$p_value && break ;;
      esac
    done <"/proc/$1/status"
  } 2>/dev/null
  # What bash had read ahead it hands to the next file that is read, if the process died meanwhile: to this one, then.
  while read -r p_key; do :; done </dev/null
}

# p_add PID: puts a PID into the set p_all, once, up to its limit.
p_add() {
  case $1 in '' | 0* | *[!0-9]*) return 1 ;; esac
  case $p_all in *" $1 "*) return 1 ;; esac
  [ "$p_room" -gt 0 ] || { p_left_out=$((p_left_out + 1)) && return 1; }
  p_all="$p_all$1 " p_room=$((p_room - 1))
}

# p_add_lines TEXT: the PIDs in lines that hold "/proc/PID/".
p_add_lines() {
  set -f
  IFS=$p_nl
  for p_line in $1; do
    case $p_line in */proc/*/*) ;; *) continue ;; esac
    p_pid=${p_line#*/proc/}
    p_add "${p_pid%%/*}"
  done
  unset IFS
  set +f
}

# p_note_threads TEXT: a living thread for each zombie leader in lines that hold "/proc/PID/task/TID/". The leader itself has
# no executable and no command line any more; its threads still have both.
p_note_threads() {
  set -f
  IFS=$p_nl
  for p_line in $1; do
    case $p_line in */proc/*/task/*/*) ;; *) continue ;; esac
    p_pid=${p_line#*/proc/} p_tid=${p_line#*/task/}
    p_pid=${p_pid%%/*} p_tid=${p_tid%%/*}
    case $p_live in *" $p_pid/"*) ;; *) p_live="$p_live$p_pid/$p_tid " ;; esac
  done
  unset IFS
  set +f
}

# p_find_folder PID: sets p_folder to where executable and command line are to be read.
p_find_folder() {
  p_folder=/proc/$1
  case $p_live in
  *" $1/"*)
    p_tid=${p_live#*" $1/"}
    p_folder=/proc/$1/task/${p_tid%% *}
    ;;
  esac
}

# p_add_charged TEXT: the PIDs in rows "UUID, PID, …".
p_add_charged() {
  set -f
  IFS=$p_nl
  for p_line in $1; do
    case $p_line in @* | *[!,]*,*) ;; *) continue ;; esac
    p_pid=${p_line#*,}
    p_pid=${p_pid# }
    p_add "${p_pid%%,*}"
  done
  unset IFS
  set +f
}

# Adds the ancestors of all in the set, and the leaders of their sessions and process groups; collects their uids.
p_add_kin() {
  for p_pid in $p_all; do
    p_climb=$p_pid
    while p_read_status "$p_climb" && [ -n "$p_parent" ]; do
      case $p_uids in *" $p_uid "*) ;; *) p_uids="$p_uids$p_uid " ;; esac
      p_add "$p_session"
      p_add "$p_group"
      p_add "$p_parent" || break
      p_climb=$p_parent
    done
  done
}

# p_own: "self PID", then "ancestor PID" for each up to the first.
p_own() {
  echo "self $$"
  p_climb=$$
  while p_read_status "$p_climb" && [ "${p_parent:-0}" -gt 0 ]; do
    echo "ancestor $p_parent"
    p_climb=$p_parent
  done
}

# p_facts PID…: the facts.* sections of these.
p_facts() {
  [ $# -gt 0 ] || return
  p_asked=$*
  p_start 3 plain_facts 4 slow_facts -- p_read_facts
}

p_read_facts() {
  # shellcheck disable=SC2086
  p_words $p_asked 2>/dev/null
  p_read 3 14 350000
  p_read 4 14 100000
}

# stat comes first: reading it never hangs.
p_side_plain_facts() {
  frame_begin facts.stat
  p_each stat
  frame_end facts.stat 0
  frame_begin facts.status
  p_each status
  frame_end facts.status 0
  frame_begin facts.links
  p_each links
  frame_end facts.links 0
}

# The file of an executable may lie on a dead network mount, and names may come from a dead directory server.
p_side_slow_facts() {
  frame_begin facts.executable
  p_each executable
  frame_end facts.executable 0
  frame_begin facts.users
  # shellcheck disable=SC2086
  getent passwd $p_uids | cut -d: -f 1,3
  frame_end facts.users 0
}

# p_each WHAT: one program over the files of every process in p_asked.
p_each() {
  p_what=$1
  set --
  for p_pid in $p_asked; do
    p_find_folder "$p_pid"
    case $p_what in
    stat) set -- "$@" "/proc/$p_pid/stat" "/proc/$p_pid/cgroup" "/proc/$p_pid/loginuid" ;;
    status) set -- "$@" "/proc/$p_pid/status" ;;
    links) set -- "$@" "$p_folder/exe" "$p_folder/ns/pid" "$p_folder/ns/mnt" ;;
    executable) set -- "$@" "$p_folder/exe" ;;
    esac
  done
  case $p_what in
  stat) grep -asH '' "$@" ;;
  status) grep -asH -e '^Uid:' -e '^ShdPnd:' -e '^Sig[PBIC]' "$@" ;;
  links) find "$@" -maxdepth 0 -printf '%p %l\0' ;;
  executable) stat -L --printf '%n %d:%i %u %a\n' "$@" ;;
  esac
}

# Section facts.words: the words of each command line, "/proc/PID/cmdline:WORD" a line (with "task/TID/" in it for a zombie leader) (a newline in a word reads \001).
# Too much for one answer: then one by one, 4 KiB each, in sections of their own.
p_words() {
  p_list=
  for p_pid; do p_find_folder "$p_pid" && p_list="$p_list $p_folder/cmdline"; done
  # shellcheck disable=SC2086
  p_found=$(p_scan words -zHm300 '' $p_list)
  case $p_found in
  *"@rc 75")
    p_put facts.words '@rc 0'
    for p_pid; do
      frame_begin "facts.words.$p_pid"
      p_find_folder "$p_pid"
      { head -c 4096 "$p_folder/cmdline" & } | timeout 1 cat
      frame_end "facts.words.$p_pid" $?
    done
    ;;
  *) p_put facts.words "$p_found" ;;
  esac
}
