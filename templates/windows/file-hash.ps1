# Returns the SHA-256 of the file Path.
[CmdletBinding()]
param([Parameter(Mandatory = $true)][string]$Path)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
Write-Result -Value @{ sha256 = Get-FileSha256 -Path $Path }
