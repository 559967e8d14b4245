# Observes which of Paths exist.
[CmdletBinding()]
param([string[]]$Paths = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$found = @()
foreach ($path in $Paths) {
    if (Test-Path -LiteralPath $path) { $found += $path }
}
Write-Result -Value @{ paths = @($found) }
