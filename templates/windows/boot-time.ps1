# When the host was last booted, in milliseconds since 1970, as a text. It moves by a little when the clock is set.
[CmdletBinding()]
param()
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$system = Get-CimInstance -ClassName 'Win32_OperatingSystem'
Write-Result -Value ([string](Get-UnixMilliseconds -Time $system.LastBootUpTime))
