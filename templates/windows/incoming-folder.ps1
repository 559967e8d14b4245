# Creates the folders Root and, in it, Path, for SYSTEM and the administrators only. Deletes the files that a killed run
# left in Path.
[CmdletBinding()]
param([Parameter(Mandatory = $true)][string]$Root, [Parameter(Mandatory = $true)][string]$Path)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
New-PrivateFolder -Path $Root
New-PrivateFolder -Path $Path
foreach ($old in @(Get-ChildItem -LiteralPath $Path)) { Remove-Tree -Path $old.FullName }
Write-Result -Value $true
