# Completion of kbuild for fish. Put it into ~/.config/fish/completions/kbuild.fish, or load it in config.fish:
#   kbuild completion fish | source
function __kbuild_complete
    set -l words (commandline -opc)
    while set -q words[1]; and string match -q '*=*' -- $words[1]
        set -e words[1]
    end
    set -l current (commandline -ct | string unescape)
    set -l answer (command kbuild __complete fish $words[2..-1] "$current" 2>/dev/null </dev/null)
    set -q answer[1]; or return
    set -l next (string split -f 1 \t -- $answer[1])
    if set -q answer[2]
        printf '%s\n' $answer[2..-1]
    end
    test "$next" = files; or return
    set -l option (string match -r -- '^--[a-z-]+=' "$current")
    for file in (__fish_complete_path (string replace -r -- '^--[a-z-]+=' '' "$current"))
        printf '%s\n' "$option$file"
    end
end
complete -c kbuild -e
complete -c kbuild -f -k -a '(__kbuild_complete)'
