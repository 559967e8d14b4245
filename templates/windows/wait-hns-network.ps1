# Waits until the Host Networking Service has the network Name and the file Path exists, at most Seconds. Returns whether
# both exist.
[CmdletBinding()]
param(
    [Parameter(Mandatory = $true)][string]$Name,
    [Parameter(Mandatory = $true)][string]$Path,
    [Parameter(Mandatory = $true)][int]$Seconds
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$deadline = (Get-Date).AddSeconds($Seconds)
$found = $false
$looking = $true
while ($looking) {
    $networks = @(Get-HnsNetwork | Where-Object -FilterScript { $_.Name -eq $Name })
    $found = $networks.Count -gt 0 -and (Test-Path -LiteralPath $Path)
    $looking = -not $found -and (Get-Date) -lt $deadline
    if ($looking) { Start-Sleep -Seconds 1 }
}
Write-Result -Value @{ found = [bool]$found }
