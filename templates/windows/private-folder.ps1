# Makes the folder Path, for SYSTEM and the administrators only.
[CmdletBinding()]
param([Parameter(Mandatory = $true)][string]$Path)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
New-PrivateFolder -Path $Path
Write-Result -Value $true
