# Observes only the server and name of the cluster in a kubeconfig file: the file may hold keys. Path: the file.
[CmdletBinding()]
param([Parameter(Mandatory = $true)][string]$Path)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$present = Test-Path -LiteralPath $Path -PathType 'Leaf'
$lines = @()
if ($present) {
    foreach ($line in @((Read-Utf8 -Path $Path) -split "`n")) {
        if ($line -match '^\s*-?\s*(server|name|cluster):\s*\S') { $lines += [string]$line }
    }
}
Write-Result -Value @{ present = [bool]$present; lines = @($lines) }
