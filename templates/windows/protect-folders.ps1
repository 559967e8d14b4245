# Makes folders whose programs SYSTEM runs, or takes those that are there: only SYSTEM and the administrators may write
# to them, users may read. Fails where another account owns such a folder, or one above it. Paths: the folders.
[CmdletBinding()]
param([string[]]$Paths = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
foreach ($path in $Paths) {
    if (Test-Path -LiteralPath $path -PathType 'Leaf') { throw "$path is a file, and a folder is needed: move it away" }
    Protect-ProgramFolder -Path $path
}
Write-Result -Value @{ protected = @($Paths) }
