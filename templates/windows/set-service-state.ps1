# Starts, stops or restarts a service, and waits until that is done. Name; Action: start, stop or restart.
[CmdletBinding()]
param(
    [Parameter(Mandatory = $true)][string]$Name,
    [Parameter(Mandatory = $true)][string]$Action
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
if ($Action -eq 'start') {
    Start-Service -Name $Name -WarningAction 'SilentlyContinue'
} elseif ($Action -eq 'stop') {
    Stop-Service -Name $Name -Force -WarningAction 'SilentlyContinue'
} elseif ($Action -eq 'restart') {
    Restart-Service -Name $Name -Force -WarningAction 'SilentlyContinue'
} else {
    throw "no such action: $Action"
}
Write-Result -Value @{ state = [string](Get-Service -Name $Name).Status }
