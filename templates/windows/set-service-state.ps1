# Starts, stops or restarts a service. First waits until no other change of it is under way. Name; Action: start, stop
# or restart.
[CmdletBinding()]
param(
    [Parameter(Mandatory = $true)][string]$Name,
    [Parameter(Mandatory = $true)][string]$Action
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
if ($Action -eq 'start') {
    Start-ServiceInTime -Name $Name
} elseif ($Action -eq 'stop') {
    Stop-ServiceInTime -Name $Name
} elseif ($Action -eq 'restart') {
    Restart-ServiceInTime -Name $Name
} else {
    throw "no such action: $Action"
}
Write-Result -Value @{ state = Get-ServiceState -Name $Name }
