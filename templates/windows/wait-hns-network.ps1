# Waits until the Host Networking Service has the network Name and the file Path exists, at most Seconds. Returns
# whether both exist.
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
    $late = (Get-Date) -ge $deadline
    # HNS restarts while it makes a network: one look that fails says nothing.
    try { $found = @(Get-HnsNetworkByName -Name $Name).Count -gt 0 -and (Test-Path -LiteralPath $Path) }
    catch {
        if ($late) { throw }
    }
    $looking = -not $found -and -not $late
    if ($looking) { Start-Sleep -Seconds 1 }
}
Write-Result -Value @{ found = [bool]$found }
