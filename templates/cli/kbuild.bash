# Completion of kbuild for bash 4 and newer, without bash-completion's functions. Load it in ~/.bashrc:
#   eval "$(kbuild completion bash)"
_kbuild() {
  local answer value note next current cut
  COMPREPLY=()
  answer=$(command kbuild __complete bash "${COMP_LINE:0:COMP_POINT}" 2>/dev/null </dev/null) || return 0
  {
    IFS=$'\t' read -r next current || return 0
    # bash breaks words at = and : too, and replaces only what follows: what stands before it is taken off.
    cut=''
    case $current in
      *"$2") cut=${current%"$2"} ;;
    esac
    while IFS=$'\t' read -r value note; do
      COMPREPLY+=("${value#"$cut"}")
    done
  } <<<"$answer"
  case $next in
    files) compopt -o default -o filenames ;;
    open) compopt -o nospace ;;
  esac
}
complete -F _kbuild kbuild
