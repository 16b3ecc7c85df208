# shellcheck shell=sh disable=SC2034,SC2154 # one text with the files beside it: variables are shared
# Who holds a device: by open files, by mappings, by the threads of zombie leaders; and whose name holds a literal.
#
# Each p_side_* prints whole sections. A section's text ends with a line "@rc N"; one without it was cut or timed out. Text
# from a process always has its /proc path in front of it on every line, so that no process can write a line of ours.

p_side_maps() { p_put maps "$(p_scan_maps)"; }
p_side_matches() { p_put matches "$(p_scan_matches "$p_patterns")"; }

# Two finds use two cores and halve the argument list.
p_side_even() { p_put fds "$(p_count_links 1-3 /proc/[2468]/fd /proc/[0-9]*[02468]/fd)"; }
p_side_odd() { p_put fds "$(p_count_links 1-3 /proc/[13579]/fd /proc/[0-9]*[13579]/fd)"; }

# State Z: plain zombies hold nothing, leaders whose threads live may: only the threads' own folders show it.
p_side_zombies() {
  # `) Z ` may stand in a name as well: only a first sieve, cheaper than reading every status.
  p_list=$(grep -las ') Z ' /proc/[0-9]*/stat)
  p_rc=$? p_said='' p_threads='@rc 0'
  if [ -n "$p_list" ]; then
    set --
    for p_file in $p_list; do set -- "$@" "${p_file%stat}status"; done
    p_said=$(grep -asH -e '^State:' -e '^Threads:' "$@")
  fi
  p_put zombies "$p_said$p_nl@rc $p_rc"
  set --
  for p_line in $p_said; do
    case $p_line in
    */status:Threads:) p_pid=${p_line#/proc/} p_pid=${p_pid%%/*} ;;
    [2-9] | [1-9][0-9]*) set -- "$@" "/proc/$p_pid/task/"*/fd ;;
    esac
  done
  [ $# -eq 0 ] || p_threads=$(p_count_links 1-5 "$@")
  p_put threads "$p_threads"
}

# p_count_links FIELDS folder…: open files by device, "COUNT FOLDER LINK" a line, then "1 find: '/proc/PID" for each process
# that refused (FIELDS of its path), and "1 @find RC". Names may hold newlines: records end in NUL until they are counted.
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
  } 8>&1 | sort -z | uniq -zc | tr '\n\0' '?\n' | head -c 250000
  echo "@rc $?"
}

# "/proc/PID/maps:DEVICE" a line. A fixed text sieves all files fast; on the few that are left the line's form is spelled
# out: a file name that holds the device's path is no device.
p_scan_maps() {
  p_found=$(p_scan lines -lF " $p_dev/nvidia" /proc/[0-9]*/maps)
  p_list_maps "$p_found"
  case $p_list in '') say "$p_found" && return ;; esac
  case $p_found in *@stuck*) say "$p_found" ;; esac
  # shellcheck disable=SC2086
  p_found=$(p_scan lines -l "^[^ ]* [^ ]* [^ ]* [^ ]* [0-9]* *$p_dev/nvidia" $p_list)
  p_list_maps "$p_found"
  case $p_list in '') say "$p_found" && return ;; esac
  case $p_found in *@stuck*) say "$p_found" ;; esac
  # shellcheck disable=SC2086
  p_scan lines -oH "$p_dev/nvidia.*" $p_list
}

# p_list_maps TEXT: sets p_list to the maps files that stand in it.
p_list_maps() {
  p_list=''
  for p_file in $1; do
    case $p_file in /proc/*/maps) p_list="$p_list $p_file" ;; esac
  done
}

# "@literal PATTERN" for each pattern in $1, then "/proc/PID/cmdline:FOUND" and "/proc/PID/comm:FOUND" a line.
p_scan_matches() {
  case $1 in '') echo '@rc 0' && return ;; esac
  set -f
  IFS=$p_nl
  for p_line in $1; do say "@literal $p_line"; done
  unset IFS
  set +f
  p_scan lines -oiH "$1" /proc/[0-9]*/comm /proc/[0-9]*/cmdline
}

# p_scan KIND OPTIONS PATTERNS file…: grep over files that may hang for ever (cmdline and maps of a process that is stuck in
# the kernel). When the limit passes, the file where it stood is named, "@stuck PID", and the rest is scanned. KIND says
# how the text is reduced. Ends with "@rc N", N from grep; 124: gave up; 75: too long.
p_scan() {
  p_kind=$1 p_option=$2 p_pattern=$3 p_limit=3 p_tries=''
  shift 3
  while [ $# -gt 0 ]; do
    case $p_kind in
    words) p_mark='\0' ;;
    *) p_mark='\n' ;;
    esac
    p_said=$(p_grep "$@" | p_take)
    say "$p_said"
    # Anchored to the start of a line, where only we can write.
    case $p_nl$p_said$p_nl in
    *"$p_nl@rc "*) return ;;
    *"$p_nl@stood /proc/"*) ;;
    *) break ;;
    esac
    p_stood=${p_said##*"@stood "}
    p_pid=${p_stood#/proc/}
    echo "@stuck ${p_pid%%/*}"
    while [ $# -gt 0 ] && [ "$1" != "$p_stood" ]; do shift; done
    [ $# -gt 0 ] || break
    shift
    # One by one, and not for ever: the whole probe has an end.
    p_limit=1 p_tries=x$p_tries
    case $p_tries in xxx) break ;; esac
  done
  case $#$p_said in
  0*) echo '@rc 0' ;;
  *"@end 0") echo '@rc 75' ;;
  *) echo '@rc 124' ;;
  esac
}

# Says who it is, so that it can be found and ended when it hangs, then greps. The patterns come by stdin: a literal in our
# own argv would match ourselves and everybody else's probe.
p_grep() {
  read -r p_self _ </proc/self/stat
  # shellcheck disable=SC2016
  say "$p_pattern" | sh -c 'printf "@pid $$ $1$0"; shift; exec grep --line-buffered -as -f - "$@"' "$p_mark" "$p_self" "$p_option" -- "$@"
  printf "@rc %s$p_mark" "$?"
}

# Reads a scan to its end or its limit. The scan stands on the left of a pipe that waits for it, so that no zombie is left
# on a host whose first process reaps none: a hung one is ended here, or at least the shell that waits for it.
p_take() {
  case $p_kind in
  words) p_text=$(p_timed_cat | cut -z -b1-4200 | head -c 300000 | tr '\n\0' '\001\n') ;;
  *) p_text=$(p_timed_cat | tr '\0' ' ' | sort -u | head -c 150000) ;;
  esac
  say "$p_text"
  p_text=$p_nl$p_text$p_nl
  case $p_text in *"$p_nl@rc "*) return ;; esac
  p_who_in "$p_text" || return
  p_stood=$(readlink "/proc/$p_child/fd/"* 2>/dev/null | grep -m 1 '^/proc/[0-9]*/')
  p_end_child
  case $p_text in *"$p_nl@end 124$p_nl"*) [ -z "$p_stood" ] || echo "@stood $p_stood" ;; *) echo '@end 0' ;; esac
}

p_timed_cat() {
  timeout "$p_limit" cat
  printf "@end %s$p_mark" "$?"
}
