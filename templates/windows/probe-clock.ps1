# The host's clock, in milliseconds since the epoch.
[CmdletBinding()]
param()
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
Write-Result -Value @{ nowMs = Get-UnixMilliseconds }
