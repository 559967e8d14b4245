# Returns the time of the last boot, in milliseconds since 1970, as text. It shifts a little when the clock is set.
[CmdletBinding()]
param()
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$system = Get-CimInstance -ClassName 'Win32_OperatingSystem'
Write-Result -Value ([string](Get-UnixMilliseconds -Time $system.LastBootUpTime))
