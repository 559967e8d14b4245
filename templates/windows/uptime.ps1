# Returns how long the host has been up, in milliseconds, as text. Setting the clock moves both times alike.
[CmdletBinding()]
param()
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
Write-Result -Value ([string](Get-UptimeMilliseconds))
