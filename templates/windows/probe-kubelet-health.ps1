# Observes whether the kubelet reports healthy.
[CmdletBinding()]
param()
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$healthy = $false
try {
    $answer = Invoke-WebRequest -Uri 'http://127.0.0.1:10248/healthz' -UseBasicParsing -TimeoutSec 3
    $healthy = [int](Get-Property -Of $answer -Name 'StatusCode') -eq 200
} catch {
    $healthy = $false
}
Write-Result -Value @{ healthy = $healthy }
