#!/bin/sh
# Builds pause. OUT: folder for the program.
set -eu
cc -Os -static -s -o "$OUT/pause" pause.c
