# Removes files, and folders with their content, never through links or mounts. Skips missing paths. Paths: what to
# remove.
[CmdletBinding()]
param([string[]]$Paths = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
foreach ($path in $Paths) {
    if (Test-Path -LiteralPath $path) { Remove-Tree -Path $path }
}
Write-Result -Value @{ removed = @($Paths) }
