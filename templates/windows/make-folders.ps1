# Creates missing folders. Fails where a file stands. Paths: the folders.
[CmdletBinding()]
param([string[]]$Paths = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
foreach ($path in $Paths) {
    if (Test-Path -LiteralPath $path -PathType 'Leaf') { throw "$path is a file, and a folder is needed: move it away" }
    if (-not (Test-Path -LiteralPath $path)) { New-Item -Path $path -ItemType 'Directory' -Force | Out-Null }
}
Write-Result -Value @{ made = @($Paths) }
