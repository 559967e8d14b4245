# Creates missing folders. Paths: the folders.
[CmdletBinding()]
param([string[]]$Paths = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
foreach ($path in $Paths) {
    if (-not (Test-Path -LiteralPath $path)) { New-Item -Path $path -ItemType 'Directory' -Force | Out-Null }
}
Write-Result -Value @{ made = @($Paths) }
