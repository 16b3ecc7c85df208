# shellcheck shell=sh disable=SC2034,SC2154 # one text with the files beside it: variables are shared
# Who holds a device: by open files, by mappings, by the threads of zombie leaders; and whose name holds a literal.
#
# Each p_scan_* ends its text with a line "@rc N". A text without it was cut or timed out. Text from a process always has
# its /proc path in front of it on every line, so that no process can write a line of ours.

p_nl='
'

# p_scan_fds even|odd: open files by device, "COUNT /proc/PID/fd LINK" a line, for the PIDs that end in such a digit (two
# finds use two cores and halve the argument list). Then "1 find: '/proc/PID" for each process that refused, and "1 @find RC".
p_scan_fds() {
  case $1 in
  even) set -- /proc/[2468]/fd /proc/[0-9]*[02468]/fd ;;
  *) set -- /proc/[13579]/fd /proc/[0-9]*[13579]/fd ;;
  esac
  p_count_links 1-3 "$@"
}

# p_count_links FIELDS folder…: the same for these fd folders; FIELDS of a refused path are told. Names may hold newlines:
# records end in NUL until they are counted.
p_count_links() {
  p_told=$1
  shift
  {
    p_troubles=$(
      {
        find "$@" -maxdepth 1 -lname "$p_dev/nvidia*" -printf '%h %l\0' 2>&1 >&8
        echo "@find $?"
      } | grep -av 'No such '
    )
    case $p_troubles in
    *denied*) p_troubles=$(say "$p_troubles" | cut -c1-160 | cut -d/ -f"$p_told" | sort -u) ;;
    esac
    say "$p_troubles" | tr '\n' '\0' >&8
  } 8>&1 | sort -z | uniq -zc | tr '\n\0' '?\n'
  echo "@rc $?"
}

# p_grep MARK OPTIONS PATTERNS file…: says who it is, so that a hung one can be found, then greps. The patterns come by
# stdin: a literal in our own argv would match ourselves and everybody else's probe.
p_grep() {
  p_mark=$1 p_options=$2 p_patterns_now=$3
  shift 3
  # shellcheck disable=SC2016
  say "$p_patterns_now" | sh -c 'printf "@pid $$ $PPID$0"; exec grep --line-buffered -as -f - "$@"' "$p_mark" "$p_options" -- "$@"
  printf "@rc %s$p_mark" "$?"
}

# p_scan KIND OPTIONS PATTERNS file…: p_grep over files that may hang for ever (cmdline and maps of a process that is stuck
# in the kernel). A child that can't be killed stays outside: it writes into a pipe that is read to a deadline. Then the
# file where it stood is named, "@stuck PID", and the rest is scanned. KIND says how the text is reduced.
p_scan() {
  p_kind=$1 p_option=$2 p_pattern=$3 p_limit=3 p_rc=1
  shift 3
  while [ $# -gt 0 ]; do
    case $p_kind in
    words) p_said=$(p_read_scan '\0' "$@" | cut -z -b1-4200 | head -c 400000 | tr '\n\0' '\001\n') ;;
    *) p_said=$(p_read_scan '\n' "$@" | tr '\0' ' ' | sort -u | head -c 200000) ;;
    esac
    say "$p_said" | grep -av '^@'
    # Anchored to the start of a line, where only we can write.
    p_said=$p_nl$p_said$p_nl
    case $p_said in
    *"$p_nl@rc "*)
      p_rc=${p_said##*"$p_nl@rc "}
      p_rc=${p_rc%%"$p_nl"*}
      break
      ;;
    *"$p_nl@end 124$p_nl"*) ;;
    *) p_rc=75 && break ;;
    esac
    p_rc=124
    p_stood=$(p_end_scan "$p_said")
    [ -n "$p_stood" ] || break
    p_stuck_pid=${p_stood#/proc/}
    echo "@stuck ${p_stuck_pid%%/*}"
    while [ $# -gt 0 ] && [ "$1" != "$p_stood" ]; do shift; done
    [ $# -gt 0 ] && shift && p_rc=1
    # One by one, and not for ever: the whole probe has an end.
    p_limit=1 p_tries=${p_tries-}x
    case $p_tries in xxxx*) p_rc=124 && break ;; esac
  done
  p_tries=
  echo "@rc $p_rc"
}

p_read_scan() {
  p_end=$1
  shift
  { p_grep "$p_end" "$p_option" "$p_pattern" "$@" & } | {
    timeout "$p_limit" cat
    printf "@end %s$p_end" "$?"
  }
}

# The file at which a hung grep stands; then ends it.
p_end_scan() {
  p_who_in "$1" || return
  readlink "/proc/$p_child/fd/"* 2>/dev/null | grep -m 1 '^/proc/[0-9]*/'
  p_end_child
}

# Sets p_child and p_waiter from the line "@pid CHILD WAITER" of a text that begins with a newline.
p_who_in() {
  case $1 in *"$p_nl@pid "*) ;; *) return 1 ;; esac
  p_who=${1#*"$p_nl@pid "}
  p_who=${p_who%%"$p_nl"*}
  p_child=${p_who%% *} p_waiter=${p_who##* }
  case $p_child$p_waiter in '' | *[!0-9]*) return 1 ;; esac
}

# Ends a hung child of ours and the shell that waits for it, as far as they can be ended; nobody else's process, whatever
# the text said: the child must still be the waiter's.
p_end_child() {
  p_read_status "$p_child"
  [ "$p_parent" = "$p_waiter" ] && kill -9 "$p_child" "$p_waiter" 2>/dev/null
}

# "/proc/PID/maps:…DEVICE" a line. The line's form is spelled out: a file name that holds the device's path is no device.
p_scan_maps() {
  p_line="^[^ ]* [^ ]* [^ ]* [^ ]* [0-9]* *$p_dev/nvidia"
  p_found=$(p_scan lines -l "$p_line" /proc/[0-9]*/maps)
  say "$p_found" | grep -a '^@'
  p_list=$(say "$p_found" | grep -a '^/proc/')
  [ -n "$p_list" ] || return
  # shellcheck disable=SC2086
  p_scan lines -oH "$p_dev/nvidia.*" $p_list
}

# State Z, "/proc/PID/status:State:…" and "/proc/PID/status:Threads:…": plain zombies hold nothing, leaders with threads may.
p_scan_zombies() {
  # `) Z ` may stand in a name as well: only a first sieve, cheaper than reading every status.
  p_list=$(grep -las ') Z ' /proc/[0-9]*/stat)
  p_rc=$?
  case $p_list in '') echo "@rc $p_rc" && return ;; esac
  set --
  for p_file in $p_list; do set -- "$@" "${p_file%stat}status"; done
  grep -asH -e '^State:' -e '^Threads:' "$@"
  echo "@rc $p_rc"
}

# Open files of the threads of the zombie leaders in "$@".
p_scan_threads() {
  case $# in 0) echo '@rc 0' && return ;; esac
  set -f
  p_list=
  for p_pid; do p_list="$p_list /proc/$p_pid/task/*/fd"; done
  set +f
  # shellcheck disable=SC2086
  p_count_links 1-5 $p_list
}

# "@literal PATTERN" for each pattern in $1, then "/proc/PID/cmdline:FOUND" and "/proc/PID/comm:FOUND" a line.
p_scan_matches() {
  set -f
  IFS=$p_nl
  for p_line in $1; do say "@literal $p_line"; done
  unset IFS
  set +f
  case $1 in '') echo '@rc 0' ;; *) p_scan lines -oiH "$1" /proc/[0-9]*/comm /proc/[0-9]*/cmdline ;; esac
}
