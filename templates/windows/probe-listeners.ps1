# Observes the programs that listen at the ports Tcp and Udp.
[CmdletBinding()]
param([int[]]$Tcp = @(), [int[]]$Udp = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
function Get-ProgramName([int]$Id) {
    foreach ($process in @(Find-Existing -Look { Get-Process -Id $Id -ErrorAction 'Stop' })) { return [string](Get-Property -Of $process -Name 'Name') }
    return ''
}
$found = @()
foreach ($port in $Tcp) {
    foreach ($one in @(Find-Existing -Look { Get-NetTCPConnection -State 'Listen' -LocalPort $port -ErrorAction 'Stop' })) {
        $found += @{ protocol = 'tcp'; port = $port; program = Get-ProgramName -Id (Get-Property -Of $one -Name 'OwningProcess') }
    }
}
foreach ($port in $Udp) {
    foreach ($one in @(Find-Existing -Look { Get-NetUDPEndpoint -LocalPort $port -ErrorAction 'Stop' })) {
        $found += @{ protocol = 'udp'; port = $port; program = Get-ProgramName -Id (Get-Property -Of $one -Name 'OwningProcess') }
    }
}
Write-Result -Value @{ listeners = @($found) }
