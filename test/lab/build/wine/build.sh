#!/bin/sh
# A folder that wine takes for a machine with Windows (a prefix), for copies of it. OUT: gets prefix/.
# What Go's programs ask of Windows and wine 8 does not have: bcryptprimitives.dll, here without code, which forwards one
# function to RtlGenRandom, whose parameters are the same; pdh.s; and the registry of a Windows Server 2022 (machine.reg).
set -eu
export WINEPREFIX="$OUT/prefix" WINEARCH=win64 WINEDEBUG=-all WINEDLLOVERRIDES='mscoree=;mshtml=' HOME="$PWD"
wine=/usr/lib/wine/wine64
system="$WINEPREFIX/drive_c/windows/system32"
$wine wineboot -i
$wine winecfg -v win10
cp machine.reg "$WINEPREFIX/drive_c/"
$wine regedit /S 'C:\machine.reg'
rm "$WINEPREFIX/drive_c/machine.reg"
# The registry is written when the last program has ended.
/usr/lib/wine/wineserver64 -w
x86_64-w64-mingw32-ld --dll -e 0 -o "$system/bcryptprimitives.dll" bcryptprimitives.def
x86_64-w64-mingw32-as -o pdh.o pdh.s
x86_64-w64-mingw32-ld --dll -e 0 -o "$system/pdh.dll" pdh.o pdh.def
# Programs see drive C: of their own machine, and nothing of this one.
rm -f "$WINEPREFIX"/dosdevices/z: "$WINEPREFIX"/dosdevices/com* "$WINEPREFIX/wineserver"
