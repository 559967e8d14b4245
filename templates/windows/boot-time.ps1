# When the host was last booted: a text that is another one after every restart.
[CmdletBinding()]
param()
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$system = Get-CimInstance -ClassName 'Win32_OperatingSystem'
Write-Result -Value ([string](Get-UnixMilliseconds -Time $system.LastBootUpTime))
