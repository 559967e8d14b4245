#compdef kbuild
# Completion of kbuild for zsh. Put it into a folder of $fpath as _kbuild, or load it in ~/.zshrc behind compinit:
#   eval "$(kbuild completion zsh)"
_kbuild() {
  local answer line next
  local -a lines proposals
  answer=$(command kbuild __complete zsh "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null </dev/null) || return 1
  lines=("${(@f)answer}")
  next=${lines[1]%%$'\t'*}
  for line in "${(@)lines[2,-1]}"; do
    [[ -n $line ]] && proposals+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  case $next in
    files)
      (( $#proposals )) && _describe -t commands 'kbuild' proposals
      _files
      ;;
    open) _describe -t values 'kbuild' proposals -S '' ;;
    *) _describe -t values 'kbuild' proposals ;;
  esac
}
if [[ ${funcstack[1]} == _kbuild ]]; then
  _kbuild "$@"
else
  compdef _kbuild kbuild
fi
