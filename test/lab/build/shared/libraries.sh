# shellcheck shell=sh
# Functions for repositories whose packages stand for what the tree of Debian has. BASE: that tree.

# What rpm would find that these libraries of the tree provide, one line of a preamble each: packages without files do not say it.
provides() { # LIBRARY...
  for library; do find "$BASE/tree/usr/lib/x86_64-linux-gnu" -maxdepth 1 -name "$library"; done |
    /usr/lib/rpm/elfdeps --provides | sed 's/^/Provides: /'
}

# The packages of the C and C++ libraries, under the names that they have in this system.
libraries() { # FOLDER GLIBC LIBGCC LIBSTDC++
  {
    provides 'ld-linux-x86-64.so.2' 'libc.so.6' 'libm.so.6' 'libdl.so.2' 'libpthread.so.0' 'librt.so.1'
    echo 'Provides: rtld(GNU_HASH)'
  } | rpm_of "$2" 2.36 1 x86_64 "$1"
  provides 'libgcc_s.so.1' | rpm_of "$3" 12.2 1 x86_64 "$1"
  provides 'libstdc++.so.6' | rpm_of "$4" 12.2 1 x86_64 "$1"
}
