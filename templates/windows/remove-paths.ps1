# Removes files and folders with all that is in them; those that are not there are left out. Paths.
[CmdletBinding()]
param([string[]]$Paths = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
foreach ($path in $Paths) {
    if (Test-Path -LiteralPath $path) { Remove-Item -LiteralPath $path -Recurse -Force }
}
Write-Result -Value @{ removed = @($Paths) }
