# shellcheck shell=sh
# A function for probes that read files without a process.

# Prints the text file $1, a line feed at its end. The shell takes an error of reading for the end of the file: a file
# that is not empty and of which nothing came was not read.
show_text() {
  show_read=
  while IFS= read -r show_line || [ -n "$show_line" ]; do
    printf '%s\n' "$show_line"
    show_read=yes
  done <"$1"
  if [ -z "$show_read" ] && [ -s "$1" ]; then
    echo "$1 cannot be read" >&2
    return 1
  fi
}
