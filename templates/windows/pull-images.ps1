# Pulls the images that the host does not have. Images: their names. Crictl: crictl.exe. Endpoint: the runtime's, for
# crictl. Record: a file that says that all of them are there; it is written last.
[CmdletBinding()]
param(
    [Parameter(Mandatory = $true)][string[]]$Images,
    [Parameter(Mandatory = $true)][string]$Crictl,
    [Parameter(Mandatory = $true)][string]$Endpoint,
    [Parameter(Mandatory = $true)][string]$Record
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$pulled = @()
foreach ($image in $Images) {
    # Status 1: no such image, or no answer. Of the latter the pull says more.
    Invoke-Native -Exe $Crictl -Arguments @('--runtime-endpoint', $Endpoint, '--timeout', '60s', 'inspecti', $image) -AllowExit @(1) | Out-Null
    if ((Get-NativeStatus) -ne 0) {
        Invoke-Native -Exe $Crictl -Arguments @('--runtime-endpoint', $Endpoint, '--timeout', '60s', 'pull', $image) | Out-Null
        $pulled += $image
    }
}
$folder = Split-Path -Path $Record -Parent
if (-not (Test-Path -LiteralPath $folder)) { New-Item -Path $folder -ItemType 'Directory' -Force | Out-Null }
Write-TextFile -Path $Record -Text ($Images -join "`n")
Write-Result -Value @{ pulled = @($pulled) }
