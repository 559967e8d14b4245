# Observes the programs that listen at the ports Tcp and Udp.
[CmdletBinding()]
param([int[]]$Tcp = @(), [int[]]$Udp = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
function Get-ProgramName([int]$Id) {
    foreach ($process in @(Get-Process -Id $Id -ErrorAction 'SilentlyContinue')) { return [string]$process.Name }
    return ''
}
$found = @()
foreach ($port in $Tcp) {
    foreach ($one in @(Get-NetTCPConnection -State 'Listen' -LocalPort $port -ErrorAction 'SilentlyContinue')) {
        $found += @{ protocol = 'tcp'; port = $port; program = Get-ProgramName $one.OwningProcess }
    }
}
foreach ($port in $Udp) {
    foreach ($one in @(Get-NetUDPEndpoint -LocalPort $port -ErrorAction 'SilentlyContinue')) {
        $found += @{ protocol = 'udp'; port = $port; program = Get-ProgramName $one.OwningProcess }
    }
}
Write-Result -Value @{ listeners = @($found) }
