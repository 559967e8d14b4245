# Removes files and folders with all that is in them, not through links or mounts; those that are not there are left out. Paths.
[CmdletBinding()]
param([string[]]$Paths = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
foreach ($path in $Paths) {
    if (Test-Path -LiteralPath $path) { Remove-Tree -Path $path }
}
Write-Result -Value @{ removed = @($Paths) }
